"""A demo home with the assistant's real tools, timers and hooks, and what a turn changes in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from edgevox.core.hooks import Hook
from edgevox.eval.expectation import ITEMS, STATE, Expectation, Facts, Range, Scheduled, ScheduledKind
from edgevox.eval.reply_check import has_words
from edgevox.eval.values import same_value
from edgevox.home import Alarms, DemoHome, HomePrompt, Timers, home_tools
from edgevox.home.alarms.watches import Watches
from edgevox.home.references.effects import EffectLog
from edgevox.home.rules.hooks import assistant_hooks
from edgevox.home.rules.languages.hook import HomeLanguages
from edgevox.tools import Tool, ToolExecutor, ToolRegistry
from edgevox.tools.builtin.knowledge import KnowledgeQuestions, knowledge_tools

NOW = datetime(2026, 3, 11, 10, 0)  # noqa: DTZ001 - wall-clock time of the demo home
"""The time of a row without its own: a Wednesday morning."""


@dataclass(frozen=True, slots=True)
class HomeSetup:
    """The demo home before the first turn: time, states that differ from the first day, and what is scheduled."""

    now: datetime = NOW
    before: Mapping[str, Facts] = field(default_factory=dict)
    scheduled: tuple[Scheduled, ...] = ()


@dataclass(frozen=True, slots=True)
class ScheduledItem:
    """Something that is due later: a timer, an alarm, a reminder or a command."""

    kind: ScheduledKind
    due: datetime
    text: str
    repeat: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a turn can change: facts by entity, what is scheduled, and announcements."""

    entities: Mapping[str, Mapping[str, Any]]
    schedule: tuple[ScheduledItem, ...]
    announcements: tuple[str, ...]


class LiveHome:
    """A demo home in memory at a fixed time, with real tools."""

    def __init__(self, setup: HomeSetup, own_tools: Sequence[Tool] = ()) -> None:
        now_s = setup.now.replace(tzinfo=UTC).timestamp()
        self.home = DemoHome(now=lambda: setup.now.replace(tzinfo=UTC))
        self.timers = Timers(lambda: now_s)
        self.alarms = Alarms(lambda: now_s, zone=UTC)
        self.watches = Watches(lambda: now_s)
        self._now = setup.now
        self._effects = EffectLog(lambda: now_s)
        for entity_id, facts in setup.before.items():
            self.home.set_facts(entity_id, facts)
        for item in setup.scheduled:
            self._schedule(item)
        tools = home_tools(self.home, self.timers, self.alarms, self.alarms.now, self.watches)
        knowledge = knowledge_tools(self.alarms.now)
        self.executor = ToolExecutor(ToolRegistry((*tools, *knowledge, *own_tools)))

    def hooks(self, languages: Collection[str] | None = None) -> tuple[Hook, ...]:
        """Return the assistant's hooks for this home; `languages` are those of the model."""
        state = (self.timers, self.alarms, self.watches, self._effects)
        hooks = assistant_hooks(self.executor, self.home, *state, HomeLanguages(languages))
        names = HomePrompt(self.home.house).all_names
        return (*hooks, KnowledgeQuestions(self.executor.registry, self.alarms.now, names))

    async def snapshot(self) -> Snapshot:
        """Return the present state."""
        entities: dict[str, Mapping[str, Any]] = {}
        for entity in self.home.house().entities:
            if entity.domain == "todo":
                entities[entity.id] = {
                    ITEMS: [item.text for item in await self.home.items(entity.id) if not item.is_done]
                }
            else:
                entities[entity.id] = {**entity.attributes, STATE: entity.state}
        return Snapshot(entities, self._scheduled(), tuple(self.home.announcements))

    def _schedule(self, item: Scheduled) -> None:
        due, text = item.due(self._now), " ".join(item.words)
        assert due is not None, "the suite was checked"
        match item.kind:
            case "alarm" | "reminder":
                self.alarms.set(item.kind, due, label=text, repeat=item.repeat or ())
            case "command":
                self.timers.start(round((due - self._now).total_seconds()), command=text)
            case _:
                self.timers.start(round((due - self._now).total_seconds()), name=text)

    def _scheduled(self) -> tuple[ScheduledItem, ...]:
        timers = (
            ScheduledItem(
                "command" if timer.command else "timer",
                self._now + timedelta(seconds=self.timers.remaining_s(timer)),
                timer.command or timer.name,
            )
            for timer in self.timers.all()
        )
        alarms = (
            ScheduledItem(
                "command" if alarm.kind == "schedule" else alarm.kind,
                alarm.rings(UTC).replace(tzinfo=None),
                alarm.label,
                alarm.repeat,
            )
            for alarm in self.alarms.all()
        )
        return (*timers, *alarms)


def changes(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """Describe what a turn changed, as JSON: new facts by entity, and what is scheduled if that changed."""
    changed: dict[str, Any] = {
        entity: {fact: value for fact, value in facts.items() if before.entities[entity].get(fact) != value}
        for entity, facts in after.entities.items()
        if facts != before.entities[entity]
    }
    if after.schedule != before.schedule:
        changed["schedule"] = [
            {"kind": item.kind, "at": item.due.isoformat(), "text": item.text, "repeat": list(item.repeat)}
            for item in after.schedule
        ]
    if after.announcements != before.announcements:
        changed["announced"] = list(after.announcements[len(before.announcements) :])
    return changed


def has_effects(expect: Expectation, before: Snapshot, after: Snapshot, now: datetime) -> bool:
    """Return whether the turn changed what is expected and nothing else."""
    if before == after and expect.or_unchanged:
        return True
    if expect.unchanged:
        return before == after
    changed = {entity for entity, facts in after.entities.items() if facts != before.entities[entity]}
    if not any(
        changed <= wanted.keys() and all(_has_facts(after.entities[entity], facts) for entity, facts in wanted.items())
        for wanted in expect.states
    ):
        return False
    if expect.schedule is None:
        return before.schedule == after.schedule
    return _matches_schedule(expect.schedule, after.schedule, now)


def _has_facts(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_is_fact(found.get(fact), value) for fact, value in wanted.items())


def _is_fact(found: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, int | float) and found in _RANGE.validate_python(wanted)
    return same_value(wanted, found)


_RANGE = TypeAdapter(Range)


def _matches_schedule(wanted: Sequence[Scheduled], found: Sequence[ScheduledItem], now: datetime) -> bool:
    """Return whether each wanted item is found once, and there are no others."""
    left = list(found)
    for item in wanted:
        match = next((one for one in left if _is_scheduled(item, one, now)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _is_scheduled(wanted: Scheduled, found: ScheduledItem, now: datetime) -> bool:
    due = wanted.due(now)
    return (
        (wanted.kind is None or wanted.kind == found.kind)
        and (due is None or abs((due - found.due).total_seconds()) <= wanted.tolerance_s)
        and all(has_words(found.text, words) for words in wanted.words)
        and (wanted.repeat is None or sorted(wanted.repeat) == sorted(found.repeat))
    )
