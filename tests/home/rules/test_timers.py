"""Requests about the timer that was just talked about, and about all timers, alarms or reminders."""

from __future__ import annotations

from datetime import timedelta

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
    assert (await Talk(bench).say("delete any alarms that I have set")).reply == "Two alarms are cancelled."
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


async def test_a_command_is_cancelled_by_another_verb_for_the_same_act(bench: Bench) -> None:
    bench.timers.start(600, command="turn off the tv")
    await Talk(bench).say("you don't have to switch off the tv any more")
    assert not bench.timers.all()


async def test_cancelling_what_is_not_scheduled_does_nothing(bench: Bench) -> None:
    talk = Talk(bench, ("turn_off", {"name": "tv"}))
    assert (await talk.say("cancel turning off the tv")).reply == "Nothing is scheduled."
    assert not talk.model.requests


async def test_a_timer_is_cancelled_with_never_mind(bench: Bench) -> None:
    bench.timers.start(600, name="rice")
    bench.timers.start(600, name="eggs")
    await Talk(bench).say("never mind the timer for the rice")
    assert [timer.name for timer in bench.timers.all()] == ["eggs"]


async def test_leaving_a_thing_as_it_is_cancels_what_would_change_it(bench: Bench) -> None:
    bench.timers.start(600, command="open the curtains")
    bench.timers.start(600, command="close the garage door")
    await Talk(bench).say("leave the curtains shut tomorrow morning after all")
    assert [timer.command for timer in bench.timers.all()] == ["close the garage door"]


async def test_removing_every_reminder_keeps_the_alarms(bench: Bench) -> None:
    bench.alarms.set_in("alarm", 60)
    bench.alarms.set_in("reminder", 90, label="call mum")
    await Talk(bench).say("remove every reminder")
    assert [alarm.kind for alarm in bench.alarms.all()] == ["alarm"]


@pytest.mark.parametrize(
    "text",
    ["what is scheduled for tonight", "when does the tv go off", "will you turn anything off later",
     "what have you got planned for the tv"],
)  # fmt: skip
async def test_questions_about_scheduled_commands_are_answered_by_rule(bench: Bench, text: str) -> None:
    bench.timers.start(1800, command="turn off the tv")
    assert (await Talk(bench).say(text)).reply == "I will turn off the tv in 30 minutes."


async def test_a_question_about_an_alarm_is_not_about_scheduled_commands(bench: Bench) -> None:
    bench.timers.start(1800, command="turn off the tv")
    talk = Talk(bench, ("alarm_status", {}))
    await talk.say("when does my alarm go off")
    assert len(talk.model.requests) == 1


async def test_the_time_left_of_a_named_timer_is_answered(bench: Bench) -> None:
    bench.timers.start(300, name="pasta")
    assert (await Talk(bench).say("how long has the pasta got left")).reply == "The pasta timer has 5 minutes left."


async def test_several_timers_share_the_unit_that_was_said_once(bench: Bench) -> None:
    await Talk(bench).say("two timers please five minutes for the tea and eight for the eggs")
    # The calls of one sentence are made at the same time.
    assert {(timer.name, timer.length_s) for timer in bench.timers.all()} == {("tea", 300), ("eggs", 480)}


async def test_days_before_an_alarm_repeat_it(bench: Bench) -> None:
    await Talk(bench).say("every tuesday and thursday wake me at 5 30")
    assert [(alarm.repeat, alarm.label) for alarm in bench.alarms.all()] == [((1, 3), "")]


async def test_a_name_that_says_days_repeats_the_alarm(bench: Bench) -> None:
    await Talk(bench, ("set_alarm", {"time": "nine thirty", "name": "weekend"})).say("weekend alarm at nine thirty")
    assert [(alarm.repeat, alarm.label) for alarm in bench.alarms.all()] == [((5, 6), "")]


async def test_a_task_that_the_model_cut_inside_a_word_is_completed(bench: Bench) -> None:
    talk = Talk(bench, ("set_reminder", {"task": "feed next door", "time": "4 pm"}))
    await talk.say("reminder for 4 pm feed next door's cat")
    assert [alarm.label for alarm in bench.alarms.all()] == ["feed next door's cat"]


@pytest.mark.parametrize(
    "text",
    ["actually don't", "call it off", "on second thoughts leave the kitchen light on", "the kitchen light can stay on"],
)
async def test_a_command_that_was_just_scheduled_is_taken_back(bench: Bench, text: str) -> None:
    talk = Talk(bench)
    await talk.say("turn the kitchen light off at ten pm")
    assert bench.timers.all()
    await talk.say(text)
    assert not bench.timers.all()


async def test_a_scheduled_command_is_forgotten_by_its_gerund(bench: Bench) -> None:
    bench.timers.start(3600, command="turn on the kitchen light")
    await Talk(bench).say("never mind switching the kitchen light on later")
    assert not bench.timers.all()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("move my alarm to half seven", "07:30"),
        ("can you make the alarm eight o'clock instead", "08:00"),
        ("push my alarm back half an hour", "07:30"),
    ],
)
async def test_an_alarm_is_moved_and_not_set_twice(bench: Bench, text: str, at: str) -> None:
    tomorrow = bench.alarms.now().replace(tzinfo=None, hour=7, minute=0, second=0, microsecond=0) + timedelta(days=1)
    bench.alarms.set("alarm", tomorrow)
    await Talk(bench).say(text)
    assert [f"{alarm.at:%H:%M}" for alarm in bench.alarms.all()] == [at]


async def test_a_reminder_keeps_its_task_when_it_is_moved(bench: Bench) -> None:
    tomorrow = bench.alarms.now().replace(tzinfo=None, hour=17, minute=0, second=0, microsecond=0) + timedelta(days=1)
    bench.alarms.set("reminder", tomorrow, label="call mum")
    await Talk(bench).say("move the reminder to call mum to seven")
    assert [(alarm.label, f"{alarm.at:%H:%M}") for alarm in bench.alarms.all()] == [("call mum", "19:00")]
