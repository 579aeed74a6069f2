"""The machine's time zone, with its rules for summer time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from edgevox.home.alarms.time_expression import MACHINE_ZONE, local, moment

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_in_berlin")
def test_the_machines_zone_is_right_all_year() -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    for half_hour in range(365 * 48):
        seconds = begin + half_hour * 1800
        here, there = local(seconds, MACHINE_ZONE), local(seconds, BERLIN)
        assert here.replace(tzinfo=None) == there.replace(tzinfo=None)
        assert (here.fold, here.utcoffset()) == (there.fold, there.utcoffset())
        assert here.timestamp() == seconds


@pytest.mark.usefixtures("_in_berlin")
@pytest.mark.parametrize("zone", [MACHINE_ZONE, BERLIN])
@pytest.mark.parametrize(
    ("wall", "utc"),
    [
        ("2026-11-16T06:30", "2026-11-16T05:30"),
        ("2026-07-16T06:30", "2026-07-16T04:30"),
        ("2027-03-28T02:30", "2027-03-28T01:30"),  # clocks never show it
        ("2026-10-25T02:30", "2026-10-25T00:30"),  # clocks show it twice
    ],
)
def test_a_wall_clock_time_maps_to_one_moment(zone: ZoneInfo, wall: str, utc: str) -> None:
    when = moment(datetime.fromisoformat(wall), zone)
    assert when.astimezone(UTC) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.usefixtures("_in_berlin")
def test_a_month_ahead_is_in_winter_time() -> None:
    october = datetime(2026, 10, 1, 7, 0, tzinfo=MACHINE_ZONE)
    november = moment(datetime(2026, 11, 1, 7, 0), MACHINE_ZONE)  # noqa: DTZ001 - what a wall clock shows
    assert november.timestamp() - october.timestamp() == timedelta(days=31, hours=1).total_seconds()
    assert november.tzname() == "CET"
