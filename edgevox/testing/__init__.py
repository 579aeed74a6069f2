"""Stand-ins for engines and devices, for tests of EdgeVox and of what is built on it."""

from edgevox.testing.null_sinks import NullSinks
from edgevox.testing.scripted import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.testing.sound import WavMicrophone

__all__ = ["MemorySpeaker", "NullSinks", "ScriptedModel", "ToneSynthesizer", "WavMicrophone"]
