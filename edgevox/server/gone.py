"""Clients that go away while they are being answered: their work ends at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

T = TypeVar("T")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled when the client goes away first. Raises ClientGone then.

    The body of the request must have been read.
    """
    at_work = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((at_work, watching), return_when=asyncio.FIRST_COMPLETED)
        if at_work.done():
            return at_work.result()
        raise ClientGone
    finally:
        for task in (at_work, watching):
            task.cancel()
        await asyncio.gather(at_work, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
