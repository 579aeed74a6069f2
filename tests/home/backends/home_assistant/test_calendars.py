"""The local calendar of a real Home Assistant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from edgevox.config.secrets import Secret
from edgevox.home import HomeError
from edgevox.home.backends.home_assistant import HomeAssistantHome
from edgevox.home.entities import CalendarEvent
from tests.home.backends.home_assistant.conftest import TIMEOUT_S
from tests.home.backends.home_assistant.furnished import Admin, expose
from tests.home.backends.home_assistant.server import Server

MONDAY = datetime(2031, 3, 3, tzinfo=UTC)
CALENDAR = "calendar.family"


async def test_events_are_added_and_read_with_their_repetitions(home: HomeAssistantHome) -> None:
    (calendar,) = home.calendars()
    assert (calendar.name, calendar.is_read_only) == ("Family", False)
    start = MONDAY + timedelta(hours=15)
    await calendar.add(CalendarEvent("Dentist", start, start + timedelta(hours=1)))
    await calendar.add(CalendarEvent("Gym", start, start + timedelta(hours=2), repeat=(0,)))
    await calendar.add(CalendarEvent("Birthday", MONDAY, MONDAY + timedelta(days=1), is_all_day=True))
    found = {event.title: event for event in await calendar.events(MONDAY, MONDAY + timedelta(days=1))}
    assert found["Dentist"] == CalendarEvent("Dentist", start, start + timedelta(hours=1))
    assert found["Birthday"] == CalendarEvent("Birthday", MONDAY, MONDAY + timedelta(days=1), is_all_day=True)
    later = await calendar.events(MONDAY + timedelta(weeks=1), MONDAY + timedelta(weeks=1, days=1))
    assert [event.title for event in later] == ["Gym"]


async def test_a_calendar_that_is_not_exposed_is_not_read(server: Server, admin: Admin) -> None:
    await expose(admin, [CALENDAR], False)
    home = HomeAssistantHome(server.url, Secret(server.token), timeout_s=TIMEOUT_S)
    try:
        await home.start()
        with pytest.raises(HomeError, match="not exposed to voice assistants"):
            home.calendars()
    finally:
        await home.close()
        await expose(admin, [CALENDAR], True)
