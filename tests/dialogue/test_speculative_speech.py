"""A sentence is made while the model still writes the call that says it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import numpy as np
import pytest

from edgevox.core.errors import EngineFailed
from edgevox.core.turn import CancelFlag, Gate, Turn
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.dialogue import Synthesizer
from edgevox.dialogue.replies import SpokenReply
from edgevox.dialogue.speech_output import SpeechOutput, Volume
from edgevox.testing import MemorySpeaker, ToneSynthesizer

BOUND_S = 10
CHAR_S = 0.01


class Scene:
    """One turn that is spoken; it is not yet certain that the person has finished."""

    def __init__(self, synthesizer: ToneSynthesizer | None = None) -> None:
        self.synthesizer = synthesizer or ToneSynthesizer()
        self.speaker = MemorySpeaker()
        self.turn = Turn(gate=Gate(is_open=False))
        self.speech = SpokenReply(
            SpeechOutput(Synthesizer(self.synthesizer), self.speaker, Volume()), self.turn, lambda _event: None
        )

    @property
    def played_s(self) -> float:
        return sum(sound.duration_s for sound in self.speaker.played)

    async def foresees(self, text: str) -> None:
        self.speech.preview(text)
        await settle()

    async def says(self, reply: str) -> None:
        async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
            self.speech.start(group)
            await settle()
            self.turn.gate.open()
            self.speech.write(reply)
            self.speech.finish()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_what_was_foreseen_is_made_once_and_played_when_it_is_certain() -> None:
    scene = Scene()
    await scene.foresees("It is Paris.")
    assert scene.synthesizer.spoken == ["It is Paris."]
    assert scene.speaker.played == []
    await scene.says("It is Paris.")
    assert scene.synthesizer.spoken == ["It is Paris."]
    assert scene.played_s == pytest.approx(len("It is Paris.") * CHAR_S, abs=0.02)


async def test_only_the_first_sentence_is_made_in_advance() -> None:
    scene = Scene()
    await scene.foresees("It is Paris. It lies on the Seine.")
    assert scene.synthesizer.spoken == ["It is Paris."]
    await scene.says("It is Paris. It lies on the Seine.")
    assert scene.synthesizer.spoken == ["It is Paris.", "It lies on the Seine."]


async def test_half_a_sentence_is_not_made() -> None:
    scene = Scene()
    for words in ("It", "It is", "It is 3.", "It is 3.5 deg"):
        await scene.foresees(words)
    assert scene.synthesizer.spoken == []


async def test_what_is_said_otherwise_is_not_heard_as_it_was_foreseen() -> None:
    scene = Scene()
    await scene.foresees("I did it.")
    await scene.says("I could not do that.")
    assert scene.synthesizer.spoken == ["I did it.", "I could not do that."]
    assert scene.played_s == pytest.approx(len("I could not do that.") * CHAR_S, abs=0.02)


async def test_the_same_sentence_twice_is_made_twice() -> None:
    scene = Scene()
    await scene.foresees("No.")
    await scene.says("No. No.")
    assert scene.synthesizer.spoken == ["No.", "No."]


async def test_a_turn_that_never_comes_leaves_nothing_at_work() -> None:
    class Endless(ToneSynthesizer):
        has_ended = False

        async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
            stopped = asyncio.Event()
            cancel.add_listener(stopped.set)
            await stopped.wait()
            self.has_ended = True
            nothing: tuple[Audio, ...] = ()
            for nothing_at_all in nothing:
                yield nothing_at_all

    synthesizer = Endless()
    scene = Scene(synthesizer)
    await scene.foresees("It is Paris.")
    scene.turn.cancel.set()
    await settle()
    assert synthesizer.has_ended


async def test_a_voice_that_fails_in_advance_fails_when_it_is_needed() -> None:
    class Broken(ToneSynthesizer):
        async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
            if request.text:
                raise EngineFailed("it broke")
            yield Audio(np.zeros(1, np.float32), 16_000)

    scene = Scene(Broken())
    await scene.foresees("It is Paris.")
    with pytest.raises(ExceptionGroup) as failed:
        await scene.says("It is Paris.")
    assert isinstance(failed.value.exceptions[0], EngineFailed)
