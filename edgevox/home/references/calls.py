"""Writes the calls of references: on given entities, with another value, a further step, or another time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal

from edgevox.core.languages import listed
from edgevox.core.types import ToolCall
from edgevox.core.words import number_value
from edgevox.home.alarms.alarm_handlers import length_slots
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.time_expression import PastTime, TimeExpression
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import clock_time, moment_phrase
from edgevox.home.colours import find_colour
from edgevox.home.entities import Entities, HomeError, House
from edgevox.home.grammar import pattern, tool_call
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.intents.quantities import POSITION, QUANTITIES, STEP, TEMPERATURE, stepped
from edgevox.home.intents.resolution import ENTITY_IDS
from edgevox.home.references.effects import Effect, TurnEffects
from edgevox.home.references.forms import TAIL, one_sentence
from edgevox.home.resolve.target_resolver import resolved_targets

TARGET_SLOTS = ("name", "area", "floor", "domain", "device_class", ENTITY_IDS)
_MAX_NAMED = 4


def call_on(tool: str, entities: Entities, values: Mapping[str, Any], house: House) -> ToolCall:
    """A call on these entities: by its name if that is enough, otherwise also by id."""
    slots = catalogue()[tool].parameters["properties"]
    name = listed([entity.name for entity in entities[:_MAX_NAMED]], "and")
    named: dict[str, Any] = {"name": name} if "name" in slots else {}
    if len(entities) > 1 or _ids(resolved_targets(tool, {**named, **values}, house)) != _ids(entities):
        named[ENTITY_IDS] = [entity.id for entity in entities]
    return tool_call(tool, **{**named, **values})


def values_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that do not select entities."""
    return {slot: value for slot, value in arguments.items() if slot not in TARGET_SLOTS}


def _ids(entities: Entities) -> list[str]:
    return [entity.id for entity in entities]


