"""The tools that change things: choose them, have the home do it, and say how they are now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.choosing import choose
from edgevox.tools.home.home import Action, Home, HomeError, Verb
from edgevox.tools.home.house import Area, Attributes, Entity, House
from edgevox.tools.home.matching import Unclear, find_area
from edgevox.tools.home.places import find_place
from edgevox.tools.home.states import state_phrase
from edgevox.tools.home.wording import brief, counted, is_are, listed, number, sentence, the

_MOST_NAMED = 3
_LOUDER = 10


async def switch(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    """turn_on and turn_off."""
    verb: Verb = "turn_on" if tool == "turn_on" else "turn_off"
    done = await _act(home, verb, choose(tool, arguments, home.house()))
    return _as_they_are(done, home.house())


async def set_light(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    values = _given(arguments, "brightness", "color")
    if not values:
        raise Unclear("What brightness or colour should it be?")
    done = await _act(home, "set_light", choose(tool, arguments, home.house()), values)
    brightness = f"at {values['brightness']} percent" if values.get("brightness") else ""
    how = " and ".join(filter(None, (str(values.get("color", "")), brightness)))
    return _are_now(done, home.house(), how or "off")


async def set_position(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    position = arguments["position"]
    done = await _act(home, "set_position", choose(tool, arguments, home.house()), {"position": position})
    how = {0: "closed", 100: "open"}.get(position, f"{position} percent open")
    return _are_now(done, home.house(), how)


async def set_temperature(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    temperature = arguments["temperature"]
    found = choose(tool, arguments, home.house())
    done = await _act(home, "set_temperature", found, {"temperature": temperature})
    return _are_now(done, home.house(), f"set to {number(temperature)} degrees")


async def set_speed(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    percentage = arguments["percentage"]
    done = await _act(home, "set_speed", choose(tool, arguments, home.house()), {"percentage": percentage})
    return _are_now(done, home.house(), f"at {percentage} percent" if percentage else "off")


async def set_volume(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    return await _volume(home, choose(tool, arguments, home.house()), arguments["volume_level"])


async def step_volume(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    step = arguments["volume_step"]
    by = {"up": _LOUDER, "down": -_LOUDER}.get(step, step)
    found = choose(tool, arguments, home.house())
    level = found[0].attributes.get("volume_level") or 0
    return await _volume(home, found, min(100, max(0, level + by)))


async def _volume(home: Home, found: tuple[Entity, ...], level: int) -> str:
    done = await _act(home, "set_volume", found, {"volume_level": level})
    return sentence(f"the volume of {listed([the(player) for player in done], 'and')} is {level} percent")


async def play(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    values = _given(arguments, "search_query", "media_class")
    done = await _act(home, "play", choose(tool, arguments, home.house()), values)
    return sentence(f"playing {brief(values['search_query'])} on {the(done[0])}")


_MEDIA: dict[str, tuple[Verb, str]] = {
    "media_pause": ("pause", "{} is paused"),
    "media_unpause": ("unpause", "{} is playing again"),
    "media_next": ("next", "{} plays the next track"),
    "media_previous": ("previous", "{} plays the previous track"),
    "media_player_mute": ("mute", "{} is muted"),
    "media_player_unmute": ("unmute", "{} has its sound back"),
}


async def control_player(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    """Pause, go on, skip and mute."""
    verb, words = _MEDIA[tool]
    done = await _act(home, verb, choose(tool, arguments, home.house()))
    return sentence(words.format(the(done[0])))


async def run_robot(home: Home, tool: str, arguments: Mapping[str, Any]) -> str:
    """Vacuum cleaners and lawn mowers."""
    house = home.house()
    found = choose(tool, arguments, house)
    match tool:
        case "vacuum_clean_area":
            return await _clean(home, found, find_area(house, arguments["area"]))
        case "vacuum_start" if not arguments.get("name") and isinstance(
            area := find_place(house, arguments.get("area") or ""), Area
        ):
            return await _clean(home, found, area)
        case "vacuum_start" | "lawn_mower_start_mowing":
            done = await _act(home, "start", found)
            doing = "cleaning" if tool == "vacuum_start" else "mowing"
            return sentence(f"{_names(done)} {_verb(done)} {doing}")
        case _:
            done = await _act(home, "dock", found)
            return sentence(f"{_names(done)} {_verb(done)} going home")


async def _clean(home: Home, found: tuple[Entity, ...], area: Area) -> str:
    done = await _act(home, "clean_area", found, {"area": area.id})
    return sentence(f"{_names(done)} {_verb(done)} cleaning {the(area)}")


async def _act(
    home: Home, verb: Verb, found: tuple[Entity, ...], values: Attributes | None = None
) -> tuple[Entity, ...]:
    """Those that did it, as they are afterwards; at least one. Raises HomeError."""
    reachable = tuple(entity for entity in found if entity.state != "unavailable")
    if not reachable:
        raise HomeError(sentence(f"{_names(found)} {'does' if len(found) == 1 else 'do'} not answer"))
    done = await home.apply(Action(verb, reachable, values or {}))
    if not done:
        raise HomeError(sentence(f"{_names(reachable)} did nothing"))
    return done


def _given(arguments: Mapping[str, Any], *slots: str) -> dict[str, Any]:
    return {slot: arguments[slot] for slot in slots if arguments.get(slot) not in (None, "")}


# --- sentences


def _as_they_are(done: tuple[Entity, ...], house: House) -> str:
    """How things are after they were switched; those of one kind are in one state."""
    if len(done) == 1 and done[0].domain in ("scene", "script"):
        return sentence(f"{done[0].name} is {'set' if done[0].domain == 'scene' else 'running'}")
    phrases = list(dict.fromkeys(state_phrase(entity) for entity in done))
    if len(phrases) == 1:
        return _are_now(done, house, phrases[0])
    return " ".join(
        _are_now(tuple(entity for entity in done if state_phrase(entity) == phrase), house, phrase)
        for phrase in phrases
    )


def _are_now(done: tuple[Entity, ...], house: House, how: str) -> str:
    return sentence(f"{_names(done, house)} {_verb(done)} {how}")


def _verb(things: tuple[Entity, ...]) -> str:
    return is_are(things[0].name) if len(things) == 1 else "are"


def _names(things: tuple[Entity, ...], house: House | None = None) -> str:
    """ "the desk lamp", "the desk lamp and the printer", "5 lights in the kitchen"."""
    if len(things) <= _MOST_NAMED:
        return listed([the(entity) for entity in things], "and")
    domains = {entity.domain for entity in things}
    noun = domains.pop().replace("_", " ") if len(domains) == 1 else "thing"
    areas = {entity.area for entity in things}
    area = house.area(areas.pop()) if house and len(areas) == 1 else None
    return counted(len(things), noun) + (f" in {the(area)}" if area else "")
