"""The voice loop: from what was said to what is heard."""

from edgevox.voice.pipeline import Pipeline

__all__ = ["Pipeline"]
