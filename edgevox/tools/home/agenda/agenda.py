"""The agenda: timers, alarms and reminders that are due, and what is said when they ring.

Everything here reads and writes small files and may raise StateError; other processes set timers too.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from edgevox.tools.home.agenda.alarms import Alarms
from edgevox.tools.home.agenda.local_time import local
from edgevox.tools.home.agenda.steady_clock import SteadyClock
from edgevox.tools.home.agenda.time_wording import ago, day_time, o_clock
from edgevox.tools.home.agenda.timers import Timer, Timers
from edgevox.tools.home.wording import brief, sentence

Kind: TypeAlias = Literal["timer", "alarm", "reminder"]

# Whatever rings later than this was missed: the machine was off, or asleep.
_LATE_S = 60.0
_NOON = 12


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is to ring now.

    `label` is the timer's or alarm's name, or the task of a reminder, and may be "". `due_s` is when it was
    to ring, in seconds since 1970. `command` is what is to be done when a timer ends, mostly "". `called` is
    how to speak of a timer: "10 minute timer".
    """

    id: str
    kind: Kind
    label: str
    due_s: float
    command: str = ""
    called: str = "timer"


class Agenda:
    """What is to ring. `steady` is the clock that shows when the wall clock was set (see keep_up)."""

    def __init__(self, timers: Timers, alarms: Alarms, *, steady: SteadyClock | None = None) -> None:
        self._timers = timers
        self._alarms = alarms
        self._steady = steady

    def due(self) -> tuple[Due, ...]:
        """What is due and not yet done, oldest first."""
        now_s = self._timers.now_s()
        return tuple(due for due in self._entries() if due.due_s <= now_s)

    def next_s(self) -> float | None:
        """When the next one will be due, in seconds since 1970; None when nothing waits."""
        now_s = self._timers.now_s()
        return next((due.due_s for due in self._entries() if due.due_s > now_s), None)

    def keep_up(self) -> None:
        """Call it about once a second: after the clock was set, timers still last as long as they were to.

        Alarms ring when the clock shows their time. That the machine slept is no change of the clock.
        """
        if sys.platform != "win32":
            time.tzset()  # somebody may have moved the machine to another zone
        if self._steady is not None:
            now = self._steady.reckoning(self._timers.now_s())
            self._timers.keep_up(now)
            self._alarms.keep_up(now)

    def done(self, due: Due) -> None:
        """It has rung: it goes, and one that repeats waits for its next day.

        What was given more time meanwhile is not due any more, and stays.
        """
        if due.kind == "timer":
            if timer := self._due_timer(due.id):
                self._timers.cancel(timer)
        else:
            self._alarms.done(due.id)

    def snooze(self, due: Due, minutes: float) -> None:
        """Let it ring again in so many minutes."""
        if due.kind == "timer":
            if timer := self._due_timer(due.id):
                self._timers.extend(timer, round(minutes * 60))
        else:
            self._alarms.snooze(due.id, minutes * 60)

    def announcement(self, due: Due, now_s: float) -> str:
        """What is said when it rings, or rings too late."""
        late_s = now_s - due.due_s
        is_late = late_s >= _LATE_S
        match due.kind:
            case "timer" if due.command:
                when = f"{ago(late_s)} it was" if is_late else "it is"
                return sentence(f"{when} time to {brief(due.command)}")
            case "timer":
                return sentence(f"the {due.called} " + (f"ended {ago(late_s)}" if is_late else "is done"))
            case "alarm":
                return self._alarm_announcement(due, now_s, is_late=is_late)
            case "reminder":
                task = brief(due.label) or "you wanted to be reminded of something"
                return sentence(f"Reminder from {ago(late_s)}: {task}" if is_late else f"Reminder: {task}")
            case _:
                assert_never(due.kind)

    def _alarm_announcement(self, due: Due, now_s: float, *, is_late: bool) -> str:
        name = brief(due.label)
        if is_late:
            named = f"the {name} alarm" if name else "the alarm"
            rang = day_time(local(due.due_s, self._alarms.zone))
            return sentence(f"{named} for {rang} was due {ago(now_s - due.due_s)}")
        now = local(now_s, self._alarms.zone)
        what = f"Your alarm: {name}" if name else "Time to get up" if now.hour < _NOON else "Your alarm"
        return f"It is {o_clock(now)}. {sentence(what)}"

    def _entries(self) -> list[Due]:
        """Everything that waits or is due, the oldest first."""
        running = [
            Due(timer.id, "timer", timer.name, timer.due_s, timer.command, timer.called)
            for timer in self._timers.all()
            if not timer.is_paused
        ]
        alarms = [
            Due(alarm.id, alarm.kind, alarm.label, self._alarms.rings_s(alarm))
            for alarm in self._alarms.all()
        ]
        return sorted((*running, *alarms), key=lambda due: (due.due_s, due.id))

    def _due_timer(self, timer_id: str) -> Timer | None:
        now_s = self._timers.now_s()
        found = (timer for timer in self._timers.all() if timer.id == timer_id and timer.is_due(now_s))
        return next(found, None)
