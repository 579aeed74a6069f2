"""Requests about the timer that was just talked about, and about all timers, alarms or reminders."""

from __future__ import annotations

import pytest

from edgevox.agents import AgentResult
from tests.home.conftest import Bench
from tests.home.talk import Talk


async def after_a_timer(bench: Bench, text: str) -> AgentResult:
    """What is answered after a timer of ten minutes was set."""
    talk = Talk(bench, ("start_timer", {"minutes": 10}))
    await talk.say("set a timer for ten minutes")
    return await talk.say(text)


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("add two minutes to it", "The 10 minute timer has 12 minutes left."),
        ("give it five more minutes", "The 10 minute timer has 15 minutes left."),
        ("take a minute off it", "The 10 minute timer has 9 minutes left."),
        ("Pause it.", "The 10 minute timer is paused with 10 minutes left."),
        ("rename it to pizza", "It is the pizza timer now."),
        ("delete it", "The 10 minute timer is cancelled."),
    ],
)
async def test_it_means_the_timer_that_was_set(bench: Bench, text: str, reply: str) -> None:
    assert (await after_a_timer(bench, text)).reply == reply


async def test_it_means_no_timer_after_another_subject(bench: Bench) -> None:
    talk = Talk(bench, ("turn_on", {"name": "tv"}))
    bench.timers.start(600)
    await talk.say("turn on the tv")
    await talk.say("pause it")
    assert len(talk.model.requests) == 2
    assert not bench.timers.all()[0].is_paused


async def test_the_alarm_that_was_just_set_is_cancelled(bench: Bench) -> None:
    bench.alarms.set_in("alarm", 60)
    talk = Talk(bench, ("set_alarm", {"time": "seven"}))
    await talk.say("wake me at seven")
    assert (await talk.say("delete that")).reply == "It is cancelled."
    assert [alarm.due_s is None for alarm in bench.alarms.all()] == [False]


async def test_all_of_a_kind_are_cancelled(bench: Bench) -> None:
    for _ in range(2):
        bench.alarms.set_in("alarm", 60)
        bench.alarms.set_in("reminder", 90, label="call mum")
    assert (await Talk(bench).say("delete all alarms")).reply == "Two alarms are cancelled."
    assert (await Talk(bench).say("cancel all my reminders")).reply == "Two reminders are cancelled."


async def test_a_calendar_is_left_to_the_model(bench: Bench) -> None:
    bench.timers.start(600, command="turn off the tv")
    talk = Talk(bench, ("nevermind", {}))
    await talk.say("clear my schedule for today")
    assert len(talk.model.requests) == 1
    assert bench.timers.all()


@pytest.mark.parametrize(
    "text",
    [
        "actually don't turn off the tv in ten minutes",
        "you don't have to turn off the tv any more",
        "cancel turning off the tv",
        "please cancel the scheduled tv",
    ],
)
async def test_a_delayed_command_is_cancelled_by_what_it_does(bench: Bench, text: str) -> None:
    bench.timers.start(600, command="turn off the tv")
    bench.timers.start(900, command="open the curtains")
    await Talk(bench).say(text)
    assert [timer.command for timer in bench.timers.all()] == ["open the curtains"]
