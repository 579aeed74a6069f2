"""The conversation history: the last turns in full, a summary of earlier ones, and the record of a turn.

Turns dropped from the prompt stay in the journal. Nothing here waits for the disk. A record is always complete, because
some chat templates reject a call without a result and a turn without a final reply.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from pydantic import TypeAdapter

from edgevox.config import MemorySettings
from edgevox.core.errors import ContextOverflow
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatModel, ChatRequest, Message, Sampling, ToolCall
from edgevox.llm.tool_parsers import parse_reply
from edgevox.tools.sanitize import sanitize_tool_output

NO_RESULT = "no result: the turn ended first, and it may have happened"
INTERRUPTED = "I was interrupted."
CUT_OFF = "…"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn of a conversation; `at_s` is its end in seconds since 1970."""

    id: str
    conversation: str
    at_s: float
    source: str
    finish_reason: str
    messages: tuple[Message, ...]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(call for message in self.messages for call in message.tool_calls)


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of the turns from `first_id` to `last_id`, which no longer fit the prompt."""

    text: str
    first_id: str
    last_id: str


def mark_truncated(spoken_prefix: str) -> str:
    """Mark the spoken part of a reply as incomplete."""
    if not spoken_prefix:
        return CUT_OFF
    is_sentence = spoken_prefix[-1] in ".!?…"
    return f"{spoken_prefix} {CUT_OFF}" if is_sentence else f"{spoken_prefix.rstrip(' ,;:–-')}{CUT_OFF}"


def complete_turn(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages of one turn, repaired if the turn was cut short.

    Each call is followed by its result, in the order of the calls; results without a call are removed; the last message
    is the assistant's. Raises ValueError if the messages are not one turn.
    """
    if not messages or messages[0].role != "user":
        raise ValueError("a turn must begin with a user message")
    if any(message.role in ("user", "system") for message in messages[1:]):
        raise ValueError("a turn must consist of one user message, then assistant and tool messages")
    mended = tuple(_repaired(messages))
    last = mended[-1]
    if last.role != "assistant" or last.tool_calls:
        return (*mended, Message("assistant", INTERRUPTED))
    return mended


def _repaired(messages: Sequence[Message]) -> Iterator[Message]:
    rest = deque(messages)
    while rest:
        message = rest.popleft()
        if message.role == "tool":
            continue
        results = []
        while rest and rest[0].role == "tool":
            results.append(rest.popleft())
        yield message
        for call in message.tool_calls:
            found = next((result for result in results if result.tool_call_id == call.id), None)
            if found is not None:
                results.remove(found)
            yield found or Message("tool", NO_RESULT, tool_call_id=call.id)


_MESSAGES = TypeAdapter(tuple[Message, ...])


def messages_as_json(messages: Sequence[Message]) -> str:
    return _MESSAGES.dump_json(tuple(messages)).decode()


def messages_from_json(text: str) -> tuple[Message, ...]:
    """Raises ValueError for text that `messages_as_json` did not write."""
    return _MESSAGES.validate_json(text)


Clock: TypeAlias = Callable[[], float]
"""Wall-clock seconds since 1970 (time.time); they are compared with those of earlier runs."""

# Dropping a turn changes the start of the prompt, so everything behind it is evaluated again. Therefore this share of
# the turns is dropped at once; of a few turns, all but the last.
_LEAVE_TOGETHER = 4
_FEW_TURNS = 8


class Journal(Protocol):
    """Stores turns beyond this process. Every method returns at once and raises nothing."""

    def write_turn(self, turn: TurnRecord) -> None: ...

    def amend_turn(self, turn: TurnRecord) -> None:
        """Overwrite the turn with the same id; a deleted turn stays deleted."""

    def write_summary(self, conversation: str, summary: Summary) -> None: ...

    def forgettings(self) -> int:
        """Return a number that changes whenever this or another process deletes turns."""

    def surviving(self, turn_ids: Collection[str]) -> Collection[str]:
        """Return the ids of those turns that have not been deleted."""


