"""The service call of each action, and the sentences for unsupported ones."""

from __future__ import annotations

from typing import Any

import pytest

from edgevox.home import Action, Entity, HomeError, Verb
from edgevox.home.backends.home_assistant.services import Service, service_for

EVERYTHING = (1 << 26) - 1


def thing(domain: str, state: str = "off", features: int = EVERYTHING, **attributes: Any) -> Entity:
    attributes["supported_features"] = features
    return Entity(f"{domain}.it", "It", domain, state, attributes=attributes)


def service(entity: Entity, verb: Verb, **values: Any) -> Service:
    found = service_for(entity, Action(verb, (entity,), values))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("domain", "on", "off"),
    [
        ("light", "turn_on", "turn_off"),
        ("switch", "turn_on", "turn_off"),
        ("cover", "open_cover", "close_cover"),
        ("valve", "open_valve", "close_valve"),
        ("lock", "lock", "unlock"),
        ("alarm_control_panel", "alarm_arm_away", "alarm_disarm"),
        ("media_player", "turn_on", "turn_off"),
        ("vacuum", "start", "return_to_base"),
        ("lawn_mower", "start_mowing", "dock"),
        ("script", "turn_on", "turn_off"),
        ("humidifier", "turn_on", "turn_off"),
        ("automation", "turn_on", "turn_off"),
        ("water_heater", "turn_on", "turn_off"),
    ],
)
def test_on_and_off_map_to_the_services_of_each_domain(domain: str, on: str, off: str) -> None:
    assert service(thing(domain), "turn_on").name == on
    assert service(thing(domain), "turn_off").name == off


