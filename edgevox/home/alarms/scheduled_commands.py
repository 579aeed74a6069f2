"""The scheduled commands: delayed (a timer with a command), repeating (a schedule) and conditional (a watch).

They are listed and cancelled together: a person does not know how each is stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from edgevox.core.errors import InvalidArguments, describe_faults
from edgevox.core.events import RingKind
from edgevox.core.languages import counted, duration, listed
from edgevox.core.turn import LOCAL, Caller
from edgevox.core.words import Words
from edgevox.home.alarms import alarm_handlers
from edgevox.home.alarms.alarm_handlers import at_phrase, label_words
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.time_expression import local
from edgevox.home.alarms.time_phrasing import moment_phrase
from edgevox.home.alarms.timers import Timer, Timers
from edgevox.home.alarms.watches import Condition, Watches, WatchKind
from edgevox.home.entities import HomeError, House
from edgevox.home.phrasing import brief, sentence
from edgevox.home.resolve.fuzzy import find_by_words
from edgevox.home.resolve.target_resolver import ClarificationNeeded

WATCH = "watch"
"""The slot of set_reminder with the condition that takes the place of a time. Only CommandClauses fills it."""

_MAX_NAMED = 4
_LONG_DELAY_S = 2 * 3600
_ALREADY = "That is so already; I will wait for the next time."
NOTHING = "Nothing is scheduled."
_SWITCHED = frozenset({"on", "off", "out"})
_TURNING = frozenset({"turn", "switch", "shut", "power", "put", "cut", "kill"})
_SAME_ACTS = {"shut": "close", "switch": "turn"}


@dataclass(frozen=True, slots=True)
class ScheduledCommand:
    """What will be done (`text`), and when (`phrase`): "turn off the lights at ten at night every day"."""

    id: str
    kind: Literal["timer", "schedule", "watch"]
    text: str
    phrase: str


@dataclass(frozen=True, slots=True)
class ScheduledEntry:
    """One entry of the list that programs get; `due_s` is None for a watch, a paused timer, and what is off.

    `time` is the time of day (24 hours) that can be changed, "" if it follows the sun, and `days` are the weekdays on
    which it repeats.
    """

    id: str
    kind: RingKind
    due_s: float | None
    text: str
    when: str
    time: str = ""
    days: tuple[int, ...] = ()
    is_on: bool = True
    name: str = ""
    """of a timer, as it was given"""


class ScheduledCommands:
    """Lists and cancels the scheduled commands. All methods raise StateError."""

    def __init__(self, timers: Timers, alarms: Alarms, watches: Watches) -> None:
        self._timers = timers
        self._alarms = alarms
        self._watches = watches

    def all(self) -> tuple[ScheduledCommand, ...]:
        """Delayed ones first, then schedules and watches."""
        delayed = [
            ScheduledCommand(timer.id, "timer", timer.command, f"{brief(timer.command)} {self._delay_phrase(timer)}")
            for timer in self._timers.all()
            if timer.command
        ]
        schedules = [
            ScheduledCommand(
                alarm.id, "schedule", alarm.label, f"{brief(alarm.label)} {at_phrase(alarm, self._alarms)}"
            )
            for alarm in self._alarms.all()
            if alarm.kind == "schedule"
        ]
        watches = [ScheduledCommand(watch.id, "watch", watch.text, watch.promise) for watch in self._watches.all()]
        return (*delayed, *schedules, *watches)

    def _delay_phrase(self, timer: Timer) -> str:
        """ "in 20 minutes"; of a long delay the time of day: "at half past six tomorrow morning"."""
        remaining_s = self._timers.remaining_s(timer)
        if timer.is_paused or remaining_s <= _LONG_DELAY_S:
            return f"in {duration(remaining_s)}"
        # Timers have whole seconds: one that was set for eleven may end a moment before it.
        due = local(timer.due_s + 1, self._alarms.zone)
        return f"at {moment_phrase(due, self._alarms.now())}"

    def entries(self) -> tuple[ScheduledEntry, ...]:
        """All that is set: timers, alarms, reminders, schedules and watches, the next one first."""
        timers = [
            ScheduledEntry(
                timer.id,
                "timer",
                None if timer.is_paused else timer.due_s,
                timer.command or timer.called,
                _timer_phrase(timer),
                name=timer.name,
            )
            for timer in self._timers.all()
        ]
        alarms = [
            ScheduledEntry(
                alarm.id,
                alarm.kind,
                self._alarms.rings_s(alarm) if alarm.is_on else None,
                alarm.label,
                at_phrase(alarm, self._alarms),
                "" if alarm.sun else f"{alarm.meant(self._alarms.zone):%H:%M}",
                alarm.repeat,
                alarm.is_on,
            )
            for alarm in self._alarms.with_those_off()
        ]
        timed = sorted((*timers, *alarms), key=lambda entry: entry.due_s or math.inf)
        watches = (ScheduledEntry(watch.id, "watch", None, watch.text, watch.promise) for watch in self._watches.all())
        return (*timed, *watches)

    def matching(self, wanted: Words) -> tuple[ScheduledCommand, ...]:
        """Those with these words; all of them without words. "Switch off" is the same as "turn off"."""
        if not wanted:
            return self.all()
        return find_by_words(_same_verbs(wanted), self.all(), lambda one: _same_verbs(label_words(one.phrase)))

    def status(self, wanted: Words = (), *, with_timers: bool = True) -> str:
        """What is scheduled, in sentences; "" for nothing of that kind if timers are left out."""
        found = [one for one in self.matching(wanted) if with_timers or one.kind != "timer"]
        if not found:
            return NOTHING if with_timers else ""
        left = len(found) - _MAX_NAMED
        more = f" And {counted(left, 'other')}." if left > 0 else ""
        return " ".join(_promised(one) for one in found[:_MAX_NAMED]) + more

    def cancel(self, wanted: Words, *, is_all: bool) -> str:
        """Cancel the one that is meant, or all. Raises HomeError."""
        if not self.all():
            raise HomeError(NOTHING)
        found = self.matching(wanted)
        if not found:
            raise HomeError(f"Nothing like that is scheduled. {self.status()}")
        if len(found) > 1 and not is_all:
            raise ClarificationNeeded(f"Which one: {listed([one.phrase for one in found[:_MAX_NAMED]], 'or')}?")
        self.remove([one.id for one in found])
        if len(found) > 1:
            return f"{len(found)} scheduled commands are cancelled."
        return sentence(f"cancelled: {found[0].phrase.replace(' I will ', ', ')}")

    def remove(self, ids: Sequence[str]) -> bool:
        """Remove those with these ids, timers, alarms and reminders included; False if there is none."""
        timers = [timer for timer in self._timers.all() if timer.id in ids]
        alarms = [alarm for alarm in self._alarms.with_those_off() if alarm.id in ids]
        watches = [watch for watch in self._watches.all() if watch.id in ids]
        self._timers.cancel(*timers)
        self._alarms.cancel(*alarms)
        self._watches.cancel(*watches)
        return bool(timers or alarms or watches)


class WatchRequest(BaseModel):
    """The content of the slot WATCH; `call` is the call that the command leads to, for the policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: WatchKind
    condition: Condition
    is_repeating: bool = False
    call: dict[str, Any] = {}


