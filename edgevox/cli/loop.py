"""Runs a command's coroutine: Ctrl-C and SIGTERM end it, and its engines, within a second."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from edgevox.platform_support import on_signal

T = TypeVar("T")


def run_until_done(story: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result. Raises KeyboardInterrupt when a signal ended it."""

    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None
        on_signal("SIGTERM", task.cancel)
        return await story

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error
