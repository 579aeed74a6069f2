"""Looks for what breaks the voice socket: `python -m fuzz.voice_socket --seconds 600`.

Connections send sound frames and broken ones, in any order and size, and end in the middle. It is broken if
the server logs a fault, if something of a connection is left when all are gone (a task, a descriptor, a
conversation), or if nobody can speak with it afterwards. The first finding ends the run with exit code 1; the
seed that is printed shows it again.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import random
import struct
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDone, ChatReply, ChatRequest
from edgevox.server.websocket.session import ClientSession
from edgevox.testing import ScriptedModel
from tests.server.websocket.harness import LIGHT_ON, OWNER, UNLOCK, VoiceServer, connected, voice_server

AT_ONCE = 8
_SETTLED_WITHIN_S = 30.0
_SAID = (LIGHT_ON, UNLOCK, "Hello.", "One two three. " * 20, "<tool_call>{", "")
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
UPGRADE = (
    "GET /v1/voice HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Finding(AssertionError):
    """Something that a client broke."""


class AnyModel(ScriptedModel):
    """Says one line or another, for ever."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__([])
        self._rng = rng

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if request.prompt_only:
            yield ChatDone("stop", 0, 0, 0)
            return
        async for reply in ScriptedModel([self._rng.choice(_SAID)]).stream(request, cancel):
            yield reply


# --- what a client may send


def frame(rng: random.Random, opcode: int, content: bytes, *, is_last: bool = True) -> bytes:
    """A frame as a client sends it: masked."""
    mask = rng.randbytes(4)
    head = bytes([(0x80 if is_last else 0) | opcode])
    if len(content) < 126:
        head += bytes([0x80 | len(content)])
    elif len(content) < 65_536:
        head += bytes([0x80 | 126]) + struct.pack(">H", len(content))
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", len(content))
    masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))
    return head + mask + masked


def words(rng: random.Random) -> str:
    """A text frame: sound, or not quite."""
    number = rng.choice([0, 1, 2, -1, 2**31, 10**30, 1.5])
    text = rng.choice(["hello", "stop", "turn on the kitchen light", "", " ", "\0", "é" * 50, "x" * 5000])
    known: list[dict[str, Any]] = [
        {"type": "text", "text": text},
        {"type": "confirm", "token": text or "t", "granted": rng.random() < 0.5},
        {"type": "stop"},
        {"type": "played", "passage": number, "samples": rng.choice([0, 100, 24_000, number])},
        {"type": "played", "passage": 1, "samples": 100},
        {"type": "audio_end"},
        {"type": "ping", "id": rng.choice([None, 1, "x"])},
        {"type": "hello", "version": 1, "token": OWNER},
    ]
    said = json.dumps(rng.choice(known))
    match rng.randint(0, 9):
        case 0:
            at = rng.randint(0, len(said))
            return said[:at] + rng.choice(["{", "]", '"', "\\", "\ud800".encode("utf-8", "replace").decode()])
        case 1:
            return rng.choice(["", "null", "[]", "{}", "[" * 500, '{"type": 1}', '{"type": "x"}', "NaN"])
        case _:
            return said


def anything(rng: random.Random) -> bytes:
    """Something to send after the upgrade."""
    match rng.randint(0, 15):
        case 0 | 1 | 2 | 3 | 4:
            return frame(rng, TEXT, words(rng).encode())
        case 5 | 6 | 7 | 8:
            samples = rng.choice([0, 1, 160, 320, 3200, 16_000])
            return frame(rng, BINARY, rng.randbytes(2 * samples))
        case 9:
            return frame(rng, BINARY, rng.randbytes(rng.choice([1, 3, 65_536, 65_537, 70_001])))
        case 10:
            parts = [words(rng).encode() for _ in range(rng.randint(1, 4))]
            kinds = [rng.choice([TEXT, BINARY]), *[rng.choice([0, 0, 0, TEXT]) for _ in parts[1:]]]
            return b"".join(
                frame(rng, kind, part, is_last=at == len(parts) - 1)
                for at, (kind, part) in enumerate(zip(kinds, parts, strict=True))
            )
        case 11:
            return frame(rng, rng.choice([PING, PONG]), rng.randbytes(rng.choice([0, 4, 125, 126])))
        case 12:
            code = rng.choice([1000, 1001, 1005, 999, 4400, 65_535])
            return frame(rng, CLOSE, rng.choice([b"", b"\0", struct.pack(">H", code) + rng.randbytes(3)]))
        case 13:
            return frame(rng, rng.choice([3, 7, 11, 15]), b"reserved")
        case 14:
            return frame(rng, TEXT, rng.randbytes(20))
        case _:
            return rng.randbytes(rng.randint(1, 64))