def watch_request(arguments: Mapping[str, Any]) -> WatchRequest:
    """The content of the slot WATCH. Raises InvalidArguments."""
    try:
        return WatchRequest.model_validate(arguments[WATCH])
    except ValidationError as error:
        raise InvalidArguments(f"{WATCH}: {describe_faults(error)}") from error


def set_watch(
    watches: Watches, arguments: Mapping[str, Any], house: House, *, agreed: str = "", caller: Caller = LOCAL
) -> str:
    """Raises HomeError and StateError."""
    asked = watch_request(arguments)
    is_met = asked.condition.is_met(house)
    text = alarm_handlers.checked_label(arguments.get("task"))
    watch = watches.add(
        asked.kind, asked.condition, text, is_repeating=asked.is_repeating, is_met=is_met, agreed=agreed, caller=caller
    )
    return f"{sentence(watch.promise)} {_ALREADY if is_met else ''}".rstrip()


def run_alarm(
    alarms: Alarms, scheduled: ScheduledCommands, tool: str, arguments: Mapping[str, Any], caller: Caller = LOCAL
) -> str:
    """Answer a call about alarms and reminders, or about scheduled commands. Raises HomeError and StateError."""
    name = str(arguments.get("name") or "")
    if tool in ("cancel_alarm", "alarm_status") and alarm_handlers.names_schedules(arguments):
        is_all = alarm_handlers.means_all(name)
        wanted = () if is_all else label_words(name)
        return scheduled.cancel(wanted, is_all=is_all) if tool == "cancel_alarm" else scheduled.status(wanted)
    if tool == "cancel_alarm" and (the_id := arguments.get(alarm_handlers.TIMER_ID)):
        return "It is cancelled." if scheduled.remove([str(the_id)]) else NOTHING
    answer = alarm_handlers.run_alarm(alarms, tool, arguments, caller)
    if tool == "alarm_status" and not any(arguments.values()):
        others = scheduled.status(with_timers=False)
        return others if others and answer == alarm_handlers.NOTHING_SET else f"{answer} {others}".rstrip()
    return answer


def _same_verbs(words: Words) -> Words:
    is_switched = not _SWITCHED.isdisjoint(words)
    return tuple("turn" if is_switched and word in _TURNING else _SAME_ACTS.get(word, word) for word in words)


def _timer_phrase(timer: Timer) -> str:
    return "paused" if timer.is_paused else f"{duration(timer.length_s)} timer".replace("s timer", " timer")


def _promised(one: ScheduledCommand) -> str:
    return sentence(one.phrase if one.kind == "watch" else f"I will {one.phrase}")
