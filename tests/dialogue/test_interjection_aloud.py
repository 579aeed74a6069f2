"""Something rings through a reply on a real PortAudio device, with a recorder in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from edgevox.audio.files import read_audio
from edgevox.audio.io.devices import rescan_devices
from edgevox.audio.io.speaker import Speaker
from edgevox.audio.tones import RATE_HZ, timer_chime
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.dialogue import Synthesizer
from edgevox.dialogue.speech_output import SpeechOutput, Volume
from edgevox.testing import NullSinks, ToneSynthesizer
from tests.audio.sounds import find, sweep
from tests.dialogue.stage import BOUND_S

pytestmark = pytest.mark.audio_device


@pytest.fixture
def room() -> Iterator[NullSinks]:
    with NullSinks() as sinks, pytest.MonkeyPatch.context() as patch:
        for name, value in sinks.environment.items():
            patch.setenv(name, value)
        rescan_devices()
        yield sinks
    rescan_devices()


async def test_a_chime_is_heard_whole_between_two_sentences_of_a_reply(room: NullSinks, tmp_path: Path) -> None:
    speech_output = SpeechOutput(Synthesizer(ToneSynthesizer()), Speaker(), Volume())
    first, second = sweep(1.0, RATE_HZ), sweep(1.0, RATE_HZ)[::-1].copy()
    is_first_out = asyncio.Event()

    async def reply() -> AsyncIterator[Audio]:
        yield Audio(first, RATE_HZ)
        await ringing
        yield Audio(second, RATE_HZ)

    async def ring() -> bool:
        await is_first_out.wait()
        return await speech_output.interject((timer_chime(),), CancelFlag())

    ringing = asyncio.create_task(ring())
    with room.record(tmp_path / "heard.wav"):
        async with asyncio.timeout(BOUND_S):
            await speech_output.play(reply(), CancelFlag(), is_first_out.set)
    assert ringing.result()
    recording = read_audio(tmp_path / "heard.wav", RATE_HZ).samples
    parts = [find(part, recording) for part in (first, timer_chime().samples, second)]
    assert min(part.likeness for part in parts) > 0.95
    assert parts[1].at - parts[0].at >= len(first) - 100
    assert parts[2].at - parts[1].at >= len(timer_chime().samples) - 100
