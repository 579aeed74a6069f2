"""Fuzzing of discovery and state messages: the house stays valid and every command gets an answer."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from edgevox.home import Action, HomeError, Verb
from edgevox.home.backends.mqtt.entities import MqttEntities

COMPONENTS = (
    "alarm_control_panel", "climate", "cover", "device", "fan", "lawn_mower", "light", "lock", "sensor",
    "siren", "switch", "vacuum", "valve",
)  # fmt: skip
KEYS = (
    "~", "avty", "avty_mode", "avty_t", "bri_cmd_t", "bri_scl", "bri_stat_t", "brightness", "cmd_t", "cmps",
    "code_format", "dev", "dev_cla", "exp_aft", "hs_stat_t", "max_temp", "min_temp", "mode_cmd_t",
    "mode_stat_t", "modes", "name", "obj_id", "off_dly", "on_cmd_type", "opt", "p", "pct_cmd_t",
    "pct_stat_t", "pos_clsd", "pos_open", "pos_t", "reports_position", "ret", "rgb_stat_t", "schema",
    "set_pos_t", "spd_rng_max", "spd_rng_min", "stat_t", "sup_clrm", "sup_feat", "temp_cmd_t",
    "temp_stat_t", "tilt_cmd_t", "tilt_max", "unit_of_meas", "val_tpl", "xy_stat_t",
)  # fmt: skip
VERBS: tuple[tuple[Verb, dict[str, object]], ...] = (
    ("turn_on", {}),
    ("turn_off", {}),
    ("set_light", {"brightness": 40, "color": "red"}),
    ("set_position", {"position": 40}),
    ("set_temperature", {"temperature": 21.5}),
    ("set_speed", {"percentage": 40}),
    ("start", {}),
    ("dock", {}),
    ("add_item", {"item": "milk"}),
)
_WORDS = st.sampled_from(("json", "a", "b"))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner, max_size=4),
    max_leaves=6,
)
_PAYLOADS = st.binary(max_size=40) | _JSON.map(lambda value: json.dumps(value).encode())


@settings(deadline=None)
@given(
    component=st.sampled_from(COMPONENTS),
    config=st.dictionaries(st.sampled_from(KEYS), _WORDS | _JSON, max_size=12),
    payloads=st.lists(_PAYLOADS, max_size=4),
)
def test_no_discovery_or_state_message_breaks_the_house(
    component: str, config: dict[str, Any], payloads: list[bytes]
) -> None:
    things = MqttEntities("homeassistant")
    announced = json.dumps({"cmd_t": "a", "stat_t": "a", **config})
    things.take(f"homeassistant/{component}/x/config", announced.encode())
    for payload in payloads:
        things.take("a", payload)
        things.take("b", payload)
    for entity in things.house().entities:
        thing = things.find(entity.id)
        assert thing is not None
        json.dumps([entity.name, entity.state, dict(entity.attributes)], ensure_ascii=False).encode()
        for verb, values in VERBS:
            with contextlib.suppress(HomeError):
                order = thing.component.command(entity, Action(verb, (entity,), values))
                assert order.is_done is None or order.is_done(entity, frozenset()) in (True, False)
