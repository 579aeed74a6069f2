"""Something rings while a question waits for its answer: what is said then is for one of the two."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import AudioSettings
from edgevox.core.events import AnswerHeard, Event, RingEnded, RingStarted, TurnEnded, TurnStarted
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue import (
    AlarmPlayer,
    AlarmState,
    BuiltinCommands,
    ConfirmationDialog,
    Pipeline,
    Transcriber,
    VoiceLoop,
)
from edgevox.home import AlarmSchedule
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.testing import ScriptedModel
from edgevox.tools import tool
from tests.dialogue.fake_time import FakeTime
from tests.dialogue.sounds import silent, voiced
from tests.dialogue.stage import BOUND_S, Listener

CALL = f"<tool_call>{json.dumps({'name': 'unlock_door', 'arguments': {}})}</tool_call>"
SPEECH = np.concatenate([voiced(0.6), silent(0.7)])


class Play:
    """A live microphone that follows a script: what is said is said when the step before it is done."""

    live = True
    dropped_samples = 0
    delay_s = 0.0

    def __init__(self, heard: Sequence[str], replies: Sequence[str] = (CALL, "That was that.")) -> None:
        self.time = FakeTime()
        self.timers = Timers(self.time)
        self.events: list[Event] = []
        self.is_unlocked = False
        self.confirmation = ConfirmationDialog(self.note)
        self.listener = Listener(heard)
        self.alarm_state = AlarmState(snooze_minutes=9)
        self._has_news = asyncio.Event()
        self._steps: Sequence[Callable[[], Awaitable[None]] | None] = ()

        @tool(side_effects=True, confirm="voice", question=lambda _arguments: "Unlock it?")
        async def unlock_door() -> str:
            """Unlock the door."""
            self.is_unlocked = True
            return "unlocked"

        self.pipeline = Pipeline(
            LLMAgent(
                "test",
                tools=(unlock_door,),
                model=ScriptedModel(replies),
                parsers=("hermes",),
                confirm=self.confirmation,
                publish=self.note,
            ),
            preset="p",
            publish=self.note,
            transcriber=Transcriber(self.listener),
            confirmation=self.confirmation,
            words=BuiltinCommands(),
            alarm_state=self.alarm_state,
        )

    def note(self, event: Event) -> None:
        self.events.append(event)
        self._has_news.set()

    async def run(self, *steps: Callable[[], Awaitable[None]] | None) -> None:
        """None in the place of a step is an utterance."""
        self._steps = steps
        alarm_player = AlarmPlayer(
            AlarmSchedule(self.timers, Alarms(self.time, zone=UTC)),
            self.pipeline,
            self.alarm_state,
            self.note,
            for_s=60.0,
            wall_clock=self.time,
            clock=self.time,
            sleep=self.time.sleep,
        )
        loop = VoiceLoop(self, Endpointer(AudioSettings()), self.pipeline, self.note, alarm_player)
        async with asyncio.timeout(BOUND_S):
            await loop.run()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def frames(self) -> AsyncGenerator[Audio, None]:
        for step in self._steps:
            if step is not None:
                await step()
                continue
            for start in range(0, len(SPEECH) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
                for _ in range(8):
                    await asyncio.sleep(0)  # let the others work, as in the 20 ms of a real block
                yield Audio(SPEECH[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)

    def until(self, kind: type[Event], count: int = 1) -> Callable[[], Awaitable[None]]:
        async def step() -> None:
            while len(self.of(kind)) < count:
                self._has_news.clear()
                await self._has_news.wait()

        return step

    async def ring(self) -> None:
        self.timers.start(1)
        await self.time.pass_by(1.5)
        assert self.alarm_state.is_ringing

    async def a_moment(self) -> None:
        await self.time.pass_by(0.5)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.mark.parametrize("word", ["Okay.", "Stop.", "Thanks."])
async def test_a_word_for_the_ring_is_no_answer_and_the_question_is_asked_again(word: str) -> None:
    play = Play(["unlock it", word, "Yes."])
    asked = play.confirmation.until_listening
    await play.run(
        *(None, asked, play.ring, None, play.until(AnswerHeard)), *(play.a_moment, asked, None, play.until(TurnEnded))
    )
    assert [event.how for event in play.events if isinstance(event, RingEnded)] == ["stopped"]
    assert [event.answer for event in play.events if isinstance(event, AnswerHeard)] == ["unclear", "yes"]
    assert play.is_unlocked


async def test_after_a_word_for_the_ring_silence_is_still_a_no() -> None:
    play = Play(["unlock it", "Okay."])
    await play.run(None, play.confirmation.until_listening, play.ring, None, play.until(AnswerHeard))
    assert not play.is_unlocked


async def test_a_yes_is_for_the_question_and_it_rings_on() -> None:
    play = Play(["unlock it", "Yes."])
    await play.run(None, play.confirmation.until_listening, play.ring, None, play.until(TurnEnded), play.a_moment)
    assert play.is_unlocked
    assert [event.how for event in play.events if isinstance(event, RingEnded)] == ["shut_down"]


async def test_an_okay_when_nothing_rings_is_a_yes() -> None:
    play = Play(["unlock it", "Okay."])
    await play.run(None, play.confirmation.until_listening, None, play.until(TurnEnded))
    assert play.is_unlocked


async def test_what_a_timer_does_asks_aloud_and_is_answered_by_voice() -> None:
    play = Play(["Yes."])

    async def due() -> None:
        play.timers.start(1, command="unlock the door")
        await play.time.pass_by(2)

    await play.run(due, play.confirmation.until_listening, None, play.until(TurnEnded))
    assert play.is_unlocked
    assert [event.source for event in play.events if isinstance(event, TurnStarted)] == ["timer"]
    assert len(play.listener.heard) == 1


async def test_a_spoken_stop_between_turns_ends_the_ring() -> None:
    play = Play(["Stop."])
    await play.run(play.ring, None, play.until(TurnEnded), play.a_moment)
    assert [event.how for event in play.events if isinstance(event, RingEnded)] == ["stopped"]
    assert len(play.of(RingStarted)) == 1
