"""The voice loop: from what was said to what is heard."""

from edgevox.voice.asking import Asking, OpenQuestion
from edgevox.voice.bell import Bell
from edgevox.voice.hearing import Hearing
from edgevox.voice.instant_words import InstantWords
from edgevox.voice.interruption import Interruption
from edgevox.voice.loop import Ear, VoiceLoop
from edgevox.voice.mouth import Loudspeaker
from edgevox.voice.pipeline import Pipeline
from edgevox.voice.reply_languages import ReplyLanguages
from edgevox.voice.ringing import Ringer
from edgevox.voice.signs import Signs
from edgevox.voice.voice import Voice
from edgevox.voice.wake_phrase import CalledHearing, WakePhrase
from edgevox.voice.wakefulness import Wakefulness

__all__ = [
    "Asking",
    "Bell",
    "CalledHearing",
    "Ear",
    "Hearing",
    "InstantWords",
    "Interruption",
    "Loudspeaker",
    "OpenQuestion",
    "Pipeline",
    "ReplyLanguages",
    "Ringer",
    "Signs",
    "Voice",
    "VoiceLoop",
    "WakePhrase",
    "Wakefulness",
]
