"""OpenAI-compatible transcription and speech routes."""

from __future__ import annotations