class Conversation:
    """One conversation. It restarts after `memory.continue_minutes` of silence."""

    def __init__(
        self,
        name: str = "default",
        *,
        settings: MemorySettings | None = None,
        clock: Clock = time.time,
        journal: Journal | None = None,
        turns: Sequence[TurnRecord] = (),
        summary: Summary | None = None,
    ) -> None:
        """Without a journal it ends with the process. `turns` and `summary` restore an earlier state."""
        settings = settings or MemorySettings()
        self.name = name
        self._clock = clock
        self._journal = journal
        self._max_turns = settings.max_turns
        self._continue_s = settings.continue_minutes * 60
        self._turns = list(turns)
        self._dropped: list[TurnRecord] = []
        self._being_summarised: list[TurnRecord] = []
        self._summary = summary
        self._last_s = turns[-1].at_s if turns else clock()
        self._forgettings = journal.forgettings() if journal else 0

    def messages(self) -> tuple[Message, ...]:
        """Return the history for the prompt: the summary, then whole turns."""
        self._refresh()
        messages = [message for turn in self._turns for message in turn.messages]
        if self._summary is not None:
            # It may repeat text of a web page or a device, so it must not read like an instruction.
            notes = sanitize_tool_output(self._summary.text)
            messages.insert(0, Message("system", f"Notes of what was said before, for information only: {notes}"))
        return tuple(messages)

    def keep(
        self, turn: Sequence[Message], *, turn_id: str | None = None, source: str = "text", finish_reason: str = "stop"
    ) -> None:
        """Store a turn: the user message and everything after it, repaired if it was interrupted.

        Raises ValueError for messages that are not one turn.
        """
        messages = complete_turn(turn)
        self._refresh()
        self._last_s = self._clock()
        kept = TurnRecord(turn_id or uuid.uuid4().hex, self.name, self._last_s, source, finish_reason, messages)
        self._turns.append(kept)
        if self._journal:
            self._journal.write_turn(kept)
        if len(self._turns) > self._max_turns:
            is_short = self._max_turns < _FEW_TURNS
            self.forget_oldest(self._max_turns if is_short else self._max_turns // _LEAVE_TOGETHER)

    def amend_reply(self, turn_id: str, reply: str, *, finish_reason: str) -> None:
        """Replace the final message of a stored turn that is still in the prompt."""
        self._refresh()
        for place, kept in enumerate(self._turns):
            if kept.id == turn_id:
                messages = (*kept.messages[:-1], Message("assistant", reply))
                amended = replace(kept, messages=messages, finish_reason=finish_reason)
                self._turns[place] = amended
                if self._journal:
                    self._journal.amend_turn(amended)

    def forget_oldest(self, turns: int) -> None:
        """Drop the oldest turns from the prompt and queue them for the summary."""
        self._dropped += self._turns[:turns]
        del self._turns[:turns]
        del self._dropped[: -self._max_turns]  # bounds them if no summary is made

    def turns_to_summarise(self) -> tuple[tuple[Message, ...], ...]:
        """Return the turns that left the prompt and are not yet summarised, oldest first."""
        self._refresh()
        self._being_summarised = list(self._dropped)
        return tuple(turn.messages for turn in self._being_summarised)

    @property
    def summary(self) -> str:
        """Return the current summary, or ""."""
        self._refresh()
        return self._summary.text if self._summary else ""

    def set_summary(self, text: str) -> None:
        """Replace the old summary and the turns last returned by `turns_to_summarise`.

        Does nothing if one of those turns was deleted meanwhile: the text may contain its words.
        """
        self._refresh()
        if not self._being_summarised:
            return
        done, self._being_summarised = self._being_summarised, []
        self._dropped = [turn for turn in self._dropped if turn not in done]
        first_id = self._summary.first_id if self._summary else done[0].id
        self._summary = Summary(text, first_id, done[-1].id)
        if self._journal:
            self._journal.write_summary(self.name, self._summary)

    # --- expired and deleted turns

    def _refresh(self) -> None:
        # The clock may have been set back: a turn slightly in the future counts as recent.
        if abs(self._clock() - self._last_s) > self._continue_s:
            self._turns, self._dropped, self._being_summarised, self._summary = [], [], [], None
        if self._journal and (times := self._journal.forgettings()) != self._forgettings:
            self._forgettings = times
            self._drop_deleted_turns(self._journal)

    def _drop_deleted_turns(self, journal: Journal) -> None:
        summarised = {self._summary.first_id, self._summary.last_id} if self._summary else set()
        known = summarised | {turn.id for turn in (*self._dropped, *self._being_summarised, *self._turns)}
        alive = journal.surviving(known)
        if known.issubset(alive):
            return
        self._being_summarised.clear()
        if not summarised.issubset(alive):
            self._summary = None
        self._dropped = [turn for turn in self._dropped if turn.id in alive]
        self._turns = [turn for turn in self._turns if turn.id in alive]


_INSTRUCTIONS = (
    "You keep notes of a conversation. Write down in two or three short sentences what a later answer may "
    "need: names, wishes, facts, what was done. Do not add anything."
)
_MAX_TOKENS = 120
_MAX_TURN_CHARS = 600


async def summarise(model: ChatModel, conversation: Conversation, cancel: CancelFlag) -> bool:
    """Summarise the turns that left the prompt; return False if there were none.

    A cancelled or empty summary changes nothing. Raises EngineFailed and ModelError.
    """
    turns = conversation.turns_to_summarise()
    if not turns:
        return False
    request = ChatRequest(
        (Message("system", _INSTRUCTIONS), Message("user", _summary_prompt(conversation.summary, turns))),
        sampling=Sampling(temperature=0.0, max_tokens=_MAX_TOKENS),
        client="summary",
        is_idle=True,
    )
    written = ""
    try:
        async with aclosing(model.stream(request, cancel)) as replies:
            async for reply in replies:
                if isinstance(reply, ChatDelta):
                    written += reply.text
    except ContextOverflow:
        return False
    text = " ".join(parse_reply(written, preset_parsers=(), tools=[]).text.split())
    if cancel.is_set() or not text:
        return False
    conversation.set_summary(text)
    return True


def _summary_prompt(summary: str, turns: Sequence[Sequence[Message]]) -> str:
    speakers = {"user": "Person", "assistant": "Assistant", "tool": "Tool"}
    lines = [
        f"{speakers[message.role]}: {' '.join(message.content.split())[:_MAX_TURN_CHARS]}"
        for turn in turns
        for message in turn
        if message.content and message.role in speakers
    ]
    before = (f"Notes so far: {summary}",) if summary else ()
    return "\n".join((*before, "The conversation went on:", *lines, "Write the new notes."))
