"""Calls Home Assistant services and waits for the state that follows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from edgevox.core.languages import counted, listed
from edgevox.home.backends.home_assistant.connection import CANNOT_REACH, CommandFailed, Connection, Unreachable
from edgevox.home.backends.home_assistant.services import (
    Service,
    in_state,
    require_feature,
    service_for,
    supports,
    unsupported,
)
from edgevox.home.backends.home_assistant.states import LiveStates, moment
from edgevox.home.entities import Action, Entity, Forecast, ForecastKind, HomeError, ListItem, StateChange
from edgevox.home.phrasing import brief, sentence, the
from edgevox.home.resolve.fuzzy import is_plural

# Bits of Home Assistant's supported_features.
_ADDS, _REMOVES, _CHANGES, _HAS_DUE_DATES = 1, 2, 4, 16
_NOT_EDITABLE = "cannot be changed from here"


async def read_items(connection: Connection, list_id: str) -> tuple[ListItem, ...]:
    """Raises what `Connection.command` raises."""
    return tuple(
        ListItem(str(line.get("summary") or ""), line.get("status") == "completed")
        for line in await _lines(connection, list_id)
    )


async def list_service(connection: Connection, entity: Entity, action: Action) -> Service | None:
    """The service that changes the list; None if there is nothing to do.

    Raises HomeError if it is unsupported, or the item is missing.
    """
    text = str(action.values.get("item", ""))
    match action.verb:
        case "clear_items":
            require_feature(entity, _REMOVES, _NOT_EDITABLE)
            lines = [str(line.get("uid") or line.get("summary") or "") for line in await _lines(connection, entity.id)]
            return Service("remove_item", {"item": lines}) if lines else None
        case "add_item":
            require_feature(entity, _ADDS, _NOT_EDITABLE)
            due = str(action.values.get("due") or "")
            if due and supports(entity, _HAS_DUE_DATES):
                return Service("add_item", {"item": text, "due_date": due})
            return Service("add_item", {"item": f"{text} ({due})" if due else text})
        case "complete_item":
            require_feature(entity, _CHANGES, _NOT_EDITABLE)
            line = await _line(connection, entity.id, text, status="needs_action")
            return Service("update_item", {"item": line, "status": "completed"})
        case "reopen_item":
            require_feature(entity, _CHANGES, _NOT_EDITABLE)
            line = await _line(connection, entity.id, text, status="completed")
            return Service("update_item", {"item": line, "status": "needs_action"})
        case "remove_item":
            require_feature(entity, _REMOVES, _NOT_EDITABLE)
            line = await _line(connection, entity.id, text)
            return Service("remove_item", {"item": [line]})
        case _:
            raise AssertionError(action.verb)


async def _line(connection: Connection, list_id: str, text: str, *, status: str = "") -> str:
    """The uid of an item with this status, or with any: two items may have the same text."""
    for line in await _lines(connection, list_id):
        if line.get("summary") == text and status in ("", line.get("status") or "needs_action"):
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


async def read_forecast(
    connection: Connection, entity: Entity, kind: ForecastKind, timeout_s: float
) -> tuple[Forecast, ...]:
    """The forecast; none where the entity has none of this kind. Raises what `Connection.call_service` raises."""
    if not supports(entity, _FORECASTS[kind]):
        return ()
    async with asyncio.timeout(timeout_s):
        answer = await connection.call_service(
            "weather", "get_forecasts", {"type": kind}, entity.id, return_response=True
        )
    match answer:
        case {"response": dict(by_entity)}:
            match by_entity.get(entity.id):
                case {"forecast": list(entries)}:
                    return tuple(filter(None, map(_forecast, entries)))
    return ()


_FORECASTS: Mapping[ForecastKind, int] = {"daily": 1, "hourly": 2}


def _forecast(entry: Any) -> Forecast | None:  # noqa: ANN401 - it is looked at here
    """One entry; None if it is not what Home Assistant documents."""
    try:
        at = datetime.fromisoformat(entry["datetime"]).astimezone()
    except (ValueError, TypeError, LookupError):
        return None

    def number(key: str) -> float | None:
        value = entry.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    return Forecast(
        at,
        str(entry.get("condition") or "unknown"),
        number("temperature"),
        number("templow"),
        number("precipitation_probability"),
        number("wind_speed"),
    )


# Bits of Home Assistant's supported_features; versions without search never set the second.
_PLAYS_MEDIA, _SEARCHES = 512, 4194304


async def play_service(connection: Connection, entity: Entity, values: Mapping[str, Any]) -> Service:
    """The service that plays the first search result. Raises HomeError if there is none."""
    if not supports(entity, _SEARCHES) or not supports(entity, _PLAYS_MEDIA):
        raise unsupported(entity, "cannot search for music")
    query = str(values["search_query"])
    data: dict[str, Any] = {"search_query": query}
    if values.get("media_class"):
        data["media_filter_classes"] = [values["media_class"]]
    answer = await connection.call_service("media_player", "search_media", data, entity.id, return_response=True)
    for media in _found(answer, entity.id):
        match media:
            case {"can_play": False}:
                continue
            case {"media_content_id": content, "media_content_type": kind}:
                data = {"media_content_id": content, "media_content_type": kind}
                return Service("play_media", data, in_state("playing", "buffering"))
            case _:
                continue
    raise HomeError(sentence(f"{the(entity)} finds no {brief(query)}"))


def _found(answer: Any, entity_id: str) -> list[Any]:  # noqa: ANN401 - it is looked at here
    match answer:
        case {"response": dict(by_player)}:
            match by_player.get(entity_id):
                case {"result": list(found)}:
                    return found
    return []


_log = logging.getLogger(__name__)

_MOST_NAMED = 3


class NoAnswer(HomeError):
    """Home Assistant accepted the command, but the entity did not change in time."""

    code = "no_answer"

    def __init__(self, *entities: Entity) -> None:
        is_one = len(entities) == 1 and not is_plural(entities[0].name)
        names = [the(entity) for entity in entities]
        who = listed(names, "and") if len(names) <= _MOST_NAMED else counted(len(names), "thing")
        super().__init__(sentence(f"{who} {'does' if is_one else 'do'} not answer"))
        self.entities = entities


async def execute_action(
    connection: Connection, live: LiveStates, target: Entity, action: Action, *, timeout_s: float
) -> Entity:
    """Run the action, and return the entity afterwards. Raises HomeError."""
    before = live.entity(target.id)
    if before is None:
        raise HomeError(sentence(f"{the(target)} is not there any more"))
    service: Service | None = None
    try:
        async with asyncio.timeout(timeout_s):
            service = await _service(connection, before, action)
            if service is not None:
                await connection.call_service(before.domain, service.name, service.data, before.id)
                if service.is_done is not None:
                    await live.wait_until(target.id, service.is_done)
    except CommandFailed as error:
        _log.warning("Home Assistant refused %s for %s: %s", action.verb, target.id, error.reason)
        raise _why(before, error) from None
    except TimeoutError:
        if connection.is_lost:
            raise Unreachable(CANNOT_REACH) from None
        if not _has_followed(service, before, live.entity(target.id)):
            raise NoAnswer(before) from None
    return live.entity(target.id) or before


async def read_changes(connection: Connection, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
    """The recorded states of an entity, earliest first. Raises like `Connection.command`."""
    answer = await connection.command(
        "history/history_during_period",
        start_time=since.isoformat(),
        entity_ids=[entity_id],
        minimal_response=True,
        no_attributes=True,
    )
    entries = answer.get(entity_id) if isinstance(answer, dict) else None
    found: list[StateChange] = []
    for entry in entries if isinstance(entries, list) else ():
        match entry:
            case {"s": str(state), "lc": int() | float() as at_s} | {"s": str(state), "lu": int() | float() as at_s}:
                if at := moment(at_s):
                    found.append(StateChange(at, state))
    return tuple(found)


def gather_all(failures: Sequence[HomeError]) -> HomeError:
    """One error for an action that failed on all targets."""
    silent = [error.entities[0] for error in failures if isinstance(error, NoAnswer)]
    return NoAnswer(*silent) if len(silent) == len(failures) else failures[0]


async def _service(connection: Connection, entity: Entity, action: Action) -> Service | None:
    match action.verb:
        case "add_item" | "complete_item" | "reopen_item" | "remove_item" | "clear_items":
            return await list_service(connection, entity, action)
        case "play":
            return await play_service(connection, entity, action.values)
        case _:
            return service_for(entity, action)


def _why(entity: Entity, error: CommandFailed) -> HomeError:
    if entity.domain in ("alarm_control_panel", "lock") and entity.attributes.get("code_format"):
        return HomeError(sentence(f"{the(entity)} wants its code, and I do not know it"))
    return error


def _has_followed(service: Service | None, before: Entity, now: Entity | None) -> bool:
    """Whether the entity changed although no result came, or is moving to the requested value."""
    if service is None or service.is_done is None or now is None or now == before:
        return False
    if service.is_done(now):
        return True
    key = service.value
    return key is not None and now.attributes.get(key) != before.attributes.get(key)
