"""Trains a LoRA adapter for Whisper on commands for a home, and the n-gram models for rescoring."""

from __future__ import annotations
