"""Creates areas, names and lists in the tests' Home Assistant over its own APIs, as a user would."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.home.backends.home_assistant.server import HASS, Server

AREAS = {
    "Kitchen": ("light.kitchen_lights",),
    "Living Room": (
        "light.living_room_rgbww_lights",
        "fan.living_room_fan",
        "cover.living_room_window",
        "climate.ecobee",
    ),
    "Bedroom": ("light.bed_light", "fan.ceiling_fan", "climate.heatpump"),
    "Garage": ("cover.garage_door",),
    "Garden": ("sensor.outside_temperature", "lawn_mower.mower_can_do_all"),
    "Office": ("light.office_rgbw_lights",),
}
# It is in the kitchen because its device is.
DEVICE_IN_KITCHEN = "cover.kitchen_window"
# It is turned on before Home Assistant is restarted.
WINTER_MODE = "input_boolean.winter_mode"
AREA_ALIASES = {"living_room": ["Lounge"]}
ALIASES = {"light.bed_light": ["Night Lamp"], "lock.basic_lock": ["Shed"]}
EXPOSED = (
    *(entity_id for entity_ids in AREAS.values() for entity_id in entity_ids),
    DEVICE_IN_KITCHEN,
    "alarm_control_panel.security", "binary_sensor.basement_floor_wet", "binary_sensor.movement_backyard",
    "calendar.family", "climate.hvac", "cover.hall_window", "cover.pergola_roof", "fan.preset_only_limited_fan",
    "humidifier.humidifier", "input_boolean.guest_mode", WINTER_MODE, "light.ceiling_lights", "light.cellar_light",
    "lock.basic_lock", "lock.front_door", "lock.poorly_installed_door",
    "media_player.lounge_room", "media_player.walkman", "scene.movie_night",
    "script.good_night", "siren.siren", "switch.ac", "todo.chores", "todo.shopping_list",
    "vacuum.0_ground_floor", "weather.demo_weather_south",
)  # fmt: skip


class Admin:
    """A client that changes the house while the home under test watches."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._last_id = 0

    async def command(self, kind: str, **fields: Any) -> Any:
        self._last_id += 1
        await self._socket.send_json({"id": self._last_id, "type": kind, **fields})
        while True:
            answer = await self._socket.receive_json(timeout=10)
            if answer["id"] == self._last_id and answer["type"] == "result":
                assert answer["success"], answer
                return answer["result"]

    async def send_audio(self, handler: int, pcm: bytes) -> None:
        """A block for a voice pipeline that has named this handler."""
        await self._socket.send_bytes(bytes((handler,)) + pcm)

    async def event(self) -> Any:
        """The next event of what was subscribed to."""
        while True:
            answer = await self._socket.receive_json(timeout=10)
            if answer["type"] == "event":
                return answer["event"]


async def log_in(session: aiohttp.ClientSession, server: Server) -> Admin:
    socket = await session.ws_connect(f"{server.url}/api/websocket")
    await socket.receive_json(timeout=10)
    await socket.send_json({"type": "auth", "access_token": server.token})
    assert (await socket.receive_json(timeout=10))["type"] == "auth_ok"
    return Admin(socket)


async def expose(admin: Admin, entity_ids: Iterable[str], should_expose: bool) -> None:
    await admin.command(
        "homeassistant/expose_entity",
        assistants=["conversation"],
        entity_ids=list(entity_ids),
        should_expose=should_expose,
    )


@contextmanager
def furnished_server(folder: Path) -> Iterator[Server]:
    """Takes ten seconds: for a whole session of tests."""
    if not HASS.exists():
        pytest.fail("there is no Home Assistant to test with: run script/home-assistant")
    server = Server(folder)
    try:
        server.start()
        server.sign_up()
        asyncio.run(furnish(server))
        server.call("input_boolean", "turn_on", entity_id=WINTER_MODE)
        # Home Assistant writes to disk when it stops, and else some time later: a kill would lose all this.
        server.stop()
        server.start()
        server.wait_until_running()
        yield server
    finally:
        server.kill()


async def furnish(server: Server) -> None:
    """Also changes the server's token for one that lasts."""
    server.add_integration("shopping_list", {})
    server.add_integration("local_calendar", {"calendar_name": "Family"})
    server.add_integration("local_todo", {"todo_list_name": "Chores"})
    async with aiohttp.ClientSession() as session:
        admin = await log_in(session, server)
        there_already = {area["name"]: area for area in await admin.command("config/area_registry/list")}
        for name, entity_ids in AREAS.items():
            area = there_already.get(name) or await admin.command("config/area_registry/create", name=name)
            for entity_id in entity_ids:
                await admin.command("config/entity_registry/update", entity_id=entity_id, area_id=area["area_id"])
        for area_id, aliases in AREA_ALIASES.items():
            await admin.command("config/area_registry/update", area_id=area_id, aliases=aliases)
        window = await admin.command("config/entity_registry/get", entity_id=DEVICE_IN_KITCHEN)
        await admin.command("config/device_registry/update", device_id=window["device_id"], area_id="kitchen")
        for entity_id, names in ALIASES.items():
            await admin.command("config/entity_registry/update", entity_id=entity_id, aliases=names)
        everything = {state["entity_id"] for state in server.get("/api/states")}
        await expose(admin, EXPOSED, True)
        await expose(admin, everything - set(EXPOSED), False)
        server.token = await admin.command("auth/long_lived_access_token", client_name="EdgeVox", lifespan=30)
