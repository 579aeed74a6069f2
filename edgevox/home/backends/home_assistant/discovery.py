"""Finds Home Assistant instances on the local network over zeroconf."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from zeroconf import IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

_SERVICE = "_home-assistant._tcp.local."
_ASK_MS = 1000


@dataclass(frozen=True, slots=True)
class FoundHomeAssistant:
    """The name and URL of an instance."""

    name: str
    url: str


async def find_home_assistants(within_s: float = 3.0) -> tuple[FoundHomeAssistant, ...]:
    """The instances that answer within this time; empty without a network."""
    names: set[str] = set()

    def note(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is not ServiceStateChange.Removed:
            names.add(name)

    try:
        network = AsyncZeroconf(ip_version=IPVersion.V4Only)
    except OSError:
        return ()
    try:
        browser = AsyncServiceBrowser(network.zeroconf, _SERVICE, handlers=[note])
        await asyncio.sleep(within_s)
        await browser.async_cancel()
        asked = (_found(network, name) for name in sorted(names))
        return tuple(found for found in await asyncio.gather(*asked) if found is not None)
    finally:
        await network.async_close()


async def _found(network: AsyncZeroconf, name: str) -> FoundHomeAssistant | None:
    info = AsyncServiceInfo(_SERVICE, name)
    if not await info.async_request(network.zeroconf, _ASK_MS):
        return None
    properties = info.decoded_properties
    addresses = info.parsed_scoped_addresses(IPVersion.V4Only)
    url = properties.get("internal_url") or properties.get("base_url")
    if not url and addresses and info.port:
        url = f"http://{addresses[0]}:{info.port}"
    return (
        FoundHomeAssistant(properties.get("location_name") or name.removesuffix(f".{_SERVICE}"), url) if url else None
    )
