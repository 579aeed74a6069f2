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


@pytest.mark.parametrize(
    ("language", "text", "minutes", "reply"),
    [
        ("de", "Noch fünf Minuten, bitte.", 5, "Ich melde mich in 5 Minuten wieder."),
        ("de", "Lass mich noch eine halbe Stunde schlafen.", 30, "Ich melde mich in 30 Minuten wieder."),
        ("fr", "Encore vingt-cinq minutes !", 25, "Je sonnerai de nouveau dans 25 minutes."),
        ("es", "Diez minutos más", 10, "Volveré a sonar en 10 minutos."),
        ("it", "Ancora un minuto", 1, "Suonerò di nuovo tra 1 minuto."),
        ("nl", "nog een kwartier", 15, "Ik meld me over 15 minuten weer."),
        ("pt", "mais vinte e cinco minutos", 25, "Volto a tocar em 25 minutos."),
        ("de", "Stell den Eiertimer auf fünf Minuten", None, ""),
    ],
)
def test_another_language_snoozes_it_for_minutes(language: str, text: str, minutes: int | None, reply: str) -> None:
    command = parse_alarm_command(text, THINGS, language)
    assert command == (AlarmCommand("snooze", minutes) if minutes else None)
    assert (command.reply(language) if command else "") == reply


def test_a_thing_that_does_not_ring_is_not_stopped() -> None:
    assert parse_alarm_command("Stop the timer.", ("alarm",)) is None
