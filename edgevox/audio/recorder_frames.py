"""What the recorder's process writes before each block of samples."""

from __future__ import annotations

import struct

BLOCK = struct.Struct("=IIddB")
"""Bytes of samples, frames, when it was written (monotonic), how old its first sample was then, overflow."""
