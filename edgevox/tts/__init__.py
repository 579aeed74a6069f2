"""Text to speech: sentence splitting, text normalisation, and synthesis by one of several engines."""

from __future__ import annotations
