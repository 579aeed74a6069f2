"""How long a healthy request takes beside a thousand half-open and slow clients: `python -m benchmarks.slow_clients`.

`edgevox serve` with the default model in a process of its own, and the slow clients in another, from twenty loopback
addresses so that the limit per address does not keep them out. Of four clients, one sends nothing, one stops within its
headers, one sends its headers a byte at a time and one its body. A client that is closed comes back five seconds
later, so that a thousand are always there or on their way. A chat and `/healthz` are measured in rounds, without
and with them, in the same run; the ratio is that of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.hardware import describe
from edgevox.core.files import user_folders
from edgevox.testing.serve import edgevox_serve

CLIENTS = 1000
RATIO_BAR = 1.1
CLOSED_WITHIN_S = 30.0
ROUNDS = 3
CHATS = 15
HEALTH_CHECKS = 200
# Longer than the server's time limits, so that each kind of client has been closed for its slowness.
STAY_S = 45.0
COMES_BACK_S = 5.0
DRIP_S = 5.0
_ADDRESSES = 20
_NICENESS = 19
_HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
_CHAT: dict[str, Any] = {
    "model": "default",
    "messages": [{"role": "user", "content": "Tell me something about the moon."}],
    "tool_choice": "none",
    "max_tokens": 16,
    "temperature": 0,
}

# What a client sends at once, and what it sends a byte of every DRIP_S.
KINDS: dict[str, tuple[bytes, bytes]] = {
    "silent": (b"", b""),
    "half_headers": (_HEAD, b""),
    "dripped_headers": (b"P", _HEAD[1:]),
    "dripped_body": (_HEAD + b"Content-Length: 1000\r\n\r\n", b" " * 1000),
}


class SlowClients:
    """A thousand clients that never finish a request; how long the server kept each connection is recorded."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.kept_s: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.open: Counter[str] = Counter()
        self.most_open = 0
        self.refused = 0

    async def run(self, stay_s: float) -> None:
        tasks = [asyncio.create_task(self._client(number)) for number in range(CLIENTS)]
        await asyncio.sleep(stay_s)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        failures = [task.exception() for task in tasks if not task.cancelled()]
        if failures:
            raise RuntimeError(f"{len(failures)} slow clients failed") from failures[0]

    async def _client(self, number: int) -> None:
        kind = list(KINDS)[number % len(KINDS)]
        source = (f"127.0.1.{number % _ADDRESSES + 1}", 0)
        await asyncio.sleep(number / CLIENTS)  # they do not all come in the same millisecond
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=source)
            except OSError:
                self.refused += 1
            else:
                self.open[kind] += 1
                self.most_open = max(self.most_open, self.open.total())
                begun_s = time.monotonic()
                await self._hold(kind, reader, writer)
                self.open[kind] -= 1
                self.kept_s[kind].append(time.monotonic() - begun_s)
            await asyncio.sleep(COMES_BACK_S)

    async def _hold(self, kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until the server closes the connection."""
        at_once, dripped = KINDS[kind]
        closed = asyncio.create_task(reader.read())
        try:
            writer.write(at_once)
            for position in range(len(dripped)):
                if (await asyncio.wait((closed,), timeout=DRIP_S))[0]:
                    break
                writer.write(dripped[position : position + 1])
            await asyncio.wait((closed,))
            if not closed.cancelled():
                closed.exception()  # a reset is an end like any other
        finally:
            closed.cancel()
            writer.close()

    def figures(self) -> dict[str, Any]:
        closed = {kind: len(kept) for kind, kept in self.kept_s.items()}
        longest_s = {kind: round(max(kept, default=0.0), 1) for kind, kept in self.kept_s.items()}
        return {"most_open": self.most_open, "closed": closed, "longest_s": longest_s, "refused": self.refused}


async def measure(url: str) -> dict[str, Any]:
    """Rounds without and with the slow clients, one behind the other."""
    chats_ms: dict[str, list[float]] = {"alone": [], "beside": []}
    health_ms: dict[str, list[float]] = {"alone": [], "beside": []}
    slow: list[dict[str, Any]] = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as session:
        await _probe(session, url, {"alone": []}, {"alone": []}, "alone")  # loads the model and its prompt
        for round_number in range(ROUNDS):
            await _probe(session, url, chats_ms, health_ms, "alone")
            async with _slow_clients(url) as (crowd, counts):
                await asyncio.sleep(3)  # all of them are there
                while crowd.returncode is None and len(chats_ms["beside"]) < CHATS * (round_number + 1):
                    await _probe(session, url, chats_ms, health_ms, "beside")
            slow.append(counts)
            print(f"round {round_number + 1}: {counts}", file=sys.stderr)
    ratios = {
        name: round(statistics.median(of["beside"]) / statistics.median(of["alone"]), 3)
        for name, of in (("chat", chats_ms), ("healthz", health_ms))
    }
    return {
        "clients": CLIENTS,
        "ratio": ratios,
        "median_ms": {
            name: {when: round(statistics.median(taken), 2) for when, taken in of.items()}
            for name, of in (("chat", chats_ms), ("healthz", health_ms))
        },
        "requests": {"chat": len(chats_ms["beside"]), "healthz": len(health_ms["beside"])},
        "longest_kept_s": max(kept for counts in slow for kept in counts["longest_s"].values()),
        "slow_clients": slow,
    }


async def _probe(
    session: aiohttp.ClientSession,
    url: str,
    chats_ms: dict[str, list[float]],
    health_ms: dict[str, list[float]],
    when: str,
) -> None:
    for _ in range(HEALTH_CHECKS):
        health_ms[when].append(await _taken_ms(session, "GET", f"{url}/healthz"))
    for _ in range(CHATS):
        chats_ms[when].append(await _taken_ms(session, "POST", f"{url}/v1/chat/completions", _CHAT))


async def _taken_ms(session: aiohttp.ClientSession, method: str, url: str, body: dict[str, Any] | None = None) -> float:
    """A request on a connection of its own: to be let in is part of it."""
    begun_s = time.perf_counter()
    async with session.request(method, url, json=body, headers={"Connection": "close"}) as response:
        await response.read()
        response.raise_for_status()
    return (time.perf_counter() - begun_s) * 1000


@asynccontextmanager
async def _slow_clients(url: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    """The process of the slow clients, and what it tells at its end: empty before."""
    counts: dict[str, Any] = {}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.slow_clients", "--clients-of", url), stdout=asyncio.subprocess.PIPE
    )
    yield process, counts
    output, _ = await process.communicate()
    if process.returncode:
        raise SystemExit("the slow clients failed: their words are above")
    counts.update(json.loads(output))


@contextmanager
def served() -> Iterator[str]:
    """The address of `edgevox serve` with the default model and empty folders."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EDGEVOX_")}
        environment |= {
            "EDGEVOX_CONFIG_DIR": f"{scratch}/config",
            "EDGEVOX_STATE_DIR": f"{scratch}/state",
            "EDGEVOX_MODELS_DIR": str(user_folders().models),
        }
        with edgevox_serve(environment, "--no-audio") as server:
            yield server.address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    parser.add_argument("--clients-of", metavar="URL", help="only be the slow clients of that server")
    args = parser.parse_args()
    if args.clients_of:
        os.nice(_NICENESS)
        clients = SlowClients(int(args.clients_of.rpartition(":")[2]))
        asyncio.run(clients.run(STAY_S))
        print(json.dumps(clients.figures()))
        return
    with served() as url:
        result = {"hardware": describe(), **asyncio.run(measure(url))}
    print(json.dumps(result, indent=2))
    ratio, kept_s = result["ratio"], result["longest_kept_s"]
    print(
        f"beside {CLIENTS} slow clients a chat takes {ratio['chat']:.2f} of its time alone, bar {RATIO_BAR}; ", end=""
    )
    print(f"/healthz {ratio['healthz']:.2f}; none was kept longer than {kept_s:.1f} s, bar {CLOSED_WITHIN_S:.0f}")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
