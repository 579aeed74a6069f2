"""Commands that repeat, follow the sun, or wait for a condition: stored, listed and cancelled by what people say."""

from __future__ import annotations

import pytest

from edgevox.home.alarms.sun import SunTimes
from edgevox.home.entities import Location
from tests.home.conftest import Bench
from tests.home.talk import Talk

LIGHTS_OFF: tuple[str, dict[str, object]] = ("turn_off", {"domain": "light"})
BERLIN = SunTimes(lambda: Location(52.52, 13.4))


def schedules(bench: Bench) -> list[str]:
    return [f"{alarm.label} {alarm.at:%H:%M} {alarm.repeat}" for alarm in bench.alarms.all()]


@pytest.mark.parametrize(
    "text",
    [
        "turn the lights off at ten every weekday",
        "every weekday at ten turn the lights off",
        "every weekday turn the lights off at ten",
    ],
)
async def test_a_command_with_repeating_days_becomes_a_schedule(bench: Bench, text: str) -> None:
    result = await Talk(bench, LIGHTS_OFF).say(text)
    assert schedules(bench) == ["turn the lights off 22:00 (0, 1, 2, 3, 4)"]
    assert result.reply == "At ten at night every weekday I will turn the lights off."


async def test_a_schedule_follows_the_sun(bench: Bench) -> None:
    bench.alarms.sun_times = BERLIN
    result = await Talk(bench, ("turn_off", {"name": "blinds"})).say(
        "close the blinds half an hour before sunset every day"
    )
    [alarm] = bench.alarms.all()
    assert result.reply == "30 minutes before sunset every day I will close the blinds."
    bench.clock.now_s = bench.alarms.rings_s(alarm)
    assert bench.alarms.done(alarm.id)
    [later] = bench.alarms.all()
    assert alarm.at
    assert later.at
    assert 86_400 < (later.at - alarm.at).total_seconds() < 86_400 + 240, "in spring the sun sets later every day"


async def test_a_time_of_the_sun_without_a_location_names_the_setting(bench: Bench) -> None:
    result = await Talk(bench, LIGHTS_OFF).say("turn off the lights at sunset")
    assert "home.latitude" in result.reply
    assert not bench.timers.all()


async def test_a_repetition_that_is_no_day_of_the_week_is_refused_without_the_model(bench: Bench) -> None:
    talk = Talk(bench, ("start_timer", {"hours": 2, "conversation_command": "turn on the fan"}))
    assert "days of the week only" in (await talk.say("turn on the fan every two hours")).reply
    assert (talk.model.requests, bench.timers.all()) == ([], ())


async def test_scheduled_commands_are_listed_and_cancelled(bench: Bench) -> None:
    await Talk(bench, LIGHTS_OFF).say("turn off the lights at ten every weekday")
    await Talk(bench, ("turn_off", {"name": "tv"})).say("turn off the tv in ten minutes")
    await Talk(bench).say("tell me when the front door opens")
    listed = (await Talk(bench).say("what have you scheduled?")).reply
    assert listed == (
        "I will turn off the tv in 10 minutes. I will turn off the lights at ten at night every weekday."
        " When the front door opens I will tell you."
    )
    await Talk(bench).say("don't turn off the lights at ten")
    assert not bench.alarms.all()
    await Talk(bench).say("stop telling me when the front door opens")
    assert not bench.watches.all()
    assert (
        await Talk(bench).say("cancel the schedule for the tv")
    ).reply == "Cancelled: turn off the tv in 10 minutes."
    assert not bench.timers.all()


async def test_an_alarm_is_not_confused_with_a_schedule(bench: Bench) -> None:
    await Talk(bench, LIGHTS_OFF).say("turn off the lights at ten every weekday")
    assert await bench.say("cancel_alarm") == "No alarm is set."
    assert await bench.say("alarm_status") == "I will turn off the lights at ten at night every weekday."


async def test_something_to_be_told_needs_no_model(bench: Bench) -> None:
    talk = Talk(bench)
    result = await talk.say("Tell me when the front door opens.")
    assert result.reply == "When the front door opens I will tell you."
    assert talk.model.requests == []
    [watch] = bench.watches.all()
    assert (watch.kind, watch.condition.entity_ids, watch.condition.state) == (
        "tell",
        ("binary_sensor.front_door",),
        "open",
    )


async def test_a_command_with_a_condition_waits_for_it(bench: Bench) -> None:
    before = bench.home.house()
    talk = Talk(bench, ("turn_on", {"name": "thermostat"}))
    result = await talk.say("if it gets below 18 degrees turn on the heating")
    assert talk.model.requests[0].messages[-1].content == "turn on the heating"
    assert result.reply == "When the temperature at the thermostat is below 18 degrees I will turn on the heating."
    [watch] = bench.watches.all()
    assert (watch.kind, watch.text, watch.condition.below) == ("run", "turn on the heating", 18.0)
    assert bench.home.house() == before


async def test_a_risky_command_is_asked_about_when_its_condition_is_set_up(bench: Bench) -> None:
    talk = Talk(bench, ("turn_off", {"name": "front door", "domain": "lock"}))
    await talk.say("unlock the front door when the office window opens")
    [watch] = bench.watches.all()
    assert talk.questions == [f"When the office window opens, {watch.agreed[:1].lower()}{watch.agreed[1:]}"]
    assert bench.state("lock.front_door") == "locked"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("turn on the desk lamp when I get home", "no person"),
        ("when the washing machine is done, turn off the printer", "washing machine"),
        ("tell me when the washing machine is done", "washing machine"),
        ("turn off the fan when the front door is unlocked and it rains", ""),
    ],
)
async def test_a_condition_that_cannot_be_resolved_is_refused(bench: Bench, text: str, part: str) -> None:
    before = bench.home.house()
    result = await Talk(bench, ("turn_on", {"name": "desk lamp"})).say(text)
    assert part in result.reply
    assert (bench.home.house(), bench.watches.all(), bench.timers.all()) == (before, (), ())
