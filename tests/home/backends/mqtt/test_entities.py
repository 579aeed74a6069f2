"""Entities from discovery messages, and limits against a malicious broker."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from edgevox.home import Action, Area, Entity, HomeError, Verb
from edgevox.home.backends.mqtt.component import Command
from edgevox.home.backends.mqtt.entities import MAX_ENTITIES, MAX_STATE_BYTES, MAX_TOPICS, MqttEntities


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def things(clock: Clock) -> MqttEntities:
    return MqttEntities("homeassistant", clock)


def announce(things: MqttEntities, path: str, config: dict[str, Any] | str) -> None:
    text = config if isinstance(config, str) else json.dumps(config)
    things.take(f"homeassistant/{path}/config", text.encode())


def only(things: MqttEntities) -> Entity:
    (entity,) = things.house().entities
    return entity


def order(things: MqttEntities, verb: Verb, **values: object) -> Command:
    entity = only(things)
    thing = things.find(entity.id)
    assert thing is not None
    return thing.component.command(entity, Action(verb, (entity,), values))


def is_done(things: MqttEntities, verb: Verb, /, *news: str, **values: object) -> bool:
    check = order(things, verb, **values).is_done
    return check is None or check(only(things), frozenset(news))


def sent(things: MqttEntities, verb: Verb, **values: object) -> list[tuple[str, str]]:
    return [(message.topic, message.payload) for message in order(things, verb, **values).messages]


LAMP = {"name": "Lamp", "cmd_t": "lamp/set", "stat_t": "lamp"}


@pytest.mark.parametrize(
    ("config", "name", "entity_id"),
    [
        ({"name": "Lamp"}, "Lamp", "light.lamp"),
        ({}, "hall lamp", "light.hall_lamp"),
        ({"name": None, "dev": {"name": "hall_lamp/2"}}, "hall lamp 2", "light.hall_lamp_2"),
        ({"name": "Left", "dev": {"name": "Hall Lamp"}}, "Hall Lamp Left", "light.hall_lamp_left"),
        ({"name": "Hall Lamp Left", "dev": {"name": "Hall Lamp"}}, "Hall Lamp Left", "light.hall_lamp_left"),
        ({"name": "lamp", "dev": {"name": "Hall Lamp"}}, "Hall Lamp", "light.hall_lamp"),
        ({"name": "Lamp", "obj_id": "x1"}, "Lamp", "light.x1"),
        ({"name": "Lamp", "def_ent_id": "light.x2"}, "Lamp", "light.x2"),
        ({"name": "Hall\nLamp\u0000\ud800 " + 200 * "x"}, "Hall Lamp " + 70 * "x", "light.hall_lamp_" + 70 * "x"),
    ],
)
def test_an_entity_has_a_name(things: MqttEntities, config: dict[str, Any], name: str, entity_id: str) -> None:
    announce(things, "light/hall_lamp", {"cmd_t": "lamp/set", **config})
    assert (only(things).name, only(things).id) == (name, entity_id)


def test_a_component_without_a_name_is_named_after_its_kind(things: MqttEntities) -> None:
    config = {"stat_t": "s", "dev_cla": "temperature", "dev": {"name": "Bedroom Sensor", "sa": "Bedroom"}}
    announce(things, "sensor/s", config)
    assert only(things).name == "Bedroom Sensor Temperature"
    assert (only(things).area, things.house().areas) == ("bedroom", (Area("bedroom", "Bedroom"),))


def test_two_entities_of_the_same_name_have_different_ids(things: MqttEntities) -> None:
    announce(things, "light/a", LAMP)
    announce(things, "light/b", LAMP)
    announce(things, "light/b", {**LAMP, "name": "Other Lamp"})
    assert [(entity.id, entity.name) for entity in things.house().entities] == [
        ("light.lamp", "Lamp"),
        ("light.lamp_2", "Other Lamp"),
    ]


def test_a_state_received_before_discovery_is_known(things: MqttEntities) -> None:
    """Things of one device share a topic, which is followed with the first of them."""
    announce(things, "sensor/t", {"name": "T", "stat_t": "room", "val_tpl": "{{ value_json.t }}"})
    things.take("room", b'{"t": 20.5, "h": 61}')
    announce(things, "sensor/h", {"name": "H", "stat_t": "room", "val_tpl": "{{ value_json.h }}"})
    assert [entity.state for entity in things.house().entities] == ["61", "20.5"]


def test_a_message_without_the_value_changes_nothing(things: MqttEntities) -> None:
    announce(things, "sensor/t", {"name": "T", "stat_t": "room", "val_tpl": "{{ value_json.t }}"})
    for payload in (b'{"t": 20.5}', b'{"h": 61}', b"", b"\xff\xfe", b"{"):
        things.take("room", payload)
        assert only(things).state == "20.5"


@pytest.mark.parametrize(
    ("mode", "said", "is_available"),
    [
        ("all", ["a"], False),
        ("all", ["a", "b"], True),
        ("any", [], False),
        ("any", ["b"], True),
        ("any", ["a", "b", "-a"], True),
        ("latest", ["a"], True),
        ("latest", ["a", "b", "-a"], False),
    ],
)
def test_availability_topics_are_combined(things: MqttEntities, mode: str, said: list[str], is_available: bool) -> None:
    topics = [{"t": "~/a"}, {"topic": "~/b", "val_tpl": "{{ value_json.state }}", "pl_avail": "up"}]
    announce(things, "light/x", {**LAMP, "~": "base", "avty": topics, "avty_mode": mode})
    things.take("lamp", b"ON")
    payloads = {"a": b"online", "-a": b"offline", "b": b'{"state": "up"}'}
    for one in said:
        things.take(f"base/{one.removeprefix('-')}", payloads[one])
    assert only(things).state == ("on" if is_available else "unavailable")


def test_an_availability_topic_may_have_its_own_payloads(things: MqttEntities) -> None:
    announce(things, "light/x", {**LAMP, "avty_t": "up", "pl_avail": "Yes", "pl_not_avail": "No"})
    states = []
    for payload in (b"maybe", b"Yes", b"No"):
        things.take("up", payload)
        states.append(only(things).state)
    assert states == ["unavailable", "unknown", "unavailable"]


def test_an_expired_sensor_is_unavailable(things: MqttEntities, clock: Clock) -> None:
    announce(things, "sensor/x", {"name": "X", "stat_t": "x", "exp_aft": 60})
    things.take("x", b"5")
    clock.now_s += 59
    assert only(things).state == "5"
    clock.now_s += 2
    assert only(things).state == "unavailable"


def test_motion_ends_after_its_off_delay(things: MqttEntities, clock: Clock) -> None:
    announce(things, "binary_sensor/x", {"name": "X", "stat_t": "x", "off_dly": 5, "dev_cla": "motion"})
    things.take("x", b"ON")
    assert only(things).state == "on"
    clock.now_s += 6
    assert only(things).state == "off"


def test_components_of_a_device_can_be_removed_one_by_one(things: MqttEntities) -> None:
    part = {"p": "switch", "name": "A", "cmd_t": "a"}
    announce(things, "device/d", {"dev": {"name": "D"}, "stat_t": "d", "cmps": {"a": part, "b": {**part, "name": "B"}}})
    assert [entity.name for entity in things.house().entities] == ["D A", "D B"]
    assert things.topics == {"d"}
    announce(things, "device/d", {"dev": {"name": "D"}, "stat_t": "d", "cmps": {"a": part, "b": {"p": "switch"}}})
    assert only(things).name == "D A"
    announce(things, "device/d", "")
    assert things.house().entities == ()
    assert things.topics == frozenset()


def test_diagnostic_and_disabled_entities_are_ignored(things: MqttEntities) -> None:
    announce(things, "switch/a", {**LAMP, "ent_cat": "config"})
    announce(things, "switch/b", {**LAMP, "en": False})
    announce(things, "text/c", LAMP)
    announce(things, "light/d", {**LAMP, "schema": "template"})
    assert things.house().entities == ()


# --- the kinds of things, beyond what the broker's tests show


def test_a_json_light_is_parsed(things: MqttEntities) -> None:
    announce(things, "light/x", {**LAMP, "schema": "json", "sup_clrm": ["hs"], "brightness": True})
    things.take("lamp", b'{"state": "ON", "brightness": 51, "color": {"h": 240, "s": 100}}')
    assert only(things).state == "on"
    assert only(things).attributes == {"brightness": 20, "color": "blue"}
    assert sent(things, "set_light", color="green") == [
        ("lamp/set", '{"state": "ON", "color": {"h": 120.0, "s": 100.0}}')
    ]
    assert sent(things, "set_light", brightness=0) == [("lamp/set", '{"state": "OFF"}')]


def test_a_light_can_be_turned_on_by_brightness(things: MqttEntities) -> None:
    announce(things, "light/x", {**LAMP, "bri_cmd_t": "b/set", "bri_stat_t": "b", "on_cmd_type": "brightness"})
    assert sent(things, "turn_on") == [("b/set", "255")]
    things.take("b", b"128")
    assert only(things).attributes["brightness"] == 50


def test_a_light_with_topics_may_use_other_scales(things: MqttEntities) -> None:
    config = {**LAMP, "on_cmd_type": "first", "xy_cmd_t": "xy", "clr_temp_cmd_t": "ct", "xy_stat_t": "xy/s"}
    announce(things, "light/x", config)
    assert sent(things, "set_light", color="red") == [("lamp/set", "ON"), ("xy", "0.6401,0.33")]
    assert sent(things, "set_light", color="cool white") == [("lamp/set", "ON"), ("ct", "167")]
    things.take("lamp", b"ON")
    assert is_done(things, "set_light", color="cool white"), "a white is no colour to be reported"
    assert not is_done(things, "set_light", color="red")
    things.take("xy/s", b"0.64,0.33")
    assert is_done(things, "set_light", "color", color="red")
    assert only(things).attributes["color"] == "red"
    with pytest.raises(HomeError, match="The lamp cannot be dimmed"):
        order(things, "set_light", brightness=10)


def test_a_light_without_colours_refuses_a_colour(things: MqttEntities) -> None:
    announce(things, "light/x", LAMP)
    with pytest.raises(HomeError, match="The lamp cannot change its colour"):
        order(things, "set_light", color="red")


def test_a_cover_may_invert_its_position(things: MqttEntities) -> None:
    config = {"name": "Blind", "set_pos_t": "set", "pos_t": "pos", "pos_open": 0, "pos_clsd": 255}
    announce(things, "cover/x", config)
    things.take("pos", b"51")
    assert (only(things).state, only(things).attributes["position"]) == ("open", 80)
    assert sent(things, "set_position", position=20) == [("set", "204")]
    assert sent(things, "turn_off") == [("set", "255")]


def test_a_cover_command_is_done_when_it_starts_to_move(things: MqttEntities) -> None:
    announce(things, "cover/x", {"name": "Blind", "set_pos_t": "set", "pos_t": "pos"})
    things.take("pos", b"100")
    closing = order(things, "turn_off")
    assert closing.is_done is not None
    assert closing.underway is not None
    told = []
    for position in (b"100", b"97", b"1", b"0"):
        things.take("pos", position)
        told.append((closing.is_done(only(things), frozenset()), closing.underway(only(things))))
    assert told == [(False, "closing"), (True, "closing"), (True, "closed"), (True, "closed")]


def test_a_cover_in_an_unknown_state_must_move_first(things: MqttEntities) -> None:
    announce(things, "cover/x", {"name": "Blind", "set_pos_t": "set", "pos_t": "pos"})
    is_done = order(things, "turn_off").is_done
    assert is_done is not None
    done = []
    for position in (b"100", b"90"):
        things.take("pos", position)
        done.append(is_done(only(things), frozenset({"position"})))
    assert done == [False, True]


def test_a_cover_may_report_only_its_state(things: MqttEntities) -> None:
    announce(things, "cover/x", {"name": "Gate", "cmd_t": "gate", "stat_t": "s", "tilt_status_t": "t"})
    for state, opened, closed in (("open", True, False), ("closing", False, True), ("closed", False, True)):
        things.take("s", state.encode())
        assert (is_done(things, "turn_on"), is_done(things, "turn_off")) == (opened, closed)
    announce(things, "cover/x", {"name": "Gate", "cmd_t": "gate", "tilt_status_t": "t"})
    assert order(things, "turn_on").is_done is None, "slats say nothing of the rest"


def test_a_cover_may_have_no_position_or_only_tilt(things: MqttEntities) -> None:
    announce(things, "cover/x", {"name": "Gate", "cmd_t": "gate"})
    with pytest.raises(HomeError, match="The gate cannot stop half way"):
        order(things, "set_position", position=50)
    announce(things, "cover/x", {"name": "Slats", "tilt_cmd_t": "tilt", "tilt_max": 180})
    assert sent(things, "set_position", position=50) == [("tilt", "90")]


def test_a_valve_may_have_a_position(things: MqttEntities) -> None:
    announce(things, "valve/x", {"name": "Tap", "cmd_t": "set", "stat_t": "s", "reports_position": True})
    things.take("s", b'{"state": "opening", "position": 30}')
    assert (only(things).state, only(things).attributes["position"]) == ("opening", 30)
    things.take("s", b"0")
    assert only(things).state == "closed"
    assert sent(things, "turn_on") == [("set", "100")]


def test_a_lock_or_alarm_that_needs_a_code_is_refused(things: MqttEntities) -> None:
    announce(things, "lock/x", {"name": "Door", "cmd_t": "set", "code_format": "^\\d{4}$"})
    with pytest.raises(HomeError, match="The door needs a code"):
        order(things, "turn_off")
    announce(things, "lock/x", "")
    announce(
        things,
        "alarm_control_panel/x",
        {"name": "Alarm", "cmd_t": "set", "code": "REMOTE_CODE", "cod_arm_req": False, "sup_feat": ["arm_home"]},
    )
    assert sent(things, "turn_on") == [("set", "ARM_HOME")]
    with pytest.raises(HomeError, match="The alarm needs a code"):
        order(things, "turn_off")


def test_a_thermostat_is_turned_on_with_a_supported_mode(things: MqttEntities) -> None:
    announce(things, "climate/x", {"name": "Air", "mode_cmd_t": "mode", "modes": ["off", "cool", "dry"]})
    assert sent(things, "turn_on") == [("mode", "cool")]
    assert order(things, "turn_on").is_done is None, "it does not tell"
    announce(things, "climate/x", {"name": "Air", "pow_cmd_t": "power", "temp_unit": "F"})
    assert sent(things, "turn_off") == [("power", "OFF")]
    assert (only(things).attributes["min_temp"], only(things).attributes["unit"]) == (45, "°F")


# --- a broker that means harm


@pytest.mark.parametrize(
    "config",
    [
        "nonsense",
        "[1, 2]",
        "[" * 60_000,
        '{"cmd_t": "a", "modes": ' + "[" * 400 + "]" * 400 + "}",
        {"name": "x"},
        {"cmd_t": "#"},
        {"cmd_t": "a/+/b"},
        {"cmd_t": "$share/x/y"},
        {"cmd_t": "a" * 300},
        {"cmd_t": "/".join("a" * 100)},
        {"cmd_t": "half \ud800"},
        {"cmd_t": ["a"]},
        {"cmd_t": "a", "stat_t": "s", "val_tpl": "x" * 3000},
        {"cmd_t": "a", "exp_aft": "NaN"},
        {"cmd_t": "a", "avty": [{"t": f"t{number}"} for number in range(32)]},
    ],
)
def test_an_invalid_discovery_message_is_ignored(things: MqttEntities, config: dict[str, Any] | str) -> None:
    announce(things, "switch/x", config)
    assert things.house().entities == ()
    assert things.topics == frozenset()


@pytest.mark.parametrize(
    "payload",
    [
        b'"\\ud800"',
        b"1e999",
        b"NaN",
        b"9" * 5000,
        b"[" * 9000,
        b'{"state": {}}',
        b'{"state": ' + 900 * b"[" + 900 * b"]" + b"}",
    ],
)
def test_an_invalid_state_is_ignored(things: MqttEntities, payload: bytes) -> None:
    announce(things, "light/x", {**LAMP, "schema": "json", "brightness": True})
    announce(things, "cover/x", {"name": "Blind", "set_pos_t": "set", "pos_t": "lamp"})
    announce(things, "sensor/x", {"name": "Sensor", "stat_t": "lamp"})
    things.take("lamp", payload)
    for entity in things.house().entities:
        entity.state.encode()
        assert entity.domain == "sensor" or entity.state == "unknown"


def test_the_number_of_entities_is_limited(things: MqttEntities, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 50
    monkeypatch.setattr(f"{MqttEntities.__module__}.MAX_ENTITIES", most)
    tracemalloc.start()
    try:
        for number in range(10 * most):
            announce(things, f"switch/{number}", {"name": "Lamp", "cmd_t": f"c/{number}", "stat_t": f"s/{number}"})
            things.take(f"s/{number}", b"x" * MAX_STATE_BYTES)
            things.take(f"s/{number}", b"x" * (MAX_STATE_BYTES + 1))
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(things.house().entities) == most
    assert held_bytes < most * (MAX_STATE_BYTES + 20_000)


def test_parsing_a_message_has_a_time_limit() -> None:
    seconds = iter(range(1000))
    things = MqttEntities("homeassistant", lambda: float(next(seconds)))
    for number in range(10):
        announce(things, f"sensor/{number}", {"name": f"S{number}", "stat_t": "s"})
    things.take("s", b"1")
    assert [entity.state for entity in things.house().entities].count("1") == 1


def test_the_number_of_topics_is_limited(things: MqttEntities) -> None:
    for number in range(MAX_ENTITIES):
        topics = [{"t": f"a/{number}/{other}"} for other in range(15)]
        announce(things, f"switch/{number}", {"name": "Lamp", "cmd_t": "c", "avty": topics})
    assert len(things.topics) <= MAX_TOPICS


_FLOOR = {"name": "Floor", "temp_cmd_t": "f/set", "temp_stat_t": "f", "curr_temp_t": "f"}


def test_what_needs_a_template_that_cannot_be_used_is_left_out_and_named(things: MqttEntities) -> None:
    unusable = "{% for x in value_json %}{{ x }}{% endfor %}"
    announce(things, "climate/f", {**_FLOOR, "mode_cmd_t": "f/mode", "mode_cmd_tpl": unusable})
    announce(things, "switch/s", {"name": "Pump", "cmd_t": "p/set", "stat_t": "p", "val_tpl": unusable})
    assert only(things).name == "Floor"
    assert sent(things, "set_temperature", temperature=21) == [("f/set", "21.0")]
    with pytest.raises(HomeError, match="cannot be turned off"):
        order(things, "turn_off")
    pump, floor = things.house().left_out
    assert pump.startswith("Pump: its value_template uses For")
    assert floor.startswith("Floor: its mode_command_template uses For")
    announce(things, "switch/s", "")
    announce(things, "climate/f", _FLOOR)
    assert things.house().left_out == ()


def test_numbers_and_humidifiers_are_set(things: MqttEntities) -> None:
    announce(things, "number/n", {"name": "Limit", "cmd_t": "n/set", "stat_t": "n", "min": 0, "max": 10})
    things.take("n", b"4")
    assert only(things).state == "4"
    assert sent(things, "set_number", value=7) == [("n/set", "7")]
    with pytest.raises(HomeError, match="from 0 to 10"):
        order(things, "set_number", value=11)
    announce(things, "number/n", "")
    humidifier = {"name": "Mist", "cmd_t": "m/set", "target_humidity_command_topic": "m/humidity"}
    announce(things, "humidifier/m", humidifier)
    assert sent(things, "set_humidity", humidity=45) == [("m/humidity", "45")]


def test_a_thermostat_whose_modes_are_read_through_keys_is_understood(things: MqttEntities) -> None:
    modes = "{% set values = {'schedule': 'auto', 'manual': 'heat', 'pause': 'off'} %}"
    read = modes + "{% set value = value_json.operating_mode %}{{ values[value] if value in values.keys() else 'off' }}"
    write = "{% set values = {'auto': 'schedule', 'heat': 'manual', 'off': 'pause'} %}"
    write += "{{ values[value] if value in values.keys() else 'pause' }}"
    announce(
        things,
        "climate/f",
        {**_FLOOR, "mode_cmd_t": "f/mode", "mode_cmd_tpl": write, "mode_stat_t": "f", "mode_stat_tpl": read},
    )
    things.take("f", b'{"operating_mode": "manual"}')
    assert only(things).state == "heat"
    assert sent(things, "set_mode", mode="auto") == [("f/mode", "schedule")]


def test_zigbee2mqtt_is_asked_for_states_that_it_does_not_retain(things: MqttEntities) -> None:
    origin = {"o": {"name": "Zigbee2MQTT"}}
    announce(things, "light/a", {"cmd_t": "z/a/set", "stat_t": "z/a", "schema": "json", **origin})
    announce(
        things, "switch/b", {"cmd_t": "z/b/set", "stat_t": "z/b", "val_tpl": "{{ value_json.state_l1 }}", **origin}
    )
    announce(things, "sensor/c", {"stat_t": "z/c", "val_tpl": "{{ value_json.battery }}", **origin})
    announce(things, "light/d", {"cmd_t": "d/set", "stat_t": "d"})
    things.take("z/a", b'{"linkquality": 90}')
    asked = {(question.topic, question.payload) for question in things.questions()}
    assert asked == {("z/a/get", '{"state": ""}'), ("z/b/get", '{"state_l1": ""}')}
    things.take("z/a", b'{"state": "ON"}')
    assert [question.topic for question in things.questions()] == ["z/b/get"]
