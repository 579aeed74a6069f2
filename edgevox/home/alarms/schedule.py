"""The schedule of timers, alarms, reminders, schedules and watches: due ones, the next due time, and announcements.

All methods read and write small files and may raise StateError; other processes set timers too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress

from edgevox.core.events import DueAlarm
from edgevox.core.languages import ENGLISH
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.announcements import announcement
from edgevox.home.alarms.timers import BootClock, Timer, Timers
from edgevox.home.alarms.watches import Watch, Watches
from edgevox.home.entities import HomeError, House


class AlarmSchedule:
    """All that becomes due: timers, alarms, reminders, schedules, and watches, which look at `house`.

    `steady` is the clock that reveals changes of the wall clock.
    """

    def __init__(
        self,
        timers: Timers,
        alarms: Alarms,
        watches: Watches | None = None,
        house: Callable[[], House] = lambda: House(()),
        *,
        steady: BootClock | None = None,
    ) -> None:
        self._timers = timers
        self._alarms = alarms
        self._watches = watches or Watches(timers.now_s)
        self._house = house
        self._steady = steady

    def observe(self) -> None:
        """Note the watches whose condition has become true; call it every second, in the event loop.

        A home that cannot be reached changes nothing.
        """
        with suppress(HomeError):
            if self._watches.all():
                self._watches.observe(self._house())

    def due(self) -> tuple[DueAlarm, ...]:
        """Those that are due and not done, oldest first."""
        now_s = self._timers.now_s()
        return tuple(due for due in self._entries() if due.due_s <= now_s)

    def next_s(self) -> float | None:
        """The next due time in seconds since 1970; None if nothing is set."""
        now_s = self._timers.now_s()
        return next((due.due_s for due in self._entries() if due.due_s > now_s), None)

    def correct_clock_jump(self) -> None:
        """Correct timers after the wall clock was set, so that they keep their length; call it every second.

        Alarms ring at their wall-clock time. Suspending the machine does not count as a change of the clock.
        """
        if sys.platform != "win32":
            time.tzset()  # the time zone may have changed
        if self._steady is not None:
            now = self._steady.reckoning(self._timers.now_s())
            self._timers.correct_clock_jump(now)
            self._alarms.correct_clock_jump(now)

    def done(self, due: DueAlarm) -> bool:
        """Remove one that has rung, or move it to its next day; False if another process did.

        One that was extended meanwhile is not due, and stays.
        """
        if due.kind == "timer":
            return self._timers.end(due.id)
        return self._watches.done(due.id) or self._alarms.done(due.id)

    def snooze(self, due: DueAlarm, minutes: float) -> None:
        """Let it ring again after this many minutes."""
        if due.kind == "timer":
            if timer := self._due_timer(due.id):
                self._timers.extend(timer, round(minutes * 60))
        else:
            self._watches.snooze(due.id, minutes * 60)
            self._alarms.snooze(due.id, minutes * 60)

    def announcement(self, due: DueAlarm, now_s: float, language: str = ENGLISH) -> str:
        """The sentence spoken when it rings, or rings too late."""
        return announcement(due, now_s, self._alarms.zone, language)

    def _entries(self) -> list[DueAlarm]:
        """All pending and due entries, oldest first."""
        running = [
            DueAlarm(
                timer.id,
                "timer",
                timer.name,
                timer.due_s,
                timer.command,
                timer.called,
                caller=timer.caller,
                satellite=timer.satellite,
                language=timer.language,
                length_s=timer.length_s,
            )
            for timer in self._timers.all()
            if not timer.is_paused
        ]
        alarms = [
            DueAlarm(
                alarm.id,
                alarm.kind,
                alarm.label,
                self._alarms.rings_s(alarm),
                alarm.label if alarm.kind == "schedule" else "",
                caller=alarm.caller,
                satellite=alarm.satellite,
                person=alarm.person,
                language=alarm.language,
            )
            for alarm in self._alarms.all()
        ]
        return sorted((*running, *alarms, *map(_due_watch, self._watches.due())), key=lambda due: (due.due_s, due.id))

    def _due_timer(self, timer_id: str) -> Timer | None:
        now_s = self._timers.now_s()
        found = (timer for timer in self._timers.all() if timer.id == timer_id and timer.is_due(now_s))
        return next(found, None)


def _due_watch(watch: Watch) -> DueAlarm:
    assert watch.due_s is not None
    if watch.kind == "remind":
        return DueAlarm(watch.id, "reminder", watch.text, watch.due_s, satellite=watch.satellite, language=ENGLISH)
    command = watch.text if watch.kind == "run" else ""
    return DueAlarm(
        watch.id,
        "watch",
        watch.condition.fact,
        watch.due_s,
        command,
        agreed=watch.agreed,
        caller=watch.caller,
        satellite=watch.satellite,
        language=ENGLISH,  # a watch can be set in English only, and tells a fact in English
    )
