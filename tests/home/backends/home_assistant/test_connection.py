"""The connection to a real Home Assistant that is killed, restarted and changed meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from edgevox.config.secrets import Secret
from edgevox.home import HomeError
from edgevox.home.backends.home_assistant import HomeAssistantHome, WrongToken, check_token
from edgevox.home.intents.history_handlers import answer_history
from edgevox.home.intents.resolution import resolve_intent
from tests.home.backends.home_assistant.conftest import TIMEOUT_S, bench_of
from tests.home.backends.home_assistant.furnished import EXPOSED, WINTER_MODE, Admin
from tests.home.backends.home_assistant.server import Server
from tests.home.conftest import Bench

pytestmark = pytest.mark.engine

CANNOT_REACH = "I cannot reach Home Assistant right now."


async def eventually(is_so: Callable[[], bool], *, within_s: float) -> float:
    """The seconds it took until it was so; fails when that is too long."""
    began_s = time.monotonic()
    async with asyncio.timeout(within_s):
        while not is_so():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.02)
    return time.monotonic() - began_s


async def test_the_house_has_the_exposed_entities_and_their_areas(home: HomeAssistantHome) -> None:
    house = home.house()
    assert ids(home) == set(EXPOSED)
    by_device = house.entity("cover.kitchen_window")
    assert by_device is not None
    assert by_device.area == "kitchen"
    bed_light = house.entity("light.bed_light")
    assert bed_light is not None
    assert (bed_light.area, bed_light.aliases) == ("bedroom", ("Night Lamp",))
    living_room = house.area("living_room")
    assert living_room is not None
    assert living_room.aliases == ("Lounge",)


async def test_a_killed_server_is_reported_and_reconnected(
    home: HomeAssistantHome, bench: Bench, server: Server
) -> None:
    await bench.say("turn_on", name="bed light")
    before = home.house()
    server.kill()
    too_early = HomeAssistantHome(server.url, Secret(server.token), timeout_s=TIMEOUT_S)
    try:
        await too_early.start()
        assert too_early.problem == f"I cannot reach Home Assistant at {server.url}; check that it is running."
        with pytest.raises(HomeError, match="I cannot reach Home Assistant"):
            too_early.house()
        await eventually(lambda: home.problem != "", within_s=5)
        began_s = time.monotonic()
        assert await bench.say("turn_off", name="bed light") == CANNOT_REACH
        assert await bench.say("shopping_list_add_item", item="milk") == CANNOT_REACH
        assert await bench.confirmed("broadcast", message="hello") == CANNOT_REACH
        assert time.monotonic() - began_s < TIMEOUT_S
        assert home.house() == before
        assert await bench.say("get_state", name="bed light") == "The bed light is on."
    finally:
        await asyncio.to_thread(server.start)
    assert await eventually(lambda: home.problem == "", within_s=30) < 15
    assert await bench.say("turn_on", name="bed light") == "The bed light is on."
    assert server.state("light.bed_light") == "on"
    await eventually(lambda: too_early.problem == "", within_s=30)
    assert ids(home) == ids(too_early) == set(EXPOSED)
    await too_early.close()


async def test_a_hanging_server_costs_no_more_than_the_timeout(server: Server) -> None:
    home = HomeAssistantHome(server.url, Secret(server.token), timeout_s=0.5)
    await home.start()
    bench = bench_of(home)
    await bench.say("turn_on", name="bed light")
    server.pause()
    try:
        began_s = time.monotonic()
        assert await bench.say("turn_on", name="bed light") == "The bed light does not answer."
        said = await bench.say("get_state", name="shopping list")
        assert said == "Home Assistant does not answer right now."
        assert time.monotonic() - began_s < 10
    finally:
        server.go_on()
    async with asyncio.timeout(10):
        while await bench.say("turn_off", name="bed light") != "The bed light is off.":
            pass
    await home.close()


async def test_a_wrong_token_is_reported_with_a_hint(server: Server) -> None:
    home = HomeAssistantHome(server.url, Secret("wrong-" + server.token), timeout_s=5)
    await home.start()
    assert home.problem == "Home Assistant does not accept the token; run edgevox home setup."
    assert await bench_of(home).say("get_state", name="bed light") == home.problem
    await home.close()


async def test_a_token_is_checked(server: Server) -> None:
    version = server.get("/api/config")["version"]
    assert await check_token(server.url, Secret(server.token)) == version
    assert await check_token(server.url + "/", Secret(server.token)) == version
    with pytest.raises(WrongToken, match="edgevox home setup"):
        await check_token(server.url, Secret("wrong"))


async def test_a_token_need_not_be_an_administrator_s(admin: Admin, server: Server) -> None:
    name, password = "guest", "guest-password"
    made = await admin.command("config/auth/create", name=name, group_ids=["system-users"])
    await admin.command(
        "config/auth_provider/homeassistant/create", user_id=made["user"]["id"], username=name, password=password
    )
    home = HomeAssistantHome(server.url, Secret(server.sign_in(name, password)), timeout_s=TIMEOUT_S)
    logged = server.log()
    await home.start()
    # Only an administrator sees whether entities without a registry entry are exposed.
    assert {"light.bed_light", "todo.chores", "lock.basic_lock"} < ids(home) < set(EXPOSED)
    bench = bench_of(home)
    assert await bench.say("turn_on", name="night lamp") == "The bed light is on."
    assert await bench.say("get_state", name="chores") == "The chores list is empty."
    await home.close()
    assert server.log() == logged


async def test_changes_of_the_house_are_known_at_once(home: HomeAssistantHome, bench: Bench, admin: Admin) -> None:
    light = "light.bed_light"
    await admin.command("config/entity_registry/update", entity_id=light, name="Reading Lamp")
    await eventually(lambda: "Reading Lamp" in names(home), within_s=5)
    await admin.command("config/area_registry/create", name="Winter Garden")
    await admin.command("config/entity_registry/update", entity_id=light, area_id="winter_garden")
    await eventually(lambda: bench.entity(light).area == "winter_garden", within_s=5)
    await admin.command("config/entity_registry/update", entity_id=light, aliases=["Sunshine"])
    await eventually(lambda: bench.entity(light).aliases == ("Sunshine",), within_s=5)
    assert await bench.say("turn_on", area="winter garden") == "The reading lamp is on."
    assert await bench.say("turn_off", name="sunshine") == "The reading lamp is off."
    await admin.command(
        "config/entity_registry/update", entity_id=light, name=None, area_id="bedroom", aliases=["Night Lamp"]
    )
    await admin.command("config/area_registry/delete", area_id="winter_garden")
    await eventually(lambda: home.house().area("winter_garden") is None, within_s=5)
    await eventually(lambda: "Bed Light" in names(home), within_s=5)


async def test_the_forecast_of_the_coming_days_is_read(home: HomeAssistantHome) -> None:
    days = await home.forecast("weather.demo_weather_south", "daily")
    assert len({day.at.date() for day in days}) >= 5
    assert all(day.temperature is not None and day.condition for day in days)


async def test_the_record_tells_what_was_before_a_restart(home: HomeAssistantHome, server: Server) -> None:
    recorded = server.get(f"/api/history/period?filter_entity_id={WINTER_MODE}")[0]
    turned_on = next(datetime.fromisoformat(one["last_changed"]) for one in recorded[1:] if one["state"] == "on")
    assert turned_on < datetime.fromisoformat(server.get(f"/api/states/{WINTER_MODE}")["last_changed"])
    asked = {"name": "winter mode", "state": "on", "since": "how_long"}
    intent = resolve_intent("get_history", asked, home.house())
    said = await answer_history(home, intent, turned_on + timedelta(hours=2, seconds=1))
    assert said == "The winter mode has been on for 2 hours."


async def test_a_missing_list_is_reported(home: HomeAssistantHome) -> None:
    with pytest.raises(HomeError, match=r"^That list does not answer\.$"):
        await home.items("todo.nowhere")


async def test_a_removed_entity_is_unknown(home: HomeAssistantHome, bench: Bench, admin: Admin, server: Server) -> None:
    server.set_state("light.visitor", "off", friendly_name="Visitor Light")
    await admin.command(
        "homeassistant/expose_entity", assistants=["conversation"], entity_ids=["light.visitor"], should_expose=True
    )
    # No event reports that an entity without an entry was exposed; any change of a registry will do.
    await admin.command("config/entity_registry/update", entity_id="light.bed_light", icon="mdi:lamp")
    await eventually(lambda: "Visitor Light" in names(home), within_s=5)
    seen = home.house()
    server.remove_state("light.visitor")
    await eventually(lambda: "Visitor Light" not in names(home), within_s=5)
    assert (await bench.say("turn_on", name="visitor light")).startswith("I know nothing called visitor light.")
    bench.home.house = lambda: seen  # type: ignore[method-assign] # it vanishes after it was chosen
    assert await bench.say("turn_on", name="visitor light") == "The visitor light is not there any more."


async def test_the_token_is_never_shown(home: HomeAssistantHome, server: Server) -> None:
    shown = [repr(home), str(vars(home)), home.problem, repr(home.house())]
    for url in (server.url, "http://127.0.0.1:1"):
        with pytest.raises(HomeError) as error:
            await check_token(url, Secret("wrong-" + server.token))
        shown += [repr(error.value), str(error.value.__cause__), error.value.hint]
    assert server.token not in " ".join(shown)


def ids(home: HomeAssistantHome) -> set[str]:
    return {entity.id for entity in home.house().entities}


def names(home: HomeAssistantHome) -> set[str]:
    return {entity.name for entity in home.house().entities}
