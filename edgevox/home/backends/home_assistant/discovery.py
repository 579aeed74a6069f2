"""Finds Home Assistant instances on the local network over zeroconf."""

from __future__ import annotations

from dataclasses import dataclass

from zeroconf import IPVersion

from edgevox.core.mdns import find_services

_SERVICE = "_home-assistant._tcp.local."


@dataclass(frozen=True, slots=True)
class FoundHomeAssistant:
    """The name and URL of an instance."""

    name: str
    url: str


async def find_home_assistants(within_s: float = 3.0) -> tuple[FoundHomeAssistant, ...]:
    """The instances that answer within this time; empty without a network."""
    try:
        services = await find_services((_SERVICE,), within_s)
    except OSError:
        return ()
    found: list[FoundHomeAssistant] = []
    for one in services:
        addresses = one.parsed_scoped_addresses(IPVersion.V4Only)
        own = f"http://{addresses[0]}:{one.port}" if addresses and one.port else ""
        url = one.decoded_properties.get("internal_url") or one.decoded_properties.get("base_url") or own
        if url:
            name = one.decoded_properties.get("location_name") or one.name.removesuffix(f".{_SERVICE}")
            found.append(FoundHomeAssistant(name, url))
    return tuple(found)
