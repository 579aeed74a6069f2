"""A Wyoming server on another machine: a connection for each request, and errors that say what to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.info import Describe, Info

from edgevox.errors import ConfigError, EngineFailed
from edgevox.remote.wyoming_events import MAX_LINE_BYTES, NotWyoming, read_event, write_event
from edgevox.settings.addresses import checked_tcp, host_and_port

_CONNECT_S = 10.0
_DESCRIBE_S = 15.0
_MAX_QUOTED_CHARS = 300


class WyomingLink:
    """Where the server is, as `setting` says. Raises ConfigError for an address that is none."""

    def __init__(self, address: str, *, setting: str) -> None:
        try:
            self.address = checked_tcp(address)
        except ValueError as error:
            raise ConfigError(str(error), hint="such as tcp://localhost:10300") from None
        self.setting = setting
        self.is_up = True
        """Whether the server could be reached the last time."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[WyomingTalk]:
        """A connection, inside the block. Raises EngineFailed."""
        host, port = host_and_port(self.address)
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await asyncio.open_connection(host, port, limit=MAX_LINE_BYTES)
        except OSError as error:  # a TimeoutError is one, too
            self.is_up = False
            said = error.strerror or str(error) or "nobody is there"
            raise EngineFailed(
                f"{self.address} cannot be reached: {said}",
                hint=f"is the server running, and is {self.setting} right?",
            ) from None
        self.is_up = True
        try:
            yield WyomingTalk(self.address, reader, writer)
        finally:
            writer.close()

    async def info(self) -> Info:
        """What the server has. Raises EngineFailed, and ConfigError for what is no Wyoming server."""
        try:
            async with asyncio.timeout(_DESCRIBE_S), self.opened() as talk:
                await talk.say(Describe())
                while not Info.is_type((event := await talk.heard()).type):
                    pass
                return Info.from_event(event)
        except TimeoutError:
            problem = "it does not say what it is"
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"it does not say clearly what it is ({error})"
        raise ConfigError(f"{self.address} is no Wyoming server: {problem}", hint=f"check {self.setting}")


class WyomingTalk:
    """One connection."""

    def __init__(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._address = address
        self._reader = reader
        self._writer = writer

    async def say(self, event: Eventable) -> None:
        """Raises EngineFailed."""
        try:
            await write_event(self._writer, event)
        except OSError as error:
            raise self._failed(f"has gone: {error.strerror or error}") from None

    async def heard(self) -> Event:
        """The next event that is no error. Raises EngineFailed."""
        try:
            event = await read_event(self._reader)
        except NotWyoming as error:
            raise self._failed(f"does not speak Wyoming: {error}") from None
        except OSError as error:
            raise self._failed(f"has gone: {error.strerror or error}") from None
        if event is None:
            raise self._failed("broke off in the middle of its answer")
        if Error.is_type(event.type):
            said = " ".join(str(event.data.get("text", "")).split())[:_MAX_QUOTED_CHARS]
            raise self._failed(f"could not do it: {said}")
        return event

    def _failed(self, what: str) -> EngineFailed:
        return EngineFailed(f"{self._address} {what}", hint="see its log")
