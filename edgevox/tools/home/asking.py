"""The tools that only look: states, temperature, weather, time and date, each answered in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from edgevox.tools.home.choosing import choose
from edgevox.tools.home.home import Home, HomeError
from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.states import is_in_state, knows_state, state_phrase
from edgevox.tools.home.wording import counted, is_are, listed, number, place_of, sentence, the

_MOST_NAMED = 4


async def get_state(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    house = home.house()
    found = choose(tool, arguments, house)
    state = arguments.get("state")
    if state:
        # Of a door's lock and its sensor, the one that the question is about.
        found = tuple(entity for entity in found if knows_state(entity, state)) or found
        if len(found) == 1:
            yes_no = "Yes" if is_in_state(found[0], state) else "No"
            return f"{yes_no}, {the(found[0])} {is_are(found[0].name)} {state_phrase(found[0])}."
        return _counted(found, str(state))
    if len(found) == 1 and found[0].domain == "todo":
        return await _read_list(home, found[0])
    if len(found) > _MOST_NAMED:
        return _summed_up(found)
    return sentence(listed(_as_they_are(found, house), "and"))


async def get_temperature(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    house = home.house()
    found = choose(tool, arguments, house)
    readings = [
        f"{number(warmth)} degrees{place_of(entity, house)}"
        for entity in found[:_MOST_NAMED]
        if (warmth := _warmth(entity)) is not None
    ]
    if not readings:
        raise HomeError(sentence(f"{the(found[0])} does not tell the temperature"))
    return sentence(f"it is {listed(readings, 'and')}")


async def get_weather(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    weather = choose(tool, arguments, home.house())[0]
    temperature = weather.attributes.get("temperature")
    warmth = f" and {number(temperature)} degrees" if temperature is not None else ""
    return sentence(f"it is {state_phrase(weather)}{warmth}")


def current_time(now: datetime) -> str:
    """In the words of a clock: "It is 7:05 pm." """
    hour = now.hour % 12 or 12
    return f"It is {hour}:{now.minute:02d} {'am' if now.hour < 12 else 'pm'}."


def current_date(now: datetime) -> str:
    return f"It is {now:%A}, {now:%B} {now.day}, {now.year}."


def _as_they_are(found: tuple[Entity, ...], house: House) -> list[str]:
    """A phrase for each thing; the sides of one thing (a door's lock and its sensor) share one."""
    things: dict[tuple[str, str | None], list[Entity]] = {}
    for entity in found:
        things.setdefault((entity.name, entity.area), []).append(entity)
    names = [name for name, _ in things]
    return [
        f"{the(name)}{place_of(sides[0], house) if names.count(name) > 1 else ''} {is_are(name)} "
        + listed([state_phrase(side) for side in sides], "and")
        for (name, _), sides in things.items()
    ]


def _counted(found: tuple[Entity, ...], state: str) -> str:
    """Answers "are all", "are any", "which" and "how many" alike, since the call is the same."""
    matching = [entity for entity in found if is_in_state(entity, state)]
    said = state_phrase(matching[0]) if matching else state.replace("_", " ")
    things = counted(len(found), _noun(found))
    if len(matching) == len(found):
        return f"All {things} are {said}."
    if not matching:
        return f"No, none of the {things} is {said}."
    names = f": {listed([the(entity) for entity in matching], 'and')}" if len(matching) <= _MOST_NAMED else ""
    return f"{len(matching)} of {things} {'is' if len(matching) == 1 else 'are'} {said}{names}."


def _summed_up(found: tuple[Entity, ...]) -> str:
    states: dict[str, int] = {}
    for entity in found:
        states[state_phrase(entity)] = states.get(state_phrase(entity), 0) + 1
    parts = [f"{count} {'is' if count == 1 else 'are'} {state}" for state, count in states.items()]
    return sentence(f"of {counted(len(found), _noun(found))}, {listed(parts[:_MOST_NAMED], 'and')}")


def _noun(found: tuple[Entity, ...]) -> str:
    classes = {entity.device_class for entity in found}
    domains = {entity.domain for entity in found}
    if len(classes) == 1 and (only := classes.pop()):
        return only.replace("_", " ")
    return domains.pop().replace("_", " ") if len(domains) == 1 else "thing"


async def _read_list(home: Home, the_list: Entity) -> str:
    waiting = [item.text for item in await home.items(the_list.id) if not item.is_done]
    if not waiting:
        return sentence(f"{the(the_list)} is empty")
    return sentence(f"on {the(the_list)}: {listed(waiting, 'and')}")


def _warmth(entity: Entity) -> float | None:
    value = entity.attributes.get("current_temperature") if entity.domain == "climate" else entity.state
    try:
        return float(value) if value is not None else None
    except ValueError:
        return None
