"""Answers chat requests in one of three modes.

With tools in the request, tool calls are returned to the client. Without them, an assistant with tools of
its own executes the calls, and the client sees one text stream. Otherwise the client gets the model's text:
unchanged, or as the message of the call in which a model writes text that was trained to write calls only.
The wire formats (the other modules of this folder) translate their requests to a `ChatInput` and its reply back.
"""

from __future__ import annotations

import dataclasses
import json
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
from edgevox.agents.model_profile import ReplyPreview
from edgevox.agents.tool_loop import Confirm, spoken_text
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import TranscriptReady, TurnEnded, TurnStarted
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import API_CLIENT, ChatDelta, ChatDone, ChatModel, ChatReply, ChatRequest, ToolCall
from edgevox.llm.tool_choice import RESPOND, RESPOND_NAME, HopPlan, plan_hop
from edgevox.llm.tool_parsers import DETECTORS, ParseDelta, StreamingToolParser
from edgevox.server.assistant import Assistant
from edgevox.server.chat.home_assistant import HomeAssistantTools
from edgevox.server.chat.input import (
    ChatInput,
    ReplyEnd,
    ReplyPart,
    ReplyStart,
    ReplyText,
    ReplyToolCall,
    Usage,
    unfinished,
)
from edgevox.server.engine_queues import ModelQueue
from edgevox.server.http.errors import invalid
from edgevox.server.scheduling import ClientKey
from edgevox.tools.policy import Caller

# What the name, brackets and quotes of a call take, beside its message.
_CALL_TOKENS = 8
# For a model that was not trained to speak about results.
_DONE = "Done."
# A character that no call syntax escapes, to find the place after it.
_CUT = "\ue000"


