"""The alarm schedule: due entries, announcements, and clock changes, suspend and restart."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from edgevox.core.languages import replying_in
from edgevox.core.turn import LOCAL, Caller
from edgevox.core.types import GUEST
from edgevox.home import Alarms, AlarmSchedule, DueAlarm, Timers
from edgevox.home.alarms.alarm_handlers import run_alarm
from edgevox.home.alarms.timers import BootClock

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY_6 = datetime(2026, 11, 16, 6, 0, tzinfo=BERLIN)


class Machine:
    """A wall clock that can be set, and one that counts since the boot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wall_s = MONDAY_6.timestamp()
        self.since_boot_s = 100.0
        self.boot = "boot-1"
        self.start()

    def start(self) -> None:
        """The program starts: everything but the files is new."""
        self.timers = Timers(lambda: self.wall_s, self.folder / "timers.json")
        self.alarms = Alarms(lambda: self.wall_s, self.folder / "alarms.json", zone=BERLIN)
        steady = BootClock(lambda: self.since_boot_s, self.boot)
        self.agenda = AlarmSchedule(self.timers, self.alarms, steady=steady)

    def pass_s(self, seconds: float) -> None:
        """Time passes, awake or asleep."""
        self.wall_s += seconds
        self.since_boot_s += seconds

    def set_clock(self, by_s: float) -> None:
        self.wall_s += by_s

    def reboot(self, off_s: float) -> None:
        self.wall_s += off_s
        self.since_boot_s = 5.0
        self.boot += "+"
        self.start()

    def due(self) -> list[str]:
        self.agenda.correct_clock_jump()
        return [f"{due.kind} {due.label}".rstrip() for due in self.agenda.due()]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_due_entries_are_sorted_oldest_first_and_stay_until_done(machine: Machine) -> None:
    machine.timers.start(1800, name="tea")
    machine.alarms.set("alarm", MONDAY_6.replace(minute=20), label="gym")
    machine.alarms.set_in("reminder", 600, label="call mum")
    paused = machine.timers.start(60, name="paused")
    machine.timers.pause(paused)
    assert machine.agenda.next_s() == MONDAY_6.timestamp() + 600
    assert machine.due() == []
    machine.pass_s(1800)
    assert machine.due() == ["reminder call mum", "alarm gym", "timer tea"]
    assert machine.agenda.next_s() is None
    for due in machine.agenda.due():
        machine.agenda.done(due)
    assert machine.due() == []
    assert [timer.name for timer in machine.timers.all()] == ["paused"]
    assert machine.alarms.all() == ()


def test_a_timer_of_another_process_is_due_too(machine: Machine) -> None:
    assert machine.due() == []
    Timers(lambda: machine.wall_s, machine.folder / "timers.json").start(5, name="egg", command="stop the fan")
    machine.pass_s(5)
    (due,) = machine.agenda.due()
    assert (due.label, due.command) == ("egg", "stop the fan")


def test_a_timer_extended_while_ringing_is_not_done(machine: Machine) -> None:
    timer = machine.timers.start(60, name="pasta")
    machine.pass_s(60)
    (due,) = machine.agenda.due()
    machine.timers.extend(timer, 120)
    machine.agenda.done(due)
    assert machine.due() == []
    machine.pass_s(120)
    assert machine.due() == ["timer pasta"]


@pytest.mark.parametrize("kind", ["timer", "alarm", "reminder"])
def test_a_snoozed_entry_rings_again(machine: Machine, kind: Literal["timer", "alarm", "reminder"]) -> None:
    if kind == "timer":
        machine.timers.start(60)
    else:
        machine.alarms.set_in(kind, 60)
    machine.pass_s(60)
    (due,) = machine.agenda.due()
    machine.agenda.snooze(due, 9)
    assert machine.due() == []
    machine.pass_s(9 * 60 - 1)
    assert machine.due() == []
    machine.pass_s(1)
    assert machine.due() == [kind]


def test_an_alarm_that_repeats_rings_again_on_its_next_day(machine: Machine) -> None:
    machine.alarms.set("alarm", MONDAY_6.replace(minute=30), repeat=(0, 1))
    machine.pass_s(1800)
    machine.agenda.done(machine.agenda.due()[0])
    assert machine.agenda.next_s() == MONDAY_6.replace(day=17, minute=30).timestamp()


# --- clocks


@pytest.mark.parametrize("by_s", [7200.0, -7200.0, 86_400.0 * 365])
def test_a_timer_keeps_its_length_when_the_clock_is_set(machine: Machine, by_s: float) -> None:
    machine.timers.start(600, name="pasta")
    machine.alarms.set_in("reminder", 600, label="oven")
    machine.agenda.correct_clock_jump()
    machine.pass_s(60)
    machine.set_clock(by_s)
    assert machine.due() == []
    machine.pass_s(539)
    assert machine.due() == []
    machine.pass_s(1)
    assert sorted(machine.due()) == ["reminder oven", "timer pasta"]


