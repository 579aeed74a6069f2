"""Answers to questions, in one of three modes.

Tools in the request: the model's calls are handed to the program. None, and the assistant has its own: it
makes the calls itself, and the program sees one stream of words. Neither: what the model writes, untouched.
"""

from __future__ import annotations

import dataclasses
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import assert_never

from edgevox.agents import AgentResult
from edgevox.agents.confirm import Confirm
from edgevox.agents.kept_turn import whole
from edgevox.agents.past_turns import grouped, past_conversation
from edgevox.errors import EdgevoxError
from edgevox.events import Event, ModelFinished, TranscriptReady, TurnEnded, TurnStarted
from edgevox.llm.tool_choice import HopPlan, plan_hop
from edgevox.server.assistant import Assistant
from edgevox.server.claims import Seeker
from edgevox.server.model_queue import ModelQueue
from edgevox.server.parts import Ended, Part, Said, Usage
from edgevox.server.question import Question
from edgevox.server.reading import Reading
from edgevox.tools.scopes import Caller
from edgevox.turn import CancelFlag, Turn
from edgevox.types import API_CLIENT, ChatDelta, ChatDone, ChatModel, ChatRequest


class Answering:
    """Answers questions for an assistant; the model is shared, and programs wait for it in the `queue`."""

    def __init__(self, assistant: Assistant, queue: ModelQueue, confirm: Confirm) -> None:
        self._assistant = assistant
        self._queue = queue
        self._confirm = confirm

    async def parts(
        self, question: Question, caller: Caller, seeker: Seeker | None = None
    ) -> AsyncGenerator[Part, None]:
        """The answer as it is made; closing it stops the model. `seeker` is whom it goes to.

        Raises ApiError when too many wait, EngineFailed and ModelError.
        """
        cancel = CancelFlag()
        with self._queue.place(seeker):
            model = self._queue.model_for(caller.name)
            match question.mode(has_own_tools=self._assistant.make_agent is not None):
                case "client_tools":
                    parts = self._with_client_tools(model, question, cancel)
                case "own_tools":
                    parts = self._with_own_tools(model, question, caller, cancel)
                case "plain":
                    parts = self._plain(model, question, cancel)
                case mode:
                    assert_never(mode)
            try:
                async with aclosing(parts):
                    async for part in parts:
                        yield part
            finally:
                cancel.set()

    # --- what the model writes, untouched

    async def _plain(
        self, model: ChatModel, question: Question, cancel: CancelFlag
    ) -> AsyncGenerator[Part, None]:
        request = self._request(question, HopPlan((), "none"))
        async with aclosing(model.stream(request, cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta(text):
                        yield Said(text)
                    case ChatDone():
                        yield Ended(
                            reply.finish_reason, Usage().plus_done(reply), _stop_word(reply, question)
                        )

    # --- the program makes the calls

    async def _with_client_tools(
        self, model: ChatModel, question: Question, cancel: CancelFlag
    ) -> AsyncGenerator[Part, None]:
        plan = _plan(question, self._assistant)
        reading = Reading(self._assistant.asked.parsers, question, plan)
        async with aclosing(self._read(model, question, plan, reading, cancel)) as parts:
            async for part in parts:
                yield part
        if reading.is_garbled and question.tool_choice != "none":
            # Something was meant to be a call: the grammar makes it one, or lets the model say it in words.
            plan = plan_hop(question.tools or (), policy="auto", hop=0, choice="required")
            again = reading.again(self._assistant.asked.parsers, question, plan)
            async with aclosing(self._read(model, question, plan, again, cancel)) as parts:
                async for part in parts:
                    yield part
            reading = again
        finish = "tool_calls" if reading.calls else reading.done.finish_reason
        yield Ended(finish, reading.usage, _stop_word(reading.done, question))

    async def _read(
        self, model: ChatModel, question: Question, plan: HopPlan, reading: Reading, cancel: CancelFlag
    ) -> AsyncGenerator[Part, None]:
        async with aclosing(model.stream(self._request(question, plan), cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta(text):
                        found = reading.feed(text)
                    case ChatDone():
                        found = reading.finish(reply)
                    case _:
                        assert_never(reply)
                for part in found:
                    yield part

    def _request(self, question: Question, plan: HopPlan) -> ChatRequest:
        asked = self._assistant.asked
        return ChatRequest(
            question.messages,
            tools=plan.tools,
            sampling=question.sampling,
            stop=(*asked.stop, *question.stop),
            # Where nothing is read out of the reply, nobody would take the thoughts out either.
            thinking=asked.thinking and bool(plan.tools),
            tool_choice=plan.tool_choice,
            wire_format=asked.parsers[0] if asked.parsers else None,
            tools_as=asked.tools_as,
            parallel_calls=question.parallel_calls,
            json_schema=question.json_schema,
            client=API_CLIENT + uuid.uuid4().hex,
        )

    # --- the assistant makes them itself

    async def _with_own_tools(
        self, model: ChatModel, question: Question, caller: Caller, cancel: CancelFlag
    ) -> AsyncGenerator[Part, None]:
        make_agent = self._assistant.make_agent
        assert make_agent is not None
        usage = Usage()

        def count(event: Event) -> None:
            nonlocal usage
            self._assistant.record(event)
            if isinstance(event, ModelFinished):
                usage = usage.plus(event.prompt_tokens, event.cached_tokens, event.generated_tokens)

        *past, begun = grouped(question.messages)
        agent = make_agent(
            model=model,
            instructions=question.instructions,
            sampling=question.sampling,
            stop=(*self._assistant.asked.stop, *question.stop),
            conversation=past_conversation([whole(turn) for turn in past]),
            caller=caller,
            confirm=self._confirm,
            publish=count,
            client=API_CLIENT + uuid.uuid4().hex,
        )
        turn = Turn(cancel=cancel)
        with self._recorded(turn, begun[0].content) as heard:
            async with aclosing(
                agent.stream(begun, turn, tool_choice=question.tool_choice, source="api")
            ) as pieces:
                async for piece in pieces:
                    match piece:
                        case str():
                            yield Said(piece)
                        case AgentResult():
                            heard.append(piece.reply)
                            # The calls have been made: what is left of them is the answer.
                            is_cut = piece.finish_reason == "length"
                            yield Ended("length" if is_cut else "stop", usage)

    @contextmanager
    def _recorded(self, turn: Turn, text: str) -> Iterator[list[str]]:
        """A turn in which the assistant may act is recorded, as those of the room are; the reply is added."""
        record, reply = self._assistant.record, list[str]()
        record(TurnStarted(turn_id=turn.id, source="api", preset=self._assistant.name))
        record(TranscriptReady(turn_id=turn.id, text=text, language=""))
        ended = TurnEnded(turn_id=turn.id, outcome="cancelled")
        try:
            yield reply
            ended = TurnEnded(turn_id=turn.id, outcome="answered", reply="".join(reply))
        except EdgevoxError as error:
            ended = TurnEnded(turn_id=turn.id, outcome="failed", error_code=error.code, error=error.message)
            raise
        finally:
            record(dataclasses.replace(ended, at_s=time.monotonic()))


def _plan(question: Question, assistant: Assistant) -> HopPlan:
    """What the program chose holds for this reply; where it left the choice, the preset has its policy."""
    tools = question.tools or ()
    if question.tool_choice == "auto":
        return plan_hop(tools, policy=assistant.asked.policy, hop=question.hop)
    return HopPlan(tools, question.tool_choice)


def _stop_word(done: ChatDone, question: Question) -> str | None:
    """What ended the text, if it was the program that wanted it so."""
    return done.stopped_at if done.stopped_at in question.stop else None
