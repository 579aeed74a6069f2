"""How much a server may say, and what nobody has to wait for who uses none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from edgevox.tools.mcp.transports import (
    MAX_BYTES_PER_S,
    MAX_INVALID_MESSAGES,
    MAX_MESSAGES_PER_S,
    RateLimit,
    RateLimitExceeded,
    TooManyInvalidMessages,
)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def say(flow: RateLimit, count: int, *, is_message: bool = True) -> None:
    for _ in range(count):
        flow.count(100, is_message=is_message)


def test_many_messages_in_a_second_are_a_flood_and_in_many_seconds_are_not() -> None:
    clock = Clock()
    flow = RateLimit(clock)
    for _ in range(5 * MAX_MESSAGES_PER_S):
        clock.now_s += 2.0 / MAX_MESSAGES_PER_S
        flow.count(100)
    with pytest.raises(RateLimitExceeded):
        say(flow, MAX_MESSAGES_PER_S + 1)


def test_many_bytes_in_a_second_are_a_flood_too() -> None:
    flow = RateLimit(Clock())
    flow.count(MAX_BYTES_PER_S)
    with pytest.raises(RateLimitExceeded):
        flow.count(1)


def test_a_log_line_now_and_then_is_forgiven_and_nothing_else_than_them_is_not() -> None:
    clock = Clock()
    flow = RateLimit(clock)
    for _ in range(10 * MAX_INVALID_MESSAGES):
        clock.now_s += 0.1
        flow.count(10, is_message=False)
        flow.count(10)
    with pytest.raises(TooManyInvalidMessages):
        say(flow, MAX_INVALID_MESSAGES + 1, is_message=False)


def test_who_has_no_server_does_not_wait_for_the_sdk() -> None:
    asked = "import sys, edgevox.app.toolbox; sys.exit('mcp' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], timeout=60, check=False).returncode == 0
