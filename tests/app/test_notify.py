"""Messages to systemd, received at a socket of the test's own."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgevox.app.service_unit import SystemdNotifier

BOUND_S = 10.0


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(BOUND_S)
        yield manager


def test_readiness_is_told(manager: socket.socket) -> None:
    SystemdNotifier({"NOTIFY_SOCKET": manager.getsockname()}).notify(READY="1", STATUS="listening")
    assert manager.recv(1024) == b"READY=1\nSTATUS=listening"


def test_a_manager_in_the_abstract_namespace_is_told() -> None:
    name = f"edgevox-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        manager.settimeout(BOUND_S)
        SystemdNotifier({"NOTIFY_SOCKET": f"@{name}"}).notify(READY="1")
        assert manager.recv(1024) == b"READY=1"


def test_without_a_manager_nothing_happens(tmp_path: Path) -> None:
    SystemdNotifier({}).notify(READY="1")
    SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}).notify(READY="1")


async def test_it_says_that_it_lives_before_the_watch_is_over(manager: socket.socket) -> None:
    manager.setblocking(False)
    loop = asyncio.get_running_loop()
    service = SystemdNotifier({"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "100000"})
    async with asyncio.timeout(BOUND_S), service.watchdog_pings():
        begun_s = loop.time()
        for _ in range(3):
            assert await loop.sock_recv(manager, 1024) == b"WATCHDOG=1"
        assert loop.time() - begun_s >= 0.09  # the first at once, then twice per watch


def test_the_watch_over_another_process_is_not_ours() -> None:
    assert SystemdNotifier({"WATCHDOG_USEC": "100000", "WATCHDOG_PID": "1"}).watched_every_s == 0
