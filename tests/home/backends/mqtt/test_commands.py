"""Commands to devices behind a real broker, through the real executor: effects and answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.home.backends.mqtt.conftest import Spoken
from tests.home.backends.mqtt.devices import Devices


@pytest.mark.parametrize(
    ("tool", "arguments", "said", "commands"),
    [
        ("turn_on", {"name": "kitchen lamp"}, "The kitchen lamp is on.",
         [("zigbee2mqtt/kitchen_lamp/set", '{"state": "ON"}')]),
        ("light_set", {"name": "kitchen lamp", "brightness": 40}, "The kitchen lamp is at 40 percent.",
         [("zigbee2mqtt/kitchen_lamp/set", '{"state": "ON", "brightness": 102}')]),
        ("light_set", {"name": "kitchen lamp", "color": "red"}, "The kitchen lamp is red.",
         [("zigbee2mqtt/kitchen_lamp/set", '{"state": "ON", "color": {"x": 0.6401, "y": 0.33}}')]),
        ("light_set", {"name": "kitchen lamp", "color": "warm white"}, "The kitchen lamp is warm white.",
         [("zigbee2mqtt/kitchen_lamp/set", '{"state": "ON", "color_temp": 370}')]),
        ("light_set", {"name": "kitchen lamp", "color": "bleen"},
         "I do not know the colour bleen. Try red, green, blue or white.", []),
        ("light_set", {"name": "strip counter", "brightness": 30, "color": "blue"},
         "The strip counter is blue and at 30 percent.",
         [("strip/cmnd/Color", "0,0,255"), ("strip/cmnd/Dimmer", "30"), ("strip/cmnd/POWER", "ON")]),
        ("turn_on", {"name": "coffee machine"}, "The coffee machine is on.",
         [("tasmota_A1B2C3/cmnd/POWER", "ON")]),
        ("turn_on", {"area": "kitchen", "domain": "light"}, "The kitchen lamp and the strip counter are on.",
         [("zigbee2mqtt/kitchen_lamp/set", '{"state": "ON"}'), ("strip/cmnd/POWER", "ON")]),
        ("climate_set_temperature", {"temperature": 21.5}, "The radiator is set to 21.5 degrees.",
         [("zigbee2mqtt/Radiator/set", '{"occupied_heating_setpoint": 21.5 }')]),
        ("climate_set_temperature", {"temperature": 60}, "The radiator goes from 5 to 30 degrees.", []),
        ("climate_get_temperature", {"area": "kitchen"}, "It is 19.5 degrees in the kitchen.", []),
        ("turn_off", {"name": "radiator"}, "The radiator is off.",
         [("zigbee2mqtt/Radiator/set", '{"system_mode": "off"}')]),
        ("set_position", {"name": "blinds", "position": 40}, "The living room blinds are 40 percent open.",
         [("zigbee2mqtt/living room/blinds/set", '{ "position": 40 }')]),
        ("turn_off", {"name": "blinds"}, "The living room blinds are closed.",
         [("zigbee2mqtt/living room/blinds/set", '{"state": "CLOSE", "position": 0}')]),
        ("turn_on", {"name": "curtains"}, "The bedroom curtains are opening.",
         [("bedroom/cover/command", "OPEN")]),
        ("set_position", {"name": "curtains", "position": 30}, "The bedroom curtains are 30 percent open.",
         [("bedroom/cover/position/command", "30")]),
        ("fan_set_speed", {"name": "fan", "percentage": 50}, "The bedroom ceiling fan is at 50 percent.",
         [("bedroom/fan/command", "ON"), ("bedroom/fan/speed/command", "2")]),
        ("turn_on", {"name": "entrance lock"}, "The entrance lock is locked.",
         [("zigbee2mqtt/Entrance Lock/set", '{"state": "LOCK"}')]),
        ("turn_on", {"name": "sprinkler"}, "The garden sprinkler is open.", [("garden/tap/set", "OPEN")]),
        ("turn_on", {"name": "horn"}, "The garden horn is on.", [("garden/horn/set", '{"state": "ON"}')]),
        ("lawn_mower_start_mowing", {}, "The garden mower is mowing.",
         [("garden/mower/set", "start_mowing")]),
        ("vacuum_start", {}, "The robot is cleaning.", [("robot/set", "start")]),
        ("vacuum_return_to_base", {}, "The robot is going home.", [("robot/set", "return_to_base")]),
        ("vacuum_pause", {}, "The robot is paused.", [("robot/set", "pause")]),
        ("lawn_mower_pause", {}, "The garden mower is paused.", [("garden/mower/set", "pause")]),
        ("stop_moving", {"name": "curtains"}, "The bedroom curtains have stopped.",
         [("bedroom/cover/command", "STOP")]),
        ("stop_moving", {"name": "sprinkler"}, "The garden sprinkler cannot be stopped half way.", []),
        ("climate_set_mode", {"mode": "automatic"}, "The radiator is set to auto.",
         [("zigbee2mqtt/Radiator/set", '{"system_mode": "auto"}')]),
        ("climate_set_mode", {"mode": "eco"}, "The radiator has no mode eco. It has off, auto and heat.", []),
        ("select_option", {"name": "house mode", "option": "away"}, "The house mode is Away.", [("mode/set", "Away")]),
        ("light_set_temperature", {"name": "kitchen lamp", "kelvin": 4000}, "The kitchen lamp is at 4000 kelvin.",
         [("zigbee2mqtt/kitchen_lamp/set", '{"state": "ON", "color_temp": 250}')]),
        ("vacuum_clean_area", {"area": "kitchen"}, "The robot cannot be sent to one room.", []),
        ("turn_on", {"name": "movie night"}, "Movie Night is set.", [("scenes/movie", "ON")]),
        ("turn_on", {"name": "alarm"}, "The alarm is arming.", [("alarm/set", "ARM_AWAY")]),
        ("alarm_set_mode", {"mode": "disarmed"}, "The alarm is disarmed.", [("alarm/set", "DISARM")]),
        ("turn_on", {"name": "humidifier"}, "The humidifier is on.", [("humid/set", "ON")]),
        ("turn_on", {"name": "fountain"}, "The fountain is on.", [("fountain/set", "ON")]),
        ("get_state", {"name": "front door", "device_class": "door"}, "The front door is closed.", []),
        ("get_state", {"name": "front door temperature"}, "The front door temperature is 18.5 °C.", []),
        ("get_state", {"domain": "light", "state": "on"}, "No, none of the 2 lights is on.", []),
        ("get_state", {"name": "robot"}, "The robot is docked.", []),
        ("list_add_item", {"item": "milk", "name": "shopping list"},
         "I know nothing called shopping list.", []),
        ("broadcast", {"message": "lunch"}, "This home has no loudspeakers that I could speak through.", []),
    ],
)  # fmt: skip
async def test_a_command_is_executed_and_answered(
    spoken: Spoken, devices: Devices, tool: str, arguments: dict[str, Any], said: str, commands: list[tuple[str, str]]
) -> None:
    assert await spoken.say(tool, **arguments) == said
    assert devices.commands == commands
