"""The home tools on a real Home Assistant: answers, and state changes in Home Assistant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.home.backends.home_assistant.furnished import Admin
from tests.home.backends.home_assistant.server import Server
from tests.home.conftest import Bench

pytestmark = pytest.mark.engine

# What happened in the house before: (service, its data).
Before = tuple[str, dict[str, Any]]


def _on(entity_id: str) -> Before:
    return f"{entity_id.partition('.')[0]}/turn_on", {"entity_id": entity_id}


def _off(entity_id: str) -> Before:
    return f"{entity_id.partition('.')[0]}/turn_off", {"entity_id": entity_id}


def _call(service: str, entity_id: str, **data: Any) -> Before:
    return service, {"entity_id": entity_id, **data}


@pytest.mark.parametrize(
    ("before", "tool", "arguments", "said", "expected"),
    [
        # lights
        (_off("light.bed_light"), "turn_on", {"name": "bed light"},
         "The bed light is on.", {"light.bed_light": "on"}),
        (_off("light.bed_light"), "turn_on", {"name": "night lamp"},
         "The bed light is on.", {"light.bed_light": "on"}),
        (_on("light.kitchen_lights"), "turn_off", {"area": "kitchen", "domain": "light"},
         "The kitchen lights are off.", {"light.kitchen_lights": "off"}),
        (_on("light.bed_light"), "turn_off", {"domain": "light", "area": "bed room"},
         "The bed light is off.", {"light.bed_light": "off"}),
        (_off("light.kitchen_lights"), "light_set", {"name": "kitchen lights", "brightness": 40},
         "The kitchen lights are at 40 percent.", {"light.kitchen_lights": ("brightness", 102)}),
        (_on("light.kitchen_lights"), "light_set", {"name": "kitchen lights", "brightness": 0},
         "The kitchen lights are off.", {"light.kitchen_lights": "off"}),
        (_on("light.bed_light"), "light_set", {"name": "bed light", "color": "red"},
         "The bed light is red.", {"light.bed_light": ("hs_color", [0.0, 100.0])}),
        (_on("light.bed_light"), "light_set", {"name": "bed light", "color": "dark blue", "brightness": 20},
         "The bed light is dark blue and at 20 percent.", {"light.bed_light": ("brightness", 51)}),
        (_on("light.ceiling_lights"), "light_set", {"name": "ceiling lights", "color": "warm white"},
         "The ceiling lights are warm white.", {"light.ceiling_lights": ("color_temp_kelvin", 2702)}),
        (_on("light.office_rgbw_lights"), "light_set", {"area": "office", "color": "green"},
         "The office RGBW lights are green.", {"light.office_rgbw_lights": ("rgb_color", [0, 128, 0])}),
        (_off("light.cellar_light"), "light_set", {"name": "cellar light", "brightness": 50},
         "The cellar light cannot be dimmed.", {"light.cellar_light": "off"}),
        (_off("light.cellar_light"), "light_set", {"name": "cellar light", "color": "red"},
         "The cellar light cannot change its colour.", {"light.cellar_light": "off"}),
        (_on("light.bed_light"), "light_set", {"name": "bed light", "color": "heffalump"},
         "I do not know the colour heffalump. Try red, green, blue or white.", {"light.bed_light": "on"}),
        # switches and the like
        (_off("switch.ac"), "turn_on", {"name": "AC"}, "The AC is on.", {"switch.ac": "on"}),
        (_on("input_boolean.guest_mode"), "turn_off", {"name": "guest mode"},
         "The guest mode is off.", {"input_boolean.guest_mode": "off"}),
        (_on("humidifier.humidifier"), "turn_off", {"name": "humidifier"},
         "The humidifier is off.", {"humidifier.humidifier": "off"}),
        # covers
        (_call("cover/close_cover", "cover.kitchen_window"), "turn_on", {"name": "kitchen window"},
         "The kitchen window is open.", {"cover.kitchen_window": "open"}),
        (_call("cover/open_cover", "cover.kitchen_window"), "turn_off",
         {"area": "kitchen", "domain": "cover"}, "The kitchen window is closed.",
         {"cover.kitchen_window": "closed"}),
        (_call("cover/set_cover_position", "cover.hall_window", position=10), "set_position",
         {"name": "hall window", "position": 10}, "The hall window is 10 percent open.",
         {"cover.hall_window": ("current_position", 10)}),
        (_call("cover/close_cover", "cover.hall_window"), "turn_on", {"name": "hall window"},
         "The hall window is opening.", {"cover.hall_window": "opening"}),
        (_call("cover/close_cover", "cover.garage_door"), "set_position",
         {"name": "garage door", "position": 0}, "The garage door is closed.", {}),
        (_call("cover/open_cover", "cover.kitchen_window"), "set_position",
         {"name": "kitchen window", "position": 30},
         "The kitchen window can only be opened or closed.", {"cover.kitchen_window": "open"}),
        (None, "turn_off", {"name": "pergola roof"},
         "The pergola roof cannot be closed.", {"cover.pergola_roof": "closed"}),
        # climate
        (None, "climate_set_temperature", {"name": "heat pump", "temperature": 22.5},
         "The HeatPump is set to 22.5 degrees.", {"climate.heatpump": ("temperature", 22.5)}),
        (None, "climate_set_temperature", {"area": "lounge", "temperature": 20},
         "The ecobee is set to 20 degrees.", {"climate.ecobee": ("target_temp_low", 18.5)}),
        (None, "climate_set_temperature", {"name": "HVAC", "temperature": 50},
         "The hvac goes from 7 to 35 degrees.", {"climate.hvac": ("temperature", 21)}),
        (_call("climate/set_hvac_mode", "climate.hvac", hvac_mode="cool"), "turn_off", {"name": "hvac"},
         "The hvac is off.", {"climate.hvac": "off"}),
        (_call("climate/set_hvac_mode", "climate.heatpump", hvac_mode="off"), "turn_on", {"name": "heatpump"},
         "The HeatPump is heating.", {"climate.heatpump": "heat"}),
        (None, "climate_get_temperature", {"area": "bedroom"}, "It is 25 degrees in the bedroom.", {}),
        # fans
        (_off("fan.living_room_fan"), "fan_set_speed", {"area": "lounge", "percentage": 50},
         "The living room fan is at 50 percent.", {"fan.living_room_fan": ("percentage", 50)}),
        (_on("fan.ceiling_fan"), "fan_set_speed", {"name": "ceiling fan", "percentage": 0},
         "The ceiling fan is off.", {"fan.ceiling_fan": "off"}),
        (None, "fan_set_speed", {"name": "preset only limited fan", "percentage": 50},
         "The preset only limited fan has only one speed.", {}),
        # players
        (_call("media_player/media_play", "media_player.walkman"), "media_pause", {"name": "walkman"},
         "The walkman is paused.", {"media_player.walkman": "paused"}),
        (_call("media_player/media_pause", "media_player.walkman"), "media_unpause", {"name": "walkman"},
         "The walkman is playing again.", {"media_player.walkman": "playing"}),
        (_call("media_player/media_play", "media_player.walkman"), "set_volume",
         {"name": "walkman", "volume_level": 30}, "The volume of the walkman is 30 percent.",
         {"media_player.walkman": ("volume_level", 0.3)}),
        (_call("media_player/volume_set", "media_player.walkman", volume_level=0.5), "set_volume_relative",
         {"name": "walkman", "volume_step": "up"}, "The volume of the walkman is 60 percent.",
         {"media_player.walkman": ("volume_level", 0.6)}),
        (_call("media_player/volume_mute", "media_player.walkman", is_volume_muted=False),
         "media_player_mute", {"name": "walkman"}, "The walkman is muted.",
         {"media_player.walkman": ("is_volume_muted", True)}),
        (_call("media_player/volume_mute", "media_player.walkman", is_volume_muted=True),
         "media_player_unmute", {"name": "walkman"}, "The walkman has its sound back.",
         {"media_player.walkman": ("is_volume_muted", False)}),
        (_on("media_player.lounge_room"), "turn_off", {"name": "lounge room"},
         "The lounge room is off.", {"media_player.lounge_room": "off"}),
        (_off("media_player.lounge_room"), "turn_on", {"name": "lounge room"},
         "The lounge room is playing Chapter 1.", {"media_player.lounge_room": "playing"}),
        (None, "media_search_and_play", {"name": "walkman", "search_query": "jazz"},
         "The walkman cannot search for music.", {}),
        # robots
        (_call("vacuum/return_to_base", "vacuum.0_ground_floor"), "vacuum_start", {},
         "The 0 ground floor is cleaning.", {"vacuum.0_ground_floor": "cleaning"}),
        (_call("vacuum/start", "vacuum.0_ground_floor"), "vacuum_return_to_base", {},
         "The 0 ground floor is going home.", {"vacuum.0_ground_floor": "returning"}),
        (None, "vacuum_clean_area", {"area": "kitchen"},
         "The 0 ground floor cannot be sent to a single room.", {}),
        (_call("lawn_mower/dock", "lawn_mower.mower_can_do_all"), "lawn_mower_start_mowing", {},
         "The mower can do all is mowing.", {"lawn_mower.mower_can_do_all": "mowing"}),
        (_call("lawn_mower/start_mowing", "lawn_mower.mower_can_do_all"), "lawn_mower_dock", {},
         "The mower can do all is going home.", {"lawn_mower.mower_can_do_all": "docked"}),
        # doors and alarms: the safe way needs no yes
        (_call("lock/unlock", "lock.basic_lock"), "turn_on", {"name": "shed"},
         "The basic lock is locked.", {"lock.basic_lock": "locked"}),
        (None, "turn_on", {"name": "poorly installed door"},
         "The poorly installed door is jammed.", {"lock.poorly_installed_door": "jammed"}),
        (None, "turn_on", {"name": "security"},
         "The security wants its code, and I do not know it.", {"alarm_control_panel.security": "disarmed"}),
        # scenes and scripts
        (_on("light.ceiling_lights"), "turn_on", {"name": "movie night"}, "Movie Night is set.",
         {"light.bed_light": "on", "light.ceiling_lights": "off"}),
        (_off("input_boolean.guest_mode"), "turn_on", {"name": "good night"}, "Good Night is running.",
         {"input_boolean.guest_mode": "on"}),
        # what rules call
        (_call("vacuum/start", "vacuum.0_ground_floor"), "vacuum_pause", {},
         "The 0 ground floor is paused.", {"vacuum.0_ground_floor": "paused"}),
        (_call("lawn_mower/start_mowing", "lawn_mower.mower_can_do_all"), "lawn_mower_pause", {},
         "The mower can do all is paused.", {"lawn_mower.mower_can_do_all": "paused"}),
        (None, "stop_moving", {"name": "living room window"}, "The living room window has stopped.", {}),
        (None, "climate_set_mode", {"name": "hvac", "mode": "dry"}, "The hvac is set to dry.", {"climate.hvac": "dry"}),
        (_on("light.ceiling_lights"), "light_set_temperature", {"name": "ceiling lights", "kelvin": 3300},
         "The ceiling lights are at 3300 kelvin.", {"light.ceiling_lights": ("color_temp_kelvin", 3300)}),
        # questions
        (None, "get_weather", {}, "It is sunny and 21.6 degrees.", {}),
        (None, "get_state", {"name": "outside temperature"}, "The outside temperature is 15.6 °C.", {}),
        (None, "get_state", {"name": "basement floor wet"}, "The basement floor wet is dry.", {}),
        (None, "get_state", {"name": "front door", "state": "locked"}, "Yes, the front door is locked.", {}),
        (_off("light.office_rgbw_lights"), "get_state", {"area": "office", "domain": "light", "state": "on"},
         "No, the office RGBW lights are off.", {}),
        # what must not be known
        (None, "turn_off", {"name": "decorative lights"},
         "I know nothing called decorative lights. "
         "Did you mean the bed light, the ceiling lights or the cellar light?",
         {"switch.decorative_lights": "on"}),
        # what does not follow
        (None, "turn_on", {"name": "cellar light"}, "The cellar light does not answer.", {}),
    ],
)  # fmt: skip
async def test_a_command_has_its_effect_in_home_assistant(
    before: Before | None,
    tool: str,
    arguments: dict[str, Any],
    said: str,
    expected: dict[str, str | tuple[str, Any]],
    bench: Bench,
    server: Server,
) -> None:
    if before is not None:
        service, data = before
        server.call(*service.split("/"), **data)
        await in_step(bench)
    assert await bench.say(tool, **arguments) == said
    for entity_id, wanted in expected.items():
        match wanted:
            case str():
                assert server.state(entity_id) == wanted
            case (key, int() | float() as value):
                assert server.attribute(entity_id, key) == pytest.approx(value, abs=2)  # older ones count in mireds
            case (key, value):
                assert server.attribute(entity_id, key) == value


@pytest.mark.parametrize(
    ("before", "tool", "arguments", "question", "said", "expected"),
    [
        (_call("lock/lock", "lock.basic_lock"), "turn_off", {"name": "shed"},
         "Unlock the basic lock?", "The basic lock is unlocked.", {"lock.basic_lock": "unlocked"}),
        (_call("cover/close_cover", "cover.garage_door"), "turn_on", {"name": "garage door"},
         "Open the garage door?", "The garage door is open.", {"cover.garage_door": "open"}),
        (_on("siren.siren"), "turn_off", {"name": "siren"},
         "Turn off the siren?", "The siren is off.", {"siren.siren": "off"}),
    ],
)  # fmt: skip
async def test_actions_that_lower_security_wait_for_a_yes(
    before: Before,
    tool: str,
    arguments: dict[str, Any],
    question: str,
    said: str,
    expected: dict[str, str],
    bench: Bench,
    server: Server,
) -> None:
    service, data = before
    server.call(*service.split("/"), **data)
    await in_step(bench)
    was = {entity_id: server.state(entity_id) for entity_id in expected}
    asked = await bench.call(tool, **arguments)
    assert asked.confirmation is not None
    assert asked.confirmation.question == question
    assert {entity_id: server.state(entity_id) for entity_id in expected} == was
    assert await bench.confirmed(tool, **arguments) == said
    assert {entity_id: server.state(entity_id) for entity_id in expected} == expected


async def test_list_items_are_added_read_and_completed(bench: Bench, server: Server) -> None:
    for the_list in ("todo.shopping_list", "todo.chores"):
        assert server.state(the_list) == "0"
    assert await bench.say("shopping_list_add_item", item="milk") == "I added milk to the shopping list."
    assert await bench.say("shopping_list_add_item", item="eggs") == "I added eggs to the shopping list."
    assert await bench.say("get_state", name="shopping list") == "On the shopping list: milk and eggs."
    assert server.state("todo.shopping_list") == "2"
    said = await bench.say("shopping_list_complete_item", item="egg")
    assert said == "Eggs is ticked off on the shopping list."
    assert await bench.say("get_state", name="shopping list") == "On the shopping list: milk."
    assert server.get("/api/shopping_list")[1]["complete"]
    said = await bench.say("list_add_item", name="chores", item="water the plants")
    assert said == "I added water the plants to the chores list."
    assert server.state("todo.chores") == "1"
    said = await bench.say("list_remove_item", name="chores", item="plants")
    assert said == "I took water the plants off the chores list."
    assert server.state("todo.chores") == "0"
    for item in ("milk", "eggs"):
        await bench.say("list_remove_item", name="shopping list", item=item)
    assert server.get("/api/shopping_list") == []


async def test_of_two_equal_items_one_is_completed(bench: Bench, server: Server) -> None:
    for _ in range(2):
        server.call("todo", "add_item", entity_id="todo.chores", item="call mum")
    await in_step(bench)
    await bench.say("list_complete_item", name="chores", item="call mum")
    assert server.state("todo.chores") == "1"
    await bench.say("list_complete_item", name="chores", item="call mum")
    assert server.state("todo.chores") == "0"
    for _ in range(2):
        await bench.say("list_remove_item", name="chores", item="call mum")


async def test_the_next_track_is_played(bench: Bench, server: Server) -> None:
    server.call("media_player", "media_play", entity_id="media_player.walkman")
    await in_step(bench)
    track = server.attribute("media_player.walkman", "media_track")
    assert await bench.say("media_next", name="walkman") == "The walkman plays the next track."
    assert server.attribute("media_player.walkman", "media_track") == track + 1
    assert await bench.say("media_previous", name="walkman") == "The walkman plays the previous track."
    assert server.attribute("media_player.walkman", "media_track") == track


async def test_all_lights_turn_off_except_those_that_do_not_answer(bench: Bench, server: Server) -> None:
    for light in ("light.bed_light", "light.kitchen_lights", "light.ceiling_lights"):
        server.call("light", "turn_on", entity_id=light)
    await in_step(bench)
    assert await bench.say("turn_off", domain="light") == "6 lights are off."
    for entity_id in ("light.bed_light", "light.kitchen_lights", "light.ceiling_lights"):
        assert server.state(entity_id) == "off"
    # It is not exposed.
    assert server.state("light.entrance_color_white_lights") == "on"


async def test_an_announcement_is_made(bench: Bench, admin: Admin) -> None:
    await admin.command("subscribe_events", event_type="notify")
    assert await bench.confirmed("broadcast", message="lunch is ready") == "Announced."
    assert (await admin.event())["data"]["message"] == "lunch is ready"


async def in_step(bench: Bench) -> None:
    """An answer arrives after every event that happened before the question."""
    await bench.home.items("todo.chores")
