"""Speech to text: Whisper in a child process, or a Wyoming server."""

from __future__ import annotations
