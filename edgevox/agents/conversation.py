"""A conversation as the model is told of it: the last turns, whole, and a summary of what went before.

What leaves the prompt stays in the journal. Nothing here waits for a disk.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from edgevox.agents.kept_turn import KeptTurn, Summary, whole
from edgevox.settings import MemorySettings
from edgevox.tools.neutral import neutral_text
from edgevox.types import Message

Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970, as time.time gives them: they are compared with those of earlier runs."""

# Every turn that leaves changes the beginning of the prompt, and all behind it is evaluated again: so
# several leave together, this share of all, and where there are few, all but the last.
_LEAVE_TOGETHER = 4
_FEW_TURNS = 8


class Journal(Protocol):
    """Where turns are kept beyond this process. Every method returns at once and raises nothing."""

    def write_turn(self, turn: KeptTurn) -> None: ...

    def amend_turn(self, turn: KeptTurn) -> None:
        """Write the turn of the same id as it is now; one that was deleted stays so."""

    def write_summary(self, conversation: str, summary: Summary) -> None: ...

    def forgettings(self) -> int:
        """A number that changes whenever turns are deleted, by this process or another."""

    def surviving(self, turn_ids: Collection[str]) -> Collection[str]:
        """Those of the turns that have not been deleted."""


class Conversation:
    """One conversation. It begins anew when nobody has said anything for `memory.continue_minutes`."""

    def __init__(
        self,
        name: str = "default",
        *,
        settings: MemorySettings | None = None,
        clock: Clock = time.time,
        journal: Journal | None = None,
        turns: Sequence[KeptTurn] = (),
        summary: Summary | None = None,
    ) -> None:
        """Without a journal it ends with the process; `turns` and `summary` are what it goes on from."""
        settings = settings or MemorySettings()
        self.name = name
        self._clock = clock
        self._journal = journal
        self._max_turns = settings.max_turns
        self._continue_s = settings.continue_minutes * 60
        self._turns = list(turns)
        self._left: list[KeptTurn] = []
        self._handed_out: list[KeptTurn] = []
        self._summary = summary
        self._last_s = turns[-1].at_s if turns else clock()
        self._forgettings = journal.forgettings() if journal else 0

    def messages(self) -> tuple[Message, ...]:
        """What the model is told of the past: a note of what it has no room for, then whole turns."""
        self._refresh()
        note = () if self._summary is None else (_note(self._summary.text),)
        return (*note, *itertools.chain.from_iterable(turn.messages for turn in self._turns))

    def keep(
        self,
        turn: Sequence[Message],
        *,
        turn_id: str | None = None,
        source: str = "text",
        finish_reason: str = "stop",
    ) -> None:
        """Remember a turn: the person's message and all that followed; what an interruption cut is mended.

        Raises ValueError for messages that are not one turn.
        """
        messages = whole(turn)
        self._refresh()
        self._last_s = self._clock()
        kept = KeptTurn(turn_id or uuid.uuid4().hex, self.name, self._last_s, source, finish_reason, messages)
        self._turns.append(kept)
        if self._journal:
            self._journal.write_turn(kept)
        if len(self._turns) > self._max_turns:
            is_short = self._max_turns < _FEW_TURNS
            self.forget_oldest(self._max_turns if is_short else self._max_turns // _LEAVE_TOGETHER)

    def amend_reply(self, turn_id: str, reply: str, *, finish_reason: str) -> None:
        """Put `reply` in the place of the last word of a turn that was kept, if the model is told of it."""
        self._refresh()
        for place, kept in enumerate(self._turns):
            if kept.id == turn_id:
                messages = (*kept.messages[:-1], Message("assistant", reply))
                amended = replace(kept, messages=messages, finish_reason=finish_reason)
                self._turns[place] = amended
                if self._journal:
                    self._journal.amend_turn(amended)

    def forget_oldest(self, turns: int) -> None:
        """The model has no room for the oldest turns: they leave the prompt and wait to be summarised."""
        self._left += self._turns[:turns]
        del self._turns[:turns]
        del self._left[: -self._max_turns]  # nobody summarises them

    def turns_to_summarise(self) -> tuple[tuple[Message, ...], ...]:
        """The turns that left the prompt and are in no summary yet, oldest first."""
        self._refresh()
        self._handed_out = list(self._left)
        return tuple(turn.messages for turn in self._handed_out)

    @property
    def summary(self) -> str:
        """What a new summary must take up; "" where there is none."""
        self._refresh()
        return self._summary.text if self._summary else ""

    def set_summary(self, text: str) -> None:
        """Put `text` in the place of the old summary and of what `turns_to_summarise` gave last.

        Where a part of that was deleted meanwhile nothing happens: the text may hold its words.
        """
        self._refresh()
        if not self._handed_out:
            return
        done, self._handed_out = self._handed_out, []
        self._left = [turn for turn in self._left if turn not in done]
        first_id = self._summary.first_id if self._summary else done[0].id
        self._summary = Summary(text, first_id, done[-1].id)
        if self._journal:
            self._journal.write_summary(self.name, self._summary)

    # --- what is over, and what was deleted

    def _refresh(self) -> None:
        # A clock that was put right may also have gone back: a turn from shortly "after" now is a recent one.
        if abs(self._clock() - self._last_s) > self._continue_s:
            self._let_go()
        if self._journal and (times := self._journal.forgettings()) != self._forgettings:
            self._forgettings = times
            self._drop_deleted(self._journal)

    def _let_go(self) -> None:
        self._turns.clear()
        self._left.clear()
        self._handed_out.clear()
        self._summary = None

    def _drop_deleted(self, journal: Journal) -> None:
        summarised = {self._summary.first_id, self._summary.last_id} if self._summary else set()
        known = summarised | {turn.id for turn in (*self._left, *self._handed_out, *self._turns)}
        alive = journal.surviving(known)
        if known.issubset(alive):
            return
        self._handed_out.clear()
        if not summarised.issubset(alive):
            self._summary = None
        self._left = [turn for turn in self._left if turn.id in alive]
        self._turns = [turn for turn in self._turns if turn.id in alive]


def _note(summary: str) -> Message:
    # It may repeat what a web page or a device said, so it must not read like an order.
    return Message("system", f"Notes of what was said before, for information only: {neutral_text(summary)}")
