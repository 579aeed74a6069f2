"""What a satellite costs while nobody speaks: `python -m benchmarks.satellite`.

The real `edgevox satellite` on a real audio device (PulseAudio null sinks), connected to a server that only says hello:
memory (resident and proportional) and processor time of all its processes over a minute of room noise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from benchmarks.hardware import describe
from benchmarks.idle import noise, processor_s
from edgevox.testing import NullSinks

MOST_MB = 120.0
MOST_PERCENT = 15.0
START_S = 120.0


@contextmanager
def hello_server() -> Iterator[tuple[int, threading.Event]]:
    """The port of a server that says hello and drops what it gets, and an event that is set at the first hello."""
    greeted, loop, ports = threading.Event(), asyncio.new_event_loop(), list[int]()
    is_up, over = threading.Event(), asyncio.Event()

    async def greet(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send(json.dumps({"type": "hello", "listens": True}))
        greeted.set()
        with suppress(ConnectionClosed):
            async for _frame in socket:
                pass

    async def run() -> None:
        async with serve(greet, "127.0.0.1", 0) as server:
            ports.append(next(iter(server.sockets)).getsockname()[1])
            is_up.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    is_up.wait(START_S)
    try:
        yield ports[0], greeted
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


def family(pid: int) -> list[int]:
    members = [pid]
    for member in members:
        for task in Path(f"/proc/{member}/task").glob("*/children"):
            members += map(int, task.read_text(encoding="ascii").split())
    return members


def memory_mb(pid: int) -> tuple[float, float]:
    """Resident and proportional memory of a process and its descendants."""
    found = {"Rss": 0, "Pss": 0}
    for member in family(pid):
        for line in Path(f"/proc/{member}/smaps_rollup").read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if name in found:
                found[name] += int(rest.split()[0])
    return found["Rss"] / 1024, found["Pss"] / 1024


def _repeat(room: NullSinks, wav: Path, is_over: threading.Event) -> None:
    while not is_over.is_set():
        room.speak(wav)


def measure(seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch, NullSinks() as room, hello_server() as (port, greeted):
        folders = {"EDGEVOX_STATE_DIR": scratch, "EDGEVOX_CONFIG_DIR": scratch, "EDGEVOX_TOKEN": "not-asked-for"}
        env = os.environ | room.environment | folders
        words = ["satellite", "--server", f"http://127.0.0.1:{port}", "--room", "Kitchen"]
        with subprocess.Popen([sys.executable, "-m", "edgevox", *words], env=env) as satellite:
            hiss, is_over = noise(Path(scratch), 20.0), threading.Event()
            try:
                if not greeted.wait(START_S):
                    raise RuntimeError("the satellite does not connect")
                playing = threading.Thread(target=_repeat, args=(room, hiss, is_over))
                playing.start()
                time.sleep(2.0)
                before_s, began_s = processor_s(satellite.pid), time.monotonic()
                time.sleep(seconds)
                percent = 100 * (processor_s(satellite.pid) - before_s) / (time.monotonic() - began_s)
                resident, proportional = memory_mb(satellite.pid)
            finally:
                is_over.set()
                satellite.send_signal(signal.SIGINT)
        playing.join()
    return {
        "seconds": seconds,
        "percent_of_a_core": round(percent, 2),
        "resident_mb": round(resident, 1),
        "proportional_mb": round(proportional, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory and processor share of a satellite that listens.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    bars = {"most_mb": MOST_MB, "most_percent": MOST_PERCENT}
    result: dict[str, Any] = {"hardware": describe(), **bars, **measure(args.seconds)}
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if result["resident_mb"] > MOST_MB or result["percent_of_a_core"] > MOST_PERCENT:
        sys.exit("above a bar")


if __name__ == "__main__":
    main()
