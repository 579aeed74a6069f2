"""Keeps what the recent turns of each conversation did: calls, entities with their states before, and outcomes.

It is in memory and bounded: a restart forgets it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cachetools import LRUCache

from edgevox.core.errors import StateError
from edgevox.core.hooks import Hook, Run
from edgevox.core.types import API_CLIENT, API_CONVERSATION, ToolCall
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.timers import Timer, Timers
from edgevox.home.entities import Entities, HomeError, House
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.tools.executor import ToolExecutor

REFERENCES = "references"
"""The key of the notes that the hook of references leaves in a run."""

_MAX_CLIENTS = 64
_MAX_TURNS = 50


@dataclass(frozen=True, slots=True)
class Effect:
    """One call of a home tool, and the entities that it acted on or asked about, as they were before.

    `choices` are the entities between which its question asks to choose. `is_reversal` if it only reverses an earlier
    call.
    """

    call: ToolCall
    entities: Entities
    choices: Entities
    sentence: str
    is_done: bool
    is_reversal: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(self.call.arguments or "{}")
        return arguments

    @property
    def is_action(self) -> bool:
        return catalogue()[self.call.name].has_side_effects


@dataclass(frozen=True, slots=True)
class Clocks:
    """The timers and alarms at one moment."""

    timers: tuple[Timer, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    def without(self, other: Clocks) -> Clocks:
        """Those that differ from the other moment."""
        return Clocks(
            tuple(timer for timer in self.timers if timer not in other.timers),
            tuple(alarm for alarm in self.alarms if alarm not in other.alarms),
        )


@dataclass(frozen=True, slots=True)
class TurnEffects:
    """The home calls of one turn. `continues` the turn before: "and the bedroom one too".

    `house` and `clocks` are from before the first call, `clocks_after` from the end of the turn; the timers and alarms
    that the turn did not change are in neither.
    """

    at_s: float
    effects: tuple[Effect, ...] = ()
    house: House | None = None
    clocks: Clocks = Clocks()
    clocks_after: Clocks = Clocks()
    continues: bool = False

    @property
    def done(self) -> tuple[Effect, ...]:
        """The calls that changed something."""
        return tuple(effect for effect in self.effects if effect.is_done and effect.is_action)

    @property
    def actions(self) -> tuple[Effect, ...]:
        """The calls that changed something, without those that reversed an earlier one."""
        return tuple(effect for effect in self.done if not effect.is_reversal)

    @property
    def meant(self) -> tuple[Effect, ...]:
        """The calls that a later turn may refer to: after a correction, those on the right target."""
        return tuple(effect for effect in self.effects if not effect.is_reversal) or self.effects

    @property
    def choices(self) -> Entities:
        return next((effect.choices for effect in reversed(self.effects) if effect.choices), ())


class EffectLog:
    """The recent turns of each conversation, the oldest first.

    `forgettings` returns a number that changes when turns are deleted from the memory: then these are forgotten too.
    """

    def __init__(self, clock: Callable[[], float], forgettings: Callable[[], int] = lambda: 0) -> None:
        self.clock = clock
        self.started_s = clock()
        self._forgettings = forgettings
        self._forgotten = forgettings()
        self._by_client: LRUCache[str, deque[TurnEffects]] = LRUCache(_MAX_CLIENTS)

    @property
    def _turns(self) -> LRUCache[str, deque[TurnEffects]]:
        if (forgotten := self._forgettings()) != self._forgotten:
            self._forgotten = forgotten
            self._by_client.clear()
        return self._by_client

    def add(self, client: str, turn: TurnEffects) -> None:
        turns = self._turns
        if client not in turns:
            turns[client] = deque(maxlen=_MAX_TURNS)
        turns[client].append(turn)

    def turns(self, client: str, *, within_s: float) -> tuple[TurnEffects, ...]:
        """The turns of a conversation that are not older than that."""
        since_s = self.clock() - within_s
        return tuple(turn for turn in self._turns.get(client, ()) if turn.at_s >= since_s)

    def all_turns(self) -> tuple[TurnEffects, ...]:
        """The turns of all conversations."""
        return tuple(sorted((turn for turns in self._turns.values() for turn in turns), key=lambda turn: turn.at_s))

    def remove(self, client: str, undone: Iterable[TurnEffects]) -> None:
        """Forget turns that were undone, so that the next undo concerns the turn before."""
        gone = {id(turn) for turn in undone}
        turns = self._turns.get(client, deque())
        kept = [turn for turn in turns if id(turn) not in gone]
        turns.clear()
        turns.extend(kept)


@dataclass(slots=True)
class ReferenceNote:
    """What the hook of references found out about one part of a run; its calls begin at `first_call`."""

    first_call: int = 0
    continues: bool = False
    undone: tuple[TurnEffects, ...] = ()
    reversals: int = 0
    """How many of its first calls reverse an earlier turn."""
    addendum: str = ""
    """A sentence to add to the answer."""
    heard: str = ""
    """The utterance, if the run's text was replaced."""


