from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

import numpy as np
import pytest

from edgevox.errors import DeviceUnavailable
from edgevox.testing import MemorySpeaker, ToneSynthesizer
from edgevox.turn import CancelFlag
from edgevox.types import Audio
from edgevox.voice import Loudspeaker, Voice
from edgevox.voice.mouth import Mouth
from edgevox.voice.volume import Volume
from tests.voice.stage import BOUND_S

ONE_SECOND = Audio(np.zeros(16_000, dtype=np.float32), 16_000)


class Scene:
    """A mouth whose sounds and clock the test holds in its hands."""

    def __init__(self, speaker: Loudspeaker) -> None:
        self.now_s = 100.0
        self.mouth = Mouth(Voice(ToneSynthesizer()), speaker, Volume(), clock=lambda: self.now_s)
        self.sounds: asyncio.Queue[Audio | None] = asyncio.Queue()

    async def upcoming(self) -> AsyncIterator[Audio]:
        while (sound := await self.sounds.get()) is not None:
            yield sound

    def start(self) -> asyncio.Task[None]:
        return asyncio.create_task(self.mouth.play(self.upcoming(), CancelFlag(), lambda: None))

    async def give(self, sound: Audio | None) -> None:
        self.sounds.put_nowait(sound)
        for _ in range(5):
            await asyncio.sleep(0)


async def test_nothing_is_heard_before_the_first_sound() -> None:
    scene = Scene(MemorySpeaker())
    assert scene.mouth.silent_since_s == -math.inf
    playing = scene.start()
    await scene.give(None)
    await playing
    assert scene.mouth.silent_since_s == -math.inf, "a passage without a sound"


async def test_it_is_heard_until_the_end_of_the_passage_and_not_after_it() -> None:
    scene = Scene(MemorySpeaker())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    assert scene.mouth.silent_since_s == math.inf
    await scene.give(None)
    async with asyncio.timeout(BOUND_S):
        await playing
    assert scene.mouth.silent_since_s == 100.0


async def test_in_a_long_gap_between_two_sentences_it_is_silent() -> None:
    scene = Scene(MemorySpeaker())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    await scene.give(ONE_SECOND)
    scene.now_s += 2.1
    assert scene.mouth.silent_since_s == math.inf, "the loudspeaker may be a little late"
    scene.now_s += 5.0
    assert 102.0 < scene.mouth.silent_since_s < 103.0
    await scene.give(ONE_SECOND)
    assert scene.mouth.silent_since_s == math.inf, "it goes on"
    await scene.give(None)
    await playing


class Unplugged:
    async def play(self, chunks: AsyncIterator[Audio], *_rest: object) -> None:
        await anext(chunks)
        raise DeviceUnavailable("unplugged")


async def test_a_loudspeaker_that_fails_is_silent() -> None:
    scene = Scene(Unplugged())
    playing = scene.start()
    await scene.give(ONE_SECOND)
    with pytest.raises(DeviceUnavailable):
        await playing
    assert scene.mouth.silent_since_s == -math.inf
