"""Parsing of spoken times: syntax, the moment that is meant, and questions."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgevox.core.languages import duration
from edgevox.home import HomeError
from edgevox.home.alarms.time_expression import PastTime, Purpose, TimeExpression, moment
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import days_phrase, moment_phrase, repeat_phrase

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY_10 = datetime(2026, 11, 15, 10, 0, tzinfo=BERLIN)


def read(text: str, purpose: Purpose = "reminder", now: datetime = SUNDAY_10) -> str:
    """The moment as text, with the days of the week on which it comes again."""
    when = parse_time(text, now).when(now, purpose)
    return f"{when.at:%a %d %b %H:%M}" + (f" {days_phrase(when.repeat)}" if when.repeat else "")


@pytest.mark.parametrize(
    ("text", "alarm", "reminder"),
    [
        ("half past six", "Mon 16 Nov 06:30", "Sun 15 Nov 18:30"),
        ("Half past 6.", "Mon 16 Nov 06:30", "Sun 15 Nov 18:30"),
        ("6:30", "Mon 16 Nov 06:30", "Sun 15 Nov 18:30"),
        ("6.30", "Mon 16 Nov 06:30", "Sun 15 Nov 18:30"),
        ("630", "Mon 16 Nov 06:30", "Sun 15 Nov 18:30"),
        ("half eight", "Mon 16 Nov 08:30", "Sun 15 Nov 20:30"),
        ("twenty past five", "Mon 16 Nov 05:20", "Sun 15 Nov 17:20"),
        ("twenty-five minutes to 7", "Mon 16 Nov 06:35", "Sun 15 Nov 18:35"),
        ("seven oh five", "Mon 16 Nov 07:05", "Sun 15 Nov 19:05"),
        ("seven o'clock", "Mon 16 Nov 07:00", "Sun 15 Nov 19:00"),
        ("seven o’clock on friday", "Fri 20 Nov 07:00", "Fri 20 Nov 07:00"),
        ("tomorrow at six", "Mon 16 Nov 06:00", "Mon 16 Nov 18:00"),
        ("eleven", "Sun 15 Nov 11:00", "Sun 15 Nov 11:00"),
        ("twelve", "Sun 15 Nov 12:00", "Sun 15 Nov 12:00"),
        ("three", "Sun 15 Nov 15:00", "Sun 15 Nov 15:00"),
        ("monday at eight", "Mon 16 Nov 08:00", "Mon 16 Nov 08:00"),
        ("every weekday at quarter to seven", "Mon 16 Nov 06:45 every weekday", "Mon 16 Nov 18:45 every weekday"),
    ],
)
def test_an_hour_without_am_or_pm_is_the_usual_one(text: str, alarm: str, reminder: str) -> None:
    assert read(text, "alarm") == alarm
    assert read(text, "reminder") == reminder


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("7 am", "Mon 16 Nov 07:00"),
        ("7am", "Mon 16 Nov 07:00"),
        ("7:00 a.m.", "Mon 16 Nov 07:00"),
        ("seven A. M.", "Mon 16 Nov 07:00"),
        ("six thirty p.m.", "Sun 15 Nov 18:30"),
        ("seven in the evening", "Sun 15 Nov 19:00"),
        ("18:00", "Sun 15 Nov 18:00"),
        ("1800", "Sun 15 Nov 18:00"),
        ("eighteen hundred", "Sun 15 Nov 18:00"),
        ("eighteen forty five", "Sun 15 Nov 18:45"),
        ("06:30", "Mon 16 Nov 06:30"),
        ("0630", "Mon 16 Nov 06:30"),
        ("noon", "Sun 15 Nov 12:00"),
        ("twelve noon", "Sun 15 Nov 12:00"),
        ("lunchtime", "Sun 15 Nov 12:00"),
        ("midnight", "Mon 16 Nov 00:00"),
        ("tomorrow at midnight", "Tue 17 Nov 00:00"),
        ("quarter past midnight", "Mon 16 Nov 00:15"),
        ("quarter to midnight", "Sun 15 Nov 23:45"),
        ("12 am", "Mon 16 Nov 00:00"),
        ("12:30 pm", "Sun 15 Nov 12:30"),
        ("two at night", "Mon 16 Nov 02:00"),
        ("tonight at nine", "Sun 15 Nov 21:00"),
        ("tonight at 1 am", "Mon 16 Nov 01:00"),
        ("twelve tonight", "Mon 16 Nov 00:00"),
        ("quarter to seven tomorrow morning", "Mon 16 Nov 06:45"),
        ("tomorrow's lunchtime", "Mon 16 Nov 12:00"),
        ("the day after tomorrow at ten", "Tue 17 Nov 10:00"),
        ("this friday at noon", "Fri 20 Nov 12:00"),
        ("monday next week at ten", "Mon 16 Nov 10:00"),
        ("the 3rd of december at noon", "Thu 03 Dec 12:00"),
        ("noon on december third", "Thu 03 Dec 12:00"),
        ("the twenty second of december at noon", "Tue 22 Dec 12:00"),
        ("december 3 1800", "Thu 03 Dec 18:00"),
        ("friday the 13th at noon", "Fri 13 Aug 12:00"),
        ("february 29th at noon", "Tue 29 Feb 12:00"),
        ("in twenty minutes", "Sun 15 Nov 10:20"),
        ("twenty minutes from now", "Sun 15 Nov 10:20"),
        ("in an hour and a half", "Sun 15 Nov 11:30"),
        ("in one and a half hours", "Sun 15 Nov 11:30"),
        ("in 1.5 hours", "Sun 15 Nov 11:30"),
        ("in an hour's time", "Sun 15 Nov 11:00"),
        ("in half an hour", "Sun 15 Nov 10:30"),
        ("in about ten minutes or so", "Sun 15 Nov 10:10"),
        ("after roughly an hour", "Sun 15 Nov 11:00"),
        ("around eight ish tonight", "Sun 15 Nov 20:00"),
        ("in three quarters of an hour", "Sun 15 Nov 10:45"),
        ("in two hours and ten minutes", "Sun 15 Nov 12:10"),
        ("in three days at noon", "Wed 18 Nov 12:00"),
        ("in three days, 4 minutes past 2 pm", "Wed 18 Nov 14:04"),
        ("every day at noon", "Sun 15 Nov 12:00 every day"),
        ("7 am daily", "Mon 16 Nov 07:00 every day"),
        ("weekends at nine", "Sat 21 Nov 09:00 every weekend"),
        ("mondays at noon", "Mon 16 Nov 12:00 every Monday"),
        ("every monday and thursday at noon", "Mon 16 Nov 12:00 every Monday and Thursday"),
        ("every tuesday, friday and sunday at noon", "Sun 15 Nov 12:00 every Tuesday, Friday and Sunday"),
        ("monday to friday at noon", "Mon 16 Nov 12:00 every weekday"),
        ("every week on tuesday at noon", "Tue 17 Nov 12:00 every Tuesday"),
        ("every day at midnight", "Mon 16 Nov 00:00 every day"),
        ("every friday at midnight", "Sat 21 Nov 00:00 every Saturday"),
    ],
)
def test_spoken_and_written_times_are_parsed(text: str, meant: str) -> None:
    assert read(text, "alarm") == meant
    assert read(text, "reminder") == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tomorrow", "Mon 16 Nov 09:00"),
        ("on december third", "Thu 03 Dec 09:00"),
        ("next tuesday", "Tue 17 Nov 09:00"),
        ("sunday", "Sun 22 Nov 09:00"),
        ("in the morning", "Mon 16 Nov 09:00"),
        ("first thing tomorrow", "Mon 16 Nov 09:00"),
        ("this evening", "Sun 15 Nov 19:00"),
        ("tonight", "Sun 15 Nov 21:00"),
        ("later today", "Sun 15 Nov 15:00"),
        ("in three days", "Wed 18 Nov 09:00"),
        ("in two weeks", "Sun 29 Nov 09:00"),
        ("next week", "Mon 16 Nov 09:00"),
        ("next month", "Tue 01 Dec 09:00"),
        ("in a month", "Tue 15 Dec 09:00"),
        ("next weekend", "Sat 21 Nov 09:00"),
        ("every monday and thursday", "Mon 16 Nov 09:00 every Monday and Thursday"),
    ],
)
def test_a_day_without_a_time_is_nine_or_the_named_part_of_the_day(text: str, meant: str) -> None:
    said = parse_time(text, SUNDAY_10)
    assert not said.has_time
    assert read(text) == meant


@pytest.mark.parametrize(
    ("hour", "text", "purpose", "meant"),
    [
        (8, "seven", "alarm", "Mon 16 Nov 07:00"),
        (22, "seven", "alarm", "Mon 16 Nov 07:00"),
        (5, "seven", "alarm", "Sun 15 Nov 07:00"),
        (14, "four", "alarm", "Sun 15 Nov 16:00"),  # a nap
        (14, "six thirty", "alarm", "Mon 16 Nov 06:30"),
        (22, "three", "alarm", "Mon 16 Nov 03:00"),
        (22, "twelve", "alarm", "Mon 16 Nov 12:00"),
        (12, "six today", "alarm", "Sun 15 Nov 18:00"),
        (20, "three", "reminder", "Mon 16 Nov 15:00"),
        (20, "six", "reminder", "Mon 16 Nov 06:00"),
        (1, "two", "reminder", "Sun 15 Nov 02:00"),
        (0, "tonight at two", "reminder", "Sun 15 Nov 02:00"),
        (20, "this evening", "reminder", "Sun 15 Nov 21:00"),
        (0, "tomorrow at seven", "alarm", "Sun 15 Nov 07:00"),  # after a short night
        (5, "tomorrow at seven", "alarm", "Mon 16 Nov 07:00"),
    ],
)
def test_the_meaning_depends_on_the_current_time(hour: int, text: str, purpose: Purpose, meant: str) -> None:
    assert read(text, purpose, SUNDAY_10.replace(hour=hour)) == meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "later", "whenever", "seven eight", "february 30", "25:00", "6:75", "the alarm", "ten to"),
        *("in an hour tomorrow", "every other day", "in 5000 weeks", "monday and tuesday"),
        *("tuesday november 25", "every day tomorrow", "tomorrow next week", "seven " + "at " * 60),
    ],
)
def test_an_unknown_expression_is_not_guessed(text: str) -> None:
    with pytest.raises(InvalidTime):
        parse_time(text, SUNDAY_10)


@pytest.mark.parametrize("text", ["6 am today", "this morning at nine", "today at eight a.m."])
def test_a_past_time_leads_to_a_question(text: str) -> None:
    with pytest.raises(PastTime):
        parse_time(text, SUNDAY_10).when(SUNDAY_10, "alarm")


def test_a_date_in_a_past_year_is_rejected() -> None:
    with pytest.raises(PastTime):
        parse_time("november 14th 2026", SUNDAY_10)


# --- summer time


def test_a_time_in_the_skipped_hour_uses_the_old_offset() -> None:
    evening = datetime(2027, 3, 27, 22, 0, tzinfo=BERLIN)
    assert read("half past two at night", "alarm", evening) == "Sun 28 Mar 03:30"
    when = parse_time("every day at 2:30 am", evening).when(evening, "alarm")
    assert f"{when.wall:%H:%M}" == "02:30"


def test_a_time_in_the_repeated_hour_is_the_first_one() -> None:
    before = datetime(2026, 10, 25, 1, 0, tzinfo=BERLIN)
    first = parse_time("2:30 am", before).when(before, "alarm").at
    assert first.timestamp() - before.timestamp() == 90 * 60
    between = datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=BERLIN)
    assert read("2:30 am", "alarm", between) == "Mon 26 Oct 02:30"


def test_a_duration_is_exact_across_a_clock_change() -> None:
    before = datetime(2026, 10, 25, 1, 30, tzinfo=BERLIN)
    when = parse_time("in two hours", before).when(before, "reminder")
    assert when.at.timestamp() - before.timestamp() == 7200
    assert when.in_s == 7200


# --- whatever the moment

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
NOWS = st.builds(
    lambda seconds, zone: datetime.fromtimestamp(seconds, ZoneInfo(zone)),
    st.integers(int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()), int(datetime(2031, 1, 1, tzinfo=UTC).timestamp())),
    st.sampled_from(ZONES),
)
PURPOSES = st.sampled_from(("alarm", "reminder"))


def moments(now: datetime, days: int) -> st.SearchStrategy[datetime]:
    """Whole minutes to come that clocks show only once."""
    minutes = st.integers(1, days * 24 * 60)
    later = minutes.map(lambda ahead: datetime.fromtimestamp((now.timestamp() // 60 + ahead) * 60, now.tzinfo))
    return later.filter(lambda when: when.fold == 0)


@settings(deadline=None)
@given(st.data(), NOWS, PURPOSES)
def test_every_spoken_moment_parses_to_the_same_moment(data: st.DataObject, now: datetime, purpose: Purpose) -> None:
    meant = data.draw(moments(now, 400))
    phrase = moment_phrase(meant, now)
    when = parse_time(phrase, now).when(now, purpose)
    assert when.at.timestamp() == meant.timestamp(), phrase
    assert when.has_time


NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty")


def in_words(number: int) -> str:
    if number < 20:
        return NUMBERS[number]
    return f"{TENS[number // 10]} {NUMBERS[number % 10]}" if number % 10 else TENS[number // 10]


def clock_forms(when: datetime) -> list[str]:
    """Ways to say the time of day that leave no doubt."""
    hour, minute = when.hour % 12 or 12, when.minute
    half = "am" if when.hour < 12 else "pm"
    part = "in the morning" if when.hour < 12 else "in the afternoon" if 12 <= when.hour < 18 else "in the evening"
    spoken = in_words(hour) + (
        f" oh {in_words(minute)}" if 0 < minute < 10 else f" {in_words(minute)}" if minute else ""
    )
    forms = [
        f"{when:%H:%M}",
        f"{hour}:{minute:02d} {half}",
        f"{hour}.{minute:02d}{half}",
        f"{hour}:{minute:02d} {'a.m.' if half == 'am' else 'p.m.'}",
        f"{spoken} {half}",
        f"{spoken} {part}",
        f"{hour} {minute:02d} {half}" if minute >= 10 else f"{hour}:{minute:02d}{half.upper()}",
    ]
    if 0 < minute < 31:
        forms += [f"{in_words(minute)} past {in_words(hour)} {half}", f"{minute} minutes past {hour} {half}"]
    if minute == 30:
        forms += [f"half past {in_words(hour)} {half}", f"half {hour} {half}"]
    if minute == 45 and hour != 11:
        forms += [f"a quarter to {in_words(hour % 12 + 1)} {half}"]
    if minute == 0:
        forms += [f"{hour} o'clock {half}", f"{in_words(hour)} o'clock {part}"]
    return forms


def day_forms(when: datetime, now: datetime) -> list[str]:
    day = when.date()
    days = (day - now.date()).days
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10 if day.day not in (11, 12, 13) else 0, "th")
    forms = [
        f"on {when:%B} {day.day}{suffix}",
        f"on the {day.day}{suffix} of {when:%B}",
        f"{when:%A} {when:%b} {day.day}",
    ]
    if days == 0:
        forms += ["today"]
    if days == (now.hour >= 4):
        forms += ["tomorrow"]
    if days == 2:
        forms += ["the day after tomorrow"]
    if 0 < days < 7:
        forms += [f"on {when:%A}", f"this {when:%A}".lower(), f"in {in_words(days)} {'day' if days == 1 else 'days'}"]
    return forms


@settings(deadline=None)
@given(st.data(), NOWS, PURPOSES)
def test_a_moment_in_any_form_is_parsed(data: st.DataObject, now: datetime, purpose: Purpose) -> None:
    meant = data.draw(moments(now, 300))
    clock = data.draw(st.sampled_from(clock_forms(meant)))
    day = data.draw(st.sampled_from(day_forms(meant, now)))
    text = data.draw(st.sampled_from((f"{clock} {day}", f"{day} at {clock}", f"{day.upper()}, {clock}.")))
    assert parse_time(text, now).when(now, purpose).at.timestamp() == meant.timestamp(), text


@settings(deadline=None)
@given(st.data(), NOWS, st.sets(st.integers(0, 6), min_size=1))
def test_spoken_weekdays_parse_to_the_same_days(data: st.DataObject, now: datetime, days: set[int]) -> None:
    at = data.draw(moments(now, 7).filter(lambda when: (when.hour, when.minute) != (0, 0)))
    repeat = tuple(sorted(days))
    when = parse_time(repeat_phrase(at, repeat), now).when(now, "alarm")
    assert when.repeat == repeat
    assert when.at.weekday() in repeat
    assert when.at.timestamp() > now.timestamp()
    wall = datetime.combine(when.at.date(), at.time())
    assert when.at.timestamp() == moment(wall, now.tzinfo or UTC).timestamp()


@settings(deadline=None)
@given(st.integers(1, 7 * 86_400), NOWS)
def test_a_spoken_duration_parses_to_the_same_duration(seconds: int, now: datetime) -> None:
    said = parse_time(f"in {duration(seconds)}", now)
    assert said == TimeExpression(in_s=float(seconds))


WORDS = """
    half quarter past to a an the at on in of and every next this day days week month monday fri sundays
    weekend tomorrow tonight today night morning evening noon midnight oclock am pm o'clock one two six seven
    twelve thirty twenty first 3rd second hour hours minutes 7 12 24 0 30 6:30 18:00 1800 2.5 december may
    31st 2026 weekdays couple hundred oh from now later
"""


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS.split()), max_size=7).map(" ".join), NOWS, PURPOSES)
def test_any_words_are_a_future_time_or_an_error(text: str, now: datetime, purpose: Purpose) -> None:
    with contextlib.suppress(HomeError):
        when = parse_time(text, now).when(now, purpose)
        assert when.at.timestamp() > now.timestamp()
        assert when.at - now < timedelta(days=9 * 366)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_crashes_the_parser(text: str) -> None:
    with contextlib.suppress(HomeError):
        assert parse_time(text, SUNDAY_10).when(SUNDAY_10, "reminder").at > SUNDAY_10
