"""A calendar on a real CalDAV server (Radicale): reading, adding, and servers that refuse or do not answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgevox.config.secrets import write_secret
from edgevox.home.calendar.caldav import CalDavCalendar
from edgevox.home.entities import CalendarEvent, HomeError

STARTS_WITHIN_S = 30.0
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an empty calendar."""
    folder = tmp_path_factory.mktemp("radicale")
    (folder / "users").write_text("anna:secret\n", encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "server-hosts": f"127.0.0.1:{port}", "auth-type": "htpasswd", "auth-htpasswd-filename": folder / "users",
        "auth-htpasswd-encryption": "plain", "storage-filesystem-folder": folder / "collections",
        "auth-delay": 0,
    }  # fmt: skip
    flags = [f"--{name}={value}" for name, value in options.items()]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "radicale", "--config", "", *flags], stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}/anna/family/"
        until_s = time.monotonic() + STARTS_WITHIN_S
        while not made(url):
            assert time.monotonic() < until_s, (folder / "log").read_text(encoding="utf-8")
            assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")
            time.sleep(0.05)
        yield url
    finally:
        process.kill()
        process.wait(timeout=10)


def made(url: str) -> bool:
    """Whether the server has made the calendar."""
    request = urllib.request.Request(url, b"", {"Authorization": "Basic YW5uYTpzZWNyZXQ="}, method="MKCALENDAR")
    try:
        with urllib.request.urlopen(request, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    write_secret(path, "secret")
    return path


async def test_events_are_added_and_read_with_their_repetitions(server: str, password_file: Path) -> None:
    calendar = CalDavCalendar(server, "anna", password_file, timeout_s=5)
    start = MONDAY + timedelta(hours=15)
    await calendar.add(CalendarEvent("Dentist", start, start + timedelta(hours=1)))
    await calendar.add(CalendarEvent("Gym", start, start + timedelta(hours=1), repeat=(0,)))
    titles = [sorted(event.title for event in await calendar.events(day, day + timedelta(days=1))) for day in weeks(2)]
    assert titles == [["Dentist", "Gym"], ["Gym"]]
    assert calendar.name == "family"


def weeks(count: int) -> list[datetime]:
    return [MONDAY + timedelta(weeks=number) for number in range(count)]


async def test_a_refusal_names_the_setting(server: str, password_file: Path) -> None:
    write_secret(password_file, "wrong")
    calendar = CalDavCalendar(server, "anna", password_file, timeout_s=5)
    with pytest.raises(HomeError, match=r"calendar\.caldav_user"):
        await calendar.events(MONDAY, MONDAY + timedelta(days=1))
    write_secret(password_file, "secret")
    elsewhere = CalDavCalendar(server.replace("family", "nothing"), "anna", password_file, timeout_s=5)
    with pytest.raises(HomeError, match=r"calendar\.caldav_url"):
        await elsewhere.events(MONDAY, MONDAY + timedelta(days=1))


def make_readable(path: Path) -> None:
    path.chmod(0o644)


async def test_a_password_that_others_can_read_is_not_sent(server: str, password_file: Path) -> None:
    make_readable(password_file)
    with pytest.raises(HomeError, match="chmod 600"):
        await CalDavCalendar(server, "anna", password_file, timeout_s=5).events(MONDAY, MONDAY + timedelta(days=1))