def test_an_alarm_rings_at_its_wall_clock_time_after_the_clock_is_set(machine: Machine) -> None:
    machine.alarms.set("alarm", MONDAY_6.replace(hour=8))
    machine.agenda.correct_clock_jump()
    machine.set_clock(2 * 3600)
    assert machine.due() == ["alarm"]


def test_a_snooze_keeps_its_length_when_the_clock_is_set(machine: Machine) -> None:
    machine.alarms.set("alarm", MONDAY_6.replace(minute=1), repeat=(0,))
    machine.pass_s(60)
    machine.agenda.snooze(machine.agenda.due()[0], 9)
    machine.agenda.correct_clock_jump()
    machine.set_clock(3600)
    assert machine.due() == []
    machine.pass_s(540)
    assert machine.due() == ["alarm"]


def test_suspend_is_not_a_change_of_the_clock(machine: Machine) -> None:
    machine.timers.start(600, name="pasta")
    machine.agenda.correct_clock_jump()
    machine.pass_s(3600)  # both clocks go on
    assert machine.due() == ["timer pasta"]
    (due,) = machine.agenda.due()
    said = machine.agenda.announcement(due, machine.wall_s)
    assert said == "The pasta timer ended 50 minutes ago."


def test_a_clock_that_is_set_while_the_program_is_off_is_noticed_when_it_starts(machine: Machine) -> None:
    machine.timers.start(600, name="pasta")
    machine.agenda.correct_clock_jump()
    machine.pass_s(60)
    machine.set_clock(7200)
    machine.start()
    assert machine.due() == []
    machine.pass_s(540)
    assert machine.due() == ["timer pasta"]


def test_after_a_reboot_the_wall_clock_is_trusted(machine: Machine) -> None:
    machine.timers.start(600, name="pasta")
    machine.agenda.correct_clock_jump()
    machine.reboot(off_s=300)
    assert machine.due() == []
    machine.pass_s(300)
    assert machine.due() == ["timer pasta"]


def test_missed_entries_are_known_after_a_start_with_a_wrong_clock(machine: Machine) -> None:
    machine.timers.start(600, name="old")
    machine.agenda.correct_clock_jump()
    machine.reboot(off_s=0)  # it was off for two hours, but has no clock of its own
    machine.timers.start(600, name="new")
    assert machine.due() == []
    machine.set_clock(7200)  # the network tells the time
    assert machine.due() == ["timer old"]
    machine.pass_s(600)
    assert machine.due() == ["timer old", "timer new"]


def test_a_paused_timer_is_not_corrected(machine: Machine) -> None:
    timer = machine.timers.start(600)
    machine.agenda.correct_clock_jump()
    machine.timers.pause(timer)
    machine.set_clock(7200)
    machine.agenda.correct_clock_jump()
    (paused,) = machine.timers.all()
    machine.timers.resume(paused)
    assert machine.timers.remaining_s(machine.timers.all()[0]) == 600
    machine.agenda.correct_clock_jump()
    assert machine.timers.remaining_s(machine.timers.all()[0]) == 600


def test_without_a_clock_change_nothing_is_written(machine: Machine) -> None:
    machine.timers.start(600)
    machine.alarms.set_in("reminder", 600)
    machine.agenda.correct_clock_jump()
    paths = [machine.folder / "timers.json", machine.folder / "alarms.json"]
    before = [path.stat().st_ino for path in paths]
    for _ in range(3):
        machine.pass_s(1.3)
        machine.set_clock(0.01)
        machine.agenda.correct_clock_jump()
    assert [path.stat().st_ino for path in paths] == before


def test_the_machines_boot_clock_counts_from_boot() -> None:
    steady = BootClock.of_machine()
    if steady is None:
        pytest.skip("no clock that goes on while the machine sleeps")
    first, second = steady.reckoning(1000.0), steady.reckoning(1000.0)
    assert first.boot_id == second.boot_id != ""
    assert 0 <= first.ahead_s - second.ahead_s < 60


# --- what is said

FOR_HALF_PAST_SIX = "for half past six in the morning"


