"""Satellites on bad Wi-Fi: `python -m tests.satellites.soak --minutes 60`.

Four satellites, an ESPHome device and a Wyoming satellite speak with the real server, each through a proxy that delays
one chunk in twenty as a lost packet does. Every `--cut-every` seconds a connection is cut or left half open. The
engines are scripted, but a reply takes one to three seconds to write and to play, so that many of these hit a turn. At
the end every turn that began must be among the records, once; every command must have had a turn or a reason, every
satellite must be connected, and nothing may have grown: memory is judged as in `tests.soak`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from edgevox.core.events import Event, TurnEnded, TurnStarted
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag, background_task, cancel_tasks
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, JsonObject
from edgevox.satellites.hub import SatelliteLink, Wake
from edgevox.satellites.store import DeviceEntry
from tests.satellites.esphome_device import SPEAKER, EspHomeDevice, esphome_device
from tests.satellites.esphome_recording import SPEECH
from tests.satellites.harness import Device, satellite
from tests.satellites.test_wyoming import connector
from tests.satellites.wyoming_device import WyomingDevice, wyoming_device
from tests.server.websocket.harness import RestingModel, VoiceServer, until, voice_server
from tests.soak.processes import SETTLED_AFTER_S, ProcessSample, judge_lives, sample_family

LOSS = 0.05
_RETRANSMIT_S = (0.05, 0.4)
_CHUNK_BYTES = 4_096
_FORGOTTEN_S = 17.0
# A half-open connection is noticed after 15 s; on a busy machine it takes longer.
_SETTLES = 4
_SAMPLE_S = 30.0
_COMMAND_S = 3.0
_BETWEEN_S = (2.0, 6.0)
_SENTENCE = "This is one sentence of it. "
_SENTENCES = (4, 11)
_SENTENCE_S = 0.28
# Commands that reach no turn because of one disturbance: those of 15 s to a satellite that is half open.
_UNHEARD = 8


class SlowModel(RestingModel):
    """Writes replies of one to three seconds, one at a time, as fast as they are spoken."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(())
        self._chance = chance

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if not request.prompt_only:
            written = request.reply_prefix.count(_SENTENCE)
            for _ in range(max(1, self._chance.randint(*_SENTENCES) - written)):
                await asyncio.sleep(_SENTENCE_S)
                if cancel.is_set():
                    return
                yield ChatDelta(_SENTENCE)
        yield ChatDone("stop", 0, 0, 0)


class LossyProxy:
    """Forwards connections to a port. A lost packet is a pause, as TCP sends it again."""

    def __init__(self, port: int, chance: random.Random) -> None:
        self._port = port
        self._chance = chance
        self._lines: dict[asyncio.Task[None], asyncio.Event] = {}
        """The connections, and whether anything passes there."""
        self.cuts = self.stalls = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            await cancel_tasks(*self._lines)

    @property
    def lines(self) -> list[asyncio.Task[None]]:
        """The connections that pass."""
        return [line for line, passes in self._lines.items() if passes.is_set()]

    def disturb(self, line: asyncio.Task[None]) -> None:
        """Cut a connection, or leave it half open: nothing passes, and nothing is reported."""
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
    """What happened; `began` and `ended` are turns. `refused` commands were answered by another satellite."""

    seconds: float
    commands: int = 0
    refused: int = 0
    cuts: int = 0
    stalls: int = 0
    began: int = 0
    ended: int = 0
    recorded: int = 0
    turns: int = 0
    """Different turns among the records."""
    outcomes: dict[str, int] = field(default_factory=dict)
    connected: int = 0
    settled_s: float = 0.0
    left: list[str] = field(default_factory=list)
    tasks_grown: int = 0
    descriptors_grown: int = 0
    memory: list[JsonObject] = field(default_factory=list)
    """The trend of the process, if it ran for long enough."""

    @property
    def unheard(self) -> int:
        """Commands to a satellite that was not connected, or half open, or whose connection broke."""
        return self.commands - self.refused - self.began

    @property
    def is_good(self) -> bool:
        """Whether no turn was lost, all satellites are back, and nothing has grown."""
        is_whole = self.began == self.ended == self.recorded == self.turns > 0
        is_heard = self.unheard <= _UNHEARD * (self.cuts + self.stalls)
        is_flat = all(life["is_flat"] for life in self.memory)
        is_small = self.tasks_grown <= 2 and self.descriptors_grown <= 2
        is_back = self.connected == SATELLITES + len(_DEVICES)
        return is_whole and is_heard and is_flat and is_small and is_back

    @property
    def is_disturbed(self) -> bool:
        """Whether a connection broke in the middle of a turn; a short run may have none."""
        return any(self.outcomes.get(outcome) for outcome in ("cancelled", "interrupted", "failed"))


