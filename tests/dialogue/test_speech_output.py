from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

import numpy as np
import pytest

from edgevox.core.errors import DeviceUnavailable
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.dialogue import Loudspeaker, Synthesizer
from edgevox.dialogue.speech_output import SpeechOutput, Volume
from edgevox.testing import MemorySpeaker, ToneSynthesizer
from tests.dialogue.stage import BOUND_S, HeldSpeaker, Unducked

ONE_SECOND = Audio(np.zeros(16_000, dtype=np.float32), 16_000)
FIRST, SECOND, CHIME, WORDS = (Audio(np.full(160, n / 10, dtype=np.float32), 16_000) for n in range(1, 5))


class Scene:
    """Speech output with a loudspeaker and a clock that the test controls."""

    def __init__(self, speaker: Loudspeaker) -> None:
        self.now_s = 100.0
        self.volume = Volume()
        self.speech_output = SpeechOutput(
            Synthesizer(ToneSynthesizer()), speaker, self.volume, clock=lambda: self.now_s
        )
        self.sounds: asyncio.Queue[Audio | None] = asyncio.Queue()
        self.starts = 0

    async def upcoming(self) -> AsyncIterator[Audio]:
        while (sound := await self.sounds.get()) is not None:
            yield sound

    def start(self, cancel: CancelFlag | None = None) -> asyncio.Task[float]:
        return asyncio.create_task(self.speech_output.play(self.upcoming(), cancel or CancelFlag(), self._started))

    def interject(self, *sounds: Audio, cancel: CancelFlag | None = None) -> asyncio.Task[bool]:
        return asyncio.create_task(self.speech_output.interject(sounds, cancel or CancelFlag()))

    def _started(self) -> None:
        self.starts += 1

    async def give(self, sound: Audio | None) -> None:
        self.sounds.put_nowait(sound)
        for _ in range(5):
            await asyncio.sleep(0)


async def test_nothing_is_heard_before_the_first_sound() -> None:
    scene = Scene(MemorySpeaker())
    assert scene.speech_output.silent_since_s == -math.inf
    playing = scene.start()
    await scene.give(None)
    await playing
    assert scene.speech_output.silent_since_s == -math.inf, "a passage without a sound"


async def test_it_is_heard_until_the_end_of_the_passage_and_not_after_it() -> None:
    scene = Scene(MemorySpeaker())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    assert scene.speech_output.silent_since_s == math.inf
    await scene.give(None)
    async with asyncio.timeout(BOUND_S):
        await playing
    assert scene.speech_output.silent_since_s == 100.0


async def test_a_pause_counts_as_playback_and_makes_it_longer() -> None:
    scene = Scene(MemorySpeaker())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    scene.speech_output.hold(True)
    scene.now_s += 5.0
    assert scene.speech_output.silent_since_s == math.inf
    scene.speech_output.hold(False)
    scene.now_s += 0.9
    assert scene.speech_output.silent_since_s == math.inf, "the rest is still to come"
    scene.now_s += 5.0
    assert 106.0 < scene.speech_output.silent_since_s < 107.0
    await scene.give(None)
    await playing


async def test_a_pause_that_nobody_ends_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.dialogue.speech_output.LONGEST_HOLD_S", 0.01)
    went_on = asyncio.Event()

    class Paused(MemorySpeaker):
        def hold(self, is_held: bool) -> None:
            if not is_held:
                went_on.set()

    scene = Scene(Paused())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    scene.speech_output.hold(True)
    async with asyncio.timeout(BOUND_S):
        await went_on.wait()
    scene.now_s += 5.0
    assert scene.speech_output.silent_since_s < math.inf
    scene.speech_output.hold(True)
    went_on.clear()
    await scene.give(None)
    await playing
    await asyncio.sleep(0.1)
    assert not went_on.is_set(), "a pause ends with its passage, and not in the next one"


async def test_in_a_long_gap_between_two_sentences_it_is_silent() -> None:
    scene = Scene(MemorySpeaker())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    await scene.give(ONE_SECOND)
    scene.now_s += 2.1
    assert scene.speech_output.silent_since_s == math.inf, "the loudspeaker may be a little late"
    scene.now_s += 5.0
    assert 102.0 < scene.speech_output.silent_since_s < 103.0
    await scene.give(ONE_SECOND)
    assert scene.speech_output.silent_since_s == math.inf, "it goes on"
    await scene.give(None)
    await playing


