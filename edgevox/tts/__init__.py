"""Text to speech: sentence splitting, text normalisation, and synthesis by Piper or a Wyoming server."""

from __future__ import annotations
