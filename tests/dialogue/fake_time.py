"""Time that passes when a test says so."""

from __future__ import annotations

import asyncio
import math

from tests.dialogue.stage import BOUND_S


class FakeTime:
    """A clock, and the sleep of one task that goes by it."""

    def __init__(self) -> None:
        self.now_s = 1_800_000_000.0
        self._wakes_s = math.inf
        self._is_asleep = asyncio.Event()
        self._is_woken = asyncio.Event()

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self._wakes_s = self.now_s + seconds
        self._is_woken.clear()
        self._is_asleep.set()
        await self._is_woken.wait()

    async def pass_by(self, seconds: float) -> None:
        """Let so much time pass; returns when every task that sleeps by this clock has done what was due."""
        end_s = self.now_s + seconds
        async with asyncio.timeout(BOUND_S):
            while True:
                await self._is_asleep.wait()
                if self._wakes_s > end_s:
                    break
                self.now_s = self._wakes_s
                self._is_asleep.clear()
                self._is_woken.set()
        self.now_s = end_s

    async def skip(self, seconds: float) -> None:
        """Let so much time pass at once, and wake the tasks that sleep; what they then do may take long."""
        async with asyncio.timeout(BOUND_S):
            await self._is_asleep.wait()
        self.now_s += seconds
        self._is_asleep.clear()
        self._is_woken.set()
