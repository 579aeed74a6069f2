"""A server of the page with scripted engines, the demo home and a real schedule, in a thread of its own.

A browser needs no model for what it does by touch, so these tests take seconds.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from edgevox.core.files import Folders
from edgevox.dialogue import AlarmPlayer, AlarmState
from tests.server.websocket.harness import Lobby, lobby

BOUND_S = 60.0
RING_FOR_S = 60.0


@asynccontextmanager
async def _ringing(behind: Lobby) -> AsyncIterator[None]:
    """The local room, in which timers ring without a sound."""
    assert behind.toolbox is not None
    state = AlarmState(snooze_minutes=9)
    pipeline = behind.lines.pipeline(behind.bus.publish, None, None, None, alarm_state=state)
    behind.lines.local = pipeline
    player = AlarmPlayer(behind.toolbox.agenda, pipeline, state, behind.bus.publish, for_s=RING_FOR_S)
    async with player.running():
        yield


@contextmanager
def page_server(folders: Folders, lines: Sequence[str]) -> Iterator[Lobby]:
    """A server whose model says `lines`."""
    loop = asyncio.new_event_loop()
    is_up, is_over, served = threading.Event(), asyncio.Event(), list[Lobby]()

    async def serve() -> None:
        async with lobby(folders, lines, engines=frozenset()) as behind, _ringing(behind):
            served.append(behind)
            is_up.set()
            await is_over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert is_up.wait(BOUND_S), "the server did not start"
        yield served[0]
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(BOUND_S)
        loop.close()
