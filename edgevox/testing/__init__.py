"""Stand-ins for engines and devices, for tests of EdgeVox and of what is built on it."""

from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.testing.echoing_talk import EchoingTalk, echoing_room, echoing_talk
from edgevox.testing.null_sinks import NullSinks
from edgevox.testing.scripted import MemorySpeaker, ScriptedModel, ToneSynthesizer

__all__ = [
    "EchoingTalk",
    "MemorySpeaker",
    "NullSinks",
    "ScriptedModel",
    "ToneSynthesizer",
    "WavMicrophone",
    "echoing_room",
    "echoing_talk",
]
