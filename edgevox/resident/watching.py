"""What whoever watches is told: how everything is, how loud it is, and every event, until they go."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from edgevox.control.event_notes import note_of
from edgevox.control.server import Dialogue
from edgevox.events import Event, TurnEnded
from edgevox.types import JsonObject

if TYPE_CHECKING:
    from edgevox.resident.resident import Resident, Session

_LEVEL_EVERY_S = 0.1
_STATUS_EVERY_S = 1.0


async def watch(resident: Resident, dialogue: Dialogue, status: Callable[[], JsonObject]) -> JsonObject:
    """Tell the client, from one session to the next. It ends by being cancelled, when the client has gone."""
    while True:
        await dialogue.tell("status", **status())
        if resident.session is None:
            await asyncio.sleep(_LEVEL_EVERY_S)
        else:
            await _watch_session(resident, resident.session, dialogue, status)


async def _watch_session(
    resident: Resident, session: Session, dialogue: Dialogue, status: Callable[[], JsonObject]
) -> None:
    level_due_s = status_due_s = time.monotonic()
    with session.daemon.bus.subscription() as events:
        while resident.session is session:
            try:
                async with asyncio.timeout(_LEVEL_EVERY_S):
                    event = await events.next()
            except TimeoutError:
                pass
            else:
                await _tell(event, session, dialogue)
            now_s = time.monotonic()
            if now_s >= level_due_s:
                level_due_s = now_s + _LEVEL_EVERY_S
                await dialogue.tell("level", dbfs=round(float(session.sound.level_dbfs), 1))
            if now_s >= status_due_s:
                status_due_s = now_s + _STATUS_EVERY_S
                await dialogue.tell("status", **status())


async def _tell(event: Event, session: Session, dialogue: Dialogue) -> None:
    record = session.daemon.records.last
    if isinstance(event, TurnEnded) and record is not None and record.turn_id == event.turn_id:
        await dialogue.tell("turn", record=dataclasses.asdict(record))
    await dialogue.tell("event", **note_of(event))
