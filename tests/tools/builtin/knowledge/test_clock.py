"""The time elsewhere: the right zone for a place, and the right hour there."""

from __future__ import annotations

import zoneinfo
from datetime import datetime, timedelta
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest

from edgevox.tools.builtin.knowledge.clock import (
    asked_place,
    read_clock,
    read_clock_question,
    spoken_difference,
    spoken_same_time,
    spoken_time,
)
from edgevox.tools.builtin.knowledge.places import find_place
from edgevox.tools.builtin.knowledge.question import NoAnswer

NOW = datetime(2026, 11, 17, 21, 14, tzinfo=ZoneInfo("Europe/London"))


def answer(text: str) -> str:
    reading = read_clock_question(text)
    if reading is None:
        return ""
    given = dict(reading.arguments)
    if reading.tool == "time_difference":
        return spoken_difference(given["place"], given["other"], NOW)
    if "at" in given:
        return spoken_same_time(given["at"], given["at_place"], given["place"], NOW)
    return spoken_time(given["place"], NOW, asks_date=given.get("ask") == "date")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What time is it in London?", "In London it is 9:14 in the evening."),
        ("what's the time in tokyo right now", "In Tokyo it is 6:14 in the morning, Wednesday."),
        ("tell me the time in pst", "In the Pacific time zone it is 1:14 in the afternoon."),
        ("what time is it in australia", "In Canberra, Australia it is 8:14 in the morning, Wednesday."),
        ("what time is it in Zürich", "In Zurich it is 10:14 at night."),
        ("what day is it in tokyo", "In Tokyo it is Wednesday, November 18."),
        ("how many hours ahead is tokyo", "Tokyo is 9 hours ahead of us."),
        ("time difference between new york and india", "India is 10 hours and 30 minutes ahead of New York City."),
        (
            "when it is 3 pm here what time is it in New York?",
            "When it is 3:00 in the afternoon here, it is 10:00 in the morning in New York City.",
        ),
        (
            "it's eight at night in france what time is it in new york",
            "When it is 8:00 in the evening in France, it is 2:00 in the afternoon in New York City.",
        ),
        ("if it's nine here what time is it in paris", "When it is 9:00 here, it is 10:00 in Paris."),
    ],
)  # fmt: skip
def test_a_question_about_another_place_has_a_spoken_answer(text: str, said: str) -> None:
    assert answer(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "what time is it",
        "what time is it in the kitchen",
        "what time is it in the morning",
        "what time is my alarm in the morning",
        "what time is the meeting in london",
        "what is dinner time",
        "time for bath",
        "reading time",
        "it's time for bed",
        "what time is it at work",
        "what's the weather in london",
        "wake me at seven",
        "how far is the garage",
        "how far is france from miami",
    ],
)
def test_other_sentences_are_no_questions_about_other_places(text: str) -> None:
    assert read_clock_question(text) is None
    assert asked_place(text) == ""


def test_every_zone_of_the_table_exists() -> None:
    known = zoneinfo.available_timezones()
    lines = (files("edgevox.tools.builtin.knowledge") / "places.tsv").read_text(encoding="utf-8").splitlines()
    assert {line.split("\t")[2] for line in lines} <= known


def test_of_cities_with_one_name_the_largest_is_meant_unless_its_region_is_said() -> None:
    assert zone_of("birmingham") == "Europe/London"
    assert zone_of("birmingham alabama") == "America/Chicago"
    assert zone_of("london ontario") == "America/Toronto"
    assert zone_of("st petersburg florida") == "America/New_York"


def zone_of(name: str) -> str:
    place = find_place(name)
    return place.zone if place else ""


def test_a_place_that_is_not_known_is_said_to_be_unknown() -> None:
    assert asked_place("what time is it in Smallville") == "smallville"
    with pytest.raises(NoAnswer, match="Smallville"):
        spoken_time("Smallville", NOW)


def test_every_hour_of_a_year_is_that_of_the_time_zone_database() -> None:
    zone = ZoneInfo("America/New_York")
    for hours in range(0, 366 * 24, 7):
        now = NOW + timedelta(hours=hours)
        there = now.astimezone(zone)
        assert f"{there.hour % 12 or 12}:{there.minute:02}" in spoken_time("new york", now)


def test_a_clock_time_is_read_in_its_usual_forms() -> None:
    forms = ("3 pm", "15:00", "three p.m.", "three in the afternoon", "half past eight", "quarter to nine am", "soon")
    assert [clock.minutes if (clock := read_clock(form)) else None for form in forms] == [
        900, 900, 900, 900, 510, 525, None
    ]  # fmt: skip