@pytest.mark.parametrize(
    ("entity", "verb", "values", "name", "data"),
    [
        (thing("light", supported_color_modes=["hs"]), "set_light", {"brightness": 30, "color": "Dark Red"},
         "turn_on", {"color_name": "darkred", "brightness_pct": 30}),
        (thing("light", supported_color_modes=["color_temp"]), "set_light", {"color": "cold white"},
         "turn_on", {"color_temp_kelvin": 6500}),
        (thing("light", supported_color_modes=["rgb"]), "set_light", {"color": "amber"},
         "turn_on", {"rgb_color": [255, 191, 0]}),
        (thing("light", supported_color_modes=["rgb"]), "set_light", {"color": "warm white"},
         "turn_on", {"color_temp_kelvin": 2700}),
        (thing("light", "on"), "set_light", {"brightness": 0}, "turn_off", {}),
        (thing("cover"), "set_position", {"position": 30}, "set_cover_position", {"position": 30}),
        (thing("number", "3"), "set_number", {"value": 5}, "set_value", {"value": 5}),
        (thing("humidifier", "on"), "set_humidity", {"humidity": 45}, "set_humidity", {"humidity": 45}),
        (thing("water_heater", "eco"), "set_temperature", {"temperature": 55}, "set_temperature", {"temperature": 55}),
        (thing("button"), "turn_on", {}, "press", {}),
        (thing("valve"), "set_position", {"position": 30}, "set_valve_position", {"position": 30}),
        (thing("cover", features=3), "set_position", {"position": 0}, "close_cover", {}),
        (thing("climate", "heat", features=1), "set_temperature", {"temperature": 21},
         "set_temperature", {"temperature": 21}),
        (thing("climate", "heat_cool", target_temp_low=20, target_temp_high=24), "set_temperature",
         {"temperature": 21}, "set_temperature", {"target_temp_low": 19, "target_temp_high": 23}),
        (thing("climate", hvac_modes=["off", "cool", "heat"], features=1), "turn_on", {},
         "set_hvac_mode", {"hvac_mode": "heat"}),
        (thing("climate", hvac_modes=["off", "heat"]), "turn_on", {}, "turn_on", {}),
        (thing("climate", "heat", hvac_modes=["off", "heat"]), "turn_off", {},
         "set_hvac_mode", {"hvac_mode": "off"}),
        (thing("fan"), "set_speed", {"percentage": 50}, "set_percentage", {"percentage": 50}),
        (thing("fan"), "set_speed", {"percentage": 0}, "turn_off", {}),
        (thing("media_player", "idle"), "set_volume", {"volume_level": 25},
         "volume_set", {"volume_level": 0.25}),
        (thing("media_player", "playing"), "mute", {}, "volume_mute", {"is_volume_muted": True}),
        (thing("media_player", "playing"), "pause", {}, "media_pause", {}),
        (thing("media_player", "paused"), "unpause", {}, "media_play", {}),
        (thing("media_player", "playing"), "next", {}, "media_next_track", {}),
        (thing("media_player", "playing"), "previous", {}, "media_previous_track", {}),
        (thing("media_player", "on", features=4096), "turn_off", {}, "media_stop", {}),
        (thing("alarm_control_panel", features=1), "turn_on", {}, "alarm_arm_home", {}),
        (thing("vacuum"), "clean_area", {"area": "attic"}, "clean_area", {"cleaning_area_id": ["attic"]}),
        (thing("vacuum"), "start", {}, "start", {}),
        (thing("lawn_mower"), "dock", {}, "dock", {}),
        (thing("cover"), "stop", {}, "stop_cover", {}),
        (thing("valve"), "stop", {}, "stop_valve", {}),
        (thing("vacuum", "cleaning"), "pause", {}, "pause", {}),
        (thing("lawn_mower", "mowing"), "pause", {}, "pause", {}),
        (thing("climate", modes=("heat", "off")), "set_mode", {"mode": "heat"}, "set_hvac_mode", {"hvac_mode": "heat"}),
        (thing("climate", presets=("eco",)), "set_mode", {"mode": "eco"}, "set_preset_mode", {"preset_mode": "eco"}),
        (thing("input_select"), "select_option", {"option": "Away"}, "select_option", {"option": "Away"}),
        (thing("alarm_control_panel"), "arm", {"mode": "night"}, "alarm_arm_night", {}),
        (thing("alarm_control_panel"), "arm", {"mode": "disarmed", "code": "12"}, "alarm_disarm", {"code": "12"}),
        (thing("alarm_control_panel", features=1), "turn_on", {"code": "12"}, "alarm_arm_home", {"code": "12"}),
        (thing("lock"), "turn_off", {"code": "12"}, "unlock", {"code": "12"}),
        (thing("light", supported_color_modes=["color_temp"]), "set_light", {"color": "3300 kelvin"},
         "turn_on", {"color_temp_kelvin": 3300}),
    ],
)  # fmt: skip
def test_an_action_maps_to_a_service(
    entity: Entity, verb: Verb, values: dict[str, Any], name: str, data: dict[str, Any]
) -> None:
    found = service(entity, verb, **values)
    assert (found.name, found.data) == (name, data)