SATELLITES = 4
_DEVICES = ("esphome", "wyoming")


@dataclass(frozen=True, slots=True)
class Room:
    """What stands in a room: `command` calls it and speaks. A satellite is connected, whatever it thinks."""

    name: str
    command: Callable[[], None]


async def soak(folders: Folders, seconds: float, cut_every_s: float) -> SoakResult:
    chance = random.Random(35)
    result = SoakResult(seconds)
    async with AsyncExitStack() as running:
        server = await running.enter_async_context(
            voice_server(folders, model=SlowModel(chance), has_tools=False, heard=["good morning"])
        )
        _count_turns(server, result)
        proxies = [LossyProxy(_port(server.url), chance)]
        url = await running.enter_async_context(proxies[0].running())
        devices = [
            await running.enter_async_context(
                satellite(url, f"s{number}", room=f"Room {number}", retry_s=0.2, plays_in_real_time=True)
            )
            for number in range(SATELLITES)
        ]
        for device in devices:
            await device.connected()
        rooms = [Room(f"s{number}", device.command) for number, device in enumerate(devices)]
        esphome, wyoming = await _connect_devices(running, server, folders, proxies, rooms)
        tasks, descriptors = len(asyncio.all_tasks()), _descriptors()
        samples, seen = list[ProcessSample](), set[str]()

        def forget() -> None:
            """Drop what only the test keeps."""
            for device in devices:
                del device.told[:-2], device.sound.played_s[:]
            esphome().events.clear()
            esphome().played = b""
            wyoming.events.clear()

        async with (
            background_task(_speak(server, rooms, chance, result)),
            background_task(_disturb(proxies, chance, cut_every_s)),
            background_task(_sample(server, forget, result, seen, samples)),
        ):
            await asyncio.sleep(seconds)
        began_s = time.monotonic()
        for _ in range(_SETTLES):
            with suppress(TimeoutError):
                await until(lambda: result.began == result.ended and _are_idle(server, devices, len(rooms)))
        result.settled_s = round(time.monotonic() - began_s, 1)
        result.left = [f"{device.told[-2:]}" for device in devices if device.doing == "connecting"]
        with suppress(TimeoutError):
            await until(lambda: len(asyncio.all_tasks()) <= tasks + 2 and _descriptors() <= descriptors + 2)
        result.cuts, result.stalls = sum(one.cuts for one in proxies), sum(one.stalls for one in proxies)
        _count_records(server, result, seen)
        result.memory = judge_lives(samples, warm_up_s=SETTLED_AFTER_S, min_life_s=SETTLED_AFTER_S)
        result.connected = len(server.hub.links)
        result.tasks_grown, result.descriptors_grown = len(asyncio.all_tasks()) - tasks, _descriptors() - descriptors
    return result


async def _connect_devices(
    running: AsyncExitStack, server: VoiceServer, folders: Folders, proxies: list[LossyProxy], rooms: list[Room]
) -> tuple[Callable[[], EspHomeDevice], WyomingDevice]:
    """An ESPHome device and a Wyoming satellite, each behind a proxy of its own."""
    esphome_address, esphome = await running.enter_async_context(esphome_device(SPEAKER))
    wyoming_address, wyoming = await running.enter_async_context(wyoming_device())
    chance, calls = random.Random(36), set[asyncio.Task[None]]()
    proxies += [LossyProxy(_port(address), chance) for address in (esphome_address, wyoming_address)]
    esphome_url, wyoming_url = [await running.enter_async_context(one.running()) for one in proxies[1:]]
    file = await running.enter_async_context(connector(server, folders, retry_s=0.2))
    file.add("esphome", DeviceEntry(esphome=esphome_url.removeprefix("http://"), room="Hall"))
    file.add("wyoming", DeviceEntry(uri=wyoming_url.replace("http", "tcp"), room="Study"))
    await until(lambda: server.hub.find("esphome") is not None and esphome().is_subscribed and wyoming.is_ready)

    def call_esphome() -> None:
        esphome().wake()
        esphome().speak(SPEECH)

    def call_wyoming() -> None:
        async def call() -> None:
            with suppress(OSError):
                await wyoming.call(SPEECH)

        task = asyncio.create_task(call())
        calls.add(task)
        task.add_done_callback(calls.discard)

    rooms += [Room("esphome", call_esphome), Room("wyoming", call_wyoming)]
    return esphome, wyoming


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def _are_idle(server: VoiceServer, devices: list[Device], rooms: int) -> bool:
    is_idle = not any(device.doing in ("connecting", "busy") for device in devices)
    return is_idle and len(server.hub.links) == rooms


