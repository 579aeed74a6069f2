"""Text to speech: sentence splitting, text normalisation, and synthesis by hibari, Kokoro, Piper or a Wyoming server."""

from __future__ import annotations
