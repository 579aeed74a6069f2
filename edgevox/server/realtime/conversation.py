"""The conversation of a realtime session: its items, the history that a model reads in them, and the agent."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.chat_request import group_turns
from edgevox.agents.conversation import NO_RESULT, Conversation, complete_turn, mark_truncated
from edgevox.agents.model_profile import OnPreview
from edgevox.config import ServerSettings
from edgevox.core.errors import ModelError
from edgevox.core.events import Event, ModelFinished, ModelStarted, Publish, ReplyDelta
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import FinishReason, JsonObject, Message, Role, Sampling, ToolCall
from edgevox.server.chat.input import ChatInput, ReplyEnd, ReplyText, ReplyToolCall, in_order
from edgevox.server.chat.service import ChatService
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.realtime.protocol import ClientItem, Content, ResponseOptions, new_id
from edgevox.tools.policy import Caller

Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]

# Chat templates need a message of the user before the first reply, and before each further one.
_OPENING = "Hello."
_GO_ON = "Go on."


@dataclass(slots=True, eq=False)
class Item:
    """An item of the conversation. `text` is that of a message, the arguments of a call, or its output.

    `calls_before` are the assistant's own calls and results that led to a reply. `model_text` is what the model reads
    of an interrupted reply, `audio_s` how much was spoken of it.
    """

    type: Literal["message", "function_call", "function_call_output"] = "message"
    role: Role = "assistant"
    content_type: Literal["input_text", "input_audio", "output_text", "output_audio"] = "output_text"
    text: str = ""
    id: str = field(default_factory=lambda: new_id("item"))
    status: Status = "completed"
    call_id: str = ""
    name: str = ""
    calls_before: tuple[Message, ...] = ()
    model_text: str | None = None
    audio_s: float = 0.0

    @classmethod
    def of(cls, given: ClientItem) -> Item:
        """Convert an item of the client. Raises ApiError."""
        made = cls(given.type, id=given.id or new_id("item"), call_id=given.call_id or "", name=given.name or "")
        match given.type:
            case "message":
                if given.role is None or not given.content:
                    raise _missing("item.content" if given.role else "item.role")
                made.role = given.role
                made.content_type = "output_text" if given.role == "assistant" else "input_text"
                made.text = "\n".join(_text_of(part) for part in given.content)
                if any(part.audio is not None for part in given.content):
                    made.content_type = "input_audio"
            case "function_call":
                if not given.call_id or not given.name or given.arguments is None:
                    raise _missing("item.call_id, item.name and item.arguments")
                made.text = given.arguments
            case "function_call_output":
                if not given.call_id or given.output is None:
                    raise _missing("item.call_id and item.output")
                made.role, made.text = "tool", given.output
        return made

    @property
    def is_audio(self) -> bool:
        return self.content_type in ("input_audio", "output_audio")

    def as_json(self) -> JsonObject:
        head = {"id": self.id, "object": "realtime.item", "type": self.type, "status": self.status}
        match self.type:
            case "message":
                part = {"type": self.content_type, "transcript" if self.is_audio else "text": self.text}
                is_opened = self.status == "in_progress" and self.role == "assistant"
                return {**head, "role": self.role, "content": [] if is_opened else [part]}
            case "function_call":
                return {**head, "call_id": self.call_id, "name": self.name, "arguments": self.text}
            case "function_call_output":
                return {**head, "call_id": self.call_id, "output": self.text}

    def cut(self, spoken: str) -> None:
        """Keep only the spoken part of a reply."""
        if spoken != self.text:
            self.text, self.model_text = spoken, mark_truncated(spoken)

    def cut_at(self, seconds: float) -> None:
        """Keep what was spoken in that time, up to the last whole word, by the length of the text."""
        if self.audio_s <= 0 or seconds >= self.audio_s:
            return
        words = self.text[: round(len(self.text) * seconds / self.audio_s) + 1]
        self.cut(words.rsplit(maxsplit=1)[0] if len(words.split()) > 1 else "")
        self.audio_s = seconds


def _text_of(part: Content) -> str:
    return part.text if part.text is not None else part.transcript or ""


def _missing(param: str) -> ApiError:
    return ApiError(400, "missing_required_parameter", f"{param} is missing", param=param)


class Items(Conversation):
    """The items in order. As a Conversation it is the history before the turn under way."""

    def __init__(self, limits: ServerSettings) -> None:
        super().__init__("realtime", clock=lambda: 0.0)
        self._limits = limits
        self._items: list[Item] = []
        self._past: tuple[Message, ...] | None = None
        """The history of the turn that the assistant answers with its own tools; None between turns."""
        self.on_keep: Callable[[str, tuple[Message, ...]], None] = lambda _turn_id, _messages: None
        """Called with the messages of a turn between the question and the reply."""

    @property
    def last_id(self) -> str | None:
        return self._items[-1].id if self._items else None

    def find(self, item_id: str) -> Item | None:
        return next((item for item in self._items if item.id == item_id), None)

    def add(self, item: Item, after: str | None = None) -> str | None:
        """Add an item at the end, or after another one ("root" for the beginning); returns the id before it.

        Raises ApiError for an id that is known already, or one to follow that is not.
        """
        if self.find(item.id) is not None:
            raise ApiError(400, "item_create_duplicate_item_id", f"there is an item {item.id}", param="item.id")
        place = len(self._items)
        if after == "root":
            place = 0
        elif after is not None:
            before = self.find(after)
            if before is None:
                raise invalid(f"there is no item {after[:64]}", "previous_item_id")
            place = self._items.index(before) + 1
        call_ids = {one.call_id for one in self._items if one.type == "function_call"}
        if item.type == "function_call" and item.call_id in call_ids:
            raise invalid(f"there is a call {item.call_id[:64]}", "item.call_id")
        if item.type == "function_call_output" and item.call_id not in call_ids:
            raise ApiError(400, "invalid_tool_call_id", f"there is no call {item.call_id[:64]}", param="item.call_id")
        self._items.insert(place, item)
        return self._items[place - 1].id if place else None

    def remove(self, item: Item) -> None:
        self._items.remove(item)

    def overflow(self) -> Item | None:
        """Return the oldest item, if there are too many to remember."""
        return self._items[0] if len(self._items) > self._limits.max_messages // 2 else None

    def last_question(self) -> str:
        """Return the text of the last message of the user, after which there is none of the assistant."""
        last = next((item for item in reversed(self._items) if item.type == "message"), None)
        return last.text if last is not None and last.role == "user" else ""

    def instructions(self, given: str) -> str:
        """Return the instructions with those in system messages."""
        return "\n\n".join(filter(None, (given, *(item.text for item in self._items if item.role == "system"))))

    def prompt(self, instructions: str, names: Sequence[str], said: str, without: Item | None) -> tuple[Message, ...]:
        """Return the messages for a model, a question last; `said` is that of a spoken turn, whose item is `without`.

        Raises ApiError.
        """
        system = [Message("system", instructions)] if instructions else []
        history = self._history([item for item in self._items if item is not without])
        question = [Message("user", said)] if said else []
        if not question and (not history or history[-1].role == "assistant"):
            question = [Message("user", _GO_ON if history else _OPENING)]
        return in_order([*system, *history, *question], names, self._limits)

    def _history(self, items: Sequence[Item]) -> list[Message]:
        messages = [message for message in self._messages(items) if message.role != "system"]
        return [Message("user", _OPENING), *messages] if messages and messages[0].role != "user" else messages

    def _messages(self, items: Sequence[Item]) -> Iterator[Message]:
        """Yield the messages of the items, each call with its result."""
        outputs = {item.call_id: item.text for item in items if item.type == "function_call_output"}
        calls: list[ToolCall] = []
        for item in items:
            if calls and item.type != "function_call":
                yield from _with_results(calls, outputs)
                calls = []
            match item.type:
                case "function_call":
                    calls.append(ToolCall(item.call_id, item.name, item.text))
                case "message":
                    text = item.text if item.model_text is None else item.model_text
                    yield from item.calls_before
                    if text:
                        yield Message(item.role, text)
                case "function_call_output":
                    pass
        if calls:
            yield from _with_results(calls, outputs)

    # --- as the history of the assistant's own agent

    def begin(self, past: Sequence[tuple[Message, ...]]) -> None:
        """Hold the history before a turn."""
        self._past = tuple(message for turn in past for message in complete_turn(turn))

    def end(self) -> None:
        self._past = None

    def messages(self) -> tuple[Message, ...]:
        if self._past is not None:
            return self._past
        turns = [turn for turn in group_turns(self._history(self._items)) if turn and turn[-1].role != "user"]
        return tuple(message for turn in turns for message in complete_turn(turn))

    def keep(
        self, turn: Sequence[Message], *, turn_id: str | None = None, source: str = "text", finish_reason: str = "stop"
    ) -> None:
        del source, finish_reason
        begun = next(index for index, message in enumerate(turn) if message.role == "user")
        self.on_keep(turn_id or "", tuple(turn[begun + 1 : -1]))

    def amend_reply(self, turn_id: str, reply: str, *, finish_reason: str) -> None:
        """Without effect: the item of the reply is cut by the session."""

    def forget_oldest(self, turns: int) -> None:
        """Without effect: what does not fit into the prompt is left out each time."""

    def turns_to_summarise(self) -> tuple[tuple[Message, ...], ...]:
        return ()


def _with_results(calls: Sequence[ToolCall], outputs: dict[str, str]) -> Iterator[Message]:
    yield Message("assistant", "", tool_calls=tuple(calls))
    for call in calls:
        yield Message("tool", outputs.get(call.id, NO_RESULT), tool_call_id=call.id)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a turn asks of the model; the `question` is in the items, or said by voice in `spoken_item`."""

    options: ResponseOptions
    is_explicit: bool
    spoken_item: Item | None = None