class Unplugged(Unducked):
    async def play(self, chunks: AsyncIterator[Audio], *_rest: object) -> None:
        await anext(chunks)
        raise DeviceUnavailable("unplugged")


async def test_a_loudspeaker_that_fails_is_silent() -> None:
    scene = Scene(Unplugged())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    with pytest.raises(DeviceUnavailable):
        await playing
    assert scene.speech_output.silent_since_s == -math.inf


# --- interjections


async def test_an_interjection_comes_between_two_pieces_of_a_passage() -> None:
    speaker = MemorySpeaker()
    scene = Scene(speaker)
    playing = scene.start()
    await scene.give(FIRST)
    interjecting = scene.interject(CHIME, WORDS)
    await settle()
    await scene.give(SECOND)
    await scene.give(None)
    async with asyncio.timeout(BOUND_S):
        await playing
        assert await interjecting
    assert [float(sound.samples[0]) for sound in speaker.played] == pytest.approx([0.1, 0.3, 0.4, 0.2])


async def test_it_does_not_wait_for_the_next_piece() -> None:
    speaker = MemorySpeaker()
    scene = Scene(speaker)
    playing = scene.start()
    async with asyncio.timeout(BOUND_S):
        assert await scene.interject(CHIME)
    assert scene.speech_output.silent_since_s == math.inf, "nobody may listen to it"
    scene.now_s += 5.0
    assert scene.speech_output.silent_since_s < math.inf
    assert scene.starts == 0, "nothing of the passage itself was heard"
    await scene.give(FIRST)
    assert scene.starts == 1
    await scene.give(SECOND)
    await scene.give(None)
    await playing
    assert scene.starts == 1
    assert len(speaker.played) == 3


async def test_without_a_passage_it_is_one() -> None:
    speaker = MemorySpeaker()
    scene = Scene(speaker)
    async with asyncio.timeout(BOUND_S):
        assert await scene.interject(CHIME, WORDS)
    assert len(speaker.played) == 2
    assert scene.speech_output.silent_since_s == 100.0


async def test_a_passage_waits_until_an_interjection_is_over() -> None:
    speaker = HeldSpeaker()
    scene = Scene(speaker)
    interjecting = scene.interject(CHIME)
    await settle()
    assert speaker.is_sounding
    playing = scene.start()
    await scene.give(FIRST)
    assert scene.starts == 0
    speaker.may_end.set()
    async with asyncio.timeout(BOUND_S):
        assert await interjecting
        await scene.give(None)
        await playing
    assert scene.starts == 1


async def test_what_comes_while_the_last_sound_is_played_out_is_heard_behind_it() -> None:
    speaker = HeldSpeaker()
    scene = Scene(speaker)
    playing = scene.start()
    await scene.give(FIRST)
    await scene.give(None)
    interjecting = scene.interject(CHIME)
    await settle()
    assert not interjecting.done()
    speaker.may_end.set()
    async with asyncio.timeout(BOUND_S):
        await playing
        assert await interjecting


async def test_an_interjection_that_a_cancelled_passage_swallowed_says_so() -> None:
    scene = Scene(Deaf())
    cancel = CancelFlag()
    playing = scene.start(cancel)
    await settle()
    interjecting = scene.interject(CHIME)
    await settle()
    cancel.set()
    async with asyncio.timeout(BOUND_S):
        await playing
        assert not await interjecting
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_one_that_is_cut_is_not_given_the_rest() -> None:
    speaker = MemorySpeaker()
    scene = Scene(speaker)
    playing = scene.start()
    cancel = CancelFlag()
    cancel.set()
    assert not await scene.interject(CHIME, cancel=cancel)
    await scene.give(None)
    await playing
    assert speaker.played == []


async def test_a_tone_is_as_loud_as_it_is_and_a_sentence_as_loud_as_the_voice() -> None:
    speaker = MemorySpeaker()
    scene = Scene(speaker)
    scene.volume.step(-1)
    await scene.interject(CHIME, await scene.speech_output.sound_of("Ready."))
    assert [float(np.max(sound.samples)) for sound in speaker.played] == pytest.approx([0.3, 0.562], abs=0.01)


class Deaf(Unducked):
    """A loudspeaker that takes nothing until it is cancelled."""

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, *_rest: object) -> None:
        cancelled = asyncio.Event()
        cancel.add_listener(cancelled.set)
        await cancelled.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
