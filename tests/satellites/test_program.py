"""EdgeVox as a satellite, against the real server with scripted engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import pytest

from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.core.languages import ENGLISH, all_phrases
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDone, ChatReply, ChatRequest
from edgevox.satellites.connection import ServerAddress
from tests.satellites.harness import satellite
from tests.server.websocket.harness import BOUND_S, READER, TALKER, RestingModel, until, voice_server

LIGHTS_ON = '<tool_call>\n{"name": "turn_on", "arguments": {"name": "lights"}}\n</tool_call>'


async def test_only_a_command_after_the_wake_word_is_sent_and_it_means_the_room_of_the_satellite(
    folders: Folders,
) -> None:
    async with (
        voice_server(folders, [LIGHTS_ON, "Done."], heard=["turn on the lights"]) as server,
        satellite(server.url, room="Bedroom") as device,
    ):
        await device.connected()
        before = {one.id: one.state for one in server.toolbox.home.house().entities} if server.toolbox else {}
        device.command(after_call=False)
        device.command()
        await until(lambda: [one.outcome for one in server.records] == ["answered"])
        assert len(server.model.requests) == 1
        assert server.toolbox is not None
        house = server.toolbox.home.house()
        changed = {one.id for one in house.entities if one.state != before[one.id]}
        bedroom = next(area.id for area in house.areas if area.name == "Bedroom")
        assert changed
        assert {one.area for one in house.entities if one.id in changed} == {bedroom}
        await until(lambda: bool(device.sound.played_s))
        assert device.sound.played_s[-1] > 0


async def test_it_answers_itself_where_its_media_player_cannot(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Yes."], has_tools=False, heard=["good morning"]) as server,
        satellite(server.url, player="media_player.bedroom") as device,
    ):
        await device.connected()
        device.command()
        await until(lambda: [one.outcome for one in server.records] == ["answered"])
        assert device.sound.played_s[-1] > 0


async def test_it_comes_back_after_the_server_was_away_and_says_so(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as running:
        async with AsyncExitStack() as first:
            server = await first.enter_async_context(voice_server(folders, has_tools=False))
            device = await running.enter_async_context(satellite(server.url))
            await device.connected()
            assert device.sound.played_s == []
            monkeypatch.setattr("edgevox.server.websocket.session.AWAY_S", 0.0)
        await until(lambda: any("cannot be reached" in detail for _, detail in device.told))
        port = int(server.url.rpartition(":")[2])
        await running.enter_async_context(voice_server(folders, has_tools=False, port=port))
        await device.connected()
        await until(lambda: len(device.sound.played_s) == 1)


class EndlessModel(RestingModel):
    """Answers nothing until it is cancelled."""

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if not request.prompt_only:
            stopped = asyncio.Event()
            cancel.add_listener(stopped.set)
            await stopped.wait()
        yield ChatDone("stop", 0, 0, 0)


async def test_it_says_that_it_is_back_with_an_earcon_when_it_was_rebooted_in_a_turn(folders: Folders) -> None:
    async with voice_server(folders, model=EndlessModel(()), has_tools=False) as server:
        async with satellite(server.url) as device:
            await device.connected()
            device.command()
            await until(lambda: (link := server.hub.find("shelf")) is not None and link.is_in_turn())
        await until(lambda: server.hub.find("shelf") is None)
        async with satellite(server.url) as again:
            await until(lambda: len(again.sound.played_s) == 1)
            await server.hub.say(all_phrases()[ENGLISH].back)
            await until(lambda: len(again.sound.played_s) == 2)
            with_earcon, sentence = again.sound.played_s
            assert with_earcon > sentence
        await until(lambda: server.hub.find("shelf") is None)
        async with satellite(server.url) as later:
            await later.connected()
            assert await server.hub.say("Dinner is ready.") == 1
            assert len(later.sound.played_s) == 1, "it was lost between two turns: it says nothing by itself"


async def test_a_muted_room_hears_nothing_and_stays_muted_when_it_connects_again(folders: Folders) -> None:
    async with voice_server(folders, ["Yes."], has_tools=False) as server:
        hub = server.hub
        async with satellite(server.url, room="Kitchen") as device:
            await device.connected()
            [entry] = hub.report()
            assert (entry["name"], entry["room"], entry["kind"]) == ("shelf", "Kitchen", "edgevox")
            assert (entry["is_connected"], entry["is_muted"]) == (True, False)
            hub.mute("shelf", is_muted=True)
            await until(lambda: device.sound.is_muted and device.doing == "muted")
        await until(lambda: hub.find("shelf") is None)
        async with satellite(server.url) as again:
            await until(lambda: again.sound.is_muted)
            hub.mute("shelf", is_muted=False)
            await until(lambda: not again.sound.is_muted)
            again.command()
            await until(lambda: len(server.records) == 1)


async def test_a_refused_token_ends_it_with_a_sentence(folders: Folders) -> None:
    refusals = {
        "unknown-token-for-tests": "does not know the token",
        TALKER: "lacks the scope voice",
        READER: "lacks the scope act",
    }
    async with voice_server(folders, has_tools=False) as server:
        for token, sentence in refusals.items():
            running = satellite(server.url, token=token, player="media_player.kitchen")
            with pytest.raises(ConfigError, match=sentence):
                async with asyncio.timeout(BOUND_S), running as device:
                    await device.is_over.wait()


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("house.lan", "ws://house.lan:8790/v1/voice"),
        ("http://house.lan:80", "ws://house.lan:80/v1/voice"),
        ("https://house.lan", "wss://house.lan:443/v1/voice"),
        ("ws://[::1]:8790/v1/voice", "ws://[::1]:8790/v1/voice"),
    ],
)
def test_addresses(written: str, url: str) -> None:
    assert ServerAddress.parse(written).url == url


@pytest.mark.parametrize("written", ["ftp://house.lan", "http://", "http://house.lan/other", "house:port"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match="no address"):
        ServerAddress.parse(written)
