"""Announces the Wyoming server in the local network, so that Home Assistant finds it by itself."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import ifaddr
from zeroconf import Error as ZeroconfError
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

WYOMING_SERVICE = "_wyoming._tcp.local."
PROGRAM = {"program": "edgevox"}
"""The properties of the announcement: this is a server, no satellite."""
_log = logging.getLogger(__name__)


def announced_addresses(host: str) -> list[str]:
    """The IPv4 addresses at which other machines reach a server that listens on `host`; none on this machine alone."""
    try:
        own = ip_address(host)
    except ValueError:
        return []
    if not own.is_unspecified:
        return [] if own.is_loopback or own.version != 4 else [host]
    found = [str(one.ip) for adapter in ifaddr.get_adapters() for one in adapter.ips if one.is_IPv4]
    return sorted(address for address in set(found) if not ip_address(address).is_loopback)


def service_info(name: str, addresses: list[str], port: int) -> AsyncServiceInfo:
    """The announcement of a server."""
    host = socket.gethostname().partition(".")[0] or "edgevox"
    return AsyncServiceInfo(
        WYOMING_SERVICE,
        f"{name} on {host}.{WYOMING_SERVICE}",
        parsed_addresses=addresses,
        port=port,
        properties=PROGRAM,
        server=f"{host}.local.",
    )


@asynccontextmanager
async def announced(name: str, host: str, port: int) -> AsyncIterator[None]:
    """Announce the server during the block; without a network it is only not found."""
    addresses = announced_addresses(host)
    network: AsyncZeroconf | None = None
    if addresses:
        try:
            network = AsyncZeroconf(interfaces=addresses, ip_version=IPVersion.V4Only)
            await network.async_register_service(service_info(name, addresses, port), allow_name_change=True)
        except (OSError, ZeroconfError) as error:
            _log.warning("the Wyoming server is not announced in the network: %s", error)
    try:
        yield
    finally:
        if network is not None:
            await network.async_unregister_all_services()
            await network.async_close()