class RealtimeTurns(Protocol):
    """The session, as its agent sees it."""

    def asked(self, turn_id: str) -> Asked | None:
        """Return what a turn asks for; None if it wants no response."""

    def called(self, turn_id: str, calls: Sequence[ToolCall]) -> None:
        """Pass calls on to the client."""

    def written(self, turn_id: str, finish_reason: FinishReason) -> None:
        """Note that the text of the reply is complete."""

    def cut(self, turn_id: str, spoken_prefix: str) -> None:
        """Note that only this part of the reply was heard."""

    def default_options(self) -> ResponseOptions:
        """Return the options of responses that have none of their own."""


@dataclass(slots=True)
class SessionInstructions:
    """The client's instructions, which follow those of the assistant."""

    text: str = ""

    def for_utterance(self, _text: str) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ClientFunctions:
    """Asks the model with the functions of the client; the calls go to the client."""

    chat: ChatService
    caller: Caller
    sampling: Sampling
    publish: Publish

    async def stream(self, question: ChatInput, turn: Turn) -> AsyncGenerator[str | ToolCall | ReplyEnd, None]:
        """Stream text, calls and the end. Raises EngineFailed and ModelError."""
        self._publish_at_gate(ModelStarted(turn_id=turn.id), turn)
        # Its ApiError is for a full queue, and this session has one of its own.
        async with aclosing(self.chat.parts(question, self.caller, stop_on=turn.cancel)) as parts:
            async for part in parts:
                match part:
                    case ReplyText(text):
                        self._publish_at_gate(ReplyDelta(turn_id=turn.id, text=text), turn)
                        yield text
                    case ReplyToolCall(call):
                        yield call
                    case ReplyEnd(finish_reason, usage):
                        finished = ModelFinished(
                            turn_id=turn.id,
                            finish_reason=finish_reason,
                            prompt_tokens=usage.prompt_tokens,
                            cached_tokens=usage.cached_tokens,
                            generated_tokens=usage.generated_tokens,
                        )
                        self._publish_at_gate(finished, turn)
                        yield part

    def _publish_at_gate(self, event: Event, turn: Turn) -> None:
        turn.gate.when_open(lambda: self.publish(event))