def beginning(rng: random.Random, token: str = OWNER) -> bytes:
    """The first frame: mostly a hello."""
    if rng.random() < 0.1:
        return anything(rng)
    hello: dict[str, Any] = {"type": "hello", "version": 1, "token": token}
    if rng.random() < 0.2:
        hello[rng.choice(["version", "token", "rate_hz", "speak"])] = rng.choice([0, 1, "x", None, 8000])
    hello |= rng.choice([{}, {"speak": False}, {"rate_hz": 48_000}, {"play_rate_hz": 8_000}])
    return frame(rng, TEXT, json.dumps(hello).encode())


# --- connections


async def connection(url: str, rng: random.Random, token: str = OWNER) -> None:
    """One client, from its upgrade to its end."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    reading = asyncio.create_task(_read(reader)) if rng.random() < 0.8 else None
    try:
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(5):
                await _send(writer, rng, host, token)
        _end(writer, rng)
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _send(writer: asyncio.StreamWriter, rng: random.Random, host: str, token: str) -> None:
    writer.write(UPGRADE.format(host=host).encode())
    writer.write(beginning(rng, token))
    for _ in range(rng.randint(0, 30)):
        writer.write(anything(rng))
        await writer.drain()
        if rng.random() < 0.3:
            await asyncio.sleep(rng.random() * 0.05)
    if rng.random() < 0.5:  # in the middle of a frame
        whole = anything(rng)
        writer.write(whole[: rng.randint(0, len(whole))])


async def _read(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        while await reader.read(65_536):
            pass


def _end(writer: asyncio.StreamWriter, rng: random.Random) -> None:
    match rng.randint(0, 2):
        case 0:  # with a reset
            socket = writer.get_extra_info("socket")
            with suppress(OSError):
                socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        case 1 if writer.can_write_eof() and not writer.is_closing():
            with suppress(OSError):
                writer.write_eof()
            writer.close()
        case _:
            writer.close()


# --- what must be so afterwards


async def attack(behind: VoiceServer, rng: random.Random, go_on: Callable[[int], bool]) -> int:
    """Connections, several at once, while `go_on` says so of their number. Raises Finding."""
    before = _left()
    count = 0
    with _watched() as faults:
        while go_on(count):
            seeds = [rng.getrandbits(32) for _ in range(AT_ONCE)]
            await asyncio.gather(*(connection(behind.url, _random(seed)) for seed in seeds))
            count += AT_ONCE
            if faults:
                raise Finding(f"seeds {seeds}: {faults[0]}")
        await _settled(behind, before)
        async with connected(behind.url, speak=False) as client:
            await client.send("ping", id="after")
            await client.until("pong", id="after")
        await _settled(behind, before)
        if faults:
            raise Finding(faults[0])
    return count


def _left() -> tuple[int, int, int]:
    """Sessions, tasks and descriptors of this process, which may also serve the page of another test."""
    gc.collect()
    # Not isinstance: that asks the thing, and some things of large libraries complain.
    sessions = sum(type(thing) is ClientSession for thing in gc.get_objects())
    return sessions, len(asyncio.all_tasks()), len(list(Path("/proc/self/fd").iterdir()))


async def _settled(behind: VoiceServer, before: tuple[int, int, int]) -> None:
    """Nothing is left of anybody. Raises Finding."""
    until_s = time.monotonic() + _SETTLED_WITHIN_S
    while True:
        left = _left()
        if not behind.lines.confirmation() and all(now <= then for now, then in zip(left, before, strict=True)):
            return
        if time.monotonic() > until_s:
            raise Finding(
                f"left are {len(behind.lines.confirmation())} conversations, and {left} sessions, tasks and "
                f"descriptors of {before}"
            )
        await asyncio.sleep(0.1)


@contextmanager
def _watched() -> Iterator[list[str]]:
    """What the server, or the loop, complains of."""
    faults: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            faults.append(self.format(record))

    ear = Ear(logging.ERROR)
    loop = asyncio.get_running_loop()
    logging.getLogger().addHandler(ear)
    loop.set_exception_handler(lambda _loop, context: faults.append(str(context)))
    try:
        yield faults
    finally:
        loop.set_exception_handler(None)
        logging.getLogger().removeHandler(ear)


async def run(seconds: float, seed: int) -> int:
    """Attack for a while, and say how many connections that were. Raises Finding."""
    rng = _random(seed)
    stop_s = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        folders = Folders(place / "config", place / "state", place / "models")
        async with voice_server(folders, model=AnyModel(rng), voice_clients=16) as behind:
            return await attack(behind, rng, lambda _count: time.monotonic() < stop_s)


def _random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  (it is to be the same again)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    sys.stdout.write(f"seed {seed}\n")
    try:
        count = asyncio.run(run(args.seconds, seed))
    except Finding as finding:
        sys.stdout.write(f"{finding}\n")
        return 1
    sys.stdout.write(f"{count} connections, nothing found\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
