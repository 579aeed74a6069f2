"""The spoken dialogue: from an utterance to the audio of the reply."""

from __future__ import annotations

from edgevox.audio.io.microphone import AudioSource
from edgevox.audio.io.speaker import Loudspeaker
from edgevox.audio.wake_gate import WakeState
from edgevox.dialogue.alarm_player import AlarmPlayer
from edgevox.dialogue.alarm_state import AlarmState
from edgevox.dialogue.barge_in import BargeInDetector
from edgevox.dialogue.builtin_commands import BuiltinCommands
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.dialogue.earcons import Earcons
from edgevox.dialogue.loop import VoiceLoop
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.replies import ReplyLanguages
from edgevox.dialogue.speculative import IdleWorkers
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import (
    SpeakerTranscriber,
    Transcriber,
    WakePhrase,
    WakePhraseFilter,
    WakeWordConfirmer,
)

__all__ = [
    "AlarmPlayer",
    "AlarmState",
    "AudioSource",
    "BargeInDetector",
    "BuiltinCommands",
    "ConfirmationDialog",
    "Earcons",
    "IdleWorkers",
    "Loudspeaker",
    "Pipeline",
    "ReplyLanguages",
    "SpeakerTranscriber",
    "Synthesizer",
    "Transcriber",
    "VoiceLoop",
    "WakePhrase",
    "WakePhraseFilter",
    "WakeState",
    "WakeWordConfirmer",
]
