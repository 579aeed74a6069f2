from __future__ import annotations

import pytest

from edgevox.dialogue.alarm_state import AlarmCommand, parse_alarm_command

THINGS = ("alarm", "pasta timer", "timer")


@pytest.mark.parametrize(
    "text",
    [
        *("Stop.", "Stop! Stop!", "Okay.", "OK", "Okay, thanks.", "Okay, stop, please.", "Thank you."),
        *("I'm up!", "I’m awake.", "Enough!", "That's enough.", "All right.", "Be quiet.", "Never mind."),
        *("Turn off the alarm.", "Turn the alarm off, please.", "Stop the pasta timer.", "Dismiss it."),
    ],
)
def test_what_stops_it(text: str) -> None:
    assert parse_alarm_command(text, THINGS) == AlarmCommand("stop")


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        *(("Snooze.", None), ("Snooze, please.", None), ("Snooze the alarm.", None), ("Later.", None)),
        *(("Five more minutes.", 5), ("5 more minutes, please.", 5), ("Just one more minute.", 1)),
        *(("Snooze for ten minutes.", 10), ("Snooze the alarm for 10 minutes.", 10)),
        *(("Give me another half hour.", 30), ("A quarter of an hour.", 15), ("Twenty-five minutes", 25)),
        *(("Wake me up in 15 minutes.", 15), ("Remind me again in an hour.", 60), ("Okay, ten minutes.", 10)),
    ],
)
def test_what_snoozes_it(text: str, minutes: int | None) -> None:
    assert parse_alarm_command(text, THINGS) == AlarmCommand("snooze", minutes)


@pytest.mark.parametrize(
    "text",
    [
        *("", "...", "Please.", "Yes.", "No.", "Stop the music.", "Turn off the light.", "Stop the egg timer."),
        *("What time is it?", "Set a timer for five minutes.", "Remind me in five minutes to call mum."),
        *("Snooze for two hours.", "Add five more minutes to the egg timer.", "Snooze for zero minutes."),
    ],
)
def test_what_is_not_for_it(text: str) -> None:
    assert parse_alarm_command(text, THINGS) is None


def test_a_thing_that_does_not_ring_is_not_stopped() -> None:
    assert parse_alarm_command("Stop the timer.", ("alarm",)) is None
