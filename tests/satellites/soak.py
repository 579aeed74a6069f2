"""Satellites on bad Wi-Fi: `python -m tests.satellites.soak --minutes 60`.

Four satellites speak with the real server, whose engines are scripted, through a proxy that delays one chunk in twenty
as a lost packet does, and that cuts a connection or leaves it half open every `--cut-every` seconds. At the end every
turn that began must be among the records, every satellite must be connected, and nothing may have grown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from edgevox.core.events import Event, TurnEnded, TurnStarted
from edgevox.core.files import Folders
from edgevox.core.turn import background_task, cancel_tasks
from tests.satellites.harness import Device, satellite
from tests.server.websocket.harness import Lobby, RestingModel, lobby, until

LOSS = 0.05
_RETRANSMIT_S = (0.05, 0.4)
_CHUNK_BYTES = 4_096
_FORGOTTEN_S = 17.0
# A half-open connection is noticed after 15 s; on a busy machine it takes longer.
_SETTLES = 4


class LossyProxy:
    """Forwards connections to a port. A lost packet is a pause, as TCP sends it again."""

    def __init__(self, port: int, chance: random.Random) -> None:
        self._port = port
        self._chance = chance
        self._lines: dict[asyncio.Task[None], asyncio.Event] = {}
        self.cuts = self.stalls = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            await cancel_tasks(*self._lines)

    def disturb(self) -> None:
        """Cut a connection, or leave it half open: nothing passes, and nobody is told."""
        if not self._lines:
            return
        line = self._chance.choice(list(self._lines))
        if self._chance.random() < 0.5:
            self.cuts += 1
            line.cancel()
        else:
            self.stalls += 1
            self._lines[line].clear()
            # As a router forgets it, so that this proxy keeps nothing.
            asyncio.get_running_loop().call_later(_FORGOTTEN_S, line.cancel)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        passes = asyncio.Event()
        passes.set()
        self._lines[task] = passes
        upstream: asyncio.StreamWriter | None = None
        try:
            back, upstream = await asyncio.open_connection("127.0.0.1", self._port)
            pumps = [
                asyncio.create_task(one)
                for one in (self._pump(reader, upstream, passes), self._pump(back, writer, passes))
            ]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await cancel_tasks(*pumps)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            del self._lines[task]
            for one in (writer, upstream):
                if one is not None:
                    one.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passes: asyncio.Event) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                if self._chance.random() < LOSS:
                    await asyncio.sleep(self._chance.uniform(*_RETRANSMIT_S))
                await passes.wait()
                writer.write(data)
                await writer.drain()


@dataclass
class SoakResult:
    """What happened; `began` and `ended` are turns, and the growth is from the first minute to the end."""

    seconds: float
    commands: int = 0
    cuts: int = 0
    stalls: int = 0
    began: int = 0
    ended: int = 0
    recorded: int = 0
    outcomes: dict[str, int] | None = None
    connected: int = 0
    settled_s: float = 0.0
    left: list[str] = field(default_factory=list)
    tasks_grown: int = 0
    descriptors_grown: int = 0

    @property
    def is_good(self) -> bool:
        """Whether no turn was lost, all satellites are back, and nothing has grown."""
        is_whole = self.began == self.ended == self.recorded > 0
        return is_whole and self.connected == SATELLITES and self.tasks_grown <= 2 and self.descriptors_grown <= 2


SATELLITES = 4


async def soak(folders: Folders, seconds: float, cut_every_s: float) -> SoakResult:
    chance = random.Random(35)
    result = SoakResult(seconds)
    async with AsyncExitStack() as running:
        model = RestingModel(["Yes."] * 1_000_000)
        server = await running.enter_async_context(lobby(folders, model=model, has_tools=False, heard=["good morning"]))
        _count_turns(server, result)
        proxy = LossyProxy(int(server.url.rpartition(":")[2]), chance)
        url = await running.enter_async_context(proxy.running())
        devices = [
            await running.enter_async_context(satellite(url, f"s{number}", room=f"Room {number}", retry_s=0.2))
            for number in range(SATELLITES)
        ]
        for device in devices:
            await device.connected()
        tasks, descriptors = len(asyncio.all_tasks()), _descriptors()
        async with background_task(_speak(devices, chance, result)), background_task(_disturb(proxy, cut_every_s)):
            await asyncio.sleep(seconds)
        began_s = time.monotonic()
        for _ in range(_SETTLES):
            with suppress(TimeoutError):
                await until(lambda: result.began == result.ended and _are_idle(server, devices))
        result.settled_s = round(time.monotonic() - began_s, 1)
        result.left = [f"{device.told[-2:]}" for device in devices if device.doing == "connecting"]
        with suppress(TimeoutError):
            await until(lambda: len(asyncio.all_tasks()) <= tasks + 2 and _descriptors() <= descriptors + 2)
        result.cuts, result.stalls = proxy.cuts, proxy.stalls
        result.recorded = len(server.records)
        names = [record.outcome for record in server.records]
        result.outcomes = {name: names.count(name) for name in sorted(set(names))}
        result.connected = len(server.hub.links)
        result.tasks_grown, result.descriptors_grown = len(asyncio.all_tasks()) - tasks, _descriptors() - descriptors
    return result


def _are_idle(server: Lobby, devices: list[Device]) -> bool:
    is_idle = not any(device.doing in ("connecting", "busy") for device in devices)
    return is_idle and len(server.hub.links) == len(devices)


def _count_turns(server: Lobby, result: SoakResult) -> None:
    build = server.lines.pipeline

    def counted(publish: Any, *given: Any, **more: Any) -> Any:
        def noted(event: Event) -> None:
            result.began += isinstance(event, TurnStarted)
            result.ended += isinstance(event, TurnEnded)
            publish(event)

        return build(noted, *given, **more)

    server.lines.pipeline = counted  # type: ignore[method-assign]


async def _speak(devices: list[Device], chance: random.Random, result: SoakResult) -> None:
    while True:
        await asyncio.sleep(chance.uniform(0.3, 2.0))
        chance.choice(devices).command()
        result.commands += 1


async def _disturb(proxy: LossyProxy, every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        proxy.disturb()


def _descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def main() -> None:
    parser = argparse.ArgumentParser(description="Satellites on bad Wi-Fi.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--cut-every", type=float, default=60.0, metavar="S", help="seconds between two disturbances")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(*(Path(scratch) / name for name in ("config", "state", "models", "run")))
        result = asyncio.run(soak(folders, 60 * args.minutes, args.cut_every))
    report = json.dumps(asdict(result), indent=2)
    print(report)
    if args.json:
        args.json.write_text(report + "\n", encoding="utf-8")
    if not result.is_good:
        sys.exit("a turn was lost, a satellite is gone, or something has grown")


if __name__ == "__main__":
    main()
