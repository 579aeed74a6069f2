"""A turn as it is kept: what the person said, then all that the assistant said and did, whole exchanges only.

A call without its result, or a turn without a last word, makes some templates refuse the whole conversation.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edgevox.types import Message, ToolCall

NO_RESULT = "no result: the turn ended first, and it may have happened"
INTERRUPTED = "I was interrupted."
CUT_OFF = "…"


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """One turn of a conversation; `at_s` is when it ended, in seconds since 1970."""

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
    """What is left of the turns from `first_id` to `last_id`, which the model had no room for."""

    text: str
    first_id: str
    last_id: str


def cut_off(heard: str) -> str:
    """What was heard of a reply, written so that it is seen to have no end."""
    if not heard:
        return CUT_OFF
    is_sentence = heard[-1] in ".!?…"
    return f"{heard} {CUT_OFF}" if is_sentence else f"{heard.rstrip(' ,;:–-')}{CUT_OFF}"


def whole(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages of one turn, made consistent where it was cut short.

    Each call is followed by its result, in the order of the calls; a result that nobody asked for goes; the
    last word is the assistant's. Raises ValueError for what is not one turn.
    """
    if not messages or messages[0].role != "user":
        raise ValueError("a turn begins with what the person said")
    if any(message.role in ("user", "system") for message in messages[1:]):
        raise ValueError("a turn is one question and what the assistant said and did")
    mended = tuple(_mended(messages))
    last = mended[-1]
    if last.role != "assistant" or last.tool_calls:
        return (*mended, Message("assistant", INTERRUPTED))
    return mended


def _mended(messages: Sequence[Message]) -> Iterator[Message]:
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if message.role == "tool":
            continue
        results = []
        while position < len(messages) and messages[position].role == "tool":
            results.append(messages[position])
            position += 1
        yield message
        for call in message.tool_calls:
            found = next((result for result in results if result.tool_call_id == call.id), None)
            if found is not None:
                results.remove(found)
            yield found or Message("tool", NO_RESULT, tool_call_id=call.id)


def messages_as_json(messages: Sequence[Message]) -> str:
    return json.dumps([dataclasses.asdict(message) for message in messages], ensure_ascii=False)


def messages_from_json(text: str) -> tuple[Message, ...]:
    """Raises ValueError for what `messages_as_json` did not write."""
    try:
        return tuple(
            Message(**{**fields, "tool_calls": tuple(ToolCall(**call) for call in fields["tool_calls"])})
            for fields in json.loads(text)
        )
    except (TypeError, KeyError) as error:
        raise ValueError(f"these are no messages: {error}") from error
