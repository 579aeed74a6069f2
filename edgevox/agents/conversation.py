"""The memory of one conversation: whole exchanges only, so that it is consistent however a turn ends."""

from __future__ import annotations

from edgevox.types import Message


class Conversation:
    """The system prompt and the exchanges so far."""

    def __init__(self, instructions: str) -> None:
        self._system = (Message("system", instructions),) if instructions else ()
        self._exchanges: list[tuple[Message, ...]] = []

    def asking(self, question: str) -> tuple[Message, ...]:
        """The messages for a model that is to answer `question` now."""
        past = tuple(message for exchange in self._exchanges for message in exchange)
        return (*self._system, *past, Message("user", question))

    def keep(self, question: str, reply: str) -> None:
        """Remember an exchange."""
        self._exchanges.append((Message("user", question), Message("assistant", reply)))

    def forget_oldest(self, count: int) -> None:
        """Let the oldest exchanges go; the model has no room for them any more."""
        del self._exchanges[:count]
