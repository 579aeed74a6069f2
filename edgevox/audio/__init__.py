"""Audio front end: devices, echo cancellation, voice activity, endpointing and wake words."""

from __future__ import annotations
