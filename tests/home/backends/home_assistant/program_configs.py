"""Scripts, scenes and automations of Home Assistant as they are stored, dangerous and harmless. Data only."""

from __future__ import annotations

from typing import Any

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "cover.garage": {"device_class": "garage"},
    "cover.blinds": {"device_class": "blind"},
    "group.doors": {"entity_id": ["light.hall", "lock.front"]},
    "group.lamps": {"entity_id": ["light.hall", "light.desk"]},
    "light.circle": {"entity_id": ["light.desk"]},
}
CONFIGS: dict[str, dict[str, Any]] = {
    "script.unlocks": {"sequence": [{"action": "lock.unlock", "target": {"entity_id": "lock.front"}}]},
    "script.lamps": {"sequence": [{"action": "light.turn_on", "target": {"entity_id": "light.desk"}}]},
    "script.itself": {"sequence": [{"action": "script.itself"}]},
    "scene.opens": {"entities": {"cover.garage": {"state": "open"}}},
    "scene.night": {"entities": {"lock.front": {"state": "locked"}, "cover.garage": "closed", "light.desk": "off"}},
    "automation.opens": {"triggers": [], "actions": [{"action": "cover.open_cover", "entity_id": "cover.garage"}]},
    "automation.lamps": {"trigger": [], "action": [{"service": "light.turn_off", "entity_id": "all"}]},
}


def _steps(*steps: object) -> dict[str, Any]:
    return {"sequence": list(steps)}


def _act(action: str, entity_id: object = None, **data: object) -> dict[str, Any]:
    target = {"target": {"entity_id": entity_id}} if entity_id else {}
    return {"action": action, **target, **({"data": data} if data else {})}


_UNLOCK = _act("lock.unlock", "lock.front")
_LAMP = _act("light.turn_on", "light.desk")

