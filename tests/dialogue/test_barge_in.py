"""Barge-in in a room with echo cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.audio.aec.canceller import AecWarmupReplay
from edgevox.core.events import Event, PlaybackStarted, SpeechStarted, TranscriptionStarted, TurnEnded
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.dialogue import BargeInDetector, BuiltinCommands, Pipeline, Synthesizer, Transcriber, WakeState
from edgevox.dialogue.builtin_commands import is_backchannel
from edgevox.testing import ScriptedModel, ToneSynthesizer
from tests.audio.echo_room import BLOCK, Late
from tests.dialogue.sounds import silent, voiced
from tests.dialogue.stage import BOUND_S, HeldSpeaker, Listener, Stage, after
from tests.dialogue.test_barge_in_detector import cough
from tests.dialogue.test_spoken_answer import House

STORY = "Once upon a time."


@dataclass
class NotedSpeaker(HeldSpeaker):
    """Each of its first replies sounds until the test lets it end; when it is to be quiet is noted."""

    holds: int = 1
    ducked: list[bool] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    was_loud_again: asyncio.Event = field(default_factory=asyncio.Event)

    def duck(self, is_ducked: bool) -> None:
        self.ducked.append(is_ducked)
        if not is_ducked:
            self.was_loud_again.set()

    def hold(self, is_held: bool) -> None:
        self.held.append(is_held)

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        if self.holds:
            self.may_end.clear()
        self.holds = max(0, self.holds - 1)
        await super().play(chunks, cancel, on_start)


class Talk:
    """A story that goes on until it is stopped."""

    def __init__(self, stage: Stage, heard: Sequence[str], replies: Sequence[str] = (STORY, "Yes.")) -> None:
        self.speaker = NotedSpeaker()
        self.listener = Listener(heard)
        self.conversation = Conversation()
        self.pipeline = Pipeline(
            LLMAgent("test", model=ScriptedModel(replies), conversation=self.conversation, publish=stage.note),
            preset="p",
            publish=stage.note,
            transcriber=Transcriber(self.listener),
            voice=Synthesizer(ToneSynthesizer()),
            loudspeaker=self.speaker,
            words=BuiltinCommands(()),
        )


class Spluttering(Stage):
    """A cough instead of the speech at a cue."""

    def note(self, event: Event) -> None:
        due = len(self._due)
        super().note(event)
        quiet = np.full(8_000, 1e-4, dtype=np.float32)
        self._due[due:] = [np.concatenate([quiet, cough(0.4), quiet]) for _ in self._due[due:]]


async def test_barge_in_stops_the_reply_and_is_answered() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=1.2, turns=2)
    talk = Talk(stage, ["tell me a story", "is the door locked"])
    await stage.play(talk.pipeline, BargeInDetector())
    assert [(record.outcome, record.heard) for record in stage.records] == [
        ("interrupted", "tell me a story"),
        ("answered", "is the door locked"),
    ]
    assert not talk.speaker.is_sounding


async def test_what_was_said_over_the_reply_is_heard_from_its_first_word() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=1.2, turns=2)
    talk = Talk(stage, ["tell me a story", "is the door locked"])
    await stage.play(talk.pipeline, BargeInDetector())
    assert talk.listener.heard[1].duration_s > 1.2
    assert sum(isinstance(event, SpeechStarted) for event in stage.events) == 2


async def test_who_interrupts_is_heard_to_the_end_although_nobody_may_follow_up() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=2.5, turns=2)
    talk = Talk(stage, ["tell me a story", "is the door locked"])
    wake_state = WakeState("word", follow_up_s=0.0)
    wake_state.talk()
    await stage.play(talk.pipeline, BargeInDetector(), wake_state)
    assert [(record.outcome, record.heard) for record in stage.records] == [
        ("interrupted", "tell me a story"),
        ("answered", "is the door locked"),
    ]
    assert talk.listener.heard[1].duration_s > 2.5
    assert wake_state.attention == "asleep", "and then it has to be called again"


async def test_without_an_interruption_nobody_is_heard_over_the_reply() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=1.2)
    talk = Talk(stage, ["tell me a story", "is the door locked"])
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    talk.speaker.may_end.set()
    await playing
    assert [record.outcome for record in stage.records] == ["answered"]
    assert len(talk.listener.heard) == 1


async def test_a_cough_makes_it_quiet_and_it_goes_on() -> None:
    stage = Spluttering(cues=[after(PlaybackStarted)])
    talk = Talk(stage, ["tell me a story"])
    playing = asyncio.create_task(stage.play(talk.pipeline, BargeInDetector()))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    assert talk.speaker.is_sounding
    assert talk.speaker.ducked == [True, False]
    talk.speaker.may_end.set()
    await playing
    assert [record.outcome for record in stage.records] == ["answered"]
    assert len(stage.of(TranscriptionStarted)) == 1


async def test_a_short_stop_is_understood_while_the_reply_is_quiet() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=0.2)
    talk = Talk(stage, ["tell me a story", "Stop."])
    await stage.play(talk.pipeline, BargeInDetector())
    assert [record.outcome for record in stage.records] == ["cancelled"]
    assert talk.speaker.ducked[0]


async def test_a_short_word_that_means_nothing_lets_the_reply_go_on() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=0.2)
    talk = Talk(stage, ["tell me a story", "Oh."])
    playing = asyncio.create_task(stage.play(talk.pipeline, BargeInDetector()))
    async with asyncio.timeout(BOUND_S):
        await talk.speaker.was_loud_again.wait()
    assert talk.speaker.is_sounding
    talk.speaker.may_end.set()
    await playing
    assert [record.outcome for record in stage.records] == ["answered"]


async def test_a_backchannel_pauses_the_reply_and_it_goes_on() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=0.5)
    talk = Talk(stage, ["tell me a story", "Mm-hmm, right."])
    playing = asyncio.create_task(stage.play(talk.pipeline, BargeInDetector()))
    async with asyncio.timeout(BOUND_S):
        await talk.speaker.was_loud_again.wait()
    assert talk.speaker.held == [True, False]
    assert talk.speaker.is_sounding
    talk.speaker.may_end.set()
    await playing
    assert [record.outcome for record in stage.records] == ["answered"]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("Mm-hmm.", True), ("Yeah, right.", True), ("Hahaha!", True), ("One.", True), ("Ach so.", True), ("", True),
     ("Why?", False), ("No.", False), ("Turn it off.", False), ("Right, turn it off.", False), ("Warte!", False)],
)  # fmt: skip
def test_a_backchannel_asks_for_nothing(text: str, is_one: bool) -> None:
    assert is_backchannel(text) is is_one


async def test_a_short_question_over_the_reply_stops_it_and_is_answered() -> None:
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=0.5, turns=2)
    talk = Talk(stage, ["tell me a story", "Why?", "Why?"])
    await stage.play(talk.pipeline, BargeInDetector())
    assert [(record.outcome, record.heard) for record in stage.records] == [
        ("interrupted", "tell me a story"),
        ("answered", "Why?"),
    ]


async def test_a_yes_over_the_question_opens_no_door() -> None:
    speaker = HeldSpeaker()
    stage = Stage(cues=[after(PlaybackStarted)], aside_s=1.2)
    house = House(stage.note, ["unlock the door", "yes", "yes"], speaker=speaker)
    playing = asyncio.create_task(stage.play(house.pipeline, BargeInDetector()))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
        assert not house.is_unlocked
        assert len(house.listener.heard) == 1, "nothing is understood before the question is over"
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
    assert not house.is_unlocked


async def test_the_turn_after_an_interruption_can_be_interrupted_too() -> None:
    stage = Stage(cues=[after(PlaybackStarted), after(PlaybackStarted, 2)], aside_s=1.2, turns=3)
    talk = Talk(stage, ["tell me a story", "no, another one", "thank you"], (STORY, STORY, "You are welcome."))
    talk.speaker.holds = 2
    await stage.play(talk.pipeline, BargeInDetector())
    assert [record.outcome for record in stage.records] == ["interrupted", "interrupted", "answered"]
    ends = [event for event in stage.events if isinstance(event, TurnEnded)]
    assert len({event.turn_id for event in ends}) == 3


# Made here, not on the thread that asks for it: the stage's loop never rests, and leaves a thread no time.
SAID = np.concatenate([silent(0.3), voiced(1.2), silent(0.5)])
MISSED = [(SAID[at : at + BLOCK],) * 2 for at in range(0, len(SAID) - BLOCK + 1, BLOCK)]


class MissedPerson(AecWarmupReplay):
    """What was heard when the first reply began, and is understood only now."""

    is_whole = True

    def replay(self) -> list[tuple[np.ndarray, np.ndarray]]:
        self.is_whole = False
        return MISSED


async def test_barge_in_missed_at_the_start_of_a_reply_stops_it_late() -> None:
    stage = Stage(turns=2)
    talk = Talk(stage, ["tell me a story", "is the door locked", "is the door locked"])
    missed = MissedPerson(Late)
    await stage.play(talk.pipeline, BargeInDetector(warmup_replay=lambda: missed))
    assert [(record.outcome, record.heard) for record in stage.records] == [
        ("interrupted", "tell me a story"),
        ("answered", "is the door locked"),
    ]
    assert talk.listener.heard[1].duration_s > 1.2
