"""A calendar of a CalDAV server (RFC 4791): one query for the events of a time, one PUT for a new event."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

from edgevox.config.secrets import read_secret
from edgevox.core.errors import ConfigError
from edgevox.home.calendar.ics import MALFORMED, MAX_BYTES, read_events, written_calendar, written_event
from edgevox.home.entities import CalendarEvent, HomeError

_QUERY = (
    '<?xml version="1.0" encoding="utf-8"?>'
    '<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">'
    "<d:prop><c:calendar-data/></d:prop>"
    '<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">'
    '<c:time-range start="{start}" end="{end}"/>'
    "</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>"
)
_DATA = "{urn:ietf:params:xml:ns:caldav}calendar-data"
_UTC_FORM = "%Y%m%dT%H%M%SZ"
_XML = {"Content-Type": "application/xml; charset=utf-8", "Depth": "1"}
# The server answers with Created or No Content.
_WRITTEN = (200, 201, 204)


class CalDavCalendar:
    """A Calendar on a server; `url` is that of the calendar, not of the account."""

    def __init__(self, url: str, user: str | None, password_file: Path | None, *, timeout_s: float) -> None:
        self.name = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]) or "CalDAV"
        self.is_read_only = False
        self._url = url.rstrip("/") + "/"
        self._host = urlsplit(url).hostname or url
        self._user = user
        self._password_file = password_file
        self._timeout_s = timeout_s

    async def events(self, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
        """Raises HomeError."""
        period = {"start": start.astimezone(UTC).strftime(_UTC_FORM), "end": end.astimezone(UTC).strftime(_UTC_FORM)}
        status, answer = await self._request("REPORT", self._url, _QUERY.format(**period).encode(), _XML)
        if status != 207:
            raise self._refused(status)
        return await asyncio.to_thread(self._read, answer, start, end)

    async def add(self, event: CalendarEvent) -> None:
        """Raises HomeError."""
        uid = str(uuid.uuid4())
        content = await asyncio.to_thread(lambda: written_calendar(written_event(event, uid)))
        headers = {"Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}
        status, _ = await self._request("PUT", f"{self._url}{uid}.ics", content, headers)
        if status not in _WRITTEN:
            raise self._refused(status)

    def _read(self, answer: bytes, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
        try:
            # Since 2.4.1 expat limits what entities expand to.
            parts = ET.fromstring(answer).iter(_DATA)  # noqa: S314
            return tuple(event for part in parts if part.text for event in read_events(part.text.encode(), start, end))
        except (ET.ParseError, *MALFORMED):
            raise HomeError(f"The calendar server {self._host} answers in a way that I do not understand.") from None

    async def _request(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """The status and the body of the answer. Raises HomeError."""
        import aiohttp  # imported here: it takes a quarter of a second

        if self._user:
            login = base64.b64encode(f"{self._user}:{self._password()}".encode()).decode()
            headers = {**headers, "Authorization": f"Basic {login}"}
        timeout = aiohttp.ClientTimeout(total=self._timeout_s)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.request(method, url, data=body, headers=headers) as answer,
            ):
                content = await answer.content.read(MAX_BYTES + 1)
                while len(content) <= MAX_BYTES and (more := await answer.content.read(MAX_BYTES)):
                    content += more
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            raise HomeError(f"I cannot reach the calendar server {self._host} right now.") from None
        if len(content) > MAX_BYTES:
            raise HomeError(f"The calendar server {self._host} sends more than I can read.")
        return answer.status, content

    def _password(self) -> str:
        try:
            secret = read_secret(self._password_file) if self._password_file else None
        except ConfigError as error:
            raise HomeError(f"{error.message}: {error.hint}") from None
        return secret.reveal() if secret else ""

    def _refused(self, status: int) -> HomeError:
        match status:
            case 401 | 403:
                return HomeError(
                    f"The calendar server {self._host} refuses me: check calendar.caldav_user and the password file."
                )
            case 404:
                return HomeError(f"The server {self._host} has no calendar at calendar.caldav_url.")
            case _:
                return HomeError(f"The calendar server {self._host} could not do that; it answered {status}.")
