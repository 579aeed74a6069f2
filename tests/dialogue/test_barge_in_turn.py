"""What is kept of a turn after barge-in: the spoken prefix, and what was done."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.core.events import ConfirmationDecided, Event, ModelFinished, SynthesisStarted, TurnEnded
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, ChatModel, Message
from edgevox.dialogue import BuiltinCommands, ConfirmationDialog, Pipeline, Synthesizer
from edgevox.dialogue.replies import SpokenReply
from edgevox.dialogue.speech_output import SpeechOutput, Volume
from edgevox.testing import ScriptedModel, ToneSynthesizer
from edgevox.tools import Speech, tool
from tests.dialogue.stage import BOUND_S, Ponderer, SpokenOver

FIRST, SECOND, THIRD = "This is the first sentence.", "Here is the second one.", "And this is the third."
STORY = f"{FIRST} {SECOND} {THIRD}"
# The voice takes a hundredth of a second per character.
CHAR_S = 0.01
IN_SECOND_S = (len(FIRST) + len("Here is the ")) * CHAR_S


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@tool(side_effects=True)
def turn_on(name: str) -> Speech:
    """Switch something on."""
    return Speech(f"{name} is on.")


class Scene:
    """An assistant that is spoken over."""

    def __init__(self, lines: Sequence[str] | ChatModel, *, at_s: float, has_to_be_written: bool = True) -> None:
        self.events: list[Event] = []
        self.conversation = Conversation()
        self.model = ScriptedModel(lines) if isinstance(lines, Sequence) else lines
        self.speaker = SpokenOver(at_s)
        self.synthesizer = ToneSynthesizer()
        self.interrupted: list[bool] = []
        self.is_unlocked = False
        self.confirmation = ConfirmationDialog(self._note)
        if not has_to_be_written:
            self.speaker.when.set()

        @tool(side_effects=True, confirm="voice", question=lambda _arguments: "Unlock it, really?")
        def unlock() -> str:
            """Unlock the door."""
            self.is_unlocked = True
            return "unlocked"

        agent = LLMAgent(
            "test",
            tools=[turn_on, unlock],
            hooks=[],
            confirm=self.confirmation,
            model=self.model,
            parsers=("hermes",),
            conversation=self.conversation,
            publish=self._note,
        )
        self.pipeline = Pipeline(
            agent,
            preset="p",
            publish=self._note,
            voice=Synthesizer(self.synthesizer),
            loudspeaker=self.speaker,
            words=BuiltinCommands(),
            confirmation=self.confirmation,
        )
        self.speaker.speak = self._interrupt

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ModelFinished):
            self.speaker.when.set()

    def _interrupt(self) -> None:
        self.interrupted.append(self.pipeline.interrupt())

    async def answer(self, text: str = "Tell me.") -> TurnEnded:
        async with asyncio.timeout(BOUND_S):
            await self.pipeline.answer(text, Turn())
        ended = self.events[-1]
        assert isinstance(ended, TurnEnded)
        return ended

    @property
    def last_said(self) -> Message:
        return self.conversation.messages()[-1]


@pytest.mark.parametrize("has_to_be_written", [True, False])
async def test_the_conversation_holds_only_the_words_that_were_heard(has_to_be_written: bool) -> None:
    scene = Scene([STORY], at_s=IN_SECOND_S, has_to_be_written=has_to_be_written)
    ended = await scene.answer()
    heard = f"{FIRST} Here is the…"
    assert scene.interrupted == [True]
    assert (ended.outcome, ended.reply) == ("interrupted", heard)
    assert scene.conversation.messages() == (Message("user", "Tell me."), Message("assistant", heard))
    assert scene.speaker.is_cancelled


async def test_the_next_prompt_holds_them() -> None:
    scene = Scene([STORY, "Yes."], at_s=IN_SECOND_S)
    await scene.answer()
    scene.speaker.at_s = 100.0
    assert (await scene.answer("Really?")).outcome == "answered"
    assert isinstance(scene.model, ScriptedModel)
    assert [message.content for message in scene.model.requests[-1].messages] == [
        "Tell me.",
        f"{FIRST} Here is the…",
        "Really?",
    ]


async def test_what_was_said_before_the_first_word_was_heard_is_remembered() -> None:
    scene = Scene([STORY], at_s=0.0)
    ended = await scene.answer()
    assert (ended.outcome, ended.reply) == ("interrupted", "")
    assert scene.conversation.messages() == (Message("user", "Tell me."), Message("assistant", "…"))


async def test_what_was_done_stays_done() -> None:
    call = json.dumps({"name": "turn_on", "arguments": {"name": "The lamp"}})
    scene = Scene([f"One moment. <tool_call>{call}</tool_call>"], at_s=len("One moment.The ") * CHAR_S)
    ended = await scene.answer("Lamp!")
    asked, called, result, said = scene.conversation.messages()
    assert asked.content == "Lamp!"
    assert called.content == "One moment."
    assert [call.name for call in called.tool_calls] == ["turn_on"]
    assert (result.role, result.tool_call_id) == ("tool", called.tool_calls[0].id)
    assert said.content == ended.reply == "The…"


async def test_a_reply_that_was_heard_to_its_end_has_no_mark() -> None:
    scene = Scene([FIRST], at_s=len(FIRST) * CHAR_S - 0.02)
    assert (await scene.answer()).reply == FIRST
    assert scene.last_said.content == FIRST


async def test_repeat_after_barge_in_speaks_the_whole_reply() -> None:
    scene = Scene([STORY], at_s=IN_SECOND_S)
    await scene.answer()
    scene.speaker.at_s = 100.0
    assert (await scene.answer("What did you say?")).reply == STORY


async def test_an_instant_answer_can_be_interrupted_too() -> None:
    scene = Scene([], at_s=0.1, has_to_be_written=False)
    ended = await scene.answer("Help.")
    assert ended.outcome == "interrupted"
    assert ended.reply.endswith("…")
    assert scene.conversation.messages() == ()


async def test_nothing_is_made_of_what_will_not_be_heard() -> None:
    scene = Scene([STORY * 20], at_s=0.1)
    await scene.answer()
    assert len(scene.synthesizer.spoken) < 5
    told = [event.text for event in scene.events if isinstance(event, SynthesisStarted)]
    assert told == scene.synthesizer.spoken


async def test_of_a_turn_that_was_stopped_only_what_was_heard_is_kept_as_well() -> None:
    scene = Scene([STORY], at_s=IN_SECOND_S)
    scene.speaker.speak = lambda: scene.pipeline.act_on("Stop.")
    ended = await scene.answer()
    assert (ended.outcome, ended.reply) == ("cancelled", f"{FIRST} Here is the…")
    assert scene.last_said.content == ended.reply


async def test_a_hundred_interruptions_leave_a_whole_conversation_and_nothing_else() -> None:
    moments = random.Random(9)
    for _ in range(100):
        at_s = moments.uniform(0, 0.95 * len(STORY) * CHAR_S)
        scene = Scene([STORY], at_s=at_s, has_to_be_written=moments.random() < 0.5)
        ended = await scene.answer()
        assert scene.interrupted == [True]
        assert ended.outcome == "interrupted"
        asked, said = scene.conversation.messages()
        assert asked.content == "Tell me."
        assert STORY.startswith(said.content.removesuffix("…").strip())
        # The spaces between sentences are not spoken, and devices are not exact.
        assert len(said.content) <= at_s / CHAR_S + 8
    assert asyncio.all_tasks() == {asyncio.current_task()}


# --- when there is nothing to interrupt


async def test_without_a_turn_nothing_is_interrupted() -> None:
    scene = Scene([STORY], at_s=100.0)
    assert not scene.pipeline.interrupt()
    await scene.answer()
    assert not scene.pipeline.interrupt()


async def test_an_assistant_that_thinks_is_not_interrupted() -> None:
    model = Ponderer()
    scene = Scene(model, at_s=100.0)
    async with asyncio.timeout(BOUND_S):
        answering = asyncio.create_task(scene.answer())
        await settle()
        assert model.requests
        assert not scene.pipeline.interrupt()
        model.may_answer.set()
        assert (await answering).outcome == "answered"


async def test_a_turn_is_interrupted_once() -> None:
    scene = Scene([STORY], at_s=IN_SECOND_S)

    def twice() -> None:
        scene.interrupted += [scene.pipeline.interrupt(), scene.pipeline.interrupt()]

    scene.speaker.speak = twice
    await scene.answer()
    assert scene.interrupted == [True, False]


async def test_a_reply_that_is_only_written_is_not_interrupted() -> None:
    agent = LLMAgent("test", model=ScriptedModel([STORY]))
    pipeline = Pipeline(agent, preset="p", publish=lambda _event: None)
    answering = asyncio.create_task(pipeline.answer("Tell me.", Turn()))
    await asyncio.sleep(0)
    assert not pipeline.interrupt()
    assert (await answering).spoken_prefix is None


# --- what is said beside the reply


async def test_what_was_interjected_is_no_part_of_the_reply() -> None:
    speaker = SpokenOver((len(FIRST) + len("Louder.") + len("Here is the ")) * CHAR_S)
    turn = Turn()
    speaker.speak = turn.cancel.set
    speaker.when.set()
    speech = SpokenReply(SpeechOutput(Synthesizer(ToneSynthesizer()), speaker, Volume()), turn, lambda _event: None)
    speech.write(f"{FIRST} {SECOND[:4]}")
    speech.interject("Louder.")
    speech.write(SECOND[4:])
    speech.finish()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        speech.start(group)
    assert speech.spoken_text() == f"{FIRST} Here is the"


async def test_what_rings_in_between_is_not_counted_either() -> None:
    speaker = SpokenOver(2.5)
    cancel = CancelFlag()
    speaker.speak = cancel.set
    speech_output = SpeechOutput(Synthesizer(ToneSynthesizer()), speaker, Volume())
    second = Audio(np.zeros(16_000, dtype=np.float32), 16_000)
    rest = asyncio.Event()

    async def passage() -> AsyncIterator[Audio]:
        yield second
        await rest.wait()
        yield second

    async with asyncio.timeout(BOUND_S):
        playing = asyncio.create_task(speech_output.play(passage(), cancel, lambda: None))
        await settle()
        assert speech_output.is_sounding
        assert await speech_output.interject((second,), CancelFlag())
        rest.set()
        speaker.when.set()
        assert await playing == pytest.approx(1.5)


async def test_a_question_that_is_spoken_over_is_not_agreed_to() -> None:
    call = json.dumps({"name": "unlock", "arguments": {}})
    scene = Scene([f"<tool_call>{call}</tool_call>"], at_s=0.1)
    with scene.confirmation.answerable("keyboard"):
        ended = await scene.answer("Unlock it.")
    assert scene.interrupted == [True]
    assert not scene.is_unlocked
    assert ended.outcome == "interrupted"
    decided = [event for event in scene.events if isinstance(event, ConfirmationDecided)]
    assert [event.granted for event in decided] == [False]
    assert scene.last_said == Message("assistant", "…")
    assert any(message.tool_calls for message in scene.conversation.messages())
