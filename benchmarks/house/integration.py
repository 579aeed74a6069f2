"""A custom integration of Home Assistant with simulated devices; it runs there, not in EdgeVox.

`install` copies this file as `custom_components/simulated/__init__.py` and makes one file for each platform. The
devices are read from `house.json` in Home Assistant's folder. The service `simulated.reset` gives all of them the
facts of that file again, and some of them others.
"""

# ruff: noqa: ANN401 - Home Assistant, and so its types, are not installed here
from __future__ import annotations

import datetime as dt
import importlib
import json
from pathlib import Path
from typing import Any

DOMAIN = "simulated"
PLATFORMS = (
    "alarm_control_panel", "binary_sensor", "button", "calendar", "climate", "cover", "fan", "humidifier",
    "lawn_mower", "light", "lock", "media_player", "number", "select", "sensor", "siren", "switch", "todo", "vacuum",
    "valve", "water_heater", "weather",
)  # fmt: skip
_ENTITIES: dict[str, Any] = {}


def install(folder: Path, devices: list[dict[str, Any]]) -> str:
    """Put it into the configuration folder of a Home Assistant; what `configuration.yaml` needs for it."""
    package = folder / "custom_components" / DOMAIN
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")
    manifest = {
        "domain": DOMAIN,
        "name": "Simulated devices",
        "version": "1.0",
        "codeowners": [],
        "iot_class": "calculated",
    }
    (package / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (package / "services.yaml").write_text("reset:\n", encoding="utf-8")
    for platform in PLATFORMS:
        made = f'from . import platform_setup\n\nasync_setup_platform = platform_setup("{platform}")\n'
        (package / f"{platform}.py").write_text(made, encoding="utf-8")
    (folder / "house.json").write_text(json.dumps(devices), encoding="utf-8")
    return f"{DOMAIN}:\n" + "".join(f"{platform}:\n  - platform: {DOMAIN}\n" for platform in PLATFORMS)


async def async_setup(hass: Any, _config: Any) -> bool:
    """Home Assistant calls it at its start."""

    async def reset(call: Any) -> None:
        others = call.data.get("facts", {})
        for entity_id, entity in _ENTITIES.items():
            entity.put(**{**entity.initial, **others.get(entity_id, {})})

    hass.services.async_register(DOMAIN, "reset", reset)
    return True


def platform_setup(platform: str) -> Any:
    """The function that a platform's module has to have."""

    async def async_setup_platform(hass: Any, _config: Any, async_add_entities: Any, _info: Any = None) -> None:
        text = await hass.async_add_executor_job((Path(hass.config.config_dir) / "house.json").read_text)
        make = entity_class(platform)
        entities = [make(device) for device in json.loads(text) if device["id"].startswith(f"{platform}.")]
        async_add_entities(entities)
        _ENTITIES.update({entity.entity_id: entity for entity in entities})

    return async_setup_platform


class _Simulated:
    """A device whose facts are the attributes that Home Assistant's base classes read (`_attr_is_on` …)."""

    _attr_should_poll = False

    def __init__(self, device: dict[str, Any]) -> None:
        self.entity_id = device["id"]
        self._attr_name = device["name"]
        self._attr_unique_id = device["id"]
        for key, value in device.get("fixed", {}).items():
            setattr(self, f"_attr_{key}", value)
        self.initial = device.get("facts", {})
        self._set(self.initial)

    def _set(self, facts: dict[str, Any]) -> None:
        for key, value in facts.items():
            setattr(self, f"_attr_{key}", value)

    def put(self, **facts: Any) -> None:
        self._set(facts)
        self.async_write_ha_state()  # type: ignore[attr-defined]


class _Switched(_Simulated):
    async def async_turn_on(self, **_: Any) -> None:
        self.put(is_on=True)

    async def async_turn_off(self, **_: Any) -> None:
        self.put(is_on=False)


class _Light(_Switched):
    def __init__(self, device: dict[str, Any]) -> None:
        super().__init__(device)
        self._attr_supported_color_modes = set(device["fixed"]["supported_color_modes"])

    async def async_turn_on(self, **data: Any) -> None:
        facts: dict[str, Any] = {"is_on": True}
        if "brightness" in data:
            facts["brightness"] = data["brightness"]
        if "hs_color" in data:
            facts |= {"hs_color": data["hs_color"], "color_mode": "hs"}
        if "color_temp_kelvin" in data:
            facts |= {"color_temp_kelvin": data["color_temp_kelvin"], "color_mode": "color_temp"}
        self.put(**facts)


class _Cover(_Simulated):
    async def async_open_cover(self, **_: Any) -> None:
        self._move(100)

    async def async_close_cover(self, **_: Any) -> None:
        self._move(0)

    async def async_set_cover_position(self, **data: Any) -> None:
        self._move(data["position"])

    async def async_stop_cover(self, **_: Any) -> None:
        pass

    def _move(self, position: int) -> None:
        facts: dict[str, Any] = {"is_closed": position == 0}
        if "current_cover_position" in self.initial:
            facts["current_cover_position"] = position
        self.put(**facts)


class _Valve(_Simulated):
    async def async_open_valve(self) -> None:
        self.put(is_closed=False)

    async def async_close_valve(self) -> None:
        self.put(is_closed=True)


class _Climate(_Simulated):
    async def async_set_temperature(self, **data: Any) -> None:
        self.put(target_temperature=data["temperature"])

    async def async_set_hvac_mode(self, hvac_mode: str) -> None:
        self.put(hvac_mode=str(hvac_mode))

    async def async_set_preset_mode(self, preset_mode: str) -> None:
        self.put(preset_mode=preset_mode)

    async def async_turn_on(self) -> None:
        self.put(hvac_mode="heat")

    async def async_turn_off(self) -> None:
        self.put(hvac_mode="off")


class _WaterHeater(_Simulated):
    async def async_set_temperature(self, **data: Any) -> None:
        self.put(target_temperature=data["temperature"])

    async def async_set_operation_mode(self, operation_mode: str) -> None:
        self.put(current_operation=operation_mode)

    async def async_turn_on(self, **_: Any) -> None:
        self.put(current_operation="eco")

    async def async_turn_off(self, **_: Any) -> None:
        self.put(current_operation="off")


class _Fan(_Simulated):
    async def async_turn_on(self, percentage: int | None = None, _mode: str | None = None, **_: Any) -> None:
        self.put(percentage=percentage or 50)

    async def async_turn_off(self, **_: Any) -> None:
        self.put(percentage=0)

    async def async_set_percentage(self, percentage: int) -> None:
        self.put(percentage=percentage)


class _Player(_Simulated):
    async def async_turn_on(self) -> None:
        self.put(state="idle")

    async def async_turn_off(self) -> None:
        self.put(state="off")

    async def async_media_play(self) -> None:
        self.put(state="playing")

    async def async_media_pause(self) -> None:
        self.put(state="paused")

    async def async_media_stop(self) -> None:
        self.put(state="idle")

    async def async_media_next_track(self) -> None:
        self.put(media_title="the next one")

    async def async_media_previous_track(self) -> None:
        self.put(media_title="the one before")

    async def async_set_volume_level(self, volume: float) -> None:
        self.put(volume_level=volume)

    async def async_mute_volume(self, mute: bool) -> None:
        self.put(is_volume_muted=mute)

    async def async_select_source(self, source: str) -> None:
        self.put(source=source)


class _Lock(_Simulated):
    async def async_lock(self, **_: Any) -> None:
        self.put(is_locked=True)

    async def async_unlock(self, **_: Any) -> None:
        self.put(is_locked=False)


class _Robot(_Simulated):
    """A vacuum cleaner or a mower; its activity was the vacuum cleaner's state before 2025."""

    def _set(self, facts: dict[str, Any]) -> None:
        domain = self.entity_id.partition(".")[0]
        module = importlib.import_module(f"homeassistant.components.{domain}")
        kind = getattr(module, "VacuumActivity" if domain == "vacuum" else "LawnMowerActivity", None)
        if kind is None:
            self._attr_state = facts["activity"]
        else:
            self._attr_activity = kind(facts["activity"])

    async def async_start(self) -> None:
        self.put(activity="cleaning")

    async def async_start_mowing(self) -> None:
        self.put(activity="mowing")

    async def async_pause(self) -> None:
        self.put(activity="paused")

    async def async_dock(self) -> None:
        self.put(activity="docked")

    async def async_return_to_base(self, **_: Any) -> None:
        self.put(activity="docked")

    async def async_stop(self, **_: Any) -> None:
        self.put(activity="idle")


class _Humidifier(_Switched):
    async def async_set_humidity(self, humidity: int) -> None:
        self.put(target_humidity=humidity)

    async def async_set_mode(self, mode: str) -> None:
        self.put(mode=mode)


class _Select(_Simulated):
    async def async_select_option(self, option: str) -> None:
        self.put(current_option=option)


class _Number(_Simulated):
    async def async_set_native_value(self, value: float) -> None:
        self.put(native_value=value)


class _Button(_Simulated):
    async def async_press(self) -> None:
        pass


class _Alarm(_Simulated):
    def _set(self, facts: dict[str, Any]) -> None:
        module = importlib.import_module("homeassistant.components.alarm_control_panel")
        kind = getattr(module, "AlarmControlPanelState", None)
        if kind is None:
            self._attr_state = facts["alarm_state"]
        else:
            self._attr_alarm_state = kind(facts["alarm_state"])

    async def async_alarm_disarm(self, _code: str | None = None) -> None:
        self.put(alarm_state="disarmed")

    async def async_alarm_arm_away(self, _code: str | None = None) -> None:
        self.put(alarm_state="armed_away")

    async def async_alarm_arm_home(self, _code: str | None = None) -> None:
        self.put(alarm_state="armed_home")

    async def async_alarm_arm_night(self, _code: str | None = None) -> None:
        self.put(alarm_state="armed_night")


class _Todo(_Simulated):
    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """What is on it, for the benchmark to see."""
        left = [item for item in self._attr_todo_items if item.status == "needs_action"]
        return {"items": [item.summary for item in left], "due": [item.summary for item in left if item.due]}

    def _set(self, facts: dict[str, Any]) -> None:
        todo = importlib.import_module("homeassistant.components.todo")
        self._attr_todo_items = [
            todo.TodoItem(summary=item, uid=item, status=todo.TodoItemStatus.NEEDS_ACTION) for item in facts["items"]
        ]

    async def async_create_todo_item(self, item: Any) -> None:
        item.uid = item.summary
        self._attr_todo_items = [*self._attr_todo_items, item]
        self.async_write_ha_state()  # type: ignore[attr-defined]

    async def async_update_todo_item(self, item: Any) -> None:
        self._attr_todo_items = [item if old.uid == item.uid else old for old in self._attr_todo_items]
        self.async_write_ha_state()  # type: ignore[attr-defined]

    async def async_delete_todo_items(self, uids: list[str]) -> None:
        self._attr_todo_items = [item for item in self._attr_todo_items if item.uid not in uids]
        self.async_write_ha_state()  # type: ignore[attr-defined]


class _Calendar(_Simulated):
    """One event, "dentist" by name, tomorrow at three; those that are made are kept until the reset."""

    def _set(self, facts: dict[str, Any]) -> None:
        calendar = importlib.import_module("homeassistant.components.calendar")
        now = importlib.import_module("homeassistant.util.dt").now
        begins = now().replace(hour=15, minute=0, second=0, microsecond=0) + dt.timedelta(days=1)
        self._events = [
            calendar.CalendarEvent(begins, begins + dt.timedelta(hours=1), summary) for summary in facts["events"]
        ]

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """What is in it, for the benchmark to see."""
        return {"events": [event.summary for event in self._events]}

    @property
    def event(self) -> Any:
        return next(iter(self._events), None)

    async def async_get_events(self, _hass: Any, start_date: dt.datetime, end_date: dt.datetime) -> list[Any]:
        return [event for event in self._events if start_date <= event.start_datetime_local < end_date]

    async def async_create_event(self, **data: Any) -> None:
        calendar = importlib.import_module("homeassistant.components.calendar")
        self._events.append(calendar.CalendarEvent(data["dtstart"], data["dtend"], data["summary"]))
        self.async_write_ha_state()  # type: ignore[attr-defined]


class _Weather(_Simulated):
    async def async_forecast_daily(self) -> list[dict[str, Any]]:
        now = importlib.import_module("homeassistant.util.dt").now()
        # Tomorrow is rainy, and so is every weekend.
        conditions = ["cloudy", "rainy", "sunny", "sunny", "cloudy", "rainy", "sunny"]
        conditions = ["rainy" if (now.weekday() + day) % 7 > 4 else one for day, one in enumerate(conditions)]
        return [
            {
                "datetime": (now + dt.timedelta(days=day)).isoformat(),
                "condition": condition,
                "native_temperature": 14 + day,
                "native_templow": 6 + day,
                "precipitation_probability": 80 if condition == "rainy" else 10,
            }
            for day, condition in enumerate(conditions)
        ]


def entity_class(platform: str) -> Any:
    """A class for the devices of a platform: ours before Home Assistant's own."""
    module = importlib.import_module(f"homeassistant.components.{platform}")
    ours, theirs = {
        "alarm_control_panel": (_Alarm, "AlarmControlPanelEntity"),
        "binary_sensor": (_Simulated, "BinarySensorEntity"),
        "button": (_Button, "ButtonEntity"),
        "calendar": (_Calendar, "CalendarEntity"),
        "climate": (_Climate, "ClimateEntity"),
        "cover": (_Cover, "CoverEntity"),
        "fan": (_Fan, "FanEntity"),
        "humidifier": (_Humidifier, "HumidifierEntity"),
        "lawn_mower": (_Robot, "LawnMowerEntity"),
        "light": (_Light, "LightEntity"),
        "lock": (_Lock, "LockEntity"),
        "media_player": (_Player, "MediaPlayerEntity"),
        "number": (_Number, "NumberEntity"),
        "select": (_Select, "SelectEntity"),
        "sensor": (_Simulated, "SensorEntity"),
        "siren": (_Switched, "SirenEntity"),
        "switch": (_Switched, "SwitchEntity"),
        "todo": (_Todo, "TodoListEntity"),
        "vacuum": (_Robot, "StateVacuumEntity"),
        "valve": (_Valve, "ValveEntity"),
        "water_heater": (_WaterHeater, "WaterHeaterEntity"),
        "weather": (_Weather, "WeatherEntity"),
    }[platform]
    features = {
        "alarm_control_panel": "AlarmControlPanelEntityFeature", "calendar": "CalendarEntityFeature",
        "climate": "ClimateEntityFeature", "cover": "CoverEntityFeature", "fan": "FanEntityFeature",
        "humidifier": "HumidifierEntityFeature", "lawn_mower": "LawnMowerEntityFeature",
        "media_player": "MediaPlayerEntityFeature", "siren": "SirenEntityFeature", "todo": "TodoListEntityFeature",
        "vacuum": "VacuumEntityFeature", "valve": "ValveEntityFeature", "water_heater": "WaterHeaterEntityFeature",
        "weather": "WeatherEntityFeature",
    }.get(platform)  # fmt: skip
    attributes: dict[str, Any] = {}
    if features is not None:
        kind = getattr(module, features)

        class _WithFeatures(ours):  # type: ignore[misc, valid-type]
            def __init__(self, device: dict[str, Any]) -> None:
                super().__init__(device)
                self._attr_supported_features = kind(device["features"])

        ours = _WithFeatures
    if platform == "humidifier":
        attributes["_attr_available_modes"] = None
    return type(f"Simulated{platform}", (ours, getattr(module, theirs)), attributes)
