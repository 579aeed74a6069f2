"""Watches fire when their condition becomes true, once or every time, also across a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from edgevox.home import Alarms, AlarmSchedule, Entity, House, Timers
from edgevox.home.alarms.watches import Condition, Watch, Watches

DOOR = Entity("binary_sensor.door", "Front Door", "binary_sensor", "off", device_class="door")
ROOM = Entity("sensor.room", "Room", "sensor", "20.0", device_class="temperature")
OPENS = Condition(entity_ids=(DOOR.id,), state="open", phrase="the front door opens", fact="the front door is open")
COLD = Condition(entity_ids=(ROOM.id,), below=18.0, phrase="it is below 18", fact="it is below 18")
CLOSED = House((DOOR, ROOM))
OPEN = House((replace(DOOR, state="on"), ROOM))
AWAY = House((replace(DOOR, state="unavailable"), ROOM))


def clock() -> float:
    return 1000.0


def added(
    watches: Watches, condition: Condition = OPENS, *, is_repeating: bool = False, house: House = CLOSED
) -> Watch:
    is_met = condition.is_met(house)
    return watches.add("tell", condition, condition.fact, is_repeating=is_repeating, is_met=is_met)


def fires(watches: Watches, *houses: House) -> list[bool]:
    """For each state of the home, whether the watch fires then."""
    fired = []
    for house in houses:
        watches.observe(house)
        due = watches.due()
        fired.append(bool(due))
        for watch in due:
            assert watches.done(watch.id)
    return fired


def test_a_watch_fires_once_when_its_condition_becomes_true() -> None:
    watches = Watches(clock)
    added(watches)
    assert fires(watches, CLOSED, OPEN, CLOSED, OPEN) == [False, True, False, False]
    assert watches.all() == ()


def test_a_repeating_watch_fires_every_time() -> None:
    watches = Watches(clock)
    added(watches, is_repeating=True)
    assert fires(watches, OPEN, OPEN, CLOSED, OPEN) == [True, False, False, True]


def test_a_condition_that_holds_already_waits_for_the_next_time() -> None:
    watches = Watches(clock)
    added(watches, house=OPEN)
    assert fires(watches, OPEN, CLOSED, OPEN) == [False, False, True]


def test_a_device_that_does_not_answer_changes_nothing() -> None:
    watches = Watches(clock)
    added(watches)
    assert fires(watches, AWAY, CLOSED, AWAY, OPEN) == [False, False, False, True]


def test_a_change_while_the_assistant_was_off_is_noticed_at_the_start(tmp_path: Path) -> None:
    added(Watches(clock, tmp_path / "watches.json"))
    assert fires(Watches(clock, tmp_path / "watches.json"), OPEN) == [True]


def test_a_thermometer_that_wavers_fires_once() -> None:
    watches = Watches(clock)
    added(watches, COLD, is_repeating=True)
    rooms = [House((replace(ROOM, state=state),)) for state in ("17.9", "18.1", "17.9", "19", "17.5")]
    assert fires(watches, *rooms) == [True, False, False, False, True]


def test_two_processes_do_not_fire_one_watch_twice(tmp_path: Path) -> None:
    first, second = (Watches(clock, tmp_path / "watches.json") for _ in range(2))
    watch = added(first)
    first.observe(OPEN)
    assert (first.done(watch.id), second.done(watch.id)) == (True, False)


def test_the_schedule_announces_what_a_watch_saw() -> None:
    watches = Watches(clock)
    added(watches)
    schedule = AlarmSchedule(Timers(clock), Alarms(clock), watches, lambda: OPEN)
    schedule.observe()
    [due] = schedule.due()
    assert (due.kind, schedule.announcement(due, clock())) == ("watch", "The front door is open.")
    assert schedule.done(due)
    assert schedule.due() == ()
