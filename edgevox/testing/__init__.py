"""Fakes for engines and devices, for tests of EdgeVox and of programs built on it."""

from edgevox.audio.files import MemorySpeaker, WavMicrophone
from edgevox.testing.fakes import ScriptedModel, ToneSynthesizer
from edgevox.testing.virtual_audio import EchoConversation, NullSinks, echo_conversation, echo_sinks

__all__ = [
    "EchoConversation",
    "MemorySpeaker",
    "NullSinks",
    "ScriptedModel",
    "ToneSynthesizer",
    "WavMicrophone",
    "echo_conversation",
    "echo_sinks",
]
