"""Finds Wyoming satellites and ESPHome devices in the local network over mDNS."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from zeroconf import InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from edgevox.server.wyoming_announcement import PROGRAM, WYOMING_SERVICE

_KINDS: dict[str, Literal["wyoming", "esphome"]] = {WYOMING_SERVICE: "wyoming", "_esphomelib._tcp.local.": "esphome"}
_ASK_MS = 2_000


@dataclass(frozen=True, slots=True)
class FoundDevice:
    """A device that announces itself: any Wyoming service but EdgeVox's own, and any ESPHome device."""

    name: str
    kind: Literal["wyoming", "esphome"]
    host: str
    port: int

    @property
    def option(self) -> str:
        """The option of `edgevox satellites add` for it."""
        if self.kind == "wyoming":
            return f"--uri tcp://{self.host}:{self.port}"
        return f"--esphome {self.host}:{self.port}"


async def find_devices(within_s: float, interfaces: list[str] | None = None) -> list[FoundDevice]:
    """Ask the network for that long. Raises OSError without one."""
    seen: dict[str, str] = {}

    def note(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        del zeroconf
        if state_change is not ServiceStateChange.Removed:
            seen[name] = service_type

    async with AsyncZeroconf(interfaces=interfaces or InterfaceChoice.All, ip_version=IPVersion.V4Only) as network:
        browser = AsyncServiceBrowser(network.zeroconf, list(_KINDS), handlers=[note])
        try:
            await asyncio.sleep(within_s)
        finally:
            await browser.async_cancel()
        asked = (_ask(network, name, service_type) for name, service_type in sorted(seen.items()))
        return [device for device in await asyncio.gather(*asked) if device is not None]


async def _ask(network: AsyncZeroconf, name: str, service_type: str) -> FoundDevice | None:
    info = AsyncServiceInfo(service_type, name)
    addresses = info.parsed_addresses(IPVersion.V4Only) if await info.async_request(network.zeroconf, _ASK_MS) else []
    if not addresses or info.port is None or PROGRAM.items() <= info.decoded_properties.items():
        return None
    return FoundDevice(name.removesuffix(f".{service_type}"), _KINDS[service_type], addresses[0], info.port)
