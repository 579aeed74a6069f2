"""ICS files: repetitions, time zones, what is added, and what is wrong with a file."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from edgevox.home.calendar.ics import IcsFile
from edgevox.home.entities import CalendarEvent, HomeError

BERLIN = ZoneInfo("Europe/Berlin")
OTHERS = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Somebody//Else//EN
X-WR-CALNAME:Family
BEGIN:VEVENT
UID:standup
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Berlin:20260302T090000
DTEND;TZID=Europe/Berlin:20260302T091500
RRULE:FREQ=WEEKLY;BYDAY=MO,WE
EXDATE;TZID=Europe/Berlin:20260309T090000
SUMMARY:Stand-up
X-OTHER-PROGRAM;VALUE=TEXT:kept as it is
END:VEVENT
BEGIN:VEVENT
UID:standup
DTSTAMP:20260101T000000Z
RECURRENCE-ID;TZID=Europe/Berlin:20260311T090000
DTSTART;TZID=Europe/Berlin:20260311T140000
DTEND;TZID=Europe/Berlin:20260311T141500
SUMMARY:Stand-up (moved)
END:VEVENT
BEGIN:VEVENT
UID:trip
DTSTAMP:20260101T000000Z
DTSTART;VALUE=DATE:20260306
DTEND;VALUE=DATE:20260309
SUMMARY:Trip
END:VEVENT
BEGIN:VEVENT
UID:gone
DTSTAMP:20260101T000000Z
DTSTART:20260303T100000Z
DTEND:20260303T110000Z
STATUS:CANCELLED
SUMMARY:Cancelled
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "family.ics"
    path.write_bytes(OTHERS.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    return path


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def events(path: Path, first: str, last: str) -> list[tuple[str, str]]:
    start, end = (datetime.fromisoformat(day).replace(tzinfo=BERLIN) for day in (first, last))
    found = await IcsFile(path).events(start, end)
    return sorted((f"{event.start:%m-%d %H:%M}", event.title) for event in found)


async def test_repetitions_follow_their_rule_exceptions_and_moved_occurrences(path: Path) -> None:
    assert await events(path, "2026-03-09", "2026-03-14") == [("03-11 14:00", "Stand-up (moved)")]
    assert await events(path, "2026-03-16", "2026-03-19") == [("03-16 09:00", "Stand-up"), ("03-18 09:00", "Stand-up")]


async def test_a_repeated_hour_stays_in_summer_time(path: Path) -> None:
    assert ("03-30 09:00", "Stand-up") in await events(path, "2026-03-30", "2026-03-31")


async def test_an_event_of_several_days_is_on_each_of_them(path: Path) -> None:
    assert await events(path, "2026-03-08", "2026-03-09") == [("03-06 00:00", "Trip")]
    assert await events(path, "2026-03-10", "2026-03-11") == []


async def test_a_cancelled_event_is_left_out(path: Path) -> None:
    assert await events(path, "2026-03-03", "2026-03-04") == []


async def test_adding_keeps_every_other_byte_and_the_mode_of_the_file(path: Path) -> None:
    before = content_of(path)
    start = datetime(2026, 3, 5, 15, tzinfo=BERLIN)
    await IcsFile(path).add(CalendarEvent("Dentist, Dr. Lee; bring card", start, start + timedelta(hours=1)))
    after = content_of(path)
    head, tail = before.split(b"END:VCALENDAR")
    assert after.startswith(head + b"BEGIN:VEVENT\r\n")
    assert after.endswith(b"END:VEVENT\r\nEND:VCALENDAR" + tail)
    assert mode_of(path) == 0o640
    assert await events(path, "2026-03-05", "2026-03-06") == [("03-05 15:00", "Dentist, Dr. Lee; bring card")]


async def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new.ics"
    start = datetime(2026, 3, 23, 18, tzinfo=BERLIN)
    await IcsFile(path).add(CalendarEvent("Gym", start, start + timedelta(hours=1), repeat=(0,)))
    assert mode_of(path) == 0o600
    # The clocks change in between.
    assert await events(path, "2026-03-30", "2026-04-07") == [("03-30 18:00", "Gym"), ("04-06 18:00", "Gym")]


async def test_a_title_cannot_add_lines_to_the_file(path: Path) -> None:
    start = datetime(2026, 3, 5, tzinfo=BERLIN)
    title = "x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:smuggled"
    await IcsFile(path).add(CalendarEvent(title, start, start + timedelta(days=1), is_all_day=True))
    assert len(await events(path, "2026-03-05", "2026-03-06")) == 1
    assert content_of(path).count(b"\r\nBEGIN:VEVENT") == OTHERS.count("BEGIN:VEVENT") + 1


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00garbage", OTHERS[:300].encode(), OTHERS.replace("END:VEVENT", "").encode()]
)
async def test_a_damaged_file_is_reported_and_not_written_to(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "family.ics"
    path.write_bytes(content)
    now = datetime.now(UTC)
    with pytest.raises(HomeError, match=r"family.ics is damaged"):
        await IcsFile(path).add(CalendarEvent("x", now, now + timedelta(hours=1)))
    assert content_of(path) == content
    with pytest.raises(HomeError, match=r"family.ics is damaged"):
        await IcsFile(path).events(now, now + timedelta(days=1))


async def test_a_rule_with_millions_of_occurrences_takes_no_time(tmp_path: Path) -> None:
    path = tmp_path / "evil.ics"
    path.write_text(OTHERS.replace("FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=SECONDLY"), encoding="utf-8")
    assert await events(path, "2026-03-06", "2027-03-06") == [
        ("03-06 00:00", "Trip"),
        ("03-11 14:00", "Stand-up (moved)"),
    ]
