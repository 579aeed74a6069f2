"""Media players of a real Home Assistant: a satellite answers on one, and others are lowered meanwhile."""

from __future__ import annotations

import asyncio
import urllib.request

import pytest

from edgevox.config import Settings
from edgevox.config.secrets import write_secret
from edgevox.core.files import Folders
from edgevox.home.backends.ducked_players import HomeWithDuckedPlayers
from edgevox.home.backends.factory import token_file
from edgevox.home.backends.wrapped import home_part
from edgevox.satellites.store import DeviceEntry
from tests.home.backends.home_assistant.furnished import Admin, expose
from tests.home.backends.home_assistant.server import Server, eventually
from tests.satellites.esphome_device import esphome_device
from tests.satellites.esphome_recording import SPEECH
from tests.satellites.harness import satellite
from tests.satellites.test_wyoming import connector
from tests.server.websocket.harness import BOUND_S, until, voice_server

pytestmark = pytest.mark.engine

ANSWERS_ON, LOWERED = "media_player.bedroom", "media_player.hifi"


async def test_a_satellite_answers_on_a_media_player_and_the_music_of_its_room_is_lowered(
    server: Server, admin: Admin, folders: Folders
) -> None:
    server.call("media_player", "media_play", entity_id=LOWERED)
    server.call("media_player", "volume_set", entity_id=LOWERED, volume_level=0.5)
    await admin.command("config/entity_registry/update", entity_id=LOWERED, area_id="office")
    await expose(admin, [LOWERED], True)
    write_secret(token_file(folders), server.token)
    settings = Settings.model_validate(
        {"home": {"kind": "home_assistant", "url": server.url, "duck_players": True, "timeout_s": 10.0}}
    )
    levels: list[float] = []

    def content_id() -> str:
        levels.append(server.attribute(LOWERED, "volume_level"))
        return str(server.attribute(ANSWERS_ON, "media_content_id"))

    try:
        async with (
            esphome_device() as (address, device),
            voice_server(folders, ["It is on the shelf."], heard=["where is it"], settings=settings) as assistant,
            connector(assistant, folders) as file,
        ):
            assert assistant.toolbox is not None
            players = home_part(assistant.toolbox.home, HomeWithDuckedPlayers)
            assert players is not None
            assistant.lines.duck_players = players.duck
            file.add("desk", DeviceEntry(esphome=address, room="Office", player=ANSWERS_ON))
            await until(lambda: assistant.hub.find("desk") is not None and device().is_subscribed)
            device().wake()
            device().speak(SPEECH)
            await asyncio.to_thread(eventually, lambda: content_id().startswith("http://127."), within_s=BOUND_S)
            url = content_id()
            played = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=BOUND_S).read())
            assert played.startswith(b"RIFF")
            assert len(played) > 1_000
            await until(lambda: [one.outcome for one in assistant.records] == ["answered"])
            assert device().played == b""
            await asyncio.to_thread(
                eventually, lambda: server.attribute(LOWERED, "volume_level") == 0.5, within_s=BOUND_S
            )
            assert min(levels) == pytest.approx(0.15)
    finally:
        await expose(admin, [LOWERED], False)
        await admin.command("config/entity_registry/update", entity_id=LOWERED, area_id=None)


async def test_edgevox_as_a_satellite_answers_on_a_media_player(server: Server, folders: Folders) -> None:
    write_secret(token_file(folders), server.token)
    settings = Settings.model_validate({"home": {"kind": "home_assistant", "url": server.url, "timeout_s": 10.0}})
    before = server.attribute(ANSWERS_ON, "media_content_id")

    def url() -> str:
        return str(server.attribute(ANSWERS_ON, "media_content_id"))

    async with (
        voice_server(folders, ["It is on the shelf."], heard=["where is it"], settings=settings) as assistant,
        satellite(assistant.url, player=ANSWERS_ON) as device,
    ):
        await device.connected()
        device.command()
        await asyncio.to_thread(eventually, lambda: url() != before, within_s=BOUND_S)
        played = await asyncio.to_thread(lambda: urllib.request.urlopen(url(), timeout=BOUND_S).read())
        assert played.startswith(b"RIFF")
        assert len(played) > 1_000
        await until(lambda: [one.outcome for one in assistant.records] == ["answered"])
        assert device.sound.played_s == []