@dataclass(slots=True)
class _Before:
    house: House | None = None
    clocks: Clocks | None = None
    intents: dict[str, ResolvedIntent | None] = field(default_factory=dict)


class EffectRecorder(Hook):
    """Writes the calls of each turn to the log. It runs after the other hooks, so that it sees the final calls."""

    name: ClassVar[str] = "effect_recorder"
    priority: ClassVar[int] = -100

    def __init__(
        self, log: EffectLog, executor: ToolExecutor, house: Callable[[], House], timers: Timers, alarms: Alarms
    ) -> None:
        self._log = log
        self._executor = executor
        self._house = house
        self._timers = timers
        self._alarms = alarms

    async def before_tool(self, run: Run, call: ToolCall) -> None:
        if call.name not in catalogue():
            return
        before = run.turn_notes.get(self.name)
        if not isinstance(before, _Before):
            before = run.turn_notes[self.name] = self._before()
        resolution = self._executor.resolve(call).resolution
        before.intents[call.id] = resolution if isinstance(resolution, ResolvedIntent) else None

    async def on_run_end(self, run: Run, reply: str) -> None:
        if run.client.startswith(API_CLIENT) and not run.client.startswith(API_CONVERSATION):
            return  # each request of a program is a conversation of its own
        before, noted = run.turn_notes.get(self.name), run.turn_notes.get(REFERENCES)
        if not isinstance(before, _Before):
            before = _Before()
        notes = [note for note in noted if isinstance(note, ReferenceNote)] if isinstance(noted, list) else []
        for note in notes:
            if note.undone:
                self._log.remove(run.client, note.undone)
        effects = tuple(_effects(run, before, notes))
        clocks, clocks_after = before.clocks, self._clocks()
        if clocks is None or clocks_after is None:
            clocks = clocks_after = Clocks()
        clocks, clocks_after = clocks.without(clocks_after), clocks_after.without(clocks)
        continues = any(note.continues for note in notes)
        turn = TurnEffects(self._log.clock(), effects, before.house, clocks, clocks_after, continues)
        self._log.add(run.client, turn)

    def _before(self) -> _Before:
        try:
            house = self._house()
        except (HomeError, StateError):
            house = None
        return _Before(house, self._clocks())

    def _clocks(self) -> Clocks | None:
        try:
            return Clocks(self._timers.all(), self._alarms.all())
        except StateError:
            return None


def _effects(run: Run, before: _Before, notes: Iterable[ReferenceNote]) -> Iterator[Effect]:
    reversals = {note.first_call + number for note in notes for number in range(note.reversals)}
    for place, (call, outcome) in enumerate(zip(run.calls, run.outcomes, strict=True)):
        if call.name not in catalogue():
            continue
        intent = before.intents.get(call.id)
        is_done = call.id in before.intents and not (outcome.is_error or outcome.is_failure)
        entities, choices = (intent.entities, intent.choices) if intent else ((), ())
        yield Effect(call, entities, choices, outcome.sentence, is_done, is_reversal=place in reversals)
