"""A call that needs a yes, in a conversation by voice: the question is heard, then the answer is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.tool_loop import Agreement
from edgevox.audio.endpointing import Endpointer
from edgevox.audio.files import WavMicrophone
from edgevox.config import AudioSettings
from edgevox.core.events import (
    AnswerHeard,
    ConfirmationDecided,
    ConfirmationRequired,
    Event,
    ModelStarted,
    PlaybackFinished,
    PlaybackStarted,
    Publish,
    TurnEnded,
    TurnStarted,
)
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatModel, ChatReply, ChatRequest
from edgevox.dialogue import (
    BuiltinCommands,
    ConfirmationDialog,
    Loudspeaker,
    Pipeline,
    Synthesizer,
    Transcriber,
    VoiceLoop,
)
from edgevox.dialogue.confirm import ANSWER_WITHIN_S
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.tools import tool
from tests.dialogue.sounds import silent, voiced
from tests.dialogue.stage import BOUND_S, HeldSpeaker, Listener, Stage, after

QUESTION = "Unlock the front door?"
CALL = f"I will see. <tool_call>{json.dumps({'name': 'unlock_door', 'arguments': {}})}</tool_call>"


class House:
    """A front door, an agent that gets a request to unlock it, and all that is said about it."""

    def __init__(
        self,
        publish: Publish,
        heard: Sequence[str],
        *,
        speaker: Loudspeaker | None = None,
        is_mute: bool = False,
        lines: Sequence[str] = (CALL, "That was that."),
        model: ChatModel | None = None,
    ) -> None:
        self.is_unlocked = False
        self.listener = Listener(heard)
        self.synthesizer = ToneSynthesizer()
        self.conversation = Conversation()
        self.confirmation = ConfirmationDialog(publish)

        @tool(side_effects=True, confirm="voice", question=lambda _arguments: QUESTION)
        async def unlock_door() -> str:
            """Unlock the door."""
            self.is_unlocked = True
            return "unlocked"

        agent = LLMAgent(
            "test",
            tools=(unlock_door,),
            model=model or ScriptedModel(lines),
            parsers=("hermes",),
            conversation=self.conversation,
            confirm=self.confirmation,
            publish=publish,
        )
        self.pipeline = Pipeline(
            agent,
            preset="p",
            publish=publish,
            transcriber=Transcriber(self.listener),
            voice=None if is_mute else Synthesizer(self.synthesizer),
            loudspeaker=None if is_mute else speaker or MemorySpeaker(),
            confirmation=self.confirmation,
            words=BuiltinCommands(),
        )


async def test_a_spoken_yes_unlocks_the_door_within_the_turn() -> None:
    stage = Stage(cues=[after(PlaybackFinished)])
    house = House(stage.note, ["unlock the front door", "Yes."])
    await stage.play(house.pipeline)
    assert house.is_unlocked
    assert house.synthesizer.spoken == ["I will see.", QUESTION, "That was that."]
    assert len(stage.of(TurnStarted)) == len(stage.of(TurnEnded)) == 1
    (record,) = stage.records
    assert (record.outcome, record.heard) == ("answered", "unlock the front door")


async def test_a_spoken_no_leaves_it_locked() -> None:
    stage = Stage(cues=[after(PlaybackFinished)])
    house = House(stage.note, ["unlock the front door", "No."])
    await stage.play(house.pipeline)
    assert not house.is_unlocked
    assert [record.outcome for record in stage.records] == ["answered"]
    assert house.synthesizer.spoken[-1] == "All right, I did not do it."


async def test_silence_leaves_it_locked() -> None:
    stage = Stage()
    house = House(stage.note, ["unlock the front door"])
    await stage.play(house.pipeline)
    assert not house.is_unlocked
    assert [event.why for event in stage.events if isinstance(event, ConfirmationDecided)] == ["no answer came in time"]


async def test_a_noise_is_no_answer_and_the_person_may_still_give_one() -> None:
    stage = Stage(cues=[after(PlaybackFinished), after(PlaybackFinished)])
    house = House(stage.note, ["unlock the front door", "", "Yes."])
    await stage.play(house.pipeline)
    assert house.is_unlocked
    assert [event.text for event in stage.events if isinstance(event, AnswerHeard)] == ["Yes."]


async def test_a_doubtful_answer_is_asked_for_again_aloud() -> None:
    stage = Stage(cues=[after(PlaybackFinished, 1), after(PlaybackFinished, 2)])
    house = House(stage.note, ["unlock the front door", "Yes, maybe later.", "Yes."])
    await stage.play(house.pipeline)
    assert house.is_unlocked
    assert house.synthesizer.spoken[2] == f"Please say yes or no. {QUESTION}"


async def test_speech_after_a_yes_withdraws_the_yes() -> None:
    stage = Stage(cues=[after(PlaybackFinished), after(PlaybackFinished)])
    house = House(stage.note, ["unlock the front door", "Yes.", "No, wait!"])
    house.listener.may_go_on = stage.saying_last
    await stage.play(house.pipeline)
    assert not house.is_unlocked
    assert next(event.answer for event in stage.events if isinstance(event, AnswerHeard)) == "unclear"


async def test_what_is_said_while_the_question_is_asked_is_no_answer() -> None:
    stage = Stage(cues=[after(PlaybackStarted)])
    speaker = HeldSpeaker()
    house = House(stage.note, ["unlock the front door", "Yes."], speaker=speaker)
    playing = asyncio.create_task(stage.play(house.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    assert len(house.listener.heard) == 1, "it has heard itself"
    assert house.confirmation.listening is None
    speaker.may_end.set()
    await playing
    assert not house.is_unlocked


async def test_the_answer_begins_with_the_end_of_the_question() -> None:
    stage = Stage(cues=[after(PlaybackFinished)])
    house = House(stage.note, ["unlock the front door", "Yes."])
    await stage.play(house.pipeline)
    _, answer = house.listener.heard
    assert answer.duration_s < 1.6, "it holds what was heard before"


class Held(ScriptedModel):
    """A model that says its first line only when it may."""

    def __init__(self, lines: Sequence[str], may_begin: asyncio.Event) -> None:
        super().__init__(lines)
        self._may_begin = may_begin

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        await self._may_begin.wait()
        async for reply in super().stream(request, cancel):
            yield reply


async def test_what_somebody_was_saying_when_the_question_came_is_no_answer() -> None:
    stage = Stage(cues=[after(ModelStarted)])
    model = Held([CALL, "That was that."], stage.saying_last)
    house = House(stage.note, ["unlock the front door", "Yes."], is_mute=True, model=model)
    await stage.play(house.pipeline)
    assert not house.is_unlocked
    assert stage.of(AnswerHeard) == []


async def test_without_a_voice_the_answer_is_heard_all_the_same() -> None:
    stage = Stage(cues=[after(ConfirmationRequired)])
    house = House(stage.note, ["unlock the front door", "Yes."], is_mute=True)
    await stage.play(house.pipeline)
    assert house.is_unlocked


async def test_the_keyboard_may_answer_while_it_listens() -> None:
    stage = Stage()
    house = House(stage.note, ["unlock the front door"])
    playing = asyncio.create_task(stage.play(house.pipeline))
    async with asyncio.timeout(BOUND_S):
        await house.confirmation.until_listening()
        assert house.confirmation.open is not None
        house.confirmation.open.answer(Agreement(granted=True, channel="keyboard"))
        await playing
    assert house.is_unlocked


async def test_a_stop_while_it_waits_for_the_answer_is_a_no() -> None:
    stage = Stage(cues=[after(PlaybackFinished)])
    house = House(stage.note, ["unlock the front door", "Stop!"])
    await stage.play(house.pipeline)
    assert not house.is_unlocked
    assert [record.outcome for record in stage.records] == ["answered"]


async def test_a_turn_that_is_cancelled_while_it_asks_leaves_a_whole_conversation() -> None:
    stage = Stage()
    house = House(stage.note, ["unlock the front door"])
    playing = asyncio.create_task(stage.play(house.pipeline))
    async with asyncio.timeout(BOUND_S):
        await house.confirmation.until_listening()
        assert house.pipeline.act_on("cancel")
        await playing
    assert not house.is_unlocked
    assert [record.outcome for record in stage.records] == ["cancelled"]
    roles = [message.role for message in house.conversation.messages()]
    assert roles == ["user", "assistant", "tool", "assistant"]


async def test_a_loop_that_ends_while_it_asks_leaves_nothing_behind() -> None:
    stage = Stage()
    house = House(stage.note, ["unlock the front door"])
    playing = asyncio.create_task(stage.play(house.pipeline))
    async with asyncio.timeout(BOUND_S):
        await house.confirmation.until_listening()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
    assert house.confirmation.open is None
    assert not house.is_unlocked
    assert [record.outcome for record in stage.records] == ["cancelled"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


# --- in a file


@pytest.mark.parametrize(
    ("pause_s", "answers", "is_unlocked"),
    [(1.0, ["Yes."], True), (1.0, ["No."], False), (ANSWER_WITHIN_S + 2.0, ["Another question."], False)],
)
async def test_in_a_file_the_answer_is_what_follows(pause_s: float, answers: list[str], is_unlocked: bool) -> None:
    events: list[Event] = []
    sound = np.concatenate([voiced(1.0), silent(1.0 + pause_s), voiced(0.8), silent(1.0)])
    house = House(events.append, ["unlock the front door", *answers], lines=(CALL, "That was that.", "Another answer."))
    audio_source = WavMicrophone(Audio(sound, 16_000))
    async with asyncio.timeout(BOUND_S):
        await VoiceLoop(audio_source, Endpointer(AudioSettings()), house.pipeline, events.append).run()
    assert house.is_unlocked == is_unlocked
    assert len([event for event in events if isinstance(event, TurnEnded)]) == (2 if pause_s > 8 else 1)


async def test_a_file_that_ends_after_the_question_is_a_no() -> None:
    events: list[Event] = []
    house = House(events.append, ["unlock the front door"])
    audio_source = WavMicrophone(Audio(np.concatenate([voiced(1.0), silent(1.0)]), 16_000))
    async with asyncio.timeout(BOUND_S):
        await VoiceLoop(audio_source, Endpointer(AudioSettings()), house.pipeline, events.append).run()
    assert not house.is_unlocked
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].reply.endswith("I did not do it: no answer came in time.")
