"""Finds Wyoming satellites and ESPHome devices in the local network over mDNS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from zeroconf import IPVersion

from edgevox.core.mdns import find_services
from edgevox.server.wyoming_announcement import PROGRAM, WYOMING_SERVICE

_KINDS: dict[str, Literal["wyoming", "esphome"]] = {WYOMING_SERVICE: "wyoming", "_esphomelib._tcp.local.": "esphome"}


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


async def find_devices(within_s: float, interfaces: Sequence[str] | None = None) -> list[FoundDevice]:
    """Ask the network for that long. Raises OSError without one."""
    found: list[FoundDevice] = []
    for one in await find_services(tuple(_KINDS), within_s, interfaces):
        addresses = one.parsed_addresses(IPVersion.V4Only)
        if addresses and one.port is not None and not PROGRAM.items() <= one.decoded_properties.items():
            found.append(FoundDevice(one.name.removesuffix(f".{one.type}"), _KINDS[one.type], addresses[0], one.port))
    return found
