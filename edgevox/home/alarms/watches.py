"""Watches as state: a condition on the state of entities, and what to say or do when it becomes true.

A watch fires when its condition changes from false to true, also while the assistant was off. It does not fire for a
condition that holds when it is set up.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from edgevox.core.state_file import StateFile
from edgevox.core.turn import LOCAL, Caller
from edgevox.core.words import word_set
from edgevox.home.alarms.timers import Clock, remote
from edgevox.home.entities import Entity, HomeError, House
from edgevox.home.phrasing import is_in_state

WATCHES_FILE = "watches.json"
MAX_WATCHES = 100

WatchKind: TypeAlias = Literal["tell", "remind", "run"]

# A value this close to its limit has not left it: a thermometer wavers.
_MARGIN = 0.3
_NO_STATE = frozenset({"unavailable", "unknown", ""})
DONE = "done"
"""A state in the words of a person: a machine, robot or player that has stopped."""
_DONE_STATES = word_set(
    "done end ended finish finished complete completed off idle stopped stop standby docked ready inactive clear "
    "not_running none"
)


class Condition(BaseModel):
    """True while one of the entities is in `state`, a person's word, or measures less or more than a limit.

    `phrase` is the event ("the front door opens") and `fact` what is said then ("the front door is open").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entity_ids: tuple[str, ...]
    phrase: str
    fact: str
    state: str = ""
    below: float | None = None
    above: float | None = None

    def is_met(self, house: House, *, was_met: bool = False) -> bool | None:
        """Whether it is true now; None while the state of the entities is not known."""
        entities = [entity for entity_id in self.entity_ids if (entity := house.entity(entity_id))]
        answers = [self._is_met_by(entity, _MARGIN if was_met else 0.0) for entity in entities]
        if any(answers):
            return True
        return None if not answers or None in answers else False

    def _is_met_by(self, entity: Entity, margin: float) -> bool | None:
        if entity.state in _NO_STATE:
            return None
        if self.state == DONE:
            return entity.state.casefold() in _DONE_STATES
        if self.state:
            return is_in_state(entity, self.state)
        if (value := measured(entity)) is None:
            return None
        is_below = self.below is None or value < self.below + margin
        return is_below and (self.above is None or value > self.above - margin)


def measured(entity: Entity) -> float | None:
    """The number that an entity measures, if any."""
    value = {
        "climate": entity.attributes.get("current_temperature"),
        "weather": entity.attributes.get("temperature"),
    }.get(entity.domain, entity.state)
    try:
        return float(value)  # type: ignore[arg-type]  # anything that is no number ends below
    except (TypeError, ValueError):
        return None


class Watch(BaseModel):
    """A condition, and what happens when it becomes true: `text` is announced, is a reminder, or runs as a command.

    `was_met` is the last known answer, and `due_s` since when it is due. `agreed` is the question about a command
    that was answered with yes when the watch was set up, and `caller` the remote client that did so, on a `satellite`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: WatchKind
    condition: Condition
    text: str
    is_repeating: bool = False
    was_met: bool | None = None
    due_s: float | None = None
    agreed: str = ""
    caller: Caller | None = None
    satellite: str = ""

    @property
    def promise(self) -> str:
        """ "When the front door opens I will tell you." """
        when = "whenever" if self.is_repeating else "when"
        what = {"tell": "tell you", "remind": f"remind you: {self.text}", "run": self.text}[self.kind]
        return f"{when} {self.condition.phrase} I will {what}"


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    watches: list[Watch] = Field(default_factory=list)


class Watches:
    """All watches, in a file or, without a path, in memory. All methods raise StateError."""

    def __init__(self, clock: Clock, path: Path | None = None) -> None:
        self._clock = clock
        self._file = StateFile(path, _Content)

    def all(self) -> tuple[Watch, ...]:
        return tuple(self._file.read().watches)

    def add(
        self,
        kind: WatchKind,
        condition: Condition,
        text: str,
        *,
        is_repeating: bool,
        is_met: bool | None,
        agreed: str = "",
        caller: Caller = LOCAL,
    ) -> Watch:
        """Watch for a condition; an equal watch is returned as it is. Raises HomeError for too many."""
        watch = Watch(
            id=uuid.uuid4().hex[:8],
            kind=kind,
            condition=condition,
            text=text,
            is_repeating=is_repeating,
            was_met=is_met,
            agreed=agreed,
            caller=remote(caller) if kind == "run" else None,
            satellite=caller.satellite,
        )
        with self._file.changing() as content:
            for known in content.watches:
                if known == watch.model_copy(update={"id": known.id, "was_met": known.was_met, "due_s": known.due_s}):
                    return known
            if len(content.watches) >= MAX_WATCHES:
                raise HomeError(f"I watch {MAX_WATCHES} things already. Cancel some first.")
            content.watches.append(watch)
        return watch

    def observe(self, house: House) -> None:
        """Compare the conditions with the home; those that have become true are due from now on."""
        watches = self._file.read().watches
        if any(self._observed(watch, house) != watch for watch in watches):
            with self._file.changing() as content:
                content.watches = [self._observed(watch, house) for watch in content.watches]

    def due(self) -> tuple[Watch, ...]:
        now_s = self._clock()
        return tuple(watch for watch in self.all() if watch.due_s is not None and watch.due_s <= now_s)

    def done(self, watch_id: str) -> bool:
        """Remove one that is due, or wait for the next time; False if it is not due, or not any more."""
        now_s = self._clock()
        with self._file.changing() as content:
            found = next((one for one in content.watches if one.id == watch_id), None)
            if found is None or found.due_s is None or found.due_s > now_s:
                return False
            later = [found.model_copy(update={"due_s": None})] if found.is_repeating else []
            content.watches = [left for one in content.watches for left in (later if one is found else [one])]
        return True

    def snooze(self, watch_id: str, seconds: float) -> None:
        with self._file.changing() as content:
            content.watches = [
                one.model_copy(update={"due_s": self._clock() + seconds}) if one.id == watch_id else one
                for one in content.watches
            ]

    def cancel(self, *watches: Watch) -> None:
        gone = {watch.id for watch in watches}
        if gone:
            with self._file.changing() as content:
                content.watches = [watch for watch in content.watches if watch.id not in gone]

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the watches whose words are to be forgotten, and return their number."""
        forgotten = [watch for watch in self.all() if is_forgotten(watch.text) or is_forgotten(watch.condition.phrase)]
        self.cancel(*forgotten)
        return len(forgotten)

    def _observed(self, watch: Watch, house: House) -> Watch:
        is_met = watch.condition.is_met(house, was_met=watch.was_met is True)
        if is_met is None or is_met == watch.was_met:
            return watch
        fires = is_met and watch.was_met is False and watch.due_s is None
        return watch.model_copy(update={"was_met": is_met, **({"due_s": self._clock()} if fires else {})})
