"""Dates: the day that is meant is right, in words that can be spoken."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from dateutil import rrule
from dateutil.parser import parse
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

from edgevox.core.words import MONTHS, WEEKDAYS
from edgevox.tools.builtin.knowledge.calendar_questions import (
    read_calendar_question,
    spoken_age,
    spoken_date,
    spoken_span,
)
from edgevox.tools.builtin.knowledge.dates import holiday, read_day, spoken_year
from edgevox.tools.builtin.knowledge.question import NoAnswer

TODAY = date(2026, 11, 17)
DAYS = st.dates(date(1905, 1, 1), date(2095, 12, 31))


def answer(text: str, today: date = TODAY) -> str:
    reading = read_calendar_question(text, today)
    if reading is None:
        return ""
    given = dict(reading.arguments)
    if reading.tool == "time_between":
        return spoken_span(
            given["end"], given.get("start", "today"), given["unit"], today, is_past=given.get("is_past", False)
        )
    if given.get("ask") == "age":
        return spoken_age(given["when"], today)
    return spoken_date(given["when"], today, ask=given.get("ask", "date"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("how many days until Christmas", "It is 38 days until Christmas."),
        ("how many weeks till christmas", "It is 5 weeks and 3 days until Christmas."),
        ("how long until friday", "It is 3 days until Friday."),
        ("how many months until july", "It is 7 months and 14 days until July 1."),
        ("what day is 4 July 2027", "July 4, 2027 is a Sunday."),
        ("what day was the fourth of july nineteen seventy six", "July 4, 1976 was a Sunday."),
        ("what's the date next Friday", "Next Friday is November 27."),
        ("what is the date in three weeks", "In three weeks it is Tuesday, December 8."),
        ("what's the date 90 days from today", "90 days from today it is Monday, February 15, 2027."),
        ("what is tomorrow's date", "Tomorrow is Wednesday, November 18."),
        ("when is easter", "Easter is Sunday, March 28, 2027."),
        ("when is thanksgiving", "Thanksgiving in the United States is Thursday, November 26."),
        ("what date is the third friday of this month", "The third Friday of this month is November 20."),
        ("how many days are there between march 1st and april 15th", "It is 45 days from March 1 to April 15."),
        ("how long ago was july 4 2020", "July 4, 2020 was 6 years, 4 months and 13 days ago."),
        ("is 2028 a leap year", "Yes, 2028 is a leap year."),
        ("is this year a leap year", "No, 2026 is not a leap year."),
        ("what week is it", "This is week 47."),
        ("how many days are in february 2028", "February 2028 has 29 days."),
        ("if i was born in 1990 how old am i", "Someone born in 1990 turns 36 this year."),
        ("how old am i if i was born on 4 july 1990", "Someone born on July 4, 1990 is 36 years old."),
    ],
)
def test_a_question_about_dates_has_a_spoken_answer(text: str, said: str) -> None:
    assert answer(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "what day is it",
        "what's the date today",
        "when is my birthday",
        "when is the next alarm",
        "how many days until my birthday",
        "what day is trash day",
        "remind me on friday to call mum",
        "what is on the list for tomorrow",
        "what's the weather tomorrow",
        "how long until the timer ends",
        "when is friday's meeting",
        "set an alarm for next friday",
        "how old are you",
    ],
)
def test_other_sentences_are_no_questions_about_dates(text: str) -> None:
    assert read_calendar_question(text, TODAY) is None


@given(DAYS)
def test_a_written_date_is_the_day_that_dateutil_reads(day: date) -> None:
    for text in (f"{MONTHS[day.month - 1]} {day.day} {day.year}", f"{day.day} {MONTHS[day.month - 1]} {day.year}"):
        found = read_day(text, TODAY)
        assert found is not None
        assert found.date == parse(text).date() == day


@given(DAYS, st.integers(1, 60), st.sampled_from(["days", "weeks", "months", "years"]))
def test_a_shifted_day_is_that_of_dateutil(today: date, count: int, unit: str) -> None:
    delta = relativedelta(**{unit: count})  # type: ignore[arg-type]
    later, earlier = read_day(f"in {count} {unit}", today), read_day(f"{count} {unit} ago", today)
    assert later is not None
    assert earlier is not None
    assert (later.date, earlier.date) == (today + delta, today - delta)


@given(DAYS, st.integers(0, 6))
def test_a_weekday_is_the_coming_one_and_next_is_in_the_next_week(today: date, weekday: int) -> None:
    this, following = read_day(WEEKDAYS[weekday], today), read_day(f"next {WEEKDAYS[weekday]}", today)
    assert this is not None
    assert following is not None
    assert this.date.weekday() == following.date.weekday() == weekday
    assert 1 <= (this.date - today).days <= 7
    assert following.date.isocalendar().week == (today + timedelta(days=7)).isocalendar().week


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("thanksgiving", {"bymonth": 11, "byweekday": rrule.TH(4)}),
        ("memorial day", {"bymonth": 5, "byweekday": rrule.MO(-1)}),
        ("labor day", {"bymonth": 9, "byweekday": rrule.MO(1)}),
        ("mother's day", {"bymonth": 5, "byweekday": rrule.SU(2)}),
        ("father's day", {"bymonth": 6, "byweekday": rrule.SU(3)}),
        ("good friday", {"byeaster": -2}),
        ("pentecost", {"byeaster": 49}),
        ("halloween", {"bymonth": 10, "bymonthday": 31}),
    ],
)
def test_a_holiday_is_where_its_rule_says(name: str, rule: dict[str, object]) -> None:
    entry = holiday(name)
    assert entry is not None
    for year in range(2000, 2060):
        start = date(year, 1, 1)
        (expected,) = rrule.rrule(rrule.YEARLY, dtstart=parse(start.isoformat()), count=1, **rule)  # type: ignore[arg-type]
        assert entry[1](year) == expected.date()


@given(DAYS, DAYS)
def test_a_span_in_days_is_the_difference(first: date, last: date) -> None:
    said = spoken_span(last.isoformat(), first.isoformat(), "days", TODAY)
    days = abs((last - first).days)
    assert f"It is {days:,} day" in said if days else "no time" in said


@given(st.integers(1100, 2099))
def test_a_spoken_year_is_read(year: int) -> None:
    assert spoken_year(str(year)) == year
    if year % 100 >= 10:
        assert spoken_year(f"{year // 100} {year % 100}") == year


def test_a_day_that_does_not_exist_is_not_invented() -> None:
    assert read_day("february 30", TODAY) is None
    assert read_day("in 900000 years", TODAY) is None
    with pytest.raises(NoAnswer, match="febtember"):
        spoken_date("febtember 4", TODAY)
