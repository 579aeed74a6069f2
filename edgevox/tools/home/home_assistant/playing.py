"""Finding something to play and playing it, on players that can search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.home_assistant.connection import Connection
from edgevox.tools.home.home_assistant.service import Service, can, in_state, refusal
from edgevox.tools.home.house import Entity
from edgevox.tools.home.wording import brief, sentence, the

# Bits of supported_features, in Home Assistant's numbers; a version that cannot search never sets the second.
_PLAYS_MEDIA, _SEARCHES = 512, 4194304


async def play_service(connection: Connection, entity: Entity, values: Mapping[str, Any]) -> Service:
    """The service that plays what a search finds first. Raises HomeError when nothing is found."""
    if not can(entity, _SEARCHES) or not can(entity, _PLAYS_MEDIA):
        raise refusal(entity, "cannot search for music")
    query = str(values["search_query"])
    data: dict[str, Any] = {"search_query": query}
    if values.get("media_class"):
        data["media_filter_classes"] = [values["media_class"]]
    answer = await connection.command(
        "call_service",
        domain="media_player",
        service="search_media",
        service_data=data,
        target={"entity_id": entity.id},
        return_response=True,
    )
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
