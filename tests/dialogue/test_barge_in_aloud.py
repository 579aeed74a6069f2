"""The whole loop between a real loudspeaker and a microphone that hears it, with the real voice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest

from benchmarks.barge_in import barge_in
from benchmarks.speech_test_set import Utterance
from edgevox.audio.files import write_wav
from edgevox.core.events import PlaybackStarted, SpeechStarted, TranscriptionStarted, TranscriptReady, TurnEnded
from edgevox.core.turn import Turn
from edgevox.core.types import Audio, SynthesisRequest, TranscribeRequest, Transcript
from edgevox.engines import SupervisedEngine
from edgevox.stt.whisper import WhisperEngine
from edgevox.testing import NullSinks
from edgevox.tts.piper import PiperEngine
from tests.audio.sounds import espeak
from tests.dialogue.echo_conversation import echo_conversation, echo_sinks
from tests.dialogue.test_barge_in_detector import click, cough

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

BOUND_S = 180
# Several times the figure of benchmarks/barge_in.py, which has the machine to itself.
SILENT_WITHIN_S = 1.0
VERSE = (
    "There was a miller who had three sons and a cat. The eldest got the mill, and the second got the "
    "donkey. The youngest got the cat, and was very sad about it. But the cat wanted nothing but a pair of "
    "red boots. With these it walked into the forest, and caught two partridges for the king. The king was "
    "pleased, and gave it as much gold as it could carry. "
)

Whisper = SupervisedEngine[TranscribeRequest, Transcript]
Piper = SupervisedEngine[SynthesisRequest, Audio]


@pytest.fixture
def room() -> Iterator[NullSinks]:
    with echo_sinks() as sinks:
        yield sinks


@pytest.fixture
async def whisper(whisper_base_dir: Path) -> AsyncIterator[Whisper]:
    engine = SupervisedEngine("stt", WhisperEngine(whisper_base_dir, language="en"))
    async with asyncio.timeout(BOUND_S):
        await engine.start()
    yield engine
    await engine.close()


@pytest.fixture
async def piper(piper_voice_path: Path) -> AsyncIterator[Piper]:
    engine = SupervisedEngine("tts", PiperEngine(piper_voice_path))
    async with asyncio.timeout(BOUND_S):
        await engine.start()
    yield engine
    await engine.close()


def letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


@pytest.mark.long
async def test_in_a_minute_of_its_own_voice_it_neither_stops_nor_writes_down_itself(
    room: NullSinks, whisper: Whisper, piper: Piper
) -> None:
    async with asyncio.timeout(BOUND_S), echo_conversation(whisper, piper, [VERSE * 3]) as talk:
        result = await talk.pipeline.answer("Tell me a story.", Turn())
        heard_s = talk.speaker.heard_s
    assert heard_s > 55
    assert result.finish_reason == "stop"
    (end,) = talk.of(TurnEnded)
    assert isinstance(end, TurnEnded)
    assert end.outcome == "answered"
    assert not talk.of(SpeechStarted)
    assert not talk.of(TranscriptionStarted)


async def test_a_person_who_speaks_over_it_is_heard_and_it_falls_silent(
    room: NullSinks, whisper: Whisper, piper: Piper, tmp_path: Path
) -> None:
    said = "I would like to know what the weather will be like in the mountains tomorrow."
    person = espeak(said, tmp_path)
    write_wav(tmp_path / "person.wav", [Audio((0.12 * person / np.std(person)).astype(np.float32), 16_000)])
    async with asyncio.timeout(BOUND_S), echo_conversation(whisper, piper, [VERSE, "All right."]) as talk:
        telling = asyncio.create_task(talk.pipeline.answer("Tell me a story.", Turn()))
        await talk.until(PlaybackStarted)
        await asyncio.sleep(2.5)  # the person lets it speak for a while
        speaking = asyncio.create_task(asyncio.to_thread(room.speak, tmp_path / "person.wav"))
        await talk.until(TurnEnded)
        silent_s = talk.audible_until_s - talk.of(SpeechStarted)[0].at_s
        await talk.until(TurnEnded, 2)
        await asyncio.gather(telling, speaking)
    first, second = (event for event in talk.events if isinstance(event, TurnEnded))
    assert (first.outcome, second.outcome) == ("interrupted", "answered")
    assert silent_s < SILENT_WITHIN_S
    told = first.reply.rstrip("… ")
    assert told
    assert VERSE.startswith(told)
    assert len(told) < len(VERSE) / 2
    heard = next(event.text for event in talk.events[::-1] if isinstance(event, TranscriptReady))
    # Its first word goes under in the reply now and then.
    assert SequenceMatcher(None, letters(said), letters(heard), autojunk=False).ratio() > 0.5


@pytest.mark.long
async def test_people_who_interrupt_are_noticed_at_every_moment(
    room: NullSinks, whisper: Whisper, piper: Piper, tmp_path: Path
) -> None:
    said = "please turn off all the lights in the living room"
    person = Utterance("espeak", said, Audio(espeak(said, tmp_path), 16_000))
    rows = [
        await barge_in(room, whisper, piper, person, moment_s, tmp_path / "person.wav")
        for moment_s in (0.3, 1.1, 2.2, 3.4, 4.7)
    ]
    # All of them on a machine that has nothing else to do, as benchmarks/barge_in.py shows.
    noticed = [row for row in rows if row.is_noticed]
    assert len(noticed) >= 4, rows
    assert all(row.is_history_true for row in noticed), rows
    # None: the reply had ended before the speech in its beginning was found.
    silent_s = [row.silent_s for row in noticed if row.silent_s is not None]
    assert silent_s
    assert max(silent_s) < SILENT_WITHIN_S, rows


@pytest.mark.long
async def test_coughs_and_clicks_do_not_stop_it(
    room: NullSinks, whisper: Whisper, piper: Piper, tmp_path: Path
) -> None:
    pause = np.zeros(16_000, dtype=np.float32)
    noises = np.concatenate([click(), pause, cough(0.3), pause, click(), pause, cough(0.45)])
    write_wav(tmp_path / "noises.wav", [Audio(noises, 16_000)])
    async with asyncio.timeout(BOUND_S), echo_conversation(whisper, piper, [VERSE, "All right."]) as talk:
        telling = asyncio.create_task(talk.pipeline.answer("Tell me a story.", Turn()))
        await talk.until(PlaybackStarted)
        await asyncio.sleep(2.0)  # the canceller knows the room by then
        await asyncio.to_thread(room.speak, tmp_path / "noises.wav")
        await telling
    assert [event.outcome for event in talk.events if isinstance(event, TurnEnded)] == ["answered"]


@pytest.mark.long
async def test_a_starved_sound_server_does_not_make_it_interrupt_itself(
    room: NullSinks, whisper: Whisper, piper: Piper
) -> None:
    rng = np.random.default_rng(7)
    async with asyncio.timeout(BOUND_S), echo_conversation(whisper, piper, [VERSE, "All right."]) as talk:
        telling = asyncio.create_task(talk.pipeline.answer("Tell me a story.", Turn()))
        await talk.until(PlaybackStarted)
        await asyncio.sleep(1.0)
        starved = 0
        while not telling.done():
            await asyncio.sleep(rng.uniform(0.9, 1.9))
            await asyncio.to_thread(room.starve, rng.uniform(0.2, 0.45))
            starved += 1
        await telling
    assert starved > 3
    assert [event.outcome for event in talk.events if isinstance(event, TurnEnded)] == ["answered"]
