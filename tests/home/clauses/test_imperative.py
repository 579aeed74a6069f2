"""Commands of any form in the imperative, and those with a clause that need no model."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from edgevox.home.clauses.imperative import as_imperative
from edgevox.home.clauses.parser import parse_clauses
from tests.home.conftest import Bench
from tests.home.talk import Talk

NOW = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("the printer on please", "turn on the printer"),
        ("have the mower run", "start the mower"),
        ("I'd like the front door locked", "lock the front door"),
        ("make sure the garage door is closed", "close the garage door"),
        ("would you mind switching the radio off", "switch the radio off"),
        ("all blinds down", "close all blinds"),
        ("please to open the curtains", "open the curtains"),
    ],
)
def test_a_command_of_another_form_becomes_an_imperative(text: str, command: str) -> None:
    assert as_imperative(text) == command


@pytest.mark.parametrize(
    "text", ["is the door open", "I am going out", "have the lights been on", "prices are down", "what goes on"]
)
def test_talk_and_questions_are_no_commands(text: str) -> None:
    assert as_imperative(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "ten pm, kitchen light off please",
        "turn the kitchen light at ten pm off",
        "I want the kitchen light off at ten pm",
        "at ten pm have the kitchen light turned off",
    ],
)
async def test_the_time_of_a_plain_command_may_be_anywhere(bench: Bench, text: str) -> None:
    talk = Talk(bench)
    await talk.say(text)
    [timer] = bench.timers.all()
    assert "kitchen light" in timer.command
    assert "off" in timer.command
    assert not talk.model.requests


async def test_a_thing_with_only_a_duration_is_turned_on_for_so_long(bench: Bench) -> None:
    await Talk(bench).say("kitchen light for a quarter of an hour")
    [timer] = bench.timers.all()
    assert (timer.command, timer.length_s) == ("turn off the kitchen light", 900)


async def test_what_comes_back_after_a_duration_is_not_a_second_command(bench: Bench) -> None:
    await Talk(bench).say("kitchen light on for ten minutes then back off")
    assert [timer.command for timer in bench.timers.all()] == ["turn off the kitchen light"]


async def test_a_vague_time_is_asked_about_also_without_a_verb(bench: Bench) -> None:
    talk = Talk(bench, ("turn_off", {"name": "kitchen light"}))
    assert "with a time of day" in (await talk.say("later on, kitchen light off")).reply


async def test_words_for_the_sun_need_its_location(bench: Bench) -> None:
    talk = Talk(bench)
    assert "home.latitude" in (await talk.say("kitchen light on when the sun goes down")).reply
    assert not talk.model.requests


async def test_a_command_whose_condition_is_false_now_is_not_run(bench: Bench) -> None:
    talk = Talk(bench)
    assert (await talk.say("if the garage door's open close it")).reply.startswith("The garage door is not open")
    assert not talk.model.requests


async def test_a_value_for_a_while_is_set_back_to_the_one_before(bench: Bench) -> None:
    await Talk(bench, ("climate_set_temperature", {"name": "thermostat", "temperature": 23})).say(
        "heating up to 23 just for the next hour"
    )
    [timer] = bench.timers.all()
    assert (timer.command, timer.length_s) == ("set the thermostat to 21", 3600)


async def test_a_remark_after_a_command_does_not_hide_its_time(bench: Bench) -> None:
    await Talk(bench).say("turn the kitchen light off at ten pm, I'm off to bed")
    assert [timer.command for timer in bench.timers.all()] == ["turn the kitchen light off"]


@pytest.mark.parametrize(
    "text",
    [
        "tv off once the news is over",
        "turn the fan on between two and three",
        "turn the fan on for as long as it's hot",
        "turn on the tv in ten minutes and turn it off in an hour",
    ],
)
def test_a_clause_that_is_not_read_refuses_the_command(text: str) -> None:
    assert parse_clauses(text, NOW).problem