@pytest.mark.parametrize(
    ("due", "late_s", "said"),
    [
        (DueAlarm("1", "timer", "pasta", 0, called="pasta timer"), 0, "The pasta timer is done."),
        (DueAlarm("1", "timer", "", 0, called="10 minute timer"), 59, "The 10 minute timer is done."),
        (DueAlarm("1", "timer", "pasta", 0, called="pasta timer"), 300, "The pasta timer ended 5 minutes ago."),
        (DueAlarm("1", "timer", "pasta", 0, called="pasta timer"), 7200, "The pasta timer ended 2 hours ago."),
        (DueAlarm("1", "timer", "", 0, "turn off the lights"), 0, "It is time to turn off the lights."),
        (DueAlarm("1", "alarm", "", 0), 0, "It is half past six. Time to get up."),
        (DueAlarm("1", "alarm", "airport", 0), 0, "It is half past six. Your alarm: airport."),
        (DueAlarm("1", "timer", "", 0, "stop the fan"), 600, "10 minutes ago it was time to stop the fan."),
        (DueAlarm("1", "alarm", "", 0), 1200, f"The alarm {FOR_HALF_PAST_SIX} was due 20 minutes ago."),
        (DueAlarm("1", "alarm", "gym", 0), 172_800, f"The gym alarm {FOR_HALF_PAST_SIX} was due 2 days ago."),
        (DueAlarm("1", "reminder", "call mum", 0), 0, "Reminder: call mum."),
        (DueAlarm("1", "reminder", "call mum", 0), 3600, "Reminder from 1 hour ago: call mum."),
        (DueAlarm("1", "reminder", "", 0), 0, "Reminder: you wanted to be reminded of something."),
    ],
)  # fmt: skip
def test_the_announcement_names_the_entry(machine: Machine, due: DueAlarm, late_s: float, said: str) -> None:
    due_s = MONDAY_6.replace(minute=30).timestamp()
    at = DueAlarm(due.id, due.kind, due.label, due_s, due.command, due.called)
    assert machine.agenda.announcement(at, due_s + late_s) == said


def test_a_reminder_without_a_task_ends_in_one_full_stop(machine: Machine) -> None:
    said = machine.agenda.announcement(DueAlarm("1", "reminder", "", 0), 0, "de")
    assert said == "Erinnerung: Du wolltest an etwas erinnert werden."


def test_time_to_get_up_is_only_said_in_the_morning(machine: Machine) -> None:
    due_s = MONDAY_6.replace(hour=15).timestamp()
    assert machine.agenda.announcement(DueAlarm("1", "alarm", "", due_s), due_s) == "It is three o'clock. Your alarm."


def test_a_reminder_belongs_to_the_person_who_set_it(machine: Machine) -> None:
    anna, ben, guest = (replace(LOCAL, person=name) for name in ("Anna", "Ben", GUEST))

    def asked(tool: str, caller: Caller, **arguments: str) -> str:
        return run_alarm(machine.alarms, tool, arguments, caller)

    asked("set_reminder", anna, task="call mum", time="in 10 minutes")
    asked("set_reminder", guest, task="feed the cat", time="in 20 minutes")
    listed = {caller.person: asked("alarm_status", caller, name="reminders") for caller in (anna, ben, guest)}
    assert [name for name, said in listed.items() if "call mum" in said] == ["Anna", GUEST]
    assert all("feed the cat" in said for said in listed.values())
    machine.pass_s(1200)
    said = [machine.agenda.announcement(due, due.due_s) for due in machine.agenda.due()]
    assert said == ["Anna, a reminder: call mum.", "Reminder: feed the cat."]


@pytest.mark.parametrize(
    ("language", "late_s", "said"),
    [
        ("de", 0.0, [
            "Der Timer Nudeln ist abgelaufen.",
            "Erinnerung: Mama anrufen.",
            "Es ist 06:00 Uhr. Zeit aufzustehen.",
        ]),
        ("fr", 120.0, [
            "Il y a 2 minutes: Le minuteur Nudeln est terminé.",
            "Il y a 2 minutes: Rappel : Mama anrufen.",
            "Il y a 2 minutes: C'est ton réveil.",
        ]),
    ],
)  # fmt: skip
def test_the_announcement_is_in_the_language_of_the_turn_that_set_it(
    machine: Machine, language: str, late_s: float, said: list[str]
) -> None:
    with replying_in(language):
        machine.timers.start(60, name="Nudeln")
        run_alarm(machine.alarms, "set_reminder", {"task": "Mama anrufen", "time": "in 1 minute"})
    machine.alarms.set("alarm", MONDAY_6)
    machine.pass_s(60)
    machine.start()
    due = sorted(machine.agenda.due(), key=lambda one: ["timer", "reminder", "alarm"].index(one.kind))
    assert [one.language for one in due] == [language, language, ""]  # "" is an older file, or the page
    assert [machine.agenda.announcement(one, one.due_s + late_s, language) for one in due] == said
