"""Readiness and signs of life for systemd: datagrams to the socket that it names (sd_notify(3))."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from edgevox.platform_support import unix_socket


class ServiceManager:
    """Tells whoever started the service; where nobody asks, nothing is told."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._address = environ.get("NOTIFY_SOCKET", "")
        # The watch may be on another process, such as the shell that started this one.
        is_meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watched_every_s = int(environ.get("WATCHDOG_USEC", "0")) / 1e6 if is_meant else 0.0
        """A service that is silent for longer is ended and started again; 0 where nobody watches."""

    def tell(self, **facts: str) -> None:
        """Send facts such as READY=1; a manager that is gone is no fault of the service."""
        if not self._address:
            return
        text = "\n".join(f"{name}={value}" for name, value in facts.items())
        # A name that begins with @ is in the abstract namespace.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with unix_socket(socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            try:
                client.sendto(text.encode(), address)
            except OSError:
                return

    @asynccontextmanager
    async def signs_of_life(self) -> AsyncIterator[None]:
        """Say twice per watch, from the event loop itself, that it still turns."""
        if not self.watched_every_s:
            yield
            return

        async def live() -> None:
            while True:
                self.tell(WATCHDOG="1")
                await asyncio.sleep(self.watched_every_s / 2)

        living = asyncio.create_task(live())
        try:
            yield
        finally:
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)
