"""The reply is begun at a pause, before it is certain that the person has finished: what comes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.audio.endpointing import Endpointer
from edgevox.config import AudioSettings
from edgevox.core.errors import EngineFailed
from edgevox.core.events import (
    EndpointReached,
    ModelStarted,
    ReplyDelta,
    ToolStarted,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, ChatModel, SynthesisRequest
from edgevox.dialogue import AlarmState, BuiltinCommands, Pipeline, Synthesizer, Transcriber, VoiceLoop
from edgevox.home import DueAlarm
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.tools import Speech, tool
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.room import Room
from tests.dialogue.sounds import silent, voiced
from tests.dialogue.stage import Ponderer

BOUND_S = 10
BEFORE_S, WORD_S = 0.4, 0.8
# Longer than any that does not end an utterance.
LONG_PAUSE_S = 1.4
# The detector hears a little more than there is; a block is 20 ms.
NEARLY_S = 0.07


class WatchfulSpeaker(MemorySpeaker):
    """Knows whether the endpoint was reached when it was opened, and when it was given something to play."""

    def __init__(self, room: Room) -> None:
        super().__init__()
        self._room = room
        self.opened_after_endpoint: list[bool] = []
        self.given_after_endpoint: list[bool] = []

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        self.opened_after_endpoint.append(self._room.endpoint.is_set())
        await super().play(self._noted(chunks), cancel, on_start)

    async def _noted(self, chunks: AsyncIterator[Audio]) -> AsyncIterator[Audio]:
        async for chunk in chunks:
            self.given_after_endpoint.append(self._room.endpoint.is_set())
            yield chunk


class WatchfulSynthesizer(ToneSynthesizer):
    """Likewise, when it was asked for each sentence."""

    def __init__(self, room: Room) -> None:
        super().__init__()
        self._room = room
        self.asked_after_endpoint: list[bool] = []

    def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        self.asked_after_endpoint.append(self._room.endpoint.is_set())
        return super().stream(request, cancel)


class Scene:
    """A room, and an assistant in it that can switch on one light."""

    def __init__(self, room: Room, recogniser: FakeStt, model: ChatModel) -> None:
        self.room = room
        self.conversation = Conversation()
        self.synthesizer = WatchfulSynthesizer(room)
        self.speaker = WatchfulSpeaker(room)
        self.switched: list[tuple[str, bool]] = []
        """What was switched on, and whether that was after the endpoint."""

        @tool(side_effects=True)
        def turn_on(name: str) -> Speech:
            """Switch something on."""
            self.switched.append((name, room.endpoint.is_set()))
            return Speech("Done.")

        agent = LLMAgent(
            "test", tools=[turn_on], model=model, parsers=("hermes",), conversation=self.conversation, publish=room.note
        )
        self.pipeline = Pipeline(
            agent,
            preset="p",
            publish=room.note,
            transcriber=Transcriber(recogniser, language="en"),
            voice=Synthesizer(self.synthesizer),
            loudspeaker=self.speaker,
            words=BuiltinCommands(),
        )
        self.loop = VoiceLoop(room, Endpointer(AudioSettings()), self.pipeline, room.note)

    async def play(self) -> None:
        async with asyncio.timeout(BOUND_S):
            await self.loop.run()

    @property
    def waited_s(self) -> float:
        """How long the silence was that ended what was said, of one utterance of one word."""
        return self.room.endpoint_s - BEFORE_S - WORD_S


def sentence(*parts: np.ndarray) -> np.ndarray:
    return np.concatenate([silent(BEFORE_S), *parts, silent(LONG_PAUSE_S)])


def call(name: str) -> str:
    return f"<tool_call>{json.dumps({'name': 'turn_on', 'arguments': {'name': name}})}</tool_call>"


def one_word(heard: str | asyncio.Event, model: ChatModel, language: str = "en") -> Scene:
    return Scene(Room(sentence(voiced(WORD_S))), FakeStt([heard], language=language), model)


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if is_so():
            return
        await asyncio.sleep(0)
    pytest.fail("it never was so")


# --- before the endpoint


async def test_the_model_works_while_the_pause_lasts() -> None:
    scene = one_word("What is that over there?", ScriptedModel(["A lamp."]))
    await scene.play()
    (asked,), (endpoint,) = scene.room.of(ModelStarted), scene.room.of(EndpointReached)
    assert asked.at_s < endpoint.at_s
    assert [(r.heard, r.reply, r.outcome) for r in scene.room.records] == [
        ("What is that over there?", "A lamp.", "answered")
    ]
    assert len(scene.conversation.messages()) == 2


async def test_nothing_is_played_before_the_endpoint_and_sound_and_loudspeaker_are_ready() -> None:
    scene = one_word("Tell me something.", ScriptedModel(["One thing. Another thing."]))
    await scene.play()
    assert scene.synthesizer.asked_after_endpoint[0] is False
    assert scene.speaker.opened_after_endpoint == [False]
    assert scene.speaker.given_after_endpoint == [True, True]
    assert scene.synthesizer.spoken == ["One thing.", "Another thing."]


async def test_no_tool_runs_before_the_endpoint() -> None:
    scene = one_word("Turn on the lamp.", ScriptedModel([call("lamp")]))
    await scene.play()
    assert scene.switched == [("lamp", True)]
    (started,), (endpoint,) = scene.room.of(ToolStarted), scene.room.of(EndpointReached)
    assert started.at_s >= endpoint.at_s


async def test_the_events_of_a_turn_come_after_its_start_however_early_they_were() -> None:
    scene = one_word("Turn on the lamp.", ScriptedModel([call("lamp")]))
    await scene.play()
    kinds = [type(event) for event in scene.room.events if isinstance(event, TurnEvent)]
    assert kinds[0] is TurnStarted
    assert kinds[-1] is TurnEnded
    assert kinds.index(EndpointReached) < kinds.index(ModelStarted) < kinds.index(ToolStarted)


# --- the person goes on


async def test_an_abandoned_speculative_reply_leaves_no_trace() -> None:
    sound = sentence(voiced(WORD_S), silent(0.5), voiced(WORD_S))
    model = Ponderer()
    said = FakeStt(["Turn on the lamp.", "Turn on the lamp in the kitchen."])
    scene = Scene(Room(sound), said, model)
    playing = asyncio.create_task(scene.play())
    async with asyncio.timeout(BOUND_S):
        await scene.room.endpoint.wait()
        model.may_answer.set()
        await playing
    first, second = model.requests
    assert (first.messages[-1].content, second.messages[-1].content) == tuple(
        text for text in said.script if isinstance(text, str)
    )
    assert said.flags[0].is_set()
    assert [r.heard for r in scene.room.records] == ["Turn on the lamp in the kitchen."]
    assert len({event.turn_id for event in scene.room.events if isinstance(event, TurnEvent)}) == 1
    assert [m.content for m in scene.conversation.messages()] == ["Turn on the lamp in the kitchen.", "At last."]


async def test_a_call_that_waits_at_the_gate_is_never_made_when_the_person_goes_on() -> None:
    # Unclear: the pause may last 750 ms, and the call is ready long before that.
    sound = sentence(voiced(WORD_S), silent(0.55), voiced(WORD_S))
    said = FakeStt(["Light in the kitchen.", "Light in the kitchen cupboard."])
    model = ScriptedModel([call("kitchen"), call("cupboard")])
    scene = Scene(Room(sound), said, model)
    await scene.play()
    assert len(model.requests) == 2
    assert scene.switched == [("cupboard", True)]
    assert len(scene.room.of(ToolStarted)) == 1
    assert "kitchen." not in " ".join(message.content for message in scene.conversation.messages())


async def test_a_sound_that_waits_at_the_gate_is_never_heard_when_the_person_goes_on() -> None:
    sound = sentence(voiced(WORD_S), silent(0.55), voiced(WORD_S))
    said = FakeStt(["Something about the moon.", "Something about the moon landing."])
    scene = Scene(Room(sound), said, ScriptedModel(["It is far away.", "It was in 1969."]))
    await scene.play()
    assert scene.synthesizer.spoken[0] == "It is far away."
    assert len(scene.speaker.played) == 1
    deltas = [event.text for event in scene.room.events if isinstance(event, ReplyDelta)]
    assert "".join(deltas) == "It was in 1969."
    assert [r.reply for r in scene.room.records] == ["It was in 1969."]
    assert [message.content for message in scene.conversation.messages()] == [
        "Something about the moon landing.",
        "It was in 1969.",
    ]


async def test_half_a_sentence_is_not_answered_in_vain() -> None:
    sound = sentence(voiced(WORD_S), silent(0.9), voiced(WORD_S))
    model = ScriptedModel([call("lamp")])
    scene = Scene(Room(sound), FakeStt(["Turn on the", "Turn on the lamp."]), model)
    await scene.play()
    assert len(model.requests) == 1
    assert [r.heard for r in scene.room.records] == ["Turn on the lamp."]


# --- how long the pause has to be


@pytest.mark.parametrize(
    ("heard", "language", "pause_s"),
    [
        ("Louder.", "en", 0.3),
        ("Philharmonic.", "en", 0.75),
        ("Turn on the", "en", 1.2),
        ("Schalte das Licht ein", "de", 0.65),
    ],
)
async def test_the_words_say_how_long_the_pause_has_to_be(heard: str, language: str, pause_s: float) -> None:
    scene = one_word(heard, ScriptedModel(["Yes."]), language)
    await scene.play()
    assert scene.waited_s == pytest.approx(pause_s, abs=NEARLY_S)


async def test_a_whole_sentence_ends_as_soon_as_its_answer_is_ready() -> None:
    scene = one_word("Turn on the lamp.", ScriptedModel([call("lamp")], piece_chars=1000))
    await scene.play()
    assert scene.waited_s == pytest.approx(0.65, abs=NEARLY_S)


async def test_while_the_answer_is_not_ready_waiting_costs_nothing() -> None:
    model = Ponderer()
    scene = one_word("Turn on the lamp.", model)
    playing = asyncio.create_task(scene.play())
    async with asyncio.timeout(BOUND_S):
        await scene.room.endpoint.wait()
        model.may_answer.set()
        await playing
    assert scene.waited_s == pytest.approx(0.75, abs=NEARLY_S)


async def test_words_that_are_late_are_waited_for_but_not_for_ever() -> None:
    allowed = asyncio.Event()
    scene = one_word(allowed, ScriptedModel(["Yes."]))
    playing = asyncio.create_task(scene.play())
    async with asyncio.timeout(BOUND_S):
        await scene.room.endpoint.wait()
        allowed.set()
        await playing
    assert scene.waited_s == pytest.approx(1.2, abs=NEARLY_S)


# --- what goes wrong


async def test_a_model_that_fails_early_is_asked_again_after_the_endpoint() -> None:
    model = ScriptedModel([EngineFailed("gone", hint="wait"), "A lamp."])
    scene = one_word("What is that over there?", model)
    await scene.play()
    assert [(r.outcome, r.reply) for r in scene.room.records] == [("answered", "A lamp.")]


async def test_a_model_that_fails_twice_fails_the_turn() -> None:
    failure = EngineFailed("gone", hint="wait")
    scene = one_word("What is that over there?", ScriptedModel([failure, failure]))
    await scene.play()
    assert [(r.outcome, r.error_code) for r in scene.room.records] == [("failed", "engine_failed")]
    assert scene.conversation.messages() == ()


async def test_a_turn_from_elsewhere_comes_first() -> None:
    model = ScriptedModel(["In vain.", "From the timer.", "Yes."])
    scene = one_word("What is that over there?", model)
    early = scene.pipeline.transcribe_speculatively(Audio(voiced(WORD_S), 16_000))
    async with asyncio.timeout(BOUND_S):
        await early.transcript()
        scene.pipeline.reply_speculatively(early)
        await until(lambda: early.turn.gate.is_waited_at)
        result = await scene.pipeline.answer("lights off", Turn(), "timer")
    assert result.reply == "From the timer."
    assert [r.reply for r in scene.room.records] == ["From the timer."]
    assert scene.pipeline.is_ready_for(early.turn)


async def test_while_a_turn_is_under_way_nothing_is_begun_beside_it() -> None:
    model = Ponderer()
    scene = one_word("What is that over there?", model)
    early = scene.pipeline.transcribe_speculatively(Audio(voiced(WORD_S), 16_000))
    async with asyncio.timeout(BOUND_S):
        await early.transcript()
        answering = asyncio.create_task(scene.pipeline.answer("lights off", Turn(), "timer"))
        await until(lambda: bool(model.requests))
        scene.pipeline.reply_speculatively(early)
        model.may_answer.set()
        await answering
    assert [request.messages[-1].content for request in model.requests] == ["lights off"]


async def test_a_ringing_alarm_takes_the_utterance_before_a_speculative_reply() -> None:
    room = Room(sentence(voiced(WORD_S)))
    scene = Scene(room, FakeStt(["Thank you for that."]), ScriptedModel(["In vain.", "You are welcome."]))
    alarm_state = AlarmState(snooze_minutes=5)
    scene.pipeline.alarm_state = alarm_state
    early = scene.pipeline.transcribe_speculatively(Audio(voiced(WORD_S), 16_000))
    async with asyncio.timeout(BOUND_S):
        await early.transcript()
        scene.pipeline.reply_speculatively(early)
        await until(lambda: early.turn.gate.is_waited_at)
        alarm_state.ring([DueAlarm("t1", "timer", "", 0.0)])
        await scene.pipeline.hear(Audio(voiced(WORD_S), 16_000), early.turn, last_voiced_s=0.0, speculative=early)
    assert [r.reply for r in room.records] == ["You are welcome."]
    assert alarm_state.is_ignored
    assert len(scene.speaker.played) == 1


async def test_a_loop_that_ends_at_a_pause_leaves_no_task_running() -> None:
    model = Ponderer()
    scene = one_word("What is that over there?", model)
    playing = asyncio.create_task(scene.play())
    async with asyncio.timeout(BOUND_S):
        await until(lambda: bool(model.requests))
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        await scene.pipeline.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert others == []
    assert scene.room.records == []
