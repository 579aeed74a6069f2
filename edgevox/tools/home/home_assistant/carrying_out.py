"""Doing an action to one entity: a service is called, and the state that follows says whether it was done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.home_assistant.connection import Connection
from edgevox.tools.home.home_assistant.failures import CANNOT_REACH, CommandFailed, Unreachable
from edgevox.tools.home.home_assistant.live_house import LiveHouse
from edgevox.tools.home.home_assistant.playing import play_service
from edgevox.tools.home.home_assistant.service import Service
from edgevox.tools.home.home_assistant.services import service_for
from edgevox.tools.home.home_assistant.to_do import list_service
from edgevox.tools.home.house import Entity
from edgevox.tools.home.names import is_plural
from edgevox.tools.home.wording import counted, listed, sentence, the

_log = logging.getLogger(__name__)

_MOST_NAMED = 3


class NoAnswer(HomeError):
    """Home Assistant was told, and the entity did not follow in time."""

    code = "no_answer"

    def __init__(self, *entities: Entity) -> None:
        is_one = len(entities) == 1 and not is_plural(entities[0].name)
        names = [the(entity) for entity in entities]
        who = listed(names, "and") if len(names) <= _MOST_NAMED else counted(len(names), "thing")
        super().__init__(sentence(f"{who} {'does' if is_one else 'do'} not answer"))
        self.entities = entities


async def carry_out(
    connection: Connection, live: LiveHouse, target: Entity, action: Action, *, timeout_s: float
) -> Entity:
    """The entity as it is afterwards. Raises HomeError."""
    before = live.entity(target.id)
    if before is None:
        raise HomeError(sentence(f"{the(target)} is not there any more"))
    service: Service | None = None
    try:
        async with asyncio.timeout(timeout_s):
            service = await _service(connection, before, action)
            if service is not None:
                await _call(connection, before, service)
                if service.is_done is not None:
                    await live.until(target.id, service.is_done)
    except CommandFailed as error:
        _log.warning("Home Assistant refused %s for %s: %s", action.verb, target.id, error.reason)
        raise _why(before, error) from None
    except TimeoutError:
        if connection.is_lost:
            raise Unreachable(CANNOT_REACH) from None
        if not _has_followed(service, before, live.entity(target.id)):
            raise NoAnswer(before) from None
    return live.entity(target.id) or before


def together(failures: Sequence[HomeError]) -> HomeError:
    """One error for an action that nothing did."""
    silent = [error.entities[0] for error in failures if isinstance(error, NoAnswer)]
    return NoAnswer(*silent) if len(silent) == len(failures) else failures[0]


async def _service(connection: Connection, entity: Entity, action: Action) -> Service | None:
    match action.verb:
        case "add_item" | "complete_item" | "remove_item":
            return await list_service(connection, entity, action)
        case "play":
            return await play_service(connection, entity, action.values)
        case _:
            return service_for(entity, action)


async def _call(connection: Connection, entity: Entity, service: Service) -> None:
    await connection.command(
        "call_service",
        domain=entity.domain,
        service=service.name,
        service_data=service.data,
        target={"entity_id": entity.id},
    )


def _why(entity: Entity, error: CommandFailed) -> HomeError:
    if entity.domain in ("alarm_control_panel", "lock") and entity.attributes.get("code_format"):
        return HomeError(sentence(f"{the(entity)} wants its code, and I do not know it"))
    return error


def _has_followed(service: Service | None, before: Entity, now: Entity | None) -> bool:
    """Whether the entity did it though no result came, or is on its way to the value it was given."""
    if service is None or service.is_done is None or now is None or now == before:
        return False
    if service.is_done(now):
        return True
    key = service.value
    return key is not None and now.attributes.get(key) != before.attributes.get(key)