class RealtimeAgent:
    """Answers with the client's functions, if it has any, else as the assistant does, with its own tools."""

    def __init__(
        self,
        own: LLMAgent,
        items: Items,
        instructions: SessionInstructions,
        functions: ClientFunctions,
        turns: RealtimeTurns,
    ) -> None:
        self._own = own
        self._items = items
        self._instructions = instructions
        self._functions = functions
        self._turns = turns

    async def stream(
        self,
        text: str,
        turn: Turn,
        *,
        source: str,
        spoken: str,
        answer_in: str | None,
        preview: OnPreview,
        is_doubted: bool,
    ) -> AsyncGenerator[str | AgentResult, None]:
        asked = self._turns.asked(turn.id)
        if asked is None:
            yield AgentResult("", (), "stop")
            return
        options = asked.options
        self._instructions.text = self._items.instructions(options.instructions)
        if options.runs_client_functions:
            pieces = self._with_functions(text, turn, asked)
        else:
            shown = preview if options.speaks else _no_preview
            messages = self._begin(text, asked)
            pieces = self._own.stream(
                messages, turn, source=source, spoken=spoken, answer_in=answer_in, preview=shown, is_doubted=is_doubted
            )
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    if isinstance(piece, AgentResult):
                        self._turns.written(turn.id, piece.finish_reason)
                        yield piece
                    elif options.speaks:
                        yield piece
        finally:
            self._items.end()

    def describe(self, calls: Sequence[ToolCall]) -> str:
        return self._own.describe(calls)

    async def perform(
        self, text: str, calls: tuple[ToolCall, ...], turn: Turn, answer_in: str | None = None
    ) -> AgentResult:
        return await self._own.perform(text, calls, turn, answer_in)

    def truncate_reply(self, turn_id: str, spoken_prefix: str, *, finish_reason: str) -> None:
        del finish_reason
        self._turns.cut(turn_id, spoken_prefix)

    async def warm_prefix(self, cancel: CancelFlag, *, again: bool = False) -> None:
        options = self._turns.default_options()
        if not options.runs_client_functions:
            self._instructions.text = self._items.instructions(options.instructions)
            await self._own.warm_prefix(cancel, again=again)

    def _begin(self, text: str, asked: Asked) -> tuple[Message, ...]:
        """Set the history of the assistant's own agent; returns the turn that it goes on with. Raises ModelError."""
        *past, begun = group_turns(self._prompt("", text, asked))
        self._items.begin(past)
        return begun

    def _prompt(self, instructions: str, text: str, asked: Asked) -> tuple[Message, ...]:
        names = [tool.name for tool in asked.options.tools]
        try:
            return self._items.prompt(instructions, names, "" if asked.is_explicit else text, asked.spoken_item)
        except ApiError as error:
            raise ModelError(error.message) from None

    async def _with_functions(self, text: str, turn: Turn, asked: Asked) -> AsyncGenerator[str | AgentResult, None]:
        options, sampling = asked.options, self._functions.sampling
        if options.max_output_tokens != "inf":
            sampling = dataclasses.replace(sampling, max_tokens=options.max_output_tokens)
        prompt = self._prompt(self._instructions.text, text, asked)
        try:
            question = ChatInput(
                prompt,
                tools=options.tool_schemas or None,
                tool_choice=options.choice,
                parallel_calls=options.parallel_tool_calls,
                sampling=sampling,
            )
        except ApiError as error:
            raise ModelError(error.message) from None
        reply, calls = "", list[ToolCall]()
        finish: FinishReason = "stop"
        async with aclosing(self._functions.stream(question, turn)) as pieces:
            async for piece in pieces:
                match piece:
                    case str():
                        reply += piece
                        yield piece
                    case ToolCall():
                        calls.append(piece)
                    case ReplyEnd():
                        finish = piece.finish_reason
        if await turn.gate.passed(turn.cancel) and not turn.cancel.is_set():
            self._turns.called(turn.id, calls)
        is_cut = turn.cancel.is_set()
        yield AgentResult(reply.strip(), tuple(calls), "cancelled" if is_cut else finish)


def _no_preview(_text: str) -> None:
    """A reply in text is not synthesised."""