def _count_turns(server: VoiceServer, result: SoakResult) -> None:
    build = server.lines.pipeline

    def counted(publish: Any, *given: Any, **more: Any) -> Any:
        def noted(event: Event) -> None:
            result.began += isinstance(event, TurnStarted)
            result.ended += isinstance(event, TurnEnded)
            publish(event)

        return build(noted, *given, **more)

    server.lines.pipeline = counted  # type: ignore[method-assign]
    decide = server.hub.wins

    async def wins(link: SatelliteLink, wake: Wake) -> bool:
        is_winner = await decide(link, wake)
        result.refused += not is_winner
        return is_winner

    server.hub.wins = wins  # type: ignore[method-assign]


def _count_records(server: VoiceServer, result: SoakResult, seen: set[str]) -> None:
    result.recorded += len(server.records)
    for record in server.records:
        result.outcomes[record.outcome] = result.outcomes.get(record.outcome, 0) + 1
        result.turns += record.turn_id not in seen
        seen.add(record.turn_id)
    server.records.clear()


async def _sample(
    server: VoiceServer, forget: Callable[[], None], result: SoakResult, seen: set[str], samples: list[ProcessSample]
) -> None:
    """Take the memory of this process, without what only the test keeps."""
    began_s = time.monotonic()
    while True:
        await asyncio.sleep(_SAMPLE_S)
        _count_records(server, result, seen)
        forget()
        gc.collect()
        at_s = time.monotonic() - began_s
        samples += [one for one in sample_family(os.getpid(), at_s) if one.role == "main"]
        print(f"{at_s:.0f} s: {samples[-1].rss_mb} MB, {result.recorded} turns", file=sys.stderr, flush=True)


async def _speak(server: VoiceServer, rooms: list[Room], chance: random.Random, result: SoakResult) -> None:
    """Speak where the last command is over: the server takes no more sound than is spoken."""
    free_s = dict.fromkeys(rooms, 0.0)
    while True:
        await asyncio.sleep(chance.uniform(*_BETWEEN_S) / len(rooms) * SATELLITES)
        now_s = time.monotonic()
        free = [room for room, at_s in free_s.items() if at_s <= now_s and not _is_in_turn(server, room)]
        if free:
            room = chance.choice(free)
            free_s[room] = now_s + _COMMAND_S
            room.command()
            result.commands += 1


def _is_in_turn(server: VoiceServer, room: Room) -> bool:
    link = server.hub.find(room.name)
    return link is None or link.is_in_turn()


async def _disturb(proxies: list[LossyProxy], chance: random.Random, every_s: float) -> None:
    """Disturb one of all connections."""
    while True:
        await asyncio.sleep(every_s)
        if lines := [(proxy, line) for proxy in proxies for line in proxy.lines]:
            proxy, line = chance.choice(lines)
            proxy.disturb(line)


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
    report = json.dumps(
        {"is_good": result.is_good, "is_disturbed": result.is_disturbed, "unheard": result.unheard, **asdict(result)},
        indent=2,
    )
    print(report)
    if args.json:
        args.json.write_text(report + "\n", encoding="utf-8")
    if not result.is_good:
        sys.exit("a turn was lost, a satellite is gone, or something has grown")
    if not result.is_disturbed:
        sys.exit("no connection broke in the middle of a turn: try a longer run or --cut-every 30")


if __name__ == "__main__":
    main()
