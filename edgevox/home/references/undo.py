"""Reverses the effects of a turn with calls of the home tools, which policy and confirmation judge like any others."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, assert_never

from edgevox.core.languages import listed
from edgevox.core.types import ToolCall
from edgevox.home.alarms.alarm_handlers import RUNS, length_slots
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.time_expression import PastTime
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import moment_phrase
from edgevox.home.alarms.timers import Timer, Timers
from edgevox.home.entities import Entities, Entity, House
from edgevox.home.grammar import tool_call
from edgevox.home.intents.list_handlers import REOPEN
from edgevox.home.phrasing import sentence, the
from edgevox.home.references.calls import call_on
from edgevox.home.references.effects import Clocks, Effect, TurnEffects

_Step: TypeAlias = tuple[str, dict[str, Any]]
"""A tool and its arguments without a target."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """The calls that reverse a turn, and sentences about what they cannot reverse."""

    calls: tuple[ToolCall, ...] = ()
    problems: tuple[str, ...] = ()


def reverse(turn: TurnEffects, house: House, timers: Timers, alarms: Alarms) -> Reversal:
    """Raises StateError."""
    steps: defaultdict[str, list[Entity]] = defaultdict(list)
    calls: list[ToolCall] = []
    problems: list[str] = []
    restored: set[str] = set()
    for effect in turn.actions:
        if (special := _SPECIAL.get(effect.call.name)) is not None:
            match special(effect):
                case str() as problem:
                    problems.append(problem)
                case (tool, values):
                    calls.append(call_on(tool, effect.entities, values, house))
            continue
        problems += _lost_colours(effect)
        for before in _changed_by(effect, turn):
            now = house.entity(before.id)
            if now is None or before.id in restored:
                continue
            restored.add(before.id)
            done, problem = _restoring(before, now)
            for tool, values in done:
                steps[json.dumps([tool, values])].append(before)
            if problem:
                problems.append(problem)
    for step, entities in steps.items():
        tool, values = json.loads(step)
        calls.append(call_on(tool, tuple(entities), values, house))
    for clock_calls, clock_problems in (
        (tuple(_timers_back(turn.clocks, turn.clocks_after, timers)), ()),
        _alarms_back(turn.clocks, turn.clocks_after, alarms),
    ):
        calls += clock_calls
        problems += clock_problems
    return Reversal(tuple(calls), tuple(dict.fromkeys(problems)))


# --- entities

_SWITCHED = frozenset({"switch", "input_boolean", "humidifier", "siren", "automation"})
# What a scene or script may have changed; not locks and alarm panels, which it is safer to change by name.
_SET_BY_SCENES = frozenset({"light", "fan", "cover", "climate", "media_player", *_SWITCHED})


def _changed_by(effect: Effect, turn: TurnEffects) -> Entities:
    if turn.house is None or not any(entity.domain in ("scene", "script") for entity in effect.entities):
        return effect.entities
    return tuple(entity for entity in turn.house.entities if entity.domain in _SET_BY_SCENES)


def _restoring(before: Entity, now: Entity) -> tuple[list[_Step], str]:
    """The steps from one state of an entity to another, and what they leave out."""
    match before.domain:
        case "light":
            return _light(before, now)
        case "fan":
            return [_on_at(before, "fan_set_speed", "percentage")] if _differ(before, now, "percentage") else [], ""
        case "cover" | "valve":
            return [_position(before)] if _differ(before, now, "position") else [], ""
        case "climate":
            return [_on_at(before, "climate_set_temperature", "temperature")] if _differ(
                before, now, "temperature"
            ) else [], ""
        case "media_player":
            return _player(before, now)
        case "lock":
            return _switched(before, now, on=before.state == "locked")
        case "alarm_control_panel":
            return _switched(before, now, on=before.state.startswith("armed"))
        case "vacuum" | "lawn_mower" if before.state != now.state:
            return _robot(before)
        case domain if domain in _SWITCHED:
            return _switched(before, now, on=before.state == "on")
        case "vacuum" | "lawn_mower":
            return [], ""
        case _:
            return [], sentence(f"I do not know how to put {the(before)} back")


def _light(before: Entity, now: Entity) -> tuple[list[_Step], str]:
    if not _differ(before, now, "brightness", "color"):
        return [], ""
    if before.state != "on":
        return [("turn_off", {})] if now.state == "on" else [], ""
    values = {slot: before.attributes[slot] for slot in ("brightness", "color") if before.attributes.get(slot)}
    if before.attributes.get("color") == now.attributes.get("color"):
        values.pop("color", None)
    return [("light_set", values) if values else ("turn_on", {})], ""


def _lost_colours(effect: Effect) -> Iterator[str]:
    """A sentence for each light whose former colour the home does not report."""
    for light in effect.entities if effect.arguments.get("color") else ():
        if light.state == "on" and not light.attributes.get("color"):
            yield sentence(f"I do not know which colour {the(light)} had")


def _on_at(before: Entity, tool: str, slot: str) -> _Step:
    """On with its former value, or off."""
    if before.state == "off":
        return "turn_off", {}
    value = before.attributes.get(slot)
    return (tool, {slot: value}) if value else ("turn_on", {})


def _position(before: Entity) -> _Step:
    position = before.attributes.get("position")
    if position is None:
        position = 0 if before.state.startswith("clos") else 100
    return (
        ("set_position", {"position": position}) if 0 < position < 100 else ("turn_on" if position else "turn_off", {})
    )


def _player(before: Entity, now: Entity) -> tuple[list[_Step], str]:
    steps: list[_Step] = []
    problem = ""
    if before.attributes.get("is_volume_muted") != now.attributes.get("is_volume_muted"):
        muted = before.attributes.get("is_volume_muted")
        steps.append(("media_player_mute" if muted else "media_player_unmute", {}))
    level = before.attributes.get("volume_level")
    if level is not None and level != now.attributes.get("volume_level"):
        steps.append(("set_volume", {"volume_level": level}))
    if before.state != now.state:
        match before.state, now.state:
            case "off" | "standby", _:
                steps.append(("turn_off", {}))
            case "playing", "paused":
                steps.append(("media_unpause", {}))
            case _, "playing":
                steps.append(("media_pause", {}))
            case _, "off":
                steps.append(("turn_on", {}))
                problem = _plays_no_more(now) if before.state == "playing" else ""
            case _:
                problem = _plays_no_more(now)
    return steps, problem


def _plays_no_more(player: Entity) -> str:
    return sentence(f"{the(player)} does not go back to what it played")


def _switched(before: Entity, now: Entity, *, on: bool) -> tuple[list[_Step], str]:
    if before.state == now.state:
        return [], ""
    return [("turn_on" if on else "turn_off", {"domain": before.domain} if before.domain == "lock" else {})], ""


def _robot(before: Entity) -> tuple[list[_Step], str]:
    was_out = before.state in ("cleaning", "mowing")
    if before.domain == "vacuum":
        return [("vacuum_start" if was_out else "vacuum_return_to_base", {})], ""
    return [("lawn_mower_start_mowing" if was_out else "lawn_mower_dock", {})], ""


def _differ(before: Entity, now: Entity, *attributes: str) -> bool:
    return before.state != now.state or any(
        before.attributes.get(attribute) != now.attributes.get(attribute) for attribute in attributes
    )


# --- calls that leave no state to restore


def _without_added(effect: Effect) -> _Step:
    return "list_remove_item", {"item": effect.arguments["item"]}


def _with_removed(effect: Effect) -> _Step:
    return "list_add_item", {"item": effect.arguments["item"]}


def _with_ticked(effect: Effect) -> _Step:
    return "list_complete_item", {"item": effect.arguments["item"], REOPEN: not effect.arguments.get(REOPEN)}


_SPECIAL: dict[str, Callable[[Effect], _Step | str]] = {
    "list_add_item": _without_added,
    "shopping_list_add_item": _without_added,
    "list_remove_item": _with_removed,
    "list_complete_item": _with_ticked,
    "shopping_list_complete_item": _with_ticked,
    "media_next": lambda _effect: ("media_previous", {}),
    "media_previous": lambda _effect: ("media_next", {}),
    "media_search_and_play": lambda _effect: ("media_pause", {}),
    "broadcast": lambda _effect: "What was announced cannot be taken back.",
}


# --- timers and alarms


def _timers_back(before: Clocks, after: Clocks, timers: Timers) -> Iterator[ToolCall]:
    then = {timer.id: timer for timer in before.timers}
    since = {timer.id: timer for timer in after.timers}
    running = {timer.id for timer in timers.all()}
    for key, timer in since.items():
        if key not in then and key in running:
            yield tool_call("cancel_timer", **_timer_slots(timer))
    for key, timer in then.items():
        if key not in since or (timer != since[key] and key in running):
            yield from _timer_back(timer, since.get(key), timers)


def _timer_back(before: Timer, now: Timer | None, timers: Timers) -> Iterator[ToolCall]:
    if now is None:
        if left_s := round(timers.remaining_s(before)):
            labels = {"name": before.name, "conversation_command": before.command}
            yield tool_call(
                "start_timer", **length_slots(left_s), **{slot: label for slot, label in labels.items() if label}
            )
        return
    if before.is_paused != now.is_paused:
        yield tool_call("pause_timer" if before.is_paused else "unpause_timer", **_timer_slots(now))
    elif change_s := round(timers.remaining_s(now) - timers.remaining_s(before)):
        tool = "decrease_timer" if change_s > 0 else "increase_timer"
        yield tool_call(tool, **length_slots(abs(change_s)), **_timer_slots(now))


def _timer_slots(timer: Timer) -> dict[str, Any]:
    return {"name": timer.name} if timer.name else length_slots(timer.length_s, "start_")


def _alarms_back(before: Clocks, after: Clocks, alarms: Alarms) -> tuple[list[ToolCall], list[str]]:
    then = {alarm.id: alarm for alarm in before.alarms}
    since = {alarm.id: alarm for alarm in after.alarms}
    still_set = {alarm.id for alarm in alarms.all()}
    calls, lost = list[ToolCall](), list[Alarm]()
    for key, alarm in since.items():
        if key not in then and key in still_set:
            name = {"name": f"{alarm.label} {alarm.kind}".strip()}
            calls.append(tool_call("cancel_alarm", **(name if alarm.label else {"time": _when(alarm, alarms)})))
    for key, alarm in then.items():
        if since.get(key) == alarm:
            continue
        if key in since or alarm.repeat or not (when := _when(alarm, alarms)):
            lost.append(alarm)
            continue
        match alarm.kind:
            case "alarm":
                calls.append(tool_call("set_alarm", time=when, **({"name": alarm.label} if alarm.label else {})))
            case "reminder":
                calls.append(tool_call("set_reminder", time=when, task=alarm.label))
            case "schedule":
                calls.append(tool_call("set_reminder", time=when, task=alarm.label, **{RUNS: True}))
            case _:
                assert_never(alarm.kind)
    kinds = listed(sorted({alarm.kind for alarm in lost}), "and") if lost else ""
    return calls, [f"Please set the {kinds} again yourself."] if kinds else []


def _when(alarm: Alarm, alarms: Alarms) -> str:
    """The time of an alarm as its tool reads it, or "" if it would be read as another one."""
    meant, now = alarm.meant(alarms.zone), alarms.now()
    phrase = moment_phrase(meant, now)
    return phrase if _reads_as(phrase, meant, now, alarm) else ""


def _reads_as(phrase: str, meant: datetime, now: datetime, alarm: Alarm) -> bool:
    try:
        when = parse_time(phrase, now).when(now, alarm.kind)
    except (InvalidTime, PastTime):
        return False
    return abs(when.at.timestamp() - meant.timestamp()) < 60
