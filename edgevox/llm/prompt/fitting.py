"""Drops the oldest turns of a conversation until its prompt fits, with few renderings however many turns there are.

Rendering and tokenising a prompt costs time in proportion to its length: once per dropped turn, a thousand short
messages took minutes. Sizes are estimated from the newest turn backwards, then checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from edgevox.core.types import Message


class TurnDropper:
    """Finds the fewest turns to drop so that the rest has at most `room_tokens` tokens.

    `count` returns the tokens of a text; `measure` those of the whole prompt without that many of the oldest turns.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        room_tokens: int,
        count: Callable[[str], int],
        measure: Callable[[int], int],
    ) -> None:
        self._messages = messages
        self._room_tokens = room_tokens
        self._count = count
        self._measure = measure
        self._starts = turn_starts(messages)
        self._sizes: dict[int, int] = {}
        self.most = max(0, len(self._starts) - 1)
        """The last turn cannot be dropped."""

    def fewest(self) -> int | None:
        """Return the number of turns to drop, or None if the last one alone does not fit."""
        low = self._guess(0.0)
        if self.least_tokens > self._room_tokens:
            return None
        size = self._measure(low)
        if size <= self._room_tokens:
            return low
        if low == self.most:
            return None
        # What the template adds to each message is known now.
        kept = self._kept(low)
        added = max(0.0, (size - sum(self._size(at) for at in kept)) / max(1, len(kept)))
        return _least(
            lambda dropped: self._measure(dropped) <= self._room_tokens,
            low=low + 1,
            high=self.most,
            guess=max(low + 1, self._guess(added)),
        )

    @property
    def least_tokens(self) -> int:
        """The fewest tokens that remain when everything is dropped that can be."""
        return sum(map(self._size, self._kept(self.most)))

    def _guess(self, added_tokens: float) -> int:
        """Estimate the number of turns to drop, if each message takes `added_tokens` beside its text."""
        head = range(self._starts[0]) if self._starts else ()
        left = self._room_tokens - sum(self._size(at) + added_tokens for at in head)
        bounds = [*pairwise(self._starts), (self._starts[-1], len(self._messages))] if self._starts else []
        for dropped in range(self.most, -1, -1):
            first, end = bounds[dropped]
            left -= sum(self._size(at) + added_tokens for at in range(first, end))
            if left < 0:
                return min(dropped + 1, self.most)
        return 0

    def _kept(self, dropped: int) -> list[int]:
        if not self._starts:
            return list(range(len(self._messages)))
        return [*range(self._starts[0]), *range(self._starts[dropped], len(self._messages))]

    def _size(self, at: int) -> int:
        """Return the fewest tokens of a message; text may share a token with what the template writes around it."""
        if at not in self._sizes:
            message = self._messages[at]
            texts = (message.content, *(call.arguments for call in message.tool_calls))
            self._sizes[at] = sum(max(0, self._count(text) - 2) for text in texts)
        return self._sizes[at]


def turn_starts(messages: Sequence[Message]) -> list[int]:
    return [index for index, message in enumerate(messages) if message.role == "user"]


def without_oldest_turns(messages: tuple[Message, ...], dropped: int) -> tuple[Message, ...]:
    """Remove the first `dropped` user messages and everything up to the next one; the last one stays."""
    starts = turn_starts(messages)
    if not dropped or len(starts) < 2:
        return messages
    return messages[: starts[0]] + messages[starts[min(dropped, len(starts) - 1)] :]


def _least(is_enough: Callable[[int], bool], *, low: int, high: int, guess: int) -> int | None:
    """Return the smallest number from `low` to `high` that is enough, or None; searches outwards from `guess`."""
    short, enough, step, at = low - 1, high + 1, 1, guess
    is_short_known = False
    while enough - short > 1:
        if is_enough(at):
            enough = at
        else:
            short, is_short_known = at, True
        if enough > high:
            at = min(high, short + step)
        elif not is_short_known:
            at = max(low, enough - step)
        else:
            at = (short + enough) // 2
        step *= 2
    return enough if enough <= high else None
