"""Keeps the server connected to the devices of `satellites.toml`, each with attempts at growing intervals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from edgevox.config.sections import WakeSettings
from edgevox.core.errors import ConfigError, DeviceUnavailable, EdgevoxError
from edgevox.core.turn import cancel_tasks
from edgevox.core.types import JsonObject
from edgevox.satellites.connection import Backoff
from edgevox.satellites.device import SatelliteLost
from edgevox.satellites.store import DeviceEntry, DeviceFile
from edgevox.satellites.wyoming import WyomingSatellite, connect, describe
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues

_log = logging.getLogger(__name__)

_LOOK_S = 2.0
_FIRST_RETRY_S = 1.0
_LONGEST_RETRY_S = 60.0
_GOOD_AFTER_S = 30.0


class SatelliteConnector:
    """Connects to the devices of the file while it runs; a change of the file is seen within two seconds."""

    def __init__(
        self,
        file: DeviceFile,
        assistant: Assistant,
        queues: EngineQueues,
        wake: WakeSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._file = file
        self._assistant = assistant
        self._queues = queues
        self._wake = wake
        self._sleep = sleep
        self._entries: dict[str, DeviceEntry] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}
        self._file_problem = ""
        assistant.satellites.configured = self._report

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            while True:
                await self._look()
                await self._sleep(_LOOK_S)
        finally:
            await cancel_tasks(*self._tasks.values())

    async def _look(self) -> None:
        try:
            entries = self._file.read()
        except ConfigError as error:
            if error.message != self._file_problem:
                self._file_problem = error.message
                _log.warning("the satellites stay as they were: %s", error.message)
            return
        self._file_problem = ""
        gone = [name for name in self._tasks if self._entries.get(name) != entries.get(name)]
        await cancel_tasks(*(self._tasks.pop(name) for name in gone))
        self._entries = entries
        for name, entry in entries.items():
            if name not in self._tasks:
                self._tasks[name] = asyncio.create_task(self._stay_connected(name, entry))

    async def _stay_connected(self, name: str, entry: DeviceEntry) -> None:
        backoff = Backoff(_FIRST_RETRY_S, _LONGEST_RETRY_S, good_after_s=_GOOD_AFTER_S, sleep=self._sleep)
        while True:
            backoff.begin()
            try:
                await self._serve(name, entry)
            except (SatelliteLost, EdgevoxError) as error:
                if self._problems.get(name) != str(error):
                    _log.warning("satellite %s: %s", name, error)
                self._problems[name] = str(error)
            await backoff.wait()

    async def _serve(self, name: str, entry: DeviceEntry) -> None:
        if entry.kind == "wyoming":
            await WyomingSatellite(name, entry, self._assistant, self._queues, self._wake).run()
        else:
            # Memory that only homes with such a device need.
            from edgevox.satellites.esphome import EspHomeSatellite

            await EspHomeSatellite(name, entry, self._assistant, self._queues).run()

    def _report(self) -> dict[str, JsonObject]:
        return {
            name: {"room": entry.room, "kind": entry.kind, "problem": self._problems.get(name)}
            for name, entry in self._entries.items()
        }


async def probe(entry: DeviceEntry) -> str:
    """Connect to a device once and return what it is. Raises DeviceUnavailable."""
    try:
        if entry.kind == "wyoming":
            reader, writer = await connect(entry)
            try:
                satellite = (await describe(reader, writer)).satellite
            finally:
                writer.close()
            return f"a Wyoming satellite: {satellite.name if satellite else ''}"
        from edgevox.satellites.esphome import connected, features_of

        async with connected(entry) as (client, info):
            features = features_of(client, info)
            return f"an ESPHome voice assistant: {info.friendly_name or info.name} ({features.name or features})"
    except SatelliteLost as error:
        raise DeviceUnavailable(str(error), hint="is it switched on, and is the address right?") from None
