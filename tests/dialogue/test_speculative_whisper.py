"""The early transcription with the real recogniser in its process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.config import AudioSettings
from edgevox.core.events import TranscriptionStarted
from edgevox.core.metrics import TurnMetrics
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SttService, TranscribeRequest, Transcript
from edgevox.dialogue import Pipeline, Transcriber, VoiceLoop
from edgevox.engines import SupervisedEngine
from edgevox.testing import ScriptedModel
from tests.audio.sounds import espeak, noise, silence
from tests.dialogue.room import Room

pytestmark = pytest.mark.engine

BOUND_S = 120
COMMAND = "Please turn on the light in the kitchen."


@dataclass
class StruckDown:
    """The recogniser, whose process is killed as soon as it has its first request."""

    whisper: SupervisedEngine[TranscribeRequest, Transcript]
    is_struck: bool = False

    async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        if not self.is_struck:
            self.is_struck = True
            assert self.whisper.pid is not None
            asyncio.get_running_loop().call_soon(os.kill, self.whisper.pid, signal.SIGKILL)
        async with aclosing(self.whisper.stream(request, cancel)) as transcripts:
            async for transcript in transcripts:
                yield transcript


async def answered(recogniser: SttService, folder: Path) -> tuple[TurnMetrics, list[bool]]:
    """The record of a spoken command, and which of its transcriptions were early."""
    sound = np.concatenate([silence(0.5), espeak(COMMAND, folder), silence(1.0)])
    room = Room(sound + noise(len(sound) / 16_000, 0.0001))
    agent = LLMAgent("test", model=ScriptedModel(["Done."]), publish=room.note)
    pipeline = Pipeline(agent, preset="p", publish=room.note, transcriber=Transcriber(recogniser, language="en"))
    async with asyncio.timeout(BOUND_S):
        await VoiceLoop(room, Endpointer(AudioSettings()), pipeline, room.note).run()
    (record,) = room.records
    return record, [event.early for event in room.events if isinstance(event, TranscriptionStarted)]


async def test_whisper_understands_at_the_pause(
    whisper: SupervisedEngine[TranscribeRequest, Transcript], tmp_path: Path
) -> None:
    record, early = await answered(whisper, tmp_path)
    assert early == [True]
    assert "turn on" in record.heard
    assert record.outcome == "answered"


async def test_a_recogniser_that_dies_at_the_pause_costs_time_and_not_the_turn(
    whisper: SupervisedEngine[TranscribeRequest, Transcript], tmp_path: Path
) -> None:
    record, early = await answered(StruckDown(whisper), tmp_path)
    assert early == [True, False]
    assert "turn on" in record.heard
    assert record.outcome == "answered"
