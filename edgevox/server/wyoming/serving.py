"""The Wyoming server on a socket: this machine may connect, and the others that the settings name."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from edgevox.errors import ConfigError
from edgevox.remote.wyoming_events import MAX_LINE_BYTES
from edgevox.server.wyoming.connection import WyomingConnection
from edgevox.server.wyoming.offer import Offer

_log = logging.getLogger(__name__)

_MAX_CLIENTS = 16


@asynccontextmanager
async def serving_wyoming(
    offer: Offer, host: str, port: int, peers: Sequence[str] = ()
) -> AsyncIterator[str]:
    """Serve inside the block; the address is given. Raises ConfigError when it cannot be listened on."""
    clients: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")  # None where it has gone already
        if peer is not None and not may_connect(peer[0], peers):
            _log.warning("%s may not use Wyoming here: server.wyoming_peers does not name it", peer[0])
            peer = None
        if peer is None or len(clients) >= _MAX_CLIENTS:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        try:
            await WyomingConnection(offer, reader, writer).run()
        except asyncio.CancelledError:
            pass  # the server is being closed; asyncio would complain about a task that it was
        finally:
            clients.discard(task)

    try:
        server = await asyncio.start_server(serve, host, port, limit=MAX_LINE_BYTES)
    except OSError as error:
        raise ConfigError(
            f"the Wyoming server cannot listen on {host}, port {port}: {error.strerror or error}",
            hint="another program may have the port: set server.wyoming_port, or end it",
        ) from error
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"tcp://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


def may_connect(address: str, peers: Sequence[str]) -> bool:
    """Whether a client with that address is on this machine, or one of the peers."""
    client = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(client, ipaddress.IPv6Address) and client.ipv4_mapped is not None:
        client = client.ipv4_mapped
    return client.is_loopback or any(client in ipaddress.ip_network(peer) for peer in peers)