@pytest.mark.parametrize(
    ("entity", "verb", "values", "said"),
    [
        (thing("light", supported_color_modes=["onoff"]), "set_light", {"brightness": 30},
         "The it cannot be dimmed."),
        (thing("light", supported_color_modes=["brightness"]), "set_light", {"color": "white"},
         "The it cannot change its colour."),
        (thing("light", supported_color_modes=["hs"]), "set_light", {"color": "homeassistant"},
         "I do not know the colour homeassistant. Try red, green, blue or white."),
        (thing("cover", features=2), "turn_on", {}, "The it cannot be opened."),
        (thing("cover", features=3), "set_position", {"position": 50},
         "The it can only be opened or closed."),
        (thing("climate", min_temp=7, max_temp=30), "set_temperature", {"temperature": 31},
         "The it goes from 7 to 30 degrees."),
        (thing("climate", features=0), "set_temperature", {"temperature": 21},
         "The it cannot be set to a temperature."),
        (thing("climate", "heat", hvac_modes=["heat"]), "turn_off", {}, "The it cannot be turned off."),
        (thing("fan", features=0), "set_speed", {"percentage": 50}, "The it has only one speed."),
        (thing("media_player", features=0), "turn_on", {}, "The it cannot be turned on from here."),
        (thing("media_player", "on", features=0), "turn_off", {}, "The it cannot be turned off."),
        (thing("media_player"), "set_volume", {"volume_level": 20}, "The it is off."),
        (thing("media_player", "on", features=0), "set_volume", {"volume_level": 20},
         "The it cannot be set to a volume."),
        (thing("media_player"), "mute", {}, "The it is off."),
        (thing("media_player", "idle"), "pause", {}, "Nothing is playing on the it."),
        (thing("media_player", "idle"), "unpause", {}, "Nothing is paused on the it."),
        (thing("media_player", "idle"), "next", {}, "Nothing is playing on the it."),
        (thing("media_player", "playing", features=0), "next", {}, "The it cannot do that."),
        (thing("alarm_control_panel", features=8), "turn_on", {}, "The it cannot be armed from here."),
        (thing("scene"), "turn_off", {}, "The it is a scene; it cannot be turned off."),
        (thing("vacuum", features=0), "start", {}, "It cannot be started from here."),
        (thing("vacuum", features=0), "dock", {}, "It cannot be sent home."),
        (thing("vacuum", features=0), "clean_area", {"area": "attic"},
         "It cannot be sent to a single room."),
        (thing("lawn_mower", features=0), "dock", {}, "It cannot be sent home."),
        (thing("cover", features=3), "stop", {}, "The it cannot be stopped half way."),
        (thing("vacuum", features=0), "pause", {}, "It cannot be paused."),
        (thing("alarm_control_panel", features=2), "arm", {"mode": "night"}, "The it has no mode night."),
    ],
)  # fmt: skip
def test_an_unsupported_action_raises_a_sentence(entity: Entity, verb: Verb, values: dict[str, Any], said: str) -> None:
    with pytest.raises(HomeError) as refused:
        service_for(entity, Action(verb, (entity,), values))
    assert refused.value.message == said


@pytest.mark.parametrize("domain", ["climate", "media_player"])
def test_an_entity_that_is_on_is_not_restarted(domain: str) -> None:
    entity = thing(domain, "playing")
    assert service_for(entity, Action("turn_on", (entity,))) is None


@pytest.mark.parametrize(
    ("entity", "verb", "values", "done", "not_done"),
    [
        (thing("cover"), "turn_on", {}, thing("cover", "opening"), thing("cover", "closed")),
        (thing("cover"), "set_position", {"position": 50}, thing("cover", "opening", position=3),
         thing("cover", "open", position=10)),
        (thing("lock"), "turn_on", {}, thing("lock", "locking"), thing("lock", "unlocked")),
        (thing("vacuum"), "dock", {}, thing("vacuum", "returning"), thing("vacuum", "cleaning")),
        (thing("alarm_control_panel"), "turn_on", {}, thing("alarm_control_panel", "arming"),
         thing("alarm_control_panel", "disarmed")),
        (thing("light", supported_color_modes=["hs"]), "set_light", {"brightness": 50},
         thing("light", "on", brightness=51), thing("light", "on", brightness=20)),
        (thing("fan"), "set_speed", {"percentage": 50}, thing("fan", "on", percentage=50), thing("fan")),
        (thing("media_player", "playing"), "mute", {}, thing("media_player", is_volume_muted=True),
         thing("media_player", is_volume_muted=False)),
        (thing("switch"), "turn_off", {}, thing("switch", "off"), thing("switch", "unavailable")),
    ],
)  # fmt: skip
def test_the_new_state_confirms_the_action(
    entity: Entity, verb: Verb, values: dict[str, Any], done: Entity, not_done: Entity
) -> None:
    is_done = service(entity, verb, **values).is_done
    assert is_done is not None
    assert is_done(done)
    assert not is_done(not_done)
