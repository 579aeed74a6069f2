from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable

import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.wake_gate import WakeContext
from edgevox.core.errors import DeviceUnavailable, EngineFailed
from edgevox.core.events import Event, PlaybackStarted, ReplyDelta, SynthesisStarted, TurnEnded, TurnStarted
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, ChatReply, ChatRequest
from edgevox.dialogue import Loudspeaker, Pipeline, Synthesizer, Transcriber
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.stage import Unducked
from tests.speakers.voices import sound_of

STORY = "This is the first sentence of it. Here is the second one. And this is the third."


def pipeline(
    model: ScriptedModel, events: list[Event], voice: Synthesizer | None = None, speaker: Loudspeaker | None = None
) -> Pipeline:
    agent = LLMAgent("test", model=model, publish=events.append)
    return Pipeline(agent, preset="p", publish=events.append, voice=voice, loudspeaker=speaker)


async def test_without_a_loudspeaker_the_reply_is_text() -> None:
    events: list[Event] = []
    result = await pipeline(ScriptedModel(["Paris."]), events).answer("Where?", Turn())
    assert result.reply == "Paris."
    assert isinstance(events[0], TurnStarted)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].reply == "Paris."


async def test_the_first_sentence_is_spoken_before_the_last_is_written() -> None:
    events: list[Event] = []
    synthesizer, speaker = ToneSynthesizer(), MemorySpeaker()
    await pipeline(ScriptedModel([STORY]), events, Synthesizer(synthesizer), speaker).answer("Tell.", Turn())
    assert " ".join(synthesizer.spoken) == STORY
    assert len(speaker.played) == len(synthesizer.spoken)
    first_speech = next(i for i, event in enumerate(events) if isinstance(event, SynthesisStarted))
    last_word = max(i for i, event in enumerate(events) if isinstance(event, ReplyDelta))
    assert first_speech < last_word
    assert any(isinstance(event, PlaybackStarted) for event in events)


async def test_an_engine_that_fails_closes_the_turn_and_the_next_one_works() -> None:
    events: list[Event] = []
    talk = pipeline(ScriptedModel([EngineFailed("gone", hint="wait"), "Back."]), events)
    with pytest.raises(EngineFailed):
        await talk.answer("Hello?", Turn())
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.error_code, ended.hint) == ("failed", "engine_failed", "wait")
    assert (await talk.answer("Hello?", Turn())).reply == "Back."


async def test_a_bug_ends_the_turn_for_programs_that_wait_for_it() -> None:
    events: list[Event] = []
    with pytest.raises(RuntimeError):
        await pipeline(ScriptedModel([]), events).answer("Hello?", Turn())
    assert [event.outcome for event in events if isinstance(event, TurnEnded)] == ["failed"]


class FailsOnCue(ScriptedModel):
    def __init__(self) -> None:
        super().__init__([EngineFailed("gone")])
        self.begun, self.cue = asyncio.Event(), asyncio.Event()

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.begun.set()
        await self.cue.wait()
        async for reply in super().stream(request, cancel):
            yield reply


async def test_a_cancel_that_arrives_with_an_error_ends_the_task() -> None:
    model = FailsOnCue()
    talk = pipeline(model, [], Synthesizer(ToneSynthesizer()), MemorySpeaker())
    task = asyncio.create_task(talk.answer("Hello?", Turn()))
    async with asyncio.timeout(5):
        await model.begun.wait()
        model.cue.set()
        task.cancel()
        await asyncio.wait((task,))
    assert task.cancelled()


class BrokenSpeaker(Unducked):
    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        await anext(chunks)
        raise DeviceUnavailable("unplugged")


async def test_a_loudspeaker_that_vanishes_ends_the_turn_with_its_own_message() -> None:
    events: list[Event] = []
    talk = pipeline(ScriptedModel([STORY]), events, Synthesizer(ToneSynthesizer()), BrokenSpeaker())
    with pytest.raises(DeviceUnavailable, match="unplugged"):
        await talk.answer("Tell.", Turn())
    assert isinstance(events[-1], TurnEnded)


class CancellingSpeaker(MemorySpeaker):
    """The user says stop as soon as the first sound is heard."""

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self._turn = turn

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        async def watched() -> AsyncIterator[Audio]:
            async for chunk in chunks:
                self._turn.cancel.set()
                yield chunk

        await super().play(watched(), cancel, on_start)


async def test_a_cancelled_turn_stops_speaking_and_ends() -> None:
    events: list[Event] = []
    turn = Turn()
    speaker = CancellingSpeaker(turn)
    talk = pipeline(ScriptedModel([STORY * 50]), events, Synthesizer(ToneSynthesizer()), speaker)
    async with asyncio.timeout(10):
        await talk.answer("Tell.", turn)
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.outcome == "cancelled"
    assert len(speaker.played) == 1


async def test_talk_after_a_reply_is_dropped_unless_the_reply_was_a_question() -> None:
    outcomes = []
    for reply in ("It rains.", "Which lamp?"):
        events: list[Event] = []
        agent = LLMAgent("test", model=ScriptedModel([reply, "Fine."]), publish=events.append)
        transcriber = Transcriber(FakeStt(["what is the weather", "i had a terrible day"]))
        pipeline = Pipeline(
            agent, preset="p", publish=events.append, transcriber=transcriber, requests_only="follow_ups"
        )
        contexts: tuple[WakeContext, ...] = ("called", "follow_up")
        for context in contexts:
            await pipeline.hear(sound_of(1), Turn(), last_voiced_s=0.0, context=context)
        outcomes.append([(event.outcome, event.error) for event in events if isinstance(event, TurnEnded)])
    assert outcomes == [[("answered", ""), ("dropped", "no request")], [("answered", ""), ("answered", "")]]
