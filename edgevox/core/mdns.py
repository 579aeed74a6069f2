"""Asks the local network for services over mDNS."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from zeroconf import DNSQuestionType, InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

_DETAILS_WITHIN_MS = 2_000
# An answer to this machine alone reaches only one of the programs that listen on the port, such as Avahi.
_ANSWERED_TO_ALL = DNSQuestionType.QM


async def find_services(
    service_types: Sequence[str], within_s: float, interfaces: Sequence[str] | None = None
) -> list[AsyncServiceInfo]:
    """The services that answer within this time and tell their details, by name. Raises OSError without a network."""
    names: dict[str, str] = {}

    def note(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        del zeroconf
        if state_change is not ServiceStateChange.Removed:
            names[name] = service_type

    where = list(interfaces) if interfaces else InterfaceChoice.All
    async with AsyncZeroconf(interfaces=where, ip_version=IPVersion.V4Only) as network:
        browser = AsyncServiceBrowser(
            network.zeroconf, list(service_types), handlers=[note], question_type=_ANSWERED_TO_ALL
        )
        try:
            await asyncio.sleep(within_s)
        finally:
            await browser.async_cancel()
        found = [AsyncServiceInfo(service_type, name) for name, service_type in sorted(names.items())]
        asked = (one.async_request(network.zeroconf, _DETAILS_WITHIN_MS, _ANSWERED_TO_ALL) for one in found)
        return [one for one, is_known in zip(found, await asyncio.gather(*asked), strict=True) if is_known]
