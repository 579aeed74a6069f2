"""Making a conversation shorter, where there is no room for all of it."""

from __future__ import annotations

from edgevox.types import Message


def without_oldest_turn(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages without the first question and all that followed it, up to the next question."""
    questions = [index for index, message in enumerate(messages) if message.role == "user"]
    if len(questions) < 2:
        return messages
    return messages[: questions[0]] + messages[questions[1] :]
