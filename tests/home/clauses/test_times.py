"""Times beside commands that have no verb, and times that are none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from edgevox.home.alarms.sun import SunTimes
from edgevox.home.clauses.parser import parse_clauses
from edgevox.home.clauses.times import split_time

NOW = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "command", "in_s"),
    [
        ("in five minutes the garage light should go off", "turn off the garage light", 300),
        ("heating to 19 at eleven tonight", "set heating to 19", 13 * 3600),
        ("lights out in the hallway at 22:30", "turn off lights in the hallway", 12.5 * 3600),
        ("an hour from now, fan on please", "turn on fan", 3600),
        ("give it ten minutes and then turn the tv off", "turn the tv off", 600),
        ("Friday at five in the afternoon, turn on the lamp", "turn on the lamp", 55 * 3600),
        ("turn the fan off 90 seconds from now", "turn the fan off", 90),
    ],
)
def test_the_command_beside_a_time_is_read(text: str, command: str, in_s: float) -> None:
    found = split_time(text, NOW, SunTimes())
    assert (found.command, found.in_s) == (command, in_s)


@pytest.mark.parametrize("text", ["raise the kitchen light by 10", "turn the volume down by 10"])
def test_an_amount_is_no_time(text: str) -> None:
    assert parse_clauses(text, NOW).is_plain


def test_a_value_for_a_while_is_a_command_with_a_length() -> None:
    clauses = parse_clauses("heating at 23 for two hours", NOW)
    assert (clauses.command, clauses.for_s) == ("set heating to 23", 7200)


@pytest.mark.parametrize("text", ["night light down to five percent", "morning, please open the curtains"])
def test_a_greeting_or_a_name_is_no_time(text: str) -> None:
    assert parse_clauses(text, NOW).is_plain


@pytest.mark.parametrize("text", ["turn the lamp on at some point", "in a bit could you turn off the lamp"])
def test_a_vague_time_is_asked_about(text: str) -> None:
    assert "time of day" in parse_clauses(text, NOW).problem


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("every weekday at seven turn on the kettle", "at seven in the morning every weekday"),
        ("turn off the lights every day at ten", "at ten at night every day"),
        ("every day at half past six open the curtains", "at half past six in the morning every day"),
        ("every monday mow the lawn at four", "at four in the afternoon every Monday"),
    ],
)
def test_a_repeated_hour_without_am_or_pm_follows_what_is_done(text: str, when: str) -> None:
    assert split_time(text, NOW, SunTimes()).when == when


@pytest.mark.parametrize("text", ["we go to the party on friday at five", "i moved the meeting to 10 on friday"])
def test_a_statement_with_a_time_is_no_command(text: str) -> None:
    assert parse_clauses(text, NOW).is_plain