DANGEROUS: dict[str, object] = {
    "a lock": _steps(_UNLOCK),
    "a lock by the old word": _steps({"service": "lock.unlock", "entity_id": "lock.front"}),
    "a lock in the data": _steps({"service": "lock.unlock", "data": {"entity_id": "lock.front"}}),
    "a latch": _steps(_act("lock.open", "lock.front")),
    "a lock of an area": _steps({"action": "lock.unlock", "target": {"area_id": "hall"}}),
    "a lock among others": _steps(_LAMP, {"delay": 5}, _act("lock.unlock", ["light.desk", "lock.front"])),
    "two ids in one text": _steps(_act("homeassistant.turn_off", "light.desk, lock.front")),
    "a garage": _steps(_act("cover.open_cover", "cover.garage")),
    "a garage by toggle": _steps(_act("cover.toggle", "cover.garage")),
    "a garage by position": _steps(_act("cover.set_cover_position", "cover.garage", position=30)),
    "a garage by a template": _steps(_act("cover.set_cover_position", "cover.garage", position="{{ x }}")),
    "a cover of a device": _steps({"action": "cover.open_cover", "target": {"device_id": "abc"}}),
    "all covers": _steps(_act("cover.open_cover", "all")),
    "an alarm": _steps(_act("alarm_control_panel.alarm_disarm", "alarm_control_panel.house")),
    "a switch with a name": _steps(_act("switch.turn_on", "switch.gate_opener")),
    "a switch of an area": _steps({"action": "switch.turn_on", "target": {"area_id": "garage"}}),
    "a button": _steps(_act("button.press", "button.open_garage")),
    "a selector": _steps(_act("select.select_option", "select.porch_lock", option="unlocked")),
    "a gas valve": _steps(_act("valve.open_valve", "valve.gas")),
    "a siren": _steps(_act("siren.turn_on", "siren.roof")),
    "a device's action": _steps({"device_id": "abc", "domain": "lock", "type": "unlock", "entity_id": "0f3a"}),
    "a device's cover": _steps({"device_id": "abc", "domain": "cover", "type": "open", "entity_id": "0f3a"}),
    "in a choice": _steps({"choose": [{"conditions": [], "sequence": [_UNLOCK]}]}),
    "in a default": _steps({"choose": [], "default": [_UNLOCK]}),
    "in then": _steps({"if": [], "then": [_UNLOCK]}),
    "in else": _steps({"if": [], "then": [_LAMP], "else": _UNLOCK}),
    "in a repetition": _steps({"repeat": {"count": 2, "sequence": [_UNLOCK]}}),
    "in parallel": _steps({"parallel": [_LAMP, {"sequence": [_UNLOCK]}]}),
    "in a sequence": _steps({"sequence": [{"sequence": [_UNLOCK]}]}),
    "through a script": _steps(_act("script.turn_on", "script.unlocks")),
    "through a script by name": _steps({"action": "script.unlocks"}),
    "through a scene": _steps({"scene": "scene.opens"}),
    "through a scene's service": _steps(_act("scene.turn_on", "scene.opens")),
    "through a scene made then": _steps(_act("scene.apply", entities={"lock.front": "unlocked"})),
    "through an automation": _steps(_act("automation.trigger", "automation.opens")),
    "through a group": _steps(_act("homeassistant.turn_off", "group.doors")),
    "through a script that is not there": _steps({"action": "script.elsewhere"}),
    "a template for the service": _steps({"action": "{{ 'lock.unlock' }}", "target": {"entity_id": "lock.front"}}),
    "a template for the entity": _steps(_act("homeassistant.turn_on", "{{ door }}")),
    "a shell": _steps({"action": "shell_command.open"}),
    "a message to a device": _steps(_act("mqtt.publish", topic="door/set", payload="open")),
    "an event": _steps({"event": "open_sesame"}),
    "words to an assistant": _steps(_act("conversation.process", text="unlock the door")),
    "an unknown step": _steps({"some_new_step": 1}),
    "a step that a template disables": _steps({"enabled": "{{ x }}", **_UNLOCK}),
    "a blueprint": {"use_blueprint": {"path": "x.yaml", "input": {}}},
    "nothing readable": {},
    "a scene": {"entities": {"light.desk": "on", "lock.front": "unlocked"}},
    "a scene with an object": {"entities": {"cover.garage": {"state": "open", "current_position": 100}}},
    "a scene with unknown states": {"entities": {"lock.front": None}},
    "a scene with a switch": {"entities": {"switch.gate_opener": True}},
    "an automation": {"triggers": [], "actions": [_UNLOCK]},
    "an old automation": {"trigger": [], "action": _UNLOCK},
}
HARMLESS: dict[str, object] = {
    "a lamp": _steps(_LAMP),
    "a lamp by the old word": _steps({"service": "light.turn_on", "entity_id": "light.desk"}),
    "lights of an area": _steps({"action": "light.turn_off", "target": {"area_id": "garage"}}),
    "a light by a template": _steps(_act("light.turn_on", "{{ lamp }}")),
    "music": _steps(_act("media_player.play_media", "media_player.tv", media_content_id="x")),
    "a notification": _steps(_act("notify.notify", message="the door is unlocked")),
    "a wait": _steps({"delay": 5}, {"wait_template": "{{ x }}"}, {"condition": "state"}, {"stop": "done"}),
    "locking": _steps(_act("lock.lock", "lock.front")),
    "locking an area": _steps({"action": "lock.lock", "target": {"area_id": "hall"}}),
    "closing": _steps(_act("cover.close_cover", "cover.garage")),
    "closing by position": _steps(_act("cover.set_cover_position", "cover.garage", position=0)),
    "arming": _steps(_act("alarm_control_panel.alarm_arm_night", "alarm_control_panel.house")),
    "blinds": _steps(_act("cover.open_cover", "cover.blinds")),
    "a pump": _steps(_act("switch.turn_on", "switch.pump")),
    "a device's lock": _steps({"device_id": "abc", "domain": "lock", "type": "lock"}),
    "a device's light": _steps({"device_id": "abc", "domain": "light", "type": "toggle"}),
    "in a choice": _steps({"choose": [{"conditions": [], "sequence": [_LAMP]}], "default": [_LAMP]}),
    "in then and else": _steps({"if": [], "then": [_LAMP], "else": [_LAMP]}),
    "a repetition": _steps({"repeat": {"count": 2, "sequence": [_LAMP]}}),
    "in parallel": _steps({"parallel": [_LAMP, {"sequence": [_LAMP]}]}),
    "through a script": _steps({"action": "script.lamps"}),
    "through a script that calls itself": _steps({"action": "script.itself"}),
    "through a scene": _steps({"scene": "scene.night"}),
    "through an automation": _steps(_act("automation.trigger", "automation.lamps")),
    "through a group": _steps(_act("homeassistant.turn_off", "group.lamps")),
    "a disabled step": _steps({"enabled": False, **_UNLOCK}, _LAMP),
    "stopping a script": _steps(_act("script.turn_off", "script.unlocks")),
    "a scene": {"entities": {"light.desk": "on", "media_player.tv": "off"}},
    "a scene that locks": {"entities": {"lock.front": "locked", "cover.garage": "closed"}},
    "a group of lights": {"entities": {"light.circle": "on"}},
    "an automation": {"triggers": [], "actions": [_LAMP]},
}
