"""How many turns are dropped so that a prompt fits, and what finding that out costs."""

from __future__ import annotations

from edgevox.core.types import Message
from edgevox.llm.prompt.fitting import TurnDropper, without_oldest_turns

SYSTEM = Message("system", "Be brief.")
ADDED_TOKENS = 5
"""What the template writes around each message."""


class Prompts:
    """A template that adds the same to each message, with a token for each character."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = messages
        self.rendered = 0
        self.counted_chars = 0

    def tokens(self, dropped: int) -> int:
        kept = without_oldest_turns(self.messages, dropped)
        return sum(len(message.content) + ADDED_TOKENS for message in kept)

    def fewest(self, room_tokens: int) -> int | None:
        def measure(dropped: int) -> int:
            self.rendered += 1
            return self.tokens(dropped)

        def count(text: str) -> int:
            self.counted_chars += len(text)
            return len(text)

        return TurnDropper(self.messages, room_tokens=room_tokens, count=count, measure=measure).fewest()


def conversation(turns: int, text: str) -> tuple[Message, ...]:
    talk = [Message(role, text) for _turn in range(turns) for role in ("user", "assistant")]
    return (SYSTEM, *talk, Message("user", "and now?"))


def test_a_thousand_short_messages_are_rendered_a_few_times() -> None:
    prompts = Prompts(conversation(500, "a"))
    assert prompts.fewest(1000) == next(n for n in range(501) if prompts.tokens(n) <= 1000)
    assert prompts.rendered <= 6


def test_as_few_turns_as_possible_are_dropped() -> None:
    for turns, text, room_tokens in ((3, "hello", 60), (40, "word " * 30, 700), (9, "", 40), (2, "x" * 200, 300)):
        prompts = Prompts(conversation(turns, text))
        assert prompts.fewest(room_tokens) == next(n for n in range(99) if prompts.tokens(n) <= room_tokens)


def test_turns_that_cannot_fit_are_not_even_counted() -> None:
    prompts = Prompts(conversation(400, "x" * 1000))
    assert prompts.fewest(3000) == 399
    assert prompts.counted_chars < 5000


def test_a_conversation_that_fits_is_rendered_once() -> None:
    prompts = Prompts(conversation(3, "hello"))
    assert (prompts.fewest(1000), prompts.rendered) == (0, 1)


def test_a_last_question_that_is_too_long_is_not_rendered() -> None:
    prompts = Prompts((*conversation(3, "hello")[:-1], Message("user", "x" * 5000)))
    assert (prompts.fewest(1000), prompts.rendered) == (None, 0)
