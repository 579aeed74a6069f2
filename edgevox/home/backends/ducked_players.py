"""Lowers the media players of a room while its assistant is spoken with, and restores their volume.

What was lowered is kept in a file until it is restored, so that a restart of the program restores it, too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from edgevox.core.errors import StateError
from edgevox.core.state_file import StateFile
from edgevox.core.turn import cancel_tasks
from edgevox.core.words import normalized_words
from edgevox.home.backends.wrapped import WrappedHome
from edgevox.home.entities import Action, ConnectedHome, Entity, HomeError, House

_log = logging.getLogger(__name__)

DUCKED_FILE = "ducked_players.json"
DUCKED = 0.3
"""The share of its volume that a player keeps."""
_RETRY_S = 5.0
# Home Assistant's players round the volume.
_WITHIN = 1


class _Volumes(BaseModel):
    """Volumes in percent."""

    model_config = ConfigDict(extra="forbid")

    before: int
    ducked: int


class _Ducked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    players: dict[str, _Volumes] = Field(default_factory=dict)


class HomeWithDuckedPlayers(WrappedHome):
    """Adds `duck` to a home: it names the room of each reason, and the players that play there are lowered.

    Commands see and change the volume from before. A volume that was changed otherwise stays as it is. A player that
    cannot be reached gets its volume back later, at the latest after the next start.
    """

    def __init__(self, home: ConnectedHome, path: Path | None) -> None:
        super().__init__(home)
        self._file = StateFile(path, _Ducked)
        self._rooms: dict[object, str] = {}
        self._changed = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await super().start()
        self._changed.set()  # what an earlier run has left
        self._work = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Give all players their volumes back."""
        await cancel_tasks(self._work)
        if self._rooms or self._known():
            self._rooms.clear()
            await self._update()
        await super().close()

    def house(self) -> House:
        house, known = self._home.house(), self._known()
        if not known:
            return house
        return replace(house, entities=tuple(_as_before(one, known.get(one.id)) for one in house.entities))

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        if action.verb == "set_volume" and any(target.id in self._known() for target in action.targets):
            try:
                with self._file.changing() as content:
                    for target in action.targets:
                        content.players.pop(target.id, None)
            except StateError as error:
                raise HomeError(error.message) from None
        return await self._home.apply(action)

    # --- ducking

    def duck(self, reason: object, room: str, is_ducked: bool) -> None:
        """Lower the players of the room as long as one reason is left."""
        before = set(self._rooms.values())
        if is_ducked and room:
            self._rooms[reason] = room
        else:
            self._rooms.pop(reason, None)
        if set(self._rooms.values()) != before:
            self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            if not await self._update():
                await asyncio.sleep(_RETRY_S)
                self._changed.set()

    async def _update(self) -> bool:
        """Lower what is to be lowered, restore the rest; whether nothing is left to restore."""
        try:
            known = self._file.read().players
            wanted = self._playing(known) if self._rooms else {}
            restored = [
                name for name, volumes in known.items() if name not in wanted and await self._restore(name, volumes)
            ]
            new = [player for name, player in wanted.items() if name not in known]
            if restored or new:
                with self._file.changing() as content:
                    for name in restored:
                        content.players.pop(name, None)
                    content.players |= {player.id: _lowered(player) for player in new}
            # They are in the file before they are lowered.
            await asyncio.gather(*(self._set(player, _lowered(player).ducked) for player in new))
        except (HomeError, StateError) as error:
            _log.warning("media players keep their volume: %s", error.message)
        return bool(self._rooms) or not self._known()

    def _known(self) -> dict[str, _Volumes]:
        """The players that are lowered."""
        try:
            return self._file.read().players
        except StateError:
            return {}

    def _playing(self, known: Container[str]) -> dict[str, Entity]:
        """The players that play in the rooms, or that are lowered there. Raises HomeError."""
        house = self._home.house()
        rooms = {normalized_words(room) for room in self._rooms.values()}
        areas = {area.id for area in house.areas if normalized_words(area.name) in rooms}
        return {
            one.id: one
            for one in house.entities
            if one.domain == "media_player"
            and one.area in areas
            and (one.id in known or (one.state == "playing" and isinstance(one.attributes.get("volume_level"), int)))
        }

    async def _restore(self, name: str, volumes: _Volumes) -> bool:
        """Whether there is nothing left to restore."""
        try:
            player = self._home.house().entity(name)
            now = player.attributes.get("volume_level") if player else None
            if player is None or (isinstance(now, int) and abs(now - volumes.ducked) > _WITHIN):
                return True  # removed, or changed by a person
            if not isinstance(now, int):
                return False  # switched off or away
            await self._set(player, volumes.before)
        except HomeError as error:
            _log.warning("%s keeps a low volume for now: %s", name, error.message)
            return False
        return True

    async def _set(self, player: Entity, volume: int) -> None:
        """Raises HomeError."""
        await self._home.apply(Action("set_volume", (player,), {"volume_level": volume}))


def _as_before(entity: Entity, volumes: _Volumes | None) -> Entity:
    """The entity with its volume from before, if it is lowered."""
    now = entity.attributes.get("volume_level")
    if volumes is None or not isinstance(now, int) or abs(now - volumes.ducked) > _WITHIN:
        return entity
    return replace(entity, attributes={**entity.attributes, "volume_level": volumes.before})


def _lowered(player: Entity) -> _Volumes:
    before = player.attributes["volume_level"]
    assert isinstance(before, int)
    return _Volumes(before=before, ducked=round(before * DUCKED))
