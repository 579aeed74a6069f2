"""Discovery of satellites over this machine's loopback interface."""

from __future__ import annotations

import asyncio
import os

from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from edgevox.satellites.discovery import FoundDevice, find_devices
from edgevox.server.wyoming_announcement import WYOMING_SERVICE, service_info

LOOPBACK = "127.0.0.1"
# Two runs of these tests on one machine must not have the same.
HOST = f"edgevox-tests-{os.getpid()}"
ESPHOME_SERVICE = "_esphomelib._tcp.local."


async def test_satellites_are_found_and_a_server_of_edgevox_is_none() -> None:
    def device(name: str, service: str, port: int) -> AsyncServiceInfo:
        full_name = f"{name} {HOST}.{service}"
        return AsyncServiceInfo(service, full_name, parsed_addresses=[LOOPBACK], port=port, server=f"{HOST}.local.")

    own = service_info(HOST, [LOOPBACK], 10_300)
    announced = [device("shelf", WYOMING_SERVICE, 10_700), device("voice", ESPHOME_SERVICE, 6_053), own]
    async with AsyncZeroconf(interfaces=[LOOPBACK], ip_version=IPVersion.V4Only) as network:

        async def announce(one: AsyncServiceInfo) -> None:
            await (await network.async_register_service(one))

        await asyncio.gather(*map(announce, announced))
        found: list[FoundDevice] = []
        async with asyncio.timeout(30.0):
            while len(found) < 2:  # a busy machine answers late
                found = [one for one in await find_devices(1.0, [LOOPBACK]) if HOST in one.name]
    assert found == [
        FoundDevice(f"shelf {HOST}", "wyoming", LOOPBACK, 10_700),
        FoundDevice(f"voice {HOST}", "esphome", LOOPBACK, 6_053),
    ]
    assert found[0].option == "--uri tcp://127.0.0.1:10700"
