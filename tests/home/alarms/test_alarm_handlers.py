"""The alarm and reminder tools, with their spoken answers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.home.conftest import NOW, Bench

WEEKDAYS = "The alarm for quarter to seven in the morning every weekday"

# It is Sunday, the first of March, five past seven in the evening.


def after(bench: Bench, **length: float) -> None:
    bench.clock.now_s = (NOW + timedelta(**length)).timestamp()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"time": "half past six"}, "The alarm is set for half past six tomorrow morning."),
        ({"time": "7 am tomorrow"}, "The alarm is set for seven tomorrow morning."),
        ({"time": "tonight at nine"}, "The alarm is set for nine tonight."),
        ({"time": "friday at 6:47"}, "The alarm is set for 6:47 on Friday morning."),
        ({"time": "midnight"}, "The alarm is set for midnight tonight."),
        ({"time": "the 9th at noon"}, "The alarm is set for noon on Monday, March 9."),
        ({"time": "tomorrow at seven", "name": "airport"}, "The airport alarm is set for seven tomorrow morning."),
        ({"time": "seven", "name": "Gym Alarm"}, "The gym alarm is set for seven tomorrow morning."),
        (
            {"time": "every weekday at quarter to seven"},
            "The alarm is set for quarter to seven in the morning every weekday.",
        ),
        ({"time": "in forty minutes"}, "The alarm rings in 40 minutes."),
        ({"time": "7 am alarm"}, "The alarm is set for seven tomorrow morning."),
        ({"time": "tomorrow"}, "At what time?"),
        ({"time": " "}, "For what time?"),
        ({"time": "whenever"}, "I do not know what time “whenever” is. For what time?"),
        ({"time": "six pm today"}, "That is over already. For when?"),
        ({"time": "every other day at six"}, "I can repeat on days of the week only. For what time?"),
        ({"time": "seven", "name": "x" * 300}, "That is too long for me to remember."),
    ],
)
async def test_an_alarm_is_set_or_its_time_is_asked_for(arguments: dict[str, str], said: str, bench: Bench) -> None:
    assert await bench.say("set_alarm", **arguments) == said
    assert len(bench.alarms.all()) == (said.startswith("The "))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"task": "call mum", "time": "eight"}, "I will remind you at eight this evening: call mum."),
        ({"task": "call mum"}, "When shall I remind you?"),
        ({"task": "call mum", "time": "later"}, "I do not know what time “later” is. When shall I remind you?"),
        ({"task": "check the oven", "time": "in twenty minutes"}, "I will remind you in 20 minutes: check the oven."),
        (
            {"task": "water the plants", "time": "sunday"},
            "I will remind you at nine in the morning on Sunday, March 8: water the plants.",
        ),
        ({"task": " ", "time": "six"}, "Of what shall I remind you?"),
    ],
)
async def test_a_reminder_is_set_or_its_time_is_asked_for(arguments: dict[str, str], said: str, bench: Bench) -> None:
    assert await bench.say("set_reminder", **arguments) == said
    assert len(bench.alarms.all()) == (said.startswith("I will"))


async def test_a_repeated_request_sets_one_alarm(bench: Bench) -> None:
    for _ in range(2):
        await bench.say("set_alarm", time="half past six")
    assert len(bench.alarms.all()) == 1


async def several(bench: Bench) -> None:
    await bench.say("set_alarm", time="half past six")
    await bench.say("set_alarm", time="tomorrow at seven", name="airport")
    await bench.say("set_alarm", time="every weekday at quarter to seven")
    await bench.say("set_reminder", task="call mum", time="eight")
    await bench.say("set_reminder", task="the dentist", time="tuesday at ten")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {},
            "There are three alarms: half past six tomorrow morning, quarter to seven in the morning every "
            "weekday and airport at seven tomorrow morning. There are two reminders: call mum at eight this "
            "evening and the dentist at ten on Tuesday morning.",
        ),
        ({"time": "tuesday"},
         "There is one alarm: quarter to seven in the morning every weekday. "
         "There is one reminder: the dentist at ten on Tuesday morning."),
        ({"time": "seven"}, "There is one alarm: airport at seven tomorrow morning."),
        ({"time": "this evening"}, "There is one reminder: call mum at eight this evening."),
        ({"name": "dentist"}, "There is one reminder: the dentist at ten on Tuesday morning."),
        ({"name": "dentists"}, "There is one reminder: the dentist at ten on Tuesday morning."),
        ({"time": "tomorrow", "name": "reminders"},
         "Nothing is set for then. The next is call mum at eight this evening."),
        ({"time": "eleven"}, "Nothing is set for then. The next is call mum at eight this evening."),
        ({"name": "gym"}, "Nothing of that name is set. The next is call mum at eight this evening."),
    ],
)  # fmt: skip
async def test_the_status_lists_what_is_set(arguments: dict[str, str], said: str, bench: Bench) -> None:
    assert await bench.say("alarm_status") == "No alarm is set."
    await several(bench)
    assert await bench.say("alarm_status", **arguments) == said


@pytest.mark.parametrize(
    ("arguments", "said", "left"),
    [
        ({"time": "seven o'clock"}, "The airport alarm for seven tomorrow morning is cancelled.", 4),
        ({"name": "the airport alarm"}, "The airport alarm for seven tomorrow morning is cancelled.", 4),
        ({"name": "dentist"}, "The reminder is cancelled: the dentist at ten on Tuesday morning.", 4),
        ({"time": "every weekday"}, f"{WEEKDAYS} is cancelled.", 4),
        ({"time": "tuesday"}, f"{WEEKDAYS} is off on Tuesday.", 5),
        ({"time": "tomorrow"},
         f"Two alarms are cancelled. {WEEKDAYS} is off tomorrow.", 3),
        ({"name": "all reminders"}, "Two reminders are cancelled.", 3),
        ({"time": "all alarms"}, "Three alarms are cancelled.", 2),
        ({"name": "reminder"},
         "Which one: call mum at eight this evening or the dentist at ten on Tuesday morning?", 5),
        ({}, "Which one: half past six tomorrow morning, quarter to seven in the morning every weekday or "
             "airport at seven tomorrow morning?", 5),
        ({"time": "nine"}, "Nothing is set for then. The next is call mum at eight this evening.", 5),
        ({"time": "half past nonsense"}, "I do not know what time “half past nonsense” is.", 5),
    ],
)  # fmt: skip
async def test_only_the_named_alarm_is_cancelled(arguments: dict[str, str], said: str, left: int, bench: Bench) -> None:
    await several(bench)
    assert await bench.say("cancel_alarm", **arguments) == said
    assert len(bench.alarms.all()) == left


async def test_the_only_alarm_needs_no_name(bench: Bench) -> None:
    assert await bench.say("cancel_alarm") == "No alarm is set."
    await bench.say("set_reminder", task="call mum", time="eight")
    await bench.say("set_alarm", time="half past six")
    assert await bench.say("cancel_alarm") == "The alarm for half past six tomorrow morning is cancelled."
    assert await bench.say("cancel_alarm") == "The reminder is cancelled: call mum at eight this evening."


async def test_only_the_named_day_is_skipped(bench: Bench) -> None:
    await bench.say("set_alarm", time="every day at seven")
    await bench.say("cancel_alarm", time="tomorrow")
    assert await bench.say("alarm_status", time="tomorrow") == (
        "Nothing is set for then. The next is seven in the morning every day."
    )
    assert bench.alarms.all()[0].rings(NOW.tzinfo or bench.alarms.zone).day == 3


async def test_the_ringing_alarm_is_the_one_turned_off(bench: Bench) -> None:
    await bench.say("set_alarm", time="every day at seven")
    await bench.say("set_alarm", time="tomorrow at eight")
    after(bench, hours=12)
    assert await bench.say("cancel_alarm") == "The alarm for seven in the morning every day is off."
    assert len(bench.alarms.all()) == 2


async def test_the_status_of_a_snoozed_alarm_has_its_time(bench: Bench) -> None:
    await bench.say("set_alarm", time="tomorrow at seven")
    after(bench, hours=12)
    bench.alarms.snooze(bench.alarms.all()[0].id, 9 * 60)
    assert await bench.say("alarm_status") == "There is one alarm: seven this morning, put off until 7:14."


async def test_after_midnight_tomorrow_means_the_coming_morning(bench: Bench) -> None:
    after(bench, hours=5, minutes=30)
    said = await bench.say("set_alarm", time="tomorrow at seven")
    assert said == "The alarm is set for seven this morning."
    said = await bench.say("set_alarm", time="seven on tuesday")
    assert said == "The alarm is set for seven on Tuesday morning."


async def test_midnight_belongs_to_the_day_before_it(bench: Bench) -> None:
    await bench.say("set_alarm", time="midnight")
    assert await bench.say("alarm_status", time="tonight") == "There is one alarm: midnight tonight."
    assert await bench.say("alarm_status", time="today") == "There is one alarm: midnight tonight."
    assert await bench.say("cancel_alarm", time="midnight") == "The alarm for midnight tonight is cancelled."


async def test_the_status_of_a_delayed_command_says_what_it_will_do(bench: Bench) -> None:
    await bench.say("start_timer", minutes=10, conversation_command="turn off the oven")
    assert await bench.say("timer_status") == "In 10 minutes I will turn off the oven."
