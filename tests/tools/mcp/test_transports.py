"""Message limits of a server, and the lazy import of the SDK."""

from __future__ import annotations

import subprocess
import sys

import pytest

from edgevox.tools.mcp.transports import (
    MAX_BYTES_PER_S,
    MAX_INVALID_MESSAGES,
    MAX_MESSAGES_PER_S,
    LimitExceeded,
    RateLimit,
)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def say(flow: RateLimit, count: int, *, is_message: bool = True) -> None:
    for _ in range(count):
        flow.count(100, is_message=is_message)


def test_the_message_limit_applies_per_second() -> None:
    clock = Clock()
    flow = RateLimit(clock)
    for _ in range(5 * MAX_MESSAGES_PER_S):
        clock.now_s += 2.0 / MAX_MESSAGES_PER_S
        flow.count(100)
    with pytest.raises(LimitExceeded, match="too many messages"):
        say(flow, MAX_MESSAGES_PER_S + 1)


def test_the_byte_limit_applies_per_second() -> None:
    flow = RateLimit(Clock())
    flow.count(MAX_BYTES_PER_S)
    with pytest.raises(LimitExceeded, match="too many messages"):
        flow.count(1)


def test_occasional_invalid_lines_are_tolerated_but_not_only_invalid_ones() -> None:
    clock = Clock()
    flow = RateLimit(clock)
    for _ in range(10 * MAX_INVALID_MESSAGES):
        clock.now_s += 0.1
        flow.count(10, is_message=False)
        flow.count(10)
    with pytest.raises(LimitExceeded, match="not valid MCP"):
        say(flow, MAX_INVALID_MESSAGES + 1, is_message=False)


def test_the_sdk_is_not_imported_without_a_server() -> None:
    asked = "import sys, edgevox.app.toolbox; sys.exit('mcp' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], timeout=60, check=False).returncode == 0
