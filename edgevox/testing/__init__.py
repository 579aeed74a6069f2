"""Stand-ins for engines and devices, for tests of EdgeVox and of what is built on it."""

from edgevox.testing.scripted import MemorySpeaker, ScriptedModel, ToneSynthesizer

__all__ = ["MemorySpeaker", "ScriptedModel", "ToneSynthesizer"]
