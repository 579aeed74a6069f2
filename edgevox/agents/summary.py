"""Summaries: what left the prompt, told in a few words, so that the conversation is not forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import aclosing

from edgevox.agents.conversation import Conversation
from edgevox.errors import ContextOverflow
from edgevox.llm.tool_parsers import parse_reply
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatModel, ChatRequest, Message, Sampling

_INSTRUCTIONS = (
    "You keep notes of a conversation. Write down in two or three short sentences what a later answer may "
    "need: names, wishes, facts, what was done. Do not add anything."
)
_MAX_TOKENS = 120
_MAX_TURN_CHARS = 600


async def summarise(model: ChatModel, conversation: Conversation, cancel: CancelFlag) -> bool:
    """Put a summary in the place of the turns that left the prompt; False when there was nothing to do.

    A cancelled or empty summary changes nothing: the turns wait. Raises EngineFailed and ModelError.
    """
    turns = conversation.turns_to_summarise()
    if not turns:
        return False
    request = ChatRequest(
        (Message("system", _INSTRUCTIONS), Message("user", _told(conversation.summary, turns))),
        sampling=Sampling(temperature=0.0, max_tokens=_MAX_TOKENS),
        client="summary",
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


def _told(summary: str, turns: Sequence[Sequence[Message]]) -> str:
    before = (f"Notes so far: {summary}",) if summary else ()
    return "\n".join((*before, "The conversation went on:", *_lines(turns), "Write the new notes."))


def _lines(turns: Sequence[Sequence[Message]]) -> Iterator[str]:
    who = {"user": "Person", "assistant": "Assistant", "tool": "Tool"}
    for turn in turns:
        for message in turn:
            if message.content and message.role in who:
                yield f"{who[message.role]}: {' '.join(message.content.split())[:_MAX_TURN_CHARS]}"
