"""Shopping lists and to-do lists, which Home Assistant keeps beside the states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.home_assistant.connection import Connection
from edgevox.tools.home.home_assistant.failures import CommandFailed
from edgevox.tools.home.home_assistant.service import Service, can, refusal
from edgevox.tools.home.house import Entity, ListItem

# Bits of supported_features, in Home Assistant's numbers.
_ADDS, _REMOVES, _CHANGES = 1, 2, 4


async def read_items(connection: Connection, list_id: str) -> tuple[ListItem, ...]:
    """Raises what `Connection.command` raises."""
    return tuple(
        ListItem(str(line.get("summary") or ""), line.get("status") == "completed")
        for line in await _lines(connection, list_id)
    )


async def list_service(connection: Connection, entity: Entity, action: Action) -> Service:
    """The service that changes the list. Raises HomeError when it cannot, or has no such line."""
    text = str(action.values["item"])
    match action.verb:
        case "add_item":
            _need(entity, _ADDS)
            return Service("add_item", {"item": text})
        case "complete_item":
            _need(entity, _CHANGES)
            line = await _line(connection, entity.id, text, is_waiting=True)
            return Service("update_item", {"item": line, "status": "completed"})
        case "remove_item":
            _need(entity, _REMOVES)
            line = await _line(connection, entity.id, text, is_waiting=False)
            return Service("remove_item", {"item": [line]})
        case _:
            raise AssertionError(action.verb)


async def _line(connection: Connection, list_id: str, text: str, *, is_waiting: bool) -> str:
    """How Home Assistant knows a line: by its number, since two lines may read the same."""
    for line in await _lines(connection, list_id):
        if line.get("summary") == text and not (is_waiting and line.get("status") == "completed"):
            return str(line.get("uid") or text)
    raise HomeError("That is no longer on the list.")


async def _lines(connection: Connection, list_id: str) -> list[Mapping[str, Any]]:
    try:
        answer = await connection.command("todo/item/list", entity_id=list_id)
    except CommandFailed as error:
        if error.reason == "not_found":
            raise HomeError("That list does not answer.") from None
        raise
    match answer:
        case {"items": list(lines)}:
            return [line for line in lines if isinstance(line, dict)]
        case _:
            return []


def _need(entity: Entity, feature: int) -> None:
    if not can(entity, feature):
        raise refusal(entity, "cannot be changed from here")