# --- another value: "make it blue", "set it to 30 percent"


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its unit, or a colour."""

    number: float | None = None
    unit: Literal["percent", "degrees", ""] = ""
    colour: str = ""


_VALUE_PARTS = pattern(r"^(?:to |at )?(?P<number>.+?) ?(?P<unit>%|percent|degrees?)?$")
_HALF = pattern(r"^half(?:[ -]?way)?(?: open)?$")

_PERCENTS = {
    "a quarter": 25, "quarter": 25, "one quarter": 25, "three quarters": 75, "a third": 33, "one third": 33,
    "full": 100, "two thirds": 67, "full brightness": 100, "full power": 100, "maximum": 100, "max": 100,
    "half power": 50,
    "half brightness": 50, "the max": 100, "a hundred percent": 100,
}  # fmt: skip


def read_value(said: str) -> Value | None:
    """The value that a text is, or None."""
    said = said.casefold().strip()
    if _HALF.match(said):
        return Value(50, "percent")
    if said in _PERCENTS:
        return Value(_PERCENTS[said], "percent")
    found = _VALUE_PARTS.match(said)
    if found is None:
        return None
    number = _number(found["number"])
    if number is not None:
        unit = found["unit"] or ""
        return Value(number, "degrees" if unit.startswith("degree") else "percent" if unit else "")
    if found["unit"]:
        return None
    try:
        return Value(colour=find_colour(said).name)
    except HomeError:
        return None


def _number(said: str) -> float | None:
    return 100.0 if said in ("hundred", "a hundred", "one hundred") else number_value(said)


_BY_DOMAIN = {quantity.domain: quantity for quantity in QUANTITIES} | {"valve": POSITION}
_MAX_PERCENT = 100


def value_call(said: str, entities: Entities, house: House) -> ToolCall | None:
    """The call that sets entities of one kind to a value, or None if it does not fit them."""
    value = read_value(said)
    domains = {entity.domain for entity in entities}
    if value is None or len(domains) != 1 or (domain := domains.pop()) not in _BY_DOMAIN:
        return None
    if value.colour:
        return call_on("light_set", entities, {"color": value.colour}, house) if domain == "light" else None
    quantity = _BY_DOMAIN[domain]
    number = _fitting(value, quantity.unit)
    if number is None or (domain == "media_player" and len(entities) > 1):
        return None
    return call_on(quantity.tool, entities, {quantity.slot: number}, house)


def _fitting(value: Value, unit: str) -> float | int | None:
    if value.number is None or value.unit not in ("", unit):
        return None
    if unit == "degrees":
        return value.number
    return round(value.number) if value.number <= _MAX_PERCENT else None


def scaled_call(factor: float, entities: Entities, house: House) -> ToolCall | None:
    """The call that multiplies the value of entities of one kind: "halve it"."""
    now = house.entity(entities[0].id) if len(entities) == 1 else None
    if now is None or now.domain not in _BY_DOMAIN or now.domain == "climate":
        return None
    quantity = _BY_DOMAIN[now.domain]
    value = now.attributes.get(quantity.slot)
    if not isinstance(value, int | float) or not value:
        return None
    return call_on(quantity.tool, entities, {quantity.slot: min(_MAX_PERCENT, round(value * factor))}, house)


# --- a further step: "more", "one more", "a bit less"

_BY_TOOL = {quantity.tool: quantity for quantity in QUANTITIES}
_VOLUME_STEP = "volume_step"


def further(effect: Effect, house: House, *, count: float | None = None, is_less: bool = False) -> ToolCall | None:
    """The call that changes the same value again; `is_less` goes half a step back. None if no value was changed."""
    arguments = effect.arguments
    if (step := arguments.get(_VOLUME_STEP)) is not None:
        if not isinstance(step, int | float):
            step = 10 if step == "up" else -10
        return _changed(effect, {_VOLUME_STEP: round(_next_step(step, count, is_less))}, house)
    if effect.call.name not in _BY_TOOL or not effect.entities:
        return None
    quantity = _BY_TOOL[effect.call.name]
    slot, (_, usual, largest) = quantity.slot, quantity.steps
    if count == 1 and quantity is not TEMPERATURE:
        count = None  # "one more" step
    step = arguments.get(STEP)
    if step is None:
        before, after = effect.entities[0].attributes.get(slot), arguments.get(slot)
        if not isinstance(before, int | float) or not isinstance(after, int | float) or before == after:
            return None
        step = after - before
        if abs(step) > largest:
            step = usual if step > 0 else -usual
    step = _next_step(step, count, is_less)
    now = house.entity(effect.entities[0].id)
    if now is None:
        return None
    if len(effect.entities) == 1:
        return _changed(effect, {slot: stepped(now, slot, step)}, house)
    return _changed(effect, {slot: stepped(now, slot, step), STEP: step}, house)


def _next_step(step: float, count: float | None, is_less: bool) -> float:
    size = count if count is not None else abs(step) / 2 if is_less else abs(step)
    return size if (step > 0) != is_less else -size


def _changed(effect: Effect, values: dict[str, float], house: House) -> ToolCall:
    kept = {slot: value for slot, value in values_of(effect.arguments).items() if slot not in (STEP, "color")}
    if effect.entities:
        return call_on(effect.call.name, effect.entities, {**kept, **values}, house)
    return replace(effect.call, id="")


# --- another time for the timer or alarm that was just set: "no, fifty minutes", "make it half past"

# What is left must be a time as a whole, so a command is never taken for one.
_CORRECTED = pattern(
    r"^(?:(?:(?:no|nope|oops|sorry|actually|rather|wait(?= no\b|,)|i (?:meant?|said)|(?:make|change|set|move|put) "
    r"(?:it|that|this)(?: (?:to|for|at))?|not (?:\w+ ){1,3}?but|(?:to|for|at))\b[, ]*)+)"
    rf"(?P<time>.+?)(?: instead| rather)?(?:,? not .+)?{TAIL}"
)
_LACKS_HOUR = pattern(r"\b(?:half|quarter|(?:five|ten|twenty(?:[ -]five)?)) (?:past|to)$")


def corrected_clock(text: str, last: TurnEffects, alarms: Alarms) -> ToolCall | None:
    """The call of the last turn with another time; None if it set no timer or alarm, or the text is no time."""
    effect = last.actions[-1] if len(last.actions) == 1 else None
    found = _CORRECTED.match(one_sentence(text))
    if effect is None or found is None:
        return None
    now, said = alarms.now(), found["time"]
    match effect.call.name:
        case "start_timer":
            return _timer_for(effect, said, now)
        case "set_alarm" | "set_reminder":
            known = {alarm.id for alarm in last.clocks.alarms}
            new = [alarm for alarm in last.clocks_after.alarms if alarm.id not in known]
            when = moved_time(said, new[0], alarms) if len(new) == 1 else ""
            return tool_call(effect.call.name, **{**effect.arguments, "time": when}) if when else None
        case _:
            return None


def _timer_for(effect: Effect, said: str, now: datetime) -> ToolCall | None:
    expression = _parsed(f"in {said}", now)
    if expression is None or not expression.in_s:
        return None
    kept = {slot: value for slot, value in effect.arguments.items() if slot not in ("hours", "minutes", "seconds")}
    return tool_call(effect.call.name, **kept, **length_slots(expression.in_s))


def moved_time(said: str, alarm: Alarm, alarms: Alarms) -> str:
    """The new time as the tool reads it: what was not said stays as it was; "" if there is none."""
    now = alarms.now()
    if alarm.repeat or alarm.sun:
        return ""
    meant = alarm.meant(alarms.zone)
    if _LACKS_HOUR.search(said):
        said = f"{said} {clock_time(meant.replace(minute=0))}"
    expression = _parsed(said, now)
    if expression is None or expression.repeat or expression.sun:
        return ""
    if expression.in_s is not None or (expression.dates and expression.has_time):
        return said
    if expression.has_time:
        times = [_at(meant, minute) for minute in expression.minutes]
        ahead = [when for when in times if when.timestamp() > now.timestamp()]
        return moment_phrase(min(ahead, key=lambda when: abs(when - meant)), now) if ahead else said
    if expression.dates:
        return moment_phrase(_on(expression.dates[0], meant), now)
    return ""


def _at(day: datetime, minute: int) -> datetime:
    return day.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(minutes=minute)


def _on(day: date, time: datetime) -> datetime:
    return time.replace(year=day.year, month=day.month, day=day.day)


def _parsed(said: str, now: datetime) -> TimeExpression | None:
    try:
        return parse_time(said, now)
    except (InvalidTime, PastTime):
        return None
