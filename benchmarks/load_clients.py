"""Concurrent clients that come and go, to load a server: `python -m benchmarks.load_clients URL SECONDS`.

With 0 seconds, fifty clients of the four chat APIs send one request each at the same moment, and none twice.

A process of its own at low priority (`nice`), so that the cost of the clients is not counted as the
server's. The token for the assistant's own tools is read from standard input; results are written to
standard output as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from typing import Any

import aiohttp

CLIENTS = 50
LEAVES = 0.3
"""The share of requests whose client goes away before it is answered."""
_ANSWERED_WITHIN_S = 300.0
_NICENESS = 19

QUESTIONS = (
    "What is the capital of France?",
    "Tell me something about the moon.",
    "How do I boil an egg?",
    "Write two sentences about autumn.",
    "Who wrote Romeo and Juliet, and when?",
)
COMMANDS = ("Turn on the kitchen light.", "Which lights are on?", "How warm is it in the bedroom?")
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


class LoadClients:
    """Fifty programs: some talk, some bring tools, some use the assistant's own."""

    def __init__(self, url: str, token: str, until_s: float) -> None:
        self._url = f"{url}/v1/chat/completions"
        self._token = token
        self._until_s = until_s
        self._dice = random.Random(11)
        self.answered: Counter[int] = Counter()
        self.statuses: Counter[int] = Counter()
        self.longest_s = dict.fromkeys(range(CLIENTS), 0.0)
        self.left: Counter[int] = Counter()

    async def ask_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(self._ask(number))

    async def _ask(self, number: int) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        timeout = aiohttp.ClientTimeout(_ANSWERED_WITHIN_S)
        connector = aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session:
            wanted_s = time.monotonic()
            body = self._body(number)
            while (left_s := self._until_s - time.monotonic()) > 0:
                leaves_s = self._dice.uniform(0.05, 2.0) if self._dice.random() < LEAVES else None
                try:
                    async with asyncio.timeout(min(leaves_s or left_s, left_s)):
                        wait_s = await self._one(session, body)
                except TimeoutError:
                    self.left[number] += leaves_s is not None
                    body = self._body(number)
                    continue
                if wait_s is not None:
                    # As clients do it: the same request once more.
                    await asyncio.sleep(min(wait_s, max(0.0, self._until_s - time.monotonic())))
                    continue
                self.answered[number] += 1
                body = self._body(number)
                now_s = time.monotonic()
                self.longest_s[number] = max(self.longest_s[number], now_s - wanted_s)
                wanted_s = now_s
            # Whoever still waits has waited so long.
            self.longest_s[number] = max(self.longest_s[number], self._until_s - wanted_s)

    async def _one(self, session: aiohttp.ClientSession, body: dict[str, Any]) -> float | None:
        """How long to wait before the next attempt; None where it was answered."""
        async with session.post(self._url, json=body) as response:
            self.statuses[response.status] += 1
            await response.read()
            if response.status == 429:
                return float(response.headers["Retry-After"])
            return None

    def _body(self, number: int) -> dict[str, Any]:
        stream = self._dice.random() < 0.5
        shared = {"model": "default", "stream": stream, "max_tokens": self._dice.choice((16, 32, 64))}
        if number % 3 == 0:
            return {**shared, "messages": [_user(self._dice.choice(COMMANDS))]}
        if number % 3 == 1:
            return {**shared, "messages": [_user("What is the weather in Rome?")], "tools": [WEATHER]}
        return {**shared, "messages": [_user(self._dice.choice(QUESTIONS))], "tool_choice": "none"}


async def ask_at_once(url: str, token: str) -> dict[str, Any]:
    """One request of each client, all at once: how many were answered, and how long the last one waited."""
    statuses: Counter[int] = Counter()
    waits_s: list[float] = []

    async def ask(number: int) -> None:
        path, body = _request(number)
        headers = {"Authorization": f"Bearer {token}"}
        timeout = aiohttp.ClientTimeout(_ANSWERED_WITHIN_S)
        begun_s = time.monotonic()
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.post(url + path, json=body) as response,
        ):
            statuses[response.status] += 1
            text = await response.text()
            if response.status == 200 and '"error":{' not in text and '"error":"' not in text:
                waits_s.append(time.monotonic() - begun_s)

    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(ask(number))
    longest_s = round(max(waits_s, default=0.0), 1)
    return {"statuses": dict(statuses), "answered": len(waits_s), "longest_wait_s": longest_s}


def _request(number: int) -> tuple[str, dict[str, Any]]:
    question = QUESTIONS[number % len(QUESTIONS)]
    shared = {"model": "default", "stream": number % 8 < 4}
    chat = {**shared, "messages": [_user(question)]}
    match number % 4:
        case 0:
            return "/v1/chat/completions", {**chat, "max_tokens": 32, "tool_choice": "none"}
        case 1:
            return "/v1/messages", {**chat, "max_tokens": 32, "tool_choice": {"type": "none"}}
        case 2:
            return "/v1/responses", {**shared, "input": question, "max_output_tokens": 32, "tool_choice": "none"}
        case _:
            return "/api/chat", {**chat, "options": {"num_predict": 32}}


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("seconds", type=float)
    args = parser.parse_args()
    os.nice(_NICENESS)
    if not args.seconds:
        print(json.dumps(asyncio.run(ask_at_once(args.url, sys.stdin.readline().strip()))))
        return
    crowd = LoadClients(args.url, sys.stdin.readline().strip(), time.monotonic() + args.seconds)
    asyncio.run(crowd.ask_all())
    waits_s = sorted(crowd.longest_s.values())
    told = {
        "statuses": dict(sorted(crowd.statuses.items())),
        "went_away": crowd.left.total(),
        "answered_each": sorted(crowd.answered[number] for number in range(CLIENTS)),
        # Whoever goes away has had its turn.
        "turns_each": sorted(crowd.answered[number] + crowd.left[number] for number in range(CLIENTS)),
        "longest_wait_median_s": round(waits_s[CLIENTS // 2], 1),
        "longest_wait_s": round(waits_s[-1], 1),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
