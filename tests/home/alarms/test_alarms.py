"""Alarms and reminders as state: ring times across restarts, skipped days and clock changes."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from edgevox.home import Alarm, Alarms, HomeError
from edgevox.home.alarms.alarm_handlers import run_alarm
from edgevox.home.alarms.alarms import MAX_ALARMS

BERLIN = ZoneInfo("Europe/Berlin")
WEEKDAYS = (0, 1, 2, 3, 4)


class Clock:
    def __init__(self, *at: int) -> None:
        self.set(*at)

    def set(self, *at: int) -> None:
        self.now_s = berlin(*at).timestamp()

    def __call__(self) -> float:
        return self.now_s


def berlin(*at: int) -> datetime:
    year, month, day, hour, minute = at
    return datetime(year, month, day, hour, minute, tzinfo=BERLIN)


def rings(alarms: Alarms) -> list[str]:
    return [f"{alarm.rings(alarms.zone):%a %d %H:%M}" for alarm in alarms.all()]


def test_alarms_survive_a_restart(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 15, 10, 0)
    alarms = Alarms(clock, tmp_path / "alarms.json", zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 11, 16, 6, 30), label="gym", repeat=WEEKDAYS)
    reminder = alarms.set_in("reminder", 1200, label="check the oven")
    again = Alarms(clock, tmp_path / "alarms.json", zone=BERLIN)
    assert again.all() == (reminder, alarm)


def test_an_alarm_gets_another_time_name_and_other_days_and_is_switched_off_and_on() -> None:
    clock = Clock(2026, 11, 20, 6, 0)  # a Friday
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 11, 21, 7, 0), label="gym")

    def change(**given: object) -> str:
        return run_alarm(alarms, "set_alarm", {"id": alarm.id, "time": "", **given})

    change(time="08:15")
    assert rings(alarms) == ["Sat 21 08:15"]  # it keeps its date
    assert change(time="06:30", days=[0, 2]) == (
        "The gym alarm is set for half past six in the morning every Monday and Wednesday."
    )
    assert rings(alarms) == ["Mon 23 06:30"]
    assert change(is_on=False) == "The gym alarm is off."
    assert rings(alarms) == []
    assert run_alarm(alarms, "alarm_status", {}) == "No alarm is set."
    clock.set(2026, 11, 25, 7, 0)  # past the time for which it was set
    change(is_on=True)
    assert rings(alarms) == ["Mon 30 06:30"]
    change(days=[])
    assert rings(alarms) == ["Thu 26 06:30"]
    assert change(name="swim", days=[]).startswith("The swim alarm is set for")
    with pytest.raises(HomeError):
        run_alarm(alarms, "set_alarm", {"id": "gone", "time": "07:00"})
    command = alarms.set("schedule", berlin(2026, 11, 26, 22, 0), label="lock the front door")
    with pytest.raises(HomeError):  # with the rights of the one who set it up
        run_alarm(alarms, "set_alarm", {"id": command.id, "time": "", "name": "unlock the front door"})


def test_alarms_are_sorted_by_ring_time() -> None:
    alarms = Alarms(Clock(2026, 11, 15, 10, 0), zone=BERLIN)
    for hour in (9, 7, 8):
        alarms.set("alarm", berlin(2026, 11, 16, hour, 0))
    assert rings(alarms) == ["Mon 16 07:00", "Mon 16 08:00", "Mon 16 09:00"]


def test_a_rung_alarm_is_removed_and_a_repeating_one_moves_to_its_next_day() -> None:
    clock = Clock(2026, 11, 20, 6, 0)  # a Friday
    alarms = Alarms(clock, zone=BERLIN)
    once = alarms.set("alarm", berlin(2026, 11, 20, 6, 30))
    again = alarms.set("alarm", berlin(2026, 11, 20, 6, 30), repeat=WEEKDAYS)
    alarms.done(once.id)
    assert len(alarms.all()) == 2  # neither is due
    clock.set(2026, 11, 20, 6, 30)
    alarms.done(once.id)
    alarms.done(again.id)
    assert rings(alarms) == ["Mon 23 06:30"]
    alarms.done(again.id)
    assert rings(alarms) == ["Mon 23 06:30"]


def test_a_repeating_alarm_missed_for_days_moves_to_its_next_future_day() -> None:
    clock = Clock(2026, 11, 16, 6, 0)
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 11, 16, 6, 30), repeat=(0, 1, 2, 3, 4, 5, 6))
    clock.set(2026, 11, 19, 6, 0)
    alarms.done(alarm.id)
    assert rings(alarms) == ["Thu 19 06:30"]


def test_a_snoozed_alarm_rings_later_and_then_on_its_next_day() -> None:
    clock = Clock(2026, 11, 16, 6, 30)
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 11, 16, 6, 30), repeat=WEEKDAYS)
    alarms.snooze(alarm.id, 9 * 60)
    assert rings(alarms) == ["Mon 16 06:39"]
    clock.set(2026, 11, 16, 6, 39)
    alarms.done(alarm.id)
    assert rings(alarms) == ["Tue 17 06:30"]


def test_skipping_affects_only_that_day() -> None:
    clock = Clock(2026, 11, 16, 12, 0)
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 11, 17, 6, 30), repeat=WEEKDAYS)
    alarm = alarms.skip(alarm, date(2026, 11, 18))
    assert rings(alarms) == ["Tue 17 06:30"]
    clock.set(2026, 11, 17, 6, 30)
    alarms.done(alarm.id)
    assert rings(alarms) == ["Thu 19 06:30"]
    alarms.skip(alarms.all()[0], date(2026, 11, 19))
    assert rings(alarms) == ["Fri 20 06:30"]
    assert alarms.all()[0].skipped == ()


@pytest.mark.parametrize(("friday", "monday"), [((2027, 3, 26), (2027, 3, 29)), ((2026, 10, 23), (2026, 10, 26))])
def test_an_alarm_keeps_its_hour_when_the_clocks_change(
    friday: tuple[int, int, int], monday: tuple[int, int, int]
) -> None:
    clock = Clock(*friday, 6, 30)
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(*friday, 6, 30), repeat=WEEKDAYS)
    alarms.done(alarm.id)
    assert alarms.rings_s(alarms.all()[0]) == berlin(*monday, 6, 30).timestamp()


def test_an_alarm_in_the_skipped_hour_keeps_its_time_the_day_after() -> None:
    clock = Clock(2027, 3, 27, 22, 0)
    alarms = Alarms(clock, zone=BERLIN)
    run_alarm(alarms, "set_alarm", {"time": "every day at 2:30 am"})
    assert rings(alarms) == ["Sun 28 03:30"]
    clock.now_s += 24 * 3600
    alarms.done(alarms.all()[0].id)
    assert rings(alarms) == ["Mon 29 02:30"]


def test_an_alarm_in_the_repeated_hour_rings_once() -> None:
    clock = Clock(2026, 10, 25, 1, 0)
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 10, 25, 2, 30), repeat=(6,))
    clock.now_s += 90 * 60
    assert alarms.is_due(alarm)
    alarms.done(alarm.id)
    clock.now_s += 3600  # it is half past two again
    assert rings(alarms) == ["Sun 01 02:30"]


def test_an_alarm_missed_in_the_first_repeated_hour_is_due_in_the_second() -> None:
    clock = Clock(2026, 10, 25, 1, 0)
    alarms = Alarms(clock, zone=BERLIN)
    alarm = alarms.set("alarm", berlin(2026, 10, 25, 2, 30))
    clock.now_s += 130 * 60  # clocks show 2:10, for the second time
    assert alarms.is_due(alarm)


def test_an_alarm_follows_a_change_of_the_time_zone(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 15, 10, 0)
    Alarms(clock, tmp_path / "a.json", zone=BERLIN).set("alarm", berlin(2026, 11, 16, 6, 30))
    assert rings(Alarms(clock, tmp_path / "a.json", zone=ZoneInfo("Asia/Tokyo"))) == ["Mon 16 06:30"]


def test_the_number_of_alarms_is_limited() -> None:
    alarms = Alarms(Clock(2026, 11, 15, 10, 0), zone=BERLIN)
    for _ in range(MAX_ALARMS):
        alarms.set_in("reminder", 60)
    with pytest.raises(HomeError, match="Cancel some"):
        alarms.set_in("reminder", 60)


def test_forgetting_words_keeps_the_alarm() -> None:
    alarms = Alarms(Clock(2026, 11, 15, 10, 0), zone=BERLIN)
    alarms.set_in("reminder", 60, label="buy a ring")
    alarms.set_in("reminder", 90, label="feed the cat")
    assert alarms.forget_words(lambda text: text == "buy a ring") == 1
    assert [alarm.label for alarm in alarms.all()] == ["", "feed the cat"]


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"at": "2026-11-16T06:30:00", "due_s": 1.0},
        {"at": "2026-11-16T06:30:00+01:00"},
        {"at": "2026-11-16T06:30:00", "repeat": [7]},
        {"due_s": 1.0, "repeat": [1]},
    ],
)
def test_an_alarm_without_a_time_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Alarm.model_validate({"id": "1", "kind": "alarm", **broken})


def test_a_corrupt_file_is_renamed(tmp_path: Path) -> None:
    path = tmp_path / "alarms.json"
    path.write_text('{"version": 1, "alarms": [{"id": "1", "kind": "alarm"}]}', encoding="utf-8")
    assert Alarms(Clock(2026, 11, 15, 10, 0), path).all() == ()
    assert len([*tmp_path.glob("alarms.json.damaged-*")]) == 1
