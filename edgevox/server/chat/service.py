"""Answers chat requests in one of three modes.

With tools in the request, tool calls are returned to the client. Without them, an assistant with tools of
its own executes the calls, and the client sees one text stream. Otherwise the model's output is passed on
unchanged.
"""

from __future__ import annotations

import dataclasses
import math
import secrets
import string
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import assert_never

from edgevox.agents import AgentResult
from edgevox.agents.chat_request import conversation_from_messages, group_turns
from edgevox.agents.conversation import complete_turn
from edgevox.agents.tool_loop import Confirm, spoken_text
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Event, ModelFinished, TranscriptReady, TurnEnded, TurnStarted
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import API_CLIENT, ChatDelta, ChatDone, ChatModel, ChatRequest, ToolCall
from edgevox.llm.tool_choice import RESPOND_NAME, HopPlan, plan_hop
from edgevox.llm.tool_parsers import ParseDelta, StreamingToolParser
from edgevox.server.assistant import Assistant
from edgevox.server.chat.input import ChatInput, ReplyEnd, ReplyPart, ReplyText, ReplyToolCall, Usage
from edgevox.server.engine_queues import ModelQueue
from edgevox.server.scheduling import ClientKey
from edgevox.tools.policy import Caller

_ID_CHARS = string.ascii_letters + string.digits
_ID_LENGTH = 5


class ReplyReader:
    """Feed it a reply; it gives the parts of it that are certain.

    Space at the ends of the text is held back, so that it is the same in pieces and as a whole. A call is
    given when it is whole: until then it may turn out to be none.
    """

    def __init__(self, parsers: tuple[str, ...], question: ChatInput, plan: HopPlan) -> None:
        self._parser = StreamingToolParser(parsers, [dict(tool) for tool in plan.tools])
        own = {tool["function"]["name"] for tool in question.tools or ()}
        self._has_respond = RESPOND_NAME in own
        self._max_calls = math.inf if question.parallel_calls else 1
        if question.tool_choice == "none":
            self._max_calls = 0
        self._has_said = False
        self._space = ""
        self._problems = 0
        self.calls: list[ToolCall] = []
        self.usage = Usage()
        self.done = ChatDone("cancelled", 0, 0, 0)  # a model that is cancelled may just end

    def again(self, parsers: tuple[str, ...], question: ChatInput, plan: HopPlan) -> ReplyReader:
        """For a second reply that goes behind this one."""
        again = ReplyReader(parsers, question, plan)
        again._has_said = self._has_said
        again._space = " " if self._has_said else ""
        again.usage = self.usage
        return again

    @property
    def is_garbled(self) -> bool:
        """Whether calls were meant, and none came of it."""
        return bool(self._problems) and not self.calls

    def feed(self, text: str) -> list[ReplyPart]:
        return self._parts(self._parser.feed(text))

    def finish(self, done: ChatDone) -> list[ReplyPart]:
        self.done = done
        self.usage = self.usage.plus_done(done)
        return self._parts(self._parser.finish())

    def _parts(self, delta: ParseDelta) -> list[ReplyPart]:
        parts: list[ReplyPart] = []
        texts = [delta.text]
        self._problems += len(delta.rejected)
        for item in delta.calls:
            call = ToolCall(_new_id(), item.name, item.arguments)
            if item.error is not None:
                self._problems += 1
            elif item.name == RESPOND_NAME and not self._has_respond:
                texts.append(spoken_text(call))  # plain talk, written as a call
            elif len(self.calls) < self._max_calls:
                self.calls.append(call)
                parts.append(ReplyToolCall(call))
        said = "".join(map(self._said, texts))
        return [ReplyText(said), *parts] if said else parts

    def _said(self, text: str) -> str:
        text = self._space + text
        kept = text.rstrip()
        self._space = text[len(kept) :] if self._has_said or kept else ""
        if not self._has_said:
            kept = kept.lstrip()
        self._has_said = self._has_said or bool(kept)
        return kept


def _new_id() -> str:
    # Nine letters and digits: Mistral's templates take no other, and programs send ids back.
    return "call" + "".join(secrets.choice(_ID_CHARS) for _ in range(_ID_LENGTH))


class ChatService:
    """Answers questions for an assistant; the model is shared, and programs wait for it in the `queue`."""

    def __init__(self, assistant: Assistant, queue: ModelQueue, confirm: Confirm) -> None:
        self._assistant = assistant
        self._queue = queue
        self._confirm = confirm

    async def parts(
        self, question: ChatInput, caller: Caller, client_key: ClientKey | None = None
    ) -> AsyncGenerator[ReplyPart, None]:
        """The answer as it is made; closing it stops the model. `client_key` is whom it goes to.

        Raises ApiError when too many wait, EngineFailed and ModelError.
        """
        cancel = CancelFlag()
        with self._queue.place(client_key):
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
        self, model: ChatModel, question: ChatInput, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        request = self._request(question, HopPlan((), "none"))
        async with aclosing(model.stream(request, cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta(text):
                        yield ReplyText(text)
                    case ChatDone():
                        yield ReplyEnd(reply.finish_reason, Usage().plus_done(reply), _stop_word(reply, question))

    # --- the program makes the calls

    async def _with_client_tools(
        self, model: ChatModel, question: ChatInput, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        plan = _plan(question, self._assistant)
        reading = ReplyReader(self._assistant.asked.parsers, question, plan)
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
        yield ReplyEnd(finish, reading.usage, _stop_word(reading.done, question))

    async def _read(
        self, model: ChatModel, question: ChatInput, plan: HopPlan, reading: ReplyReader, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
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

    def _request(self, question: ChatInput, plan: HopPlan) -> ChatRequest:
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
        self, model: ChatModel, question: ChatInput, caller: Caller, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        make_agent = self._assistant.make_agent
        assert make_agent is not None
        usage = Usage()

        def count(event: Event) -> None:
            nonlocal usage
            self._assistant.record(event)
            if isinstance(event, ModelFinished):
                usage = usage.plus(event.prompt_tokens, event.cached_tokens, event.generated_tokens)

        *past, begun = group_turns(question.messages)
        agent = make_agent(
            model=model,
            instructions=question.instructions,
            sampling=question.sampling,
            stop=(*self._assistant.asked.stop, *question.stop),
            conversation=conversation_from_messages([complete_turn(turn) for turn in past]),
            caller=caller,
            confirm=self._confirm,
            publish=count,
            client=API_CLIENT + uuid.uuid4().hex,
        )
        turn = Turn(cancel=cancel)
        with self._recorded(turn, begun[0].content) as heard:
            async with aclosing(agent.stream(begun, turn, tool_choice=question.tool_choice, source="api")) as pieces:
                async for piece in pieces:
                    match piece:
                        case str():
                            yield ReplyText(piece)
                        case AgentResult():
                            heard.append(piece.reply)
                            # The calls have been made: what is left of them is the answer.
                            is_cut = piece.finish_reason == "length"
                            yield ReplyEnd("length" if is_cut else "stop", usage)

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


def _plan(question: ChatInput, assistant: Assistant) -> HopPlan:
    """What the program chose holds for this reply; where it left the choice, the preset has its policy."""
    tools = question.tools or ()
    if question.tool_choice == "auto":
        return plan_hop(tools, policy=assistant.asked.policy, hop=question.hop)
    return HopPlan(tools, question.tool_choice)


def _stop_word(done: ChatDone, question: ChatInput) -> str | None:
    """What ended the text, if it was the program that wanted it so."""
    return done.stopped_at if done.stopped_at in question.stop else None
