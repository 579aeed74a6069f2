"""A conversation that another program has kept: its messages become turns, its results are fenced."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from edgevox.agents.conversation import Conversation
from edgevox.agents.kept_turn import KeptTurn
from edgevox.tools.results import render
from edgevox.types import Message


def fenced(text: str, names: Sequence[str]) -> str:
    """A result for the model; one that was fenced before stays as it is."""
    try:
        return render(json.loads(text), names=names)
    except (ValueError, RecursionError):
        return render(text, names=names)


def grouped(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """The messages from one user's word to the next; what a user said in several messages is one word."""
    spoken = [message for message in messages if message.role != "system"]
    group: tuple[Message, ...] = ()
    for message in spoken:
        if message.role != "user":
            group = (*group, message)
        elif group and group[-1].role == "user":
            group = (*group[:-1], Message("user", f"{group[-1].content}\n{message.content}"))
        else:
            if group:
                yield group
            group = (message,)
    yield group


def past_conversation(turns: Sequence[tuple[Message, ...]]) -> Conversation:
    """A conversation of these turns, which is over with the next one: its time stands still."""
    kept = [KeptTurn(str(number), "chat", 0.0, "api", "stop", turn) for number, turn in enumerate(turns)]
    return Conversation("chat", clock=lambda: 0.0, turns=kept)