class MeteredModel:
    """A model whose tokens are counted over all generations, those of a prompt as soon as they are known."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._finished = self._running = Usage()

    @property
    def usage(self) -> Usage:
        return self._finished.plus(self._running)

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self._running = Usage()
        async with aclosing(self._model.stream(request, cancel)) as replies:
            async for reply in replies:
                if isinstance(reply, ChatDone):
                    self._finished, self._running = self._finished.plus(reply), Usage()
                elif not self._running.prompt_tokens:
                    self._running = Usage(reply.prompt_tokens, reply.cached_tokens)
                yield reply


class ReplyReader:
    """Parses a streamed reply and returns its parts as soon as they are final.

    Leading and trailing space is held back, so that streamed and whole text are equal. A call is returned
    when it is complete: until then it may turn out to be text.
    """

    def __init__(self, parsers: tuple[str, ...], question: ChatInput) -> None:
        self._parsers = parsers
        own = {tool["function"]["name"] for tool in question.tools or ()}
        self._has_respond = RESPOND_NAME in own
        self._max_calls = math.inf if question.parallel_calls else 1
        if question.tool_choice == "none":
            self._max_calls = 0
        self._has_text = False
        self.calls: list[ToolCall] = []

    def begin(self, plan: HopPlan) -> None:
        """Start to read a reply; it continues the one before, if any."""
        self._parser = StreamingToolParser(self._parsers, [dict(tool) for tool in plan.tools])
        self._space = " " if self._has_text else ""
        self._problems = 0
        self.done = ChatDone("cancelled", 0, 0, 0)  # a cancelled model may end without ChatDone

    @property
    def is_garbled(self) -> bool:
        """Whether the reply contains attempts at calls, but no valid call."""
        return bool(self._problems) and not self.calls

    def feed(self, text: str) -> list[ReplyPart]:
        return self._parts(self._parser.feed(text))

    def finish(self, done: ChatDone) -> list[ReplyPart]:
        self.done = done
        return self._parts(self._parser.finish(is_cut=done.finish_reason == "length"))

    def _parts(self, delta: ParseDelta) -> list[ReplyPart]:
        parts: list[ReplyPart] = []
        texts = [delta.text]
        self._problems += len(delta.rejected)
        for item in delta.calls:
            call = ToolCall(_new_id(), item.name, item.arguments)
            if item.error is not None:
                self._problems += 1
            elif item.name == RESPOND_NAME and not self._has_respond:
                texts.append(spoken_text(call))  # text in the form of a call
            elif len(self.calls) < self._max_calls:
                self.calls.append(call)
                parts.append(ReplyToolCall(call))
        text = "".join(map(self._final_text, texts))
        return [ReplyText(text), *parts] if text else parts

    def _final_text(self, text: str) -> str:
        text = self._space + text
        kept = text.rstrip()
        self._space = text[len(kept) :] if self._has_text or kept else ""
        if not self._has_text:
            kept = kept.lstrip()
        self._has_text = self._has_text or bool(kept)
        return kept


def _new_id() -> str:
    # Nine alphanumeric characters, as Mistral's templates require; clients send the ids back.
    return "call" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(5))


@dataclasses.dataclass(frozen=True, slots=True)
class ConversationOrigin:
    """A conversation of several requests, the room of its speaker, and the way to ask for a yes in it."""

    client: str
    room: str
    confirm: Confirm


class ChatService:
    """Answers chat requests; clients wait for the shared model in the `queue`."""

    def __init__(self, assistant: Assistant, queue: ModelQueue, confirm: Confirm) -> None:
        self._assistant = assistant
        self._queue = queue
        self._confirm = confirm

    async def parts(
        self,
        question: ChatInput,
        caller: Caller,
        client_key: ClientKey | None = None,
        stop_on: CancelFlag | None = None,
        origin: ConversationOrigin | None = None,
    ) -> AsyncGenerator[ReplyPart, None]:
        """Stream the answer; closing it, or `stop_on`, stops the model. `client_key` identifies a retrying client.

        Without an `origin` the request is a conversation of its own.

        Raises ApiError if the queue is full, EngineFailed, also for a model that ends without an end, and ModelError.
        """
        self._check_local(question.prefill, "a remote model cannot continue a message")
        intents = HomeAssistantTools.of(question) if self._assistant.home_only else None
        if intents is not None:
            if intents.has_acted(question):
                yield ReplyStart(Usage())
                yield ReplyText(_DONE)
                yield ReplyEnd("stop", Usage())
                return
            question = intents.translated(question)
        cancel, stop_on = CancelFlag(), stop_on or CancelFlag()
        with self._queue.place(client_key):
            model = MeteredModel(self._queue.model_for(caller.name))
            match question.mode(has_own_tools=self._assistant.make_agent is not None):
                case "client_tools" | "plain" if self._writes_calls_only(question):
                    parts = self._as_respond_call(model, question, cancel)
                case "client_tools":
                    parts = self._with_client_tools(model, question, cancel)
                case "own_tools":
                    parts = self._with_own_tools(model, question, caller, cancel, origin)
                case "plain":
                    parts = self._plain(model, question, cancel)
                case mode:
                    assert_never(mode)
            has_begun = has_ended = False
            stop_on.add_listener(cancel.set)
            try:
                async with aclosing(parts):
                    async for part in parts:
                        if not has_begun:
                            has_begun = True
                            yield ReplyStart(model.usage)
                        if intents is not None and isinstance(part, ReplyToolCall):
                            part = ReplyToolCall(intents.call(part.call))
                        has_ended = isinstance(part, ReplyEnd)
                        yield part
                if not has_ended and not cancel.is_set():
                    raise unfinished()
            finally:
                stop_on.remove_listener(cancel.set)
                cancel.set()

    async def count_tokens(self, question: ChatInput, caller: Caller, client_key: ClientKey | None = None) -> int:
        """Return the length of the prompt, without that of the assistant's own tools. Raises as `parts` does."""
        self._check_local(True, "the prompts of a remote model cannot be counted")
        counted = dataclasses.replace(question, sampling=dataclasses.replace(question.sampling, max_tokens=0))
        request, cancel = self._request(counted, self._first_plan(question)), CancelFlag()
        with self._queue.place(client_key):
            try:
                async with aclosing(self._queue.model_for(caller.name).stream(request, cancel)) as replies:
                    lengths = [reply.prompt_tokens async for reply in replies if isinstance(reply, ChatDone)]
            finally:
                cancel.set()
        if not lengths:
            raise unfinished()
        return max(lengths)

    def _check_local(self, is_needed: object, message: str) -> None:
        """Raises ApiError if something is needed that only a model on this machine can do."""
        if is_needed and not self._assistant.resumes:
            raise invalid(message, "messages")

    # --- model output unchanged

    async def _plain(
        self, model: MeteredModel, question: ChatInput, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        async with aclosing(self._text(model, self._request(question, HopPlan((), "none")), question, cancel)) as parts:
            async for part in parts:
                yield part

    async def _text(
        self, model: MeteredModel, request: ChatRequest, question: ChatInput, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        async with aclosing(model.stream(request, cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta(text):
                        yield ReplyText(text)
                    case ChatDone():
                        yield ReplyEnd(reply.finish_reason, model.usage, _stop_word(reply, question))

    # --- text from a model that writes calls only

    def _writes_calls_only(self, question: ChatInput) -> bool:
        """Whether plain text is wanted from a model whose preset requires a call."""
        is_plain = not question.tools or question.tool_choice == "none" or bool(question.prefill)
        return is_plain and question.json_schema is None and self._assistant.profile.policy != "auto"

    async def _as_respond_call(
        self, model: MeteredModel, question: ChatInput, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        """Stream the message of a call of the built-in `respond`, which the grammar forces."""
        sampling = question.sampling
        more = dataclasses.replace(sampling, max_tokens=sampling.max_tokens + _CALL_TOKENS)
        plan = self._first_plan(question)
        reading, preview, begun = ReplyReader(self._assistant.profile.parsers, question), ReplyPreview(), ""
        reading.begin(plan)
        text = ""
        request = self._request(dataclasses.replace(question, sampling=more, tools=None), plan)
        if question.prefill:
            opening = self._respond_opening(question.prefill)
            request = dataclasses.replace(request, reply_prefix=opening, prefill=opening)
            reading.feed(opening)
            preview.feed(opening)
        async with aclosing(model.stream(request, cancel)) as replies:
            async for reply in replies:
                found = reading.feed(reply.text) if isinstance(reply, ChatDelta) else reading.finish(reply)
                begun = preview.feed(reply.text) or begun if isinstance(reply, ChatDelta) else begun
                text += "".join(part.text for part in found if isinstance(part, ReplyText))
        text = (text or begun).removeprefix(question.prefill)
        text, stopped_at = _until_stop(text.rstrip() if question.prefill else text.strip(), question.stop)
        if text:
            yield ReplyText(text)
        finish = reading.done.finish_reason if stopped_at is None else "stop"
        yield ReplyEnd(finish, model.usage, stopped_at)

    def _respond_opening(self, text: str) -> str:
        """Return how a call of `respond` begins whose message begins with `text`."""
        call = ToolCall("call00000", RESPOND_NAME, json.dumps({"text": f"{text}{_CUT}"}, ensure_ascii=False))
        return DETECTORS[self._assistant.profile.parsers[0]]().render((call,)).partition(_CUT)[0]

    # --- the client executes tool calls

    async def _with_client_tools(
        self, model: MeteredModel, question: ChatInput, cancel: CancelFlag
    ) -> AsyncGenerator[ReplyPart, None]:
        choice = question.tool_choice
        # A schema is for the answer and leaves calls free: text that is no call is generated again under the schema.
        has_schema = question.json_schema is not None and choice != "none"
        free = dataclasses.replace(question, json_schema=None) if has_schema else question
        first = self._first_plan(question)
        # An invalid call is retried with a grammar, which forces a valid call or text.
        retry = plan_hop(question.tools or (), policy="auto", hop=0, choice="required")
        reading = ReplyReader(self._assistant.profile.parsers, question)
        for plan in (first, retry):
            reading.begin(plan)
            async with aclosing(model.stream(self._request(free, plan), cancel)) as replies:
                async for reply in replies:
                    found = reading.feed(reply.text) if isinstance(reply, ChatDelta) else reading.finish(reply)
                    for part in found:
                        if isinstance(part, ReplyToolCall) or not has_schema:
                            yield part
            if not reading.is_garbled or choice == "none" or reading.done.finish_reason == "length":
                break
        if has_schema and not reading.calls:
            request = self._request(question, HopPlan(first.tools, "auto"))
            async with aclosing(self._text(model, request, question, cancel)) as parts:
                async for part in parts:
                    yield part
            return
        finish = "tool_calls" if reading.calls else reading.done.finish_reason
        yield ReplyEnd(finish, model.usage, _stop_word(reading.done, question))

    def _first_plan(self, question: ChatInput) -> HopPlan:
        tools, choice = question.tools or (), question.tool_choice
        if self._writes_calls_only(question):
            return HopPlan((RESPOND,), "required")
        if not tools:
            return HopPlan((), "none")
        # Where the client leaves it open, the preset's policy decides.
        is_free = choice == "auto" and not question.prefill
        policy = self._assistant.profile.policy
        return plan_hop(tools, policy=policy, hop=question.hop) if is_free else HopPlan(tools, choice)

    def _request(self, question: ChatInput, plan: HopPlan) -> ChatRequest:
        profile = self._assistant.profile
        return ChatRequest(
            question.prompt,
            tools=plan.tools,
            sampling=question.sampling,
            stop=(*profile.stop, *question.stop),
            # Without a parser, reasoning would not be removed from the reply.
            thinking=profile.thinking and bool(plan.tools) and not question.prefill and question.json_schema is None,
            tool_choice=plan.tool_choice,
            wire_format=profile.parsers[0] if profile.parsers else None,
            tools_as=profile.tools_as,
            parallel_calls=question.parallel_calls,
            json_schema=question.json_schema,
            client=API_CLIENT + uuid.uuid4().hex,
            reply_prefix=question.prefill,
            prefill=question.prefill,
        )

    # --- the assistant executes tool calls

    async def _with_own_tools(
        self,
        model: MeteredModel,
        question: ChatInput,
        caller: Caller,
        cancel: CancelFlag,
        origin: ConversationOrigin | None,
    ) -> AsyncGenerator[ReplyPart, None]:
        make_agent = self._assistant.make_agent
        assert make_agent is not None
        origin = origin or ConversationOrigin(API_CLIENT + uuid.uuid4().hex, "", self._confirm)
        *past, begun = group_turns(question.messages)
        agent = make_agent(
            model=model,
            instructions=question.instructions,
            sampling=question.sampling,
            stop=(*self._assistant.profile.stop, *question.stop),
            conversation=conversation_from_messages([complete_turn(turn) for turn in past]),
            caller=caller,
            confirm=origin.confirm,
            publish=self._assistant.record,
            client=origin.client,
            room=origin.room,
        )
        turn = Turn(cancel=cancel)
        with self._recorded(turn, begun[0].content, origin.room) as texts:
            async with aclosing(agent.stream(begun, turn, tool_choice=question.tool_choice, source="api")) as pieces:
                async for piece in pieces:
                    match piece:
                        case str():
                            yield ReplyText(piece)
                        case AgentResult():
                            texts.append(piece.reply)
                            # The calls are done: the client only gets the text.
                            is_cut = piece.finish_reason == "length"
                            yield ReplyEnd("length" if is_cut else "stop", model.usage)

    @contextmanager
    def _recorded(self, turn: Turn, text: str, room: str) -> Iterator[list[str]]:
        """Record the turn like a local one, because the assistant may act; the caller appends the reply."""
        record, reply = self._assistant.record, list[str]()
        record(TurnStarted(turn_id=turn.id, source="api", preset=self._assistant.name, room=room))
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


def _until_stop(text: str, stop: tuple[str, ...]) -> tuple[str, str | None]:
    """Return the text before the first stop string, and that string: grammars know none."""
    found = min(((text.find(one), one) for one in stop if one in text), default=None)
    return (text, None) if found is None else (text[: found[0]].rstrip(), found[1])


def _stop_word(done: ChatDone, question: ChatInput) -> str | None:
    """Return the stop string of the request that ended the text, if any."""
    return done.stopped_at if done.stopped_at in question.stop else None
