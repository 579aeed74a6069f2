"""Servers that are slow, broken, or newer than the real one of the other tests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from edgevox.config.secrets import Secret
from edgevox.home import Action, Entity, Floor, HomeError
from edgevox.home.backends.home_assistant import (
    HomeAssistantHome,
    NotHomeAssistant,
    Unreachable,
    WrongToken,
    check_token,
)
from edgevox.home.backends.reconnecting import backoff_s
from edgevox.home.entities import Location
from edgevox.home.resolve.target_resolver import Slots, find_entities
from tests.home.backends.home_assistant.fake import TOKEN, FakeHomeAssistant, running

_SEARCHES = 512 | 4194304


@asynccontextmanager
async def connected(fake: FakeHomeAssistant, timeout_s: float = 5.0) -> AsyncIterator[HomeAssistantHome]:
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret(TOKEN), timeout_s=timeout_s)
        await home.start()
        try:
            yield home
        finally:
            await home.close()


def thing(home: HomeAssistantHome, entity_id: str = "light.attic") -> Entity:
    found = home.house().entity(entity_id)
    assert found is not None
    return found


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - the home has no event for a test to wait on
            await asyncio.sleep(0.01)


async def test_the_room_of_the_satellite_that_processes_a_sentence_is_known() -> None:
    fake = FakeHomeAssistant()
    fake.states |= {f"assist_satellite.{name}": {"s": "idle", "a": {}} for name in ("attic", "cellar")}
    fake.answers["config/device_registry/list"] = [{"id": "attic-device", "area_id": "attic"}]
    fake.answers["config/entity_registry/list"] = [
        {"entity_id": "assist_satellite.attic", "device_id": "attic-device"},
        {"entity_id": "assist_satellite.cellar"},
    ]
    async with connected(fake) as home:
        assert (home.room_of("attic-device"), home.room_of("")) == ("Attic", "")
        await fake.tell(c={"assist_satellite.attic": {"+": {"s": "processing"}}})
        await eventually(lambda: home.room_of("") == "Attic")
        await fake.tell(c={"assist_satellite.cellar": {"+": {"s": "processing"}}})
        await eventually(lambda: home.room_of("") == "")


async def test_a_newer_home_assistant_has_floors() -> None:
    async with connected(FakeHomeAssistant()) as home:
        assert home.house().floors == (Floor("top", "Top Floor", ("Upstairs",)),)
        light = thing(home)
        assert (light.area, light.floor, light.aliases) == ("attic", "top", ("Loft Lamp",))


async def test_an_older_home_assistant_has_no_floors_aliases_or_exposure() -> None:
    fake = FakeHomeAssistant()
    for command in ("supported_features", "config/floor_registry/list", "config/entity_registry/get_entries"):
        del fake.answers[command]
    async with connected(fake) as home:
        assert home.problem == ""
        assert home.house().floors == ()
        assert thing(home).aliases == ()


# --- slow


async def test_a_slow_server_is_waited_for() -> None:
    fake = FakeHomeAssistant()
    fake.delay_s = 0.05
    async with connected(fake) as home:
        assert home.problem == ""
        fake.states["light.attic"]["s"] = "on"
        doing = asyncio.create_task(home.apply(Action("turn_on", (thing(home),))))
        await eventually(lambda: bool(fake.calls))
        await fake.tell(c={"light.attic": {"+": {"s": "on"}}})
        assert [entity.state for entity in await doing] == ["on"]


async def test_a_server_that_is_too_slow_is_reported_without_blocking() -> None:
    fake = FakeHomeAssistant()
    async with connected(fake, timeout_s=0.2) as home:
        fake.delay_s = 30.0
        began_s = time.monotonic()
        with pytest.raises(HomeError, match=r"^The attic light does not answer\.$"):
            await home.apply(Action("turn_on", (thing(home),)))
        with pytest.raises(HomeError, match=r"^Home Assistant does not answer right now\.$"):
            await home.items("todo.any")
        with pytest.raises(HomeError, match=r"^Home Assistant does not answer right now\.$"):
            await home.announce("hello")
        assert time.monotonic() - began_s < 10


async def test_waiting_for_the_start_has_a_timeout() -> None:
    fake = FakeHomeAssistant()
    fake.delay_s = 0.15
    async with connected(fake, timeout_s=0.1) as home:
        assert "takes too long to answer" in home.problem
        with pytest.raises(HomeError, match="takes too long to answer"):
            home.house()


async def test_a_server_that_is_starting_is_used_when_it_has_started() -> None:
    fake = FakeHomeAssistant()
    fake.answers["get_config"] = {"state": "STARTING"}
    async with connected(fake) as home:
        assert home.problem == "Home Assistant is still starting."
        with pytest.raises(HomeError, match=r"^Home Assistant is still starting\.$"):
            await home.announce("hello")
        fake.answers["get_config"] = {"state": "RUNNING"}
        await eventually(lambda: home.problem == "")
        assert thing(home).state == "off"


async def test_the_place_of_the_home_is_that_of_home_assistant() -> None:
    fake = FakeHomeAssistant()
    fake.answers["get_config"] = {"state": "RUNNING", "latitude": 52.5, "longitude": 13}
    async with connected(fake) as home:
        assert home.location == Location(52.5, 13)


async def test_a_value_that_is_changing_counts_as_done() -> None:
    fake = FakeHomeAssistant()
    fake.states["light.attic"] = {"s": "on", "a": {"brightness": 255, "supported_color_modes": ["brightness"]}}
    async with connected(fake, timeout_s=0.5) as home:
        doing = asyncio.create_task(home.apply(Action("set_light", (thing(home),), {"brightness": 10})))
        await eventually(lambda: bool(fake.calls))
        await fake.tell(c={"light.attic": {"+": {"a": {"brightness": 200}}}})
        (light,) = await doing
        assert light.attributes["brightness"] == 78


async def test_several_silent_entities_are_reported_together() -> None:
    fake = FakeHomeAssistant()
    fake.states["light.hall"] = {"s": "off", "a": {"friendly_name": "Hall Lights"}}
    async with connected(fake, timeout_s=0.6) as home:
        attic, hall = home.house().entities
        for targets, said in (
            ((attic, hall), "The attic light and the hall lights do not answer."),
            ((hall,), "The hall lights do not answer."),
            ((attic, hall) * 2, "4 things do not answer."),
        ):
            with pytest.raises(HomeError) as silent:
                await home.apply(Action("turn_on", targets))
            assert silent.value.message == said


async def test_a_dead_peer_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.home.backends.home_assistant.connection._PING_EVERY_S", 0.2)
    fake = FakeHomeAssistant()
    fake.is_deaf = True
    async with connected(fake) as home:
        await eventually(lambda: fake.logins == 2)
        assert thing(home).state == "off"


# --- strange


async def test_coalesced_messages_are_parsed() -> None:
    fake = FakeHomeAssistant()
    async with connected(fake) as home:
        on = '{"id": 99, "type": "event", "event": {}}'
        await fake.send(f"[{on}, {on}]")
        await fake.tell(c={"light.attic": {"+": {"s": "on"}}}, r=["light.unknown"])
        await eventually(lambda: thing(home).state == "on")
        assert fake.logins == 1


@pytest.mark.parametrize("text", ["{", '[{"type": "event", "id": 7, "event": {"a": [1]}}]', '{"id": 7, "type"'])
async def test_an_unexpected_message_leads_to_a_reconnect(text: str) -> None:
    fake = FakeHomeAssistant()
    async with connected(fake) as home:
        await fake.send(text.replace("7", str(fake.states_id)))
        await eventually(lambda: fake.logins == 2)
        await eventually(lambda: home.problem == "")
        assert thing(home).state == "off"


async def test_unexpected_registries_are_reported_and_survived() -> None:
    fake = FakeHomeAssistant()
    fake.answers["config/area_registry/list"] = [{"name": "no id"}]
    async with connected(fake) as home:
        assert home.problem == "Home Assistant answers in a way that I do not understand; update EdgeVox."


async def test_fields_of_another_type_are_left_out_and_the_home_is_usable() -> None:
    fake = FakeHomeAssistant()
    odd: list[object] = [{"a": 1}, ["x"], 7, 1.5, True, "", 10**400]
    fake.answers["config/floor_registry/list"] = [
        {"floor_id": "up", "name": "Upstairs"},
        *({"floor_id": value, "name": value} for value in odd),
    ]
    fake.answers["config/area_registry/list"] = [
        {"area_id": "attic", "name": "Attic", "floor_id": {"id": "up"}, "aliases": {"a": [1]}},
        *({"area_id": value, "name": value, "floor_id": value} for value in odd),
    ]
    async with connected(fake) as home:
        for value in odd:
            keys = ("supported_features", "hvac_modes", "temperature", "brightness", "friendly_name", "media_title")
            await fake.tell(
                a={"light.odd": {"s": value, "a": value}, "light.fine": {"s": "on", "a": dict.fromkeys(keys, value)}},
                c={"light.attic": {"+": {"s": value, "a": value}, "-": {"a": value}}},
                r=[value],
            )
        await fake.tell(c={"light.attic": {"+": {"s": "on"}}})
        await eventually(lambda: thing(home).state == "on")
        house = home.house()
        assert [area.floor for area in house.areas if area.id == "attic"] == [None]
        assert [found.id for found in find_entities(house, Slots(name="fine"), ("light",))] == ["light.fine"]
        assert fake.logins == 1


async def test_a_deeply_nested_message_leads_to_a_reconnect() -> None:
    fake = FakeHomeAssistant()
    async with connected(fake) as home:
        await fake.send("[" * 100_000)
        await eventually(lambda: fake.logins == 2)
        await eventually(lambda: home.problem == "")


async def test_a_wrong_token_is_not_retried() -> None:
    fake = FakeHomeAssistant()
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret("wrong"), timeout_s=5)
        await home.start()
        with pytest.raises(HomeError, match="run edgevox home setup"):
            await home.apply(Action("turn_on", ()))
        await home.close()
        assert fake.logins == 1


def test_retries_back_off_and_a_wrong_token_waits_longest() -> None:
    waits_s = [[backoff_s(failures, is_refused=False) for _ in range(50)] for failures in range(1, 40)]
    assert all(0.25 <= wait <= 5.0 for waits in waits_s for wait in waits)
    assert max(waits_s[0]) < min(waits_s[-1])
    assert len(set(waits_s[-1])) > 1
    assert backoff_s(1, is_refused=True) >= 600


_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def _page(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<h1>It works!</h1>")


async def _chat(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_str("hello")
    await socket.close()
    return socket


async def _banned(_: web.Request) -> web.StreamResponse:
    raise web.HTTPForbidden


async def _gateway(_: web.Request) -> web.StreamResponse:
    raise web.HTTPBadGateway


async def _silence(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.receive()
    return socket


@pytest.mark.parametrize(
    ("answer", "front_page", "error", "said"),
    [
        (_page, _page, NotHomeAssistant, "is not Home Assistant; run edgevox home setup."),
        (_chat, _page, NotHomeAssistant, "is not Home Assistant; run edgevox home setup."),
        (_banned, _page, NotHomeAssistant, "is not Home Assistant; run edgevox home setup."),
        (_banned, _banned, Unreachable, "remove its address from ip_bans.yaml there."),
        (_gateway, _gateway, Unreachable, "check that it is running."),
        (_silence, _page, Unreachable, "check that it is running."),
    ],
)
async def test_another_web_server_is_reported(
    answer: _Handler, front_page: _Handler, error: type[HomeError], said: str
) -> None:
    app = web.Application()
    app.router.add_get("/api/websocket", answer)
    app.router.add_get("/", front_page)
    async with TestServer(app) as server:
        with pytest.raises(error) as raised:
            await check_token(str(server.make_url("/")), Secret(TOKEN), timeout_s=0.5)
    assert raised.value.message.endswith(said)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "homeassistant.local", "http://", "ftp://127.0.0.1"])
async def test_an_address_without_a_server_is_reported(url: str) -> None:
    with pytest.raises(Unreachable):
        await check_token(url, Secret(TOKEN), timeout_s=1)


async def test_a_server_without_http_is_reported() -> None:
    async def babble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises((NotHomeAssistant, Unreachable)):
            await check_token(f"http://127.0.0.1:{port}", Secret(TOKEN), timeout_s=1)


async def test_a_token_is_checked() -> None:
    async with running(FakeHomeAssistant()) as url:
        assert await check_token(url, Secret(TOKEN)) == "2030.1.0"
        with pytest.raises(WrongToken):
            await check_token(url, Secret("wrong"))


async def test_a_password_in_the_address_is_not_shown() -> None:
    with pytest.raises(Unreachable) as error:
        await check_token("http://me:hunter2@127.0.0.1:1", Secret(TOKEN), timeout_s=1)
    assert error.value.message == "I cannot reach Home Assistant at http://127.0.0.1:1; check that it is running."


# --- services that the real one does not have


async def test_the_first_search_result_is_played() -> None:
    fake = FakeHomeAssistant()
    fake.states["media_player.hifi"] = {"s": "idle", "a": {"supported_features": _SEARCHES}}
    media = {"media_content_id": "x://jazz", "media_content_type": "playlist", "title": "Jazz"}
    hidden = {**media, "media_content_id": "x://folder", "can_play": False}
    fake.responses["media_player.search_media"] = {"media_player.hifi": {"result": [hidden, media]}}
    async with connected(fake) as home:
        values = {"search_query": "jazz", "media_class": "playlist"}
        doing = asyncio.create_task(home.apply(Action("play", (thing(home, "media_player.hifi"),), values)))
        await eventually(lambda: len(fake.calls) == 2)
        await fake.tell(c={"media_player.hifi": {"+": {"s": "playing"}}})
        assert [entity.state for entity in await doing] == ["playing"]
    search, play = fake.calls
    assert search["service_data"] == {"search_query": "jazz", "media_filter_classes": ["playlist"]}
    assert play["service"] == "play_media"
    assert play["service_data"] == {"media_content_id": "x://jazz", "media_content_type": "playlist"}


async def test_a_forecast_is_read() -> None:
    fake = FakeHomeAssistant()
    fake.states["weather.home"] = {"s": "sunny", "a": {"supported_features": 1}}
    fake.answers["homeassistant/expose_entity/list"] = {"exposed_entities": {"weather.home": {"conversation": True}}}
    day = {"datetime": "2026-03-02T12:00:00+00:00", "condition": "rainy", "temperature": 9.5, "templow": 4}
    entries = [{**day, "precipitation_probability": 70}, {"datetime": "never"}, "rubbish"]
    fake.responses["weather.get_forecasts"] = {"weather.home": {"forecast": entries}}
    async with connected(fake) as home:
        (forecast,) = await home.forecast("weather.home", "daily")
        assert (forecast.condition, forecast.temperature, forecast.low, forecast.rain_percent) == ("rainy", 9.5, 4, 70)
        assert await home.forecast("weather.home", "hourly") == ()
    assert [call["service_data"] for call in fake.calls] == [{"type": "daily"}]


async def test_a_list_is_cleared_by_the_ids_of_its_items() -> None:
    fake = FakeHomeAssistant()
    fake.states["todo.shopping"] = {"s": "2", "a": {"supported_features": 2}}
    fake.answers["todo/item/list"] = {"items": [{"summary": "milk", "uid": "1"}, {"summary": "milk", "uid": "2"}]}
    async with connected(fake) as home:
        await home.apply(Action("clear_items", (thing(home, "todo.shopping"),)))
    (call,) = fake.calls
    assert (call["service"], call["service_data"]) == ("remove_item", {"item": ["1", "2"]})


async def test_a_search_that_finds_nothing_plays_nothing() -> None:
    fake = FakeHomeAssistant()
    fake.states["media_player.hifi"] = {"s": "idle", "a": {"supported_features": _SEARCHES}}
    fake.responses["media_player.search_media"] = {"media_player.hifi": {"result": []}}
    async with connected(fake) as home:
        with pytest.raises(HomeError, match=r"^The hifi finds no jazz\.$"):
            await home.apply(Action("play", (thing(home, "media_player.hifi"),), {"search_query": "jazz"}))


@pytest.mark.parametrize(
    ("states", "service", "target"),
    [
        (
            {
                "assist_satellite.hall": {"s": "idle", "a": {"supported_features": 1}},
                "assist_satellite.mute": {"s": "idle", "a": {"supported_features": 0}},
                "assist_satellite.gone": {"s": "unavailable", "a": {"supported_features": 1}},
                "tts.piper": {"s": "unknown"},
            },
            "assist_satellite.announce",
            {"entity_id": ["assist_satellite.hall"]},
        ),
        (
            {
                "media_player.speaker": {
                    "s": "idle", "a": {"supported_features": 512, "device_class": "speaker"}
                },
                "media_player.tv": {"s": "idle", "a": {"supported_features": 512, "device_class": "tv"}},
                "tts.piper": {"s": "unknown"},
            },
            "tts.speak",
            {"entity_id": ["tts.piper"]},
        ),
        ({"tts.piper": {"s": "unknown"}}, "notify.notify", None),
    ],
)  # fmt: skip
async def test_an_announcement_uses_the_best_available_service(
    states: dict[str, Any], service: str, target: dict[str, Any] | None
) -> None:
    fake = FakeHomeAssistant()
    fake.states |= states
    async with connected(fake) as home:
        await home.announce("lunch")
    (call,) = fake.calls
    assert f"{call['domain']}.{call['service']}" == service
    assert call.get("target") == target
    assert call["service_data"]["message"] == "lunch"
    if service == "tts.speak":
        assert call["service_data"]["media_player_entity_id"] == ["media_player.speaker"]


async def test_a_home_that_cannot_announce_is_reported() -> None:
    fake = FakeHomeAssistant()
    fake.responses["notify.notify"] = {"code": "not_found", "message": "Service notify.notify not found."}
    async with connected(fake) as home:
        with pytest.raises(HomeError) as error:
            await home.announce("lunch")
    assert error.value.message == "Your Home Assistant has nothing that I could announce it with."


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        ("home_assistant_error", "The bulb is broken", "Home Assistant could not do that: The bulb is broken."),
        ("unauthorized", "Unauthorized", "The user of my token may not do that in Home Assistant."),
        ("invalid_format", "extra keys not allowed @ data['x']", "Home Assistant could not do that."),
        ("not_found", "Service light.turn_on not found.", "This Home Assistant cannot do that."),
        ("home_assistant_error", "", "Home Assistant could not do that."),
    ],
)
async def test_an_error_of_home_assistant_becomes_a_sentence(code: str, message: str, said: str) -> None:
    fake = FakeHomeAssistant()
    fake.responses["light.turn_on"] = {"code": code, "message": message}
    async with connected(fake) as home:
        with pytest.raises(HomeError) as error:
            await home.apply(Action("turn_on", (thing(home),)))
    assert error.value.message == said


async def test_targets_that_support_the_action_perform_it() -> None:
    fake = FakeHomeAssistant()
    fake.states["light.hall"] = {"s": "off", "a": {"supported_color_modes": ["hs"]}}
    async with connected(fake) as home:
        doing = asyncio.create_task(home.apply(Action("set_light", home.house().entities, {"color": "red"})))
        await eventually(lambda: bool(fake.calls))
        await fake.tell(c={"light.hall": {"+": {"s": "on"}}})
        assert [entity.id for entity in await doing] == ["light.hall"]
