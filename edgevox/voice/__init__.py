"""The voice loop: from what was said to what is heard."""

from edgevox.voice.hearing import Hearing
from edgevox.voice.loop import Ear, VoiceLoop
from edgevox.voice.pipeline import Loudspeaker, Pipeline
from edgevox.voice.voice import Voice

__all__ = ["Ear", "Hearing", "Loudspeaker", "Pipeline", "Voice", "VoiceLoop"]
