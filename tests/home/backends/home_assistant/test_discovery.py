"""Discovery of Home Assistant instances over this machine's real network interfaces."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from edgevox.home.backends.home_assistant.discovery import FoundHomeAssistant, find_home_assistants

SERVICE = "_home-assistant._tcp.local."
# Two runs of these tests in one network must not have the same.
HOUSE_NAME = f"EdgeVox Test House {os.getpid()}"


@asynccontextmanager
async def announced(**told: str) -> AsyncIterator[None]:
    """As Home Assistant announces itself in a network."""
    network = AsyncZeroconf(ip_version=IPVersion.V4Only)
    info = AsyncServiceInfo(
        SERVICE,
        f"{HOUSE_NAME}.{SERVICE}",
        addresses=[socket.inet_aton("127.0.0.1")],
        port=8123,
        properties={"location_name": HOUSE_NAME, "version": "2024.3.3", **told},
        server=f"edgevox-tests-{os.getpid()}.local.",
    )
    try:
        await (await network.async_register_service(info))
        yield
        await network.async_unregister_all_services()
    finally:
        await network.async_close()


@pytest.mark.parametrize(
    ("told", "url"),
    [
        ({"internal_url": "http://house:1234", "base_url": "https://far.away"}, "http://house:1234"),
        ({"internal_url": "", "base_url": "https://far.away"}, "https://far.away"),
        ({"internal_url": "", "base_url": ""}, "http://127.0.0.1:8123"),
    ],
)
async def test_a_home_assistant_in_the_network_is_found(told: dict[str, str], url: str) -> None:
    async with announced(**told):
        found = await find_home_assistants()
    assert FoundHomeAssistant(HOUSE_NAME, url) in found


async def test_an_instance_that_has_unregistered_is_not_found() -> None:
    async with announced():
        assert HOUSE_NAME in await names()
    assert HOUSE_NAME not in await names()


async def names() -> set[str]:
    return {found.name for found in await find_home_assistants()}
