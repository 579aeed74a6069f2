"""Saying something to everybody: by the assistants in the rooms, the loudspeakers, or the phones."""

from __future__ import annotations

from typing import Any

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.home_assistant.connection import Connection
from edgevox.tools.home.home_assistant.failures import CommandFailed
from edgevox.tools.home.home_assistant.live_house import LiveHouse
from edgevox.tools.home.home_assistant.service import can

# Bits of supported_features, in Home Assistant's numbers.
_SATELLITE_ANNOUNCES = 1
_PLAYS_MEDIA, _PLAYS_ANNOUNCEMENTS = 512, 1048576


async def announce(connection: Connection, live: LiveHouse, message: str) -> None:
    """By the first of the three ways that this house has. Raises HomeError where it has none."""
    if satellites := _satellites(live):
        await _call(connection, "assist_satellite", "announce", {"message": message}, satellites)
        return
    speakers, voices = _speakers(live), live.all_ids("tts")
    if speakers and voices:
        data = {"message": message, "media_player_entity_id": speakers}
        await _call(connection, "tts", "speak", data, [voices[0]])
        return
    try:
        await _call(connection, "notify", "notify", {"message": message}, None)
    except CommandFailed as error:
        if error.reason != "not_found":
            raise
        raise HomeError("Your Home Assistant has nothing that I could announce it with.") from None


async def _call(
    connection: Connection, domain: str, service: str, data: dict[str, Any], target: list[str] | None
) -> None:
    fields = {"target": {"entity_id": target}} if target is not None else {}
    await connection.command("call_service", domain=domain, service=service, service_data=data, **fields)


def _satellites(live: LiveHouse) -> list[str]:
    return [
        entity_id
        for entity_id in live.all_ids("assist_satellite")
        if int(live.attribute(entity_id, "supported_features") or 0) & _SATELLITE_ANNOUNCES
    ]


def _speakers(live: LiveHouse) -> list[str]:
    """Those that lower the music for an announcement, and plain loudspeakers: no televisions."""
    return [
        entity.id
        for entity in live.house().entities
        if entity.domain == "media_player"
        and entity.state != "unavailable"
        and can(entity, _PLAYS_MEDIA)
        and (can(entity, _PLAYS_ANNOUNCEMENTS) or entity.device_class == "speaker")
    ]
