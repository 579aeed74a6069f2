"""Timers as state, and the timer tools with their spoken answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgevox.core.types import ToolCall
from edgevox.home import HomeError, Timers
from edgevox.home.alarms.timers import MAX_TIMERS
from edgevox.tools.policy import LOCAL, Caller
from tests.home.conftest import Bench, Clock


async def test_a_timer_runs_down_with_the_clock(bench: Bench) -> None:
    assert await bench.say("start_timer", minutes=9, name="pasta") == "The pasta timer is set for 9 minutes."
    bench.clock.now_s += 90
    assert await bench.say("timer_status") == "The pasta timer has 7 minutes and 30 seconds left."


async def test_a_timer_without_a_name_is_called_by_its_length(bench: Bench) -> None:
    assert await bench.say("start_timer", hours=1, minutes=30) == "The 1 hour and 30 minute timer is set."
    said = await bench.say("cancel_timer", start_hours=1, start_minutes=30)
    assert said == "The 1 hour and 30 minute timer is cancelled."
    assert bench.timers.all() == ()


async def test_a_command_is_stored_with_its_timer(bench: Bench) -> None:
    said = await bench.say("start_timer", minutes=5, conversation_command="turn off the lights")
    assert said == "In 5 minutes I will turn off the lights."
    assert bench.timers.all()[0].command == "turn off the lights"


PROGRAM = Caller("program", frozenset({"act", "read"}), has_token=True)


async def test_the_caller_of_a_command_is_stored_with_it(bench: Bench, tmp_path: Path) -> None:
    later = {"minutes": 5, "conversation_command": "turn off the lights"}
    await bench.executor.dispatch(ToolCall("1", "start_timer", json.dumps(later)), caller=PROGRAM)
    schedule = {"task": "turn off the lights", "time": "every day at nine", "runs": True}
    await bench.executor.dispatch(ToolCall("1", "set_reminder", json.dumps(schedule)), caller=PROGRAM)
    assert [timer.caller for timer in bench.timers.all()] == [PROGRAM]
    assert [alarm.caller for alarm in bench.alarms.all()] == [PROGRAM]
    stored = Timers(bench.clock, tmp_path / "timers.json")
    stored.start(60, command="turn off the lights", caller=PROGRAM)
    stored.start(60, command="turn off the lights")
    assert [timer.caller for timer in Timers(bench.clock, tmp_path / "timers.json").in_order_of_start()] == [
        PROGRAM,
        None,
    ]


async def test_the_same_schedule_of_another_caller_is_another_one(bench: Bench) -> None:
    schedule = ToolCall("1", "set_reminder", '{"task": "lock up", "time": "every day at nine", "runs": true}')
    for caller in (PROGRAM, LOCAL, PROGRAM):
        await bench.executor.dispatch(schedule, caller=caller)
    assert {alarm.caller for alarm in bench.alarms.all()} == {PROGRAM, None}
    assert len(bench.alarms.all()) == 2


async def test_a_timer_can_be_paused_and_resumed(bench: Bench) -> None:
    await bench.say("start_timer", minutes=10, name="egg")
    bench.clock.now_s += 60
    assert await bench.say("pause_timer", name="egg timer") == "The egg timer is paused with 9 minutes left."
    bench.clock.now_s += 3600
    assert await bench.say("timer_status") == "The egg timer is paused with 9 minutes left."
    assert await bench.say("increase_timer", minutes=1) == "The egg timer has 10 minutes left."
    assert await bench.say("unpause_timer") == "The egg timer goes on, with 10 minutes left."
    bench.clock.now_s += 60
    assert await bench.say("timer_status") == "The egg timer has 9 minutes left."


async def test_a_timer_can_be_extended_and_shortened_but_not_below_zero(bench: Bench) -> None:
    await bench.say("start_timer", minutes=10)
    assert await bench.say("increase_timer", minutes=5) == "The 10 minute timer has 15 minutes left."
    said = await bench.say("decrease_timer", hours=1, start_minutes=10)
    assert said == "The 10 minute timer has 0 seconds left."


async def test_one_of_several_timers_must_be_named(bench: Bench) -> None:
    await bench.say("start_timer", minutes=5, name="tea")
    await bench.say("start_timer", minutes=20)
    assert await bench.say("cancel_timer") == "Which one: the tea timer or the 20 minute timer?"
    assert await bench.say("cancel_timer", name="coffee") == (
        "There is no such timer, only the tea timer and the 20 minute timer."
    )
    assert await bench.say("cancel_timer", name="the tea") == "The tea timer is cancelled."


async def test_a_room_in_a_timer_s_name_finds_it(bench: Bench) -> None:
    await bench.say("start_timer", minutes=5, name="kitchen")
    await bench.say("start_timer", minutes=20)
    assert await bench.say("cancel_timer", area="kitchen") == "The kitchen timer is cancelled."


async def test_all_timers_are_cancelled_together(bench: Bench) -> None:
    await bench.say("start_timer", minutes=5)
    await bench.say("start_timer", minutes=6)
    assert await bench.say("cancel_all_timers") == "2 timers cancelled."
    assert await bench.say("cancel_all_timers") == "No timer is running."


async def test_a_timer_is_found_by_a_similar_sounding_name(bench: Bench) -> None:
    await bench.say("start_timer", minutes=5, name="egg")
    await bench.say("start_timer", minutes=9, name="lasagne")
    assert await bench.say("timer_status", name="eggs") == "The egg timer has 5 minutes left."
    assert await bench.say("timer_status", name="the lasagna timer") == "The lasagne timer has 9 minutes left."
    assert await bench.say("timer_status", name="9 minute timer") == "The lasagne timer has 9 minutes left."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("first", "The tea timer has 20 minutes left."),
        ("the second one", "The 10 minute timer has 10 minutes left."),
        ("third timer", "The 1 minute timer has 1 minute left."),
        ("last", "The 1 minute timer has 1 minute left."),
        ("fourth", "There is no such timer, only the 1 minute timer, the 10 minute timer and the tea timer."),
    ],
)
async def test_timers_are_counted_in_the_order_of_their_start(name: str, said: str, bench: Bench) -> None:
    await bench.say("start_timer", minutes=20, name="tea")
    await bench.say("start_timer", minutes=10)
    await bench.say("start_timer", minutes=1)
    assert await bench.say("timer_status", name=name) == said


async def test_two_timers_of_the_same_name_are_numbered(bench: Bench) -> None:
    await bench.say("start_timer", minutes=10)
    bench.clock.now_s += 60
    await bench.say("start_timer", minutes=10)
    assert await bench.say("timer_status") == (
        "The first 10 minute timer has 9 minutes left and the second 10 minute timer has 10 minutes left."
    )
    asked = await bench.say("cancel_timer", start_minutes=10)
    assert asked == "Which one: the first 10 minute timer or the second 10 minute timer?"
    await bench.say("cancel_timer", start_minutes=10, name="second")
    assert await bench.say("timer_status") == "The 10 minute timer has 9 minutes left."


async def test_a_due_timer_is_the_one_that_is_meant(bench: Bench) -> None:
    await bench.say("start_timer", minutes=1, name="pasta")
    await bench.say("start_timer", minutes=30, name="roast")
    bench.clock.now_s += 60
    assert await bench.say("timer_status", name="pasta") == "The pasta timer is done."
    assert await bench.say("pause_timer", name="pasta") == "The pasta timer is done already."
    assert await bench.say("increase_timer", minutes=2) == "The pasta timer has 2 minutes left."
    bench.clock.now_s += 120
    assert await bench.say("cancel_timer") == "The pasta timer is cancelled."


async def test_only_a_paused_timer_can_be_resumed(bench: Bench) -> None:
    await bench.say("start_timer", minutes=5, name="tea")
    assert await bench.say("unpause_timer") == "No timer is paused."
    await bench.say("start_timer", minutes=20, name="roast")
    await bench.say("pause_timer", name="tea")
    assert await bench.say("pause_timer", name="tea") == "The tea timer is paused already."
    assert await bench.say("unpause_timer") == "The tea timer goes on, with 5 minutes left."


async def test_a_command_that_is_too_long_is_refused(bench: Bench) -> None:
    said = await bench.say("start_timer", minutes=5, conversation_command="turn on " * 40)
    assert said == "That is too long for me to remember."
    assert bench.timers.all() == ()


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("start_timer", {}, "For how long?"),
        ("start_timer", {"minutes": 0}, "For how long?"),
        ("start_timer", {"hours": 999}, "A timer can be a second to a week long."),
        ("timer_status", {}, "No timer is running."),
        ("pause_timer", {}, "No timer is running."),
        ("increase_timer", {}, "By how much?"),
    ],
)
async def test_missing_arguments_are_asked_for(tool: str, arguments: dict[str, int], said: str, bench: Bench) -> None:
    assert await bench.say(tool, **arguments) == said


def test_timers_survive_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    started = Timers(clock, tmp_path / "timers.json").start(60, name="tea")
    clock.now_s += 45
    again = Timers(clock, tmp_path / "timers.json")
    assert again.all() == (started,)
    assert again.remaining_s(started) == 15
    clock.now_s += 45
    assert again.remaining_s(again.all()[0]) == 0


def test_timers_are_sorted_by_due_time() -> None:
    timers = Timers(Clock())
    for length_s in (30, 10, 20):
        timers.start(length_s)
    assert [timer.length_s for timer in timers.all()] == [10, 20, 30]


def test_no_timer_is_started_without_a_length() -> None:
    with pytest.raises(HomeError):
        Timers(Clock()).start(0)


def test_the_number_of_timers_is_limited() -> None:
    timers = Timers(Clock())
    for _ in range(MAX_TIMERS):
        timers.start(60)
    with pytest.raises(HomeError, match="Cancel some"):
        timers.start(60)


def test_a_timer_of_another_process_is_seen(tmp_path: Path) -> None:
    here, there = (Timers(Clock(), tmp_path / "timers.json") for _ in range(2))
    assert here.all() == ()
    for name in ("tea", "egg"):
        there.start(60, name=name)
        assert name in {timer.name for timer in here.all()}
    there.cancel(*there.all())
    assert here.all() == ()


def test_timers_of_an_earlier_version_run_on(tmp_path: Path) -> None:
    path = tmp_path / "timers.json"
    path.write_text('{"version": 1, "timers": [{"id": "1", "length_s": 60, "due_s": 1e10, "name": "tea"}]}')
    assert [timer.name for timer in Timers(Clock(), path).all()] == ["tea"]
