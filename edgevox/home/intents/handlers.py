"""Intent handlers: query or change the resolved entities, and answer in a sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from edgevox.core.languages import counted, listed
from edgevox.core.words import normalized_words
from edgevox.home.colours import kelvin_of
from edgevox.home.entities import Action, Attributes, Entities, Entity, Home, HomeError, House, Verb
from edgevox.home.intents.list_handlers import read_list
from edgevox.home.intents.quantities import STEP, stepped
from edgevox.home.intents.resolution import ALARM_MODES, ResolvedIntent, mode_called
from edgevox.home.phrasing import brief, is_are, is_in_state, knows_state, number, place_of, sentence, state_phrase, the
from edgevox.home.resolve.target_resolver import ClarificationNeeded

_MAX_NAMED_DONE = 3
_LOUDER = 10


async def switch(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """turn_on and turn_off."""
    verb: Verb = "turn_on" if tool == "turn_on" else "turn_off"
    done = await _apply(home, verb, intent.entities, {"code": intent.code} if intent.code else {})
    return _states_after(done, home.house())


async def set_light(home: Home, tool: str, intent: ResolvedIntent) -> str:
    if STEP in intent.arguments:
        return await _step(home, "set_light", "brightness", intent, lambda percent: f"at {percent} percent")
    values = _given(intent.arguments, "brightness", "color")
    if not values:
        raise ClarificationNeeded("What brightness or colour should it be?")
    done = await _apply(home, "set_light", intent.entities, values)
    brightness = f"at {values['brightness']} percent" if values.get("brightness") else ""
    how = " and ".join(filter(None, (str(values.get("color", "")), brightness)))
    return _are_now(done, home.house(), how or "off")


VALUE_SETTINGS: dict[str, tuple[Verb, str, Callable[[Any], str]]] = {
    "set_position": (
        "set_position", "position", lambda percent: {0: "closed", 100: "open"}.get(percent, f"{percent} percent open"),
    ),
    "climate_set_temperature": ("set_temperature", "temperature", lambda degrees: f"set to {number(degrees)} degrees"),
    "fan_set_speed": ("set_speed", "percentage", lambda percent: f"at {percent} percent" if percent else "off"),
    "set_number": ("set_number", "value", lambda value: f"set to {number(value)}"),
    "humidifier_set_humidity": ("set_humidity", "humidity", lambda percent: f"set to {percent} percent"),
}  # fmt: skip


async def set_value(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """Positions, temperatures and speeds."""
    verb, slot, phrase = VALUE_SETTINGS[tool]
    if STEP in intent.arguments:
        return await _step(home, verb, slot, intent, phrase)
    value = intent.arguments[slot]
    done = await _apply(home, verb, intent.entities, {slot: value})
    return _are_now(done, home.house(), phrase(value))


async def _step(home: Home, verb: Verb, slot: str, intent: ResolvedIntent, phrase: Callable[[Any], str]) -> str:
    """Change each entity by a step from its own value."""
    by_value: defaultdict[float, list[Entity]] = defaultdict(list)
    for entity in intent.entities:
        by_value[stepped(entity, slot, intent.arguments[STEP])].append(entity)
    done = {value: await _apply(home, verb, tuple(found), {slot: value}) for value, found in by_value.items()}
    return " ".join(_are_now(found, home.house(), phrase(value)) for value, found in done.items())


async def set_volume(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """set_volume and set_volume_relative."""
    level = intent.arguments.get("volume_level")
    if tool == "set_volume_relative":
        step = intent.arguments["volume_step"]
        before = intent.entities[0].attributes.get("volume_level") or 0
        by: int = {"up": _LOUDER, "down": -_LOUDER}[step] if isinstance(step, str) else step
        level = min(100, max(0, before + by))
    done = await _apply(home, "set_volume", intent.entities, {"volume_level": level})
    return sentence(f"the volume of {listed([the(player) for player in done], 'and')} is {level} percent")


async def play(home: Home, tool: str, intent: ResolvedIntent) -> str:
    values = _given(intent.arguments, "search_query", "media_class")
    done = await _apply(home, "play", intent.entities, values)
    return sentence(f"playing {brief(values['search_query'])} on {the(done[0])}")


PLAYER_CONTROLS: dict[str, tuple[Verb, str]] = {
    "media_pause": ("pause", "{} is paused"),
    "media_unpause": ("unpause", "{} is playing again"),
    "media_next": ("next", "{} plays the next track"),
    "media_previous": ("previous", "{} plays the previous track"),
    "media_player_mute": ("mute", "{} is muted"),
    "media_player_unmute": ("unmute", "{} has its sound back"),
}


async def control_player(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """Pause, go on, skip and mute."""
    verb, words = PLAYER_CONTROLS[tool]
    done = await _apply(home, verb, intent.entities)
    if len(done) > 1:
        for one, several in (("is", "are"), ("plays", "play"), ("has its", "have their")):
            words = words.replace(f"{{}} {one} ", f"{{}} {several} ")
    return sentence(words.format(listed([the(player) for player in done], "and")))


ROBOT_CONTROLS: dict[str, tuple[Verb, str]] = {
    "vacuum_start": ("start", "cleaning"),
    "vacuum_clean_area": ("clean_area", "cleaning"),
    "vacuum_return_to_base": ("dock", "going home"),
    "lawn_mower_start_mowing": ("start", "mowing"),
    "lawn_mower_dock": ("dock", "going home"),
    "vacuum_pause": ("pause", "paused"),
    "lawn_mower_pause": ("pause", "paused"),
}


async def run_robot(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """Vacuum cleaners and lawn mowers."""
    verb, doing = ROBOT_CONTROLS[tool]
    values = {"area": intent.area.id} if intent.area else {}
    done = await _apply(home, "clean_area" if values else verb, intent.entities, values)
    return sentence(f"{_names(done)} {_verb(done)} {doing}{f' {the(intent.area)}' if intent.area else ''}")


async def stop(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """Stop covers and valves where they are."""
    done = await _apply(home, "stop", intent.entities)
    return sentence(f"{_names(done, home.house())} {'has' if _verb(done) == 'is' else 'have'} stopped")


async def set_mode(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """Modes and presets of thermostats; each device gets its own name of the mode."""
    said, by_mode = str(intent.arguments["mode"]), defaultdict[str, list[Entity]](list)
    for entity in intent.entities:
        modes = (*entity.attributes.get("modes", ()), *entity.attributes.get("presets", ()))
        if (mode := mode_called(said, modes)) is None:
            known = [one.replace("_", " ") for one in modes]
            there_are = f". It has {listed(known, 'and')}" if known else ""
            raise HomeError(sentence(f"{the(entity)} has no mode {brief(said)}{there_are}"))
        by_mode[mode].append(entity)
    done = {mode: await _apply(home, "set_mode", tuple(found), {"mode": mode}) for mode, found in by_mode.items()}
    house = home.house()
    return " ".join(
        _are_now(found, house, "off" if mode == "off" else f"set to {mode.replace('_', ' ')}")
        for mode, found in done.items()
    )


def option_called(said: str, options: Sequence[str]) -> str | None:
    """The option that a person means, or None."""
    wanted = normalized_words(said.replace("_", " "))
    return next((option for option in options if normalized_words(option.replace("_", " ")) == wanted), None)


async def select_option(home: Home, tool: str, intent: ResolvedIntent) -> str:
    entity, said = intent.entities[0], str(intent.arguments["option"])
    options = entity.attributes.get("options", ())
    if (option := option_called(said, options)) is None:
        known = f" It has {listed([str(one) for one in options[:8]], 'and')}." if options else ""
        raise HomeError(f"{sentence(f'{the(entity)} has no option {brief(said)}')}{known}")
    done = await _apply(home, "select_option", (entity,), {"option": option})
    return _are_now(done, home.house(), option.replace("_", " "))


_UNKNOWN_KELVIN = 4000
_COLDEST_KELVIN, _WARMEST_KELVIN = 6500, 2000


async def set_light_temperature(home: Home, tool: str, intent: ResolvedIntent) -> str:
    """How warm a white is: an absolute temperature, or a step from each light's own."""
    by_kelvin = defaultdict[int, list[Entity]](list)
    for light in intent.entities:
        by_kelvin[_kelvin_after(light, intent.arguments)].append(light)
    done = {
        kelvin: await _apply(home, "set_light", tuple(found), {"color": f"{kelvin} kelvin"})
        for kelvin, found in by_kelvin.items()
    }
    return " ".join(_are_now(found, home.house(), f"at {kelvin} kelvin") for kelvin, found in done.items())


def _kelvin_after(light: Entity, arguments: Mapping[str, Any]) -> int:
    attributes = light.attributes
    if STEP not in arguments and not arguments.get("kelvin"):
        raise ClarificationNeeded("How warm should the light be?")
    before = attributes.get("color_temp_kelvin") or kelvin_of(attributes.get("color")) or _UNKNOWN_KELVIN
    wanted = int(before + arguments[STEP]) if STEP in arguments else int(arguments["kelvin"])
    low = attributes.get("min_color_temp_kelvin") or _WARMEST_KELVIN
    high = attributes.get("max_color_temp_kelvin") or _COLDEST_KELVIN
    return round(min(high, max(low, wanted)))


async def set_alarm_mode(home: Home, tool: str, intent: ResolvedIntent) -> str:
    said = str(intent.arguments["mode"])
    if (mode := mode_called(said, ALARM_MODES)) is None:
        raise HomeError("I can arm it for away, home, night or vacation, or disarm it.")
    done = await _apply(home, "arm", intent.entities, {"mode": mode} | ({"code": intent.code} if intent.code else {}))
    return _states_after(done, home.house())


async def get_playing(home: Home, tool: str, intent: ResolvedIntent) -> str:
    for state in ("playing", "buffering", "paused"):
        if active := [player for player in intent.entities if player.state == state]:
            return sentence(listed([_playing(player) for player in active[:_MAX_NAMED_STATES]], "and"))
    return "Nothing is playing."


def _playing(player: Entity) -> str:
    artist = str(player.attributes.get("media_artist") or "")
    return f"{the(player)} is {state_phrase(player)}{f' by {brief(artist)}' if artist else ''}"


async def _apply(home: Home, verb: Verb, found: Entities, values: Attributes | None = None) -> Entities:
    """The entities that acted, in their new state; at least one. Raises HomeError."""
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


def _states_after(done: Entities, house: House) -> str:
    """The states after switching, one sentence per state."""
    if len(done) == 1 and done[0].domain in ("scene", "script"):
        return sentence(f"{done[0].name} is {'set' if done[0].domain == 'scene' else 'running'}")
    if all(entity.domain in ("button", "input_button") for entity in done):  # their state is when it was pressed
        return sentence(f"I pressed {_names(done, house)}")
    by_phrase = defaultdict[str, list[Entity]](list)
    for entity in done:
        by_phrase[state_phrase(entity)].append(entity)
    return " ".join(_are_now(alike, house, phrase) for phrase, alike in by_phrase.items())


def _are_now(done: Sequence[Entity], house: House, how: str) -> str:
    return sentence(f"{_names(done, house)} {_verb(done)} {how}")


def _verb(things: Sequence[Entity]) -> str:
    return is_are(things[0].name) if len(things) == 1 else "are"


def _names(things: Sequence[Entity], house: House | None = None) -> str:
    """ "the desk lamp", "the desk lamp and the printer", "5 lights in the kitchen"."""
    if len(things) <= _MAX_NAMED_DONE:
        return listed([the(entity) for entity in things], "and")
    noun = _only(entity.domain for entity in things) or "thing"
    areas = {entity.area for entity in things}
    area = house.area(areas.pop()) if house and len(areas) == 1 else None
    return counted(len(things), noun) + (f" in {the(area)}" if area else "")


_MAX_NAMED_STATES = 4


async def get_state(home: Home, tool: str, intent: ResolvedIntent) -> str:
    found, state = intent.entities, intent.arguments.get("state")
    if state:
        # Of a door's lock and its sensor, keep the one that can have this state.
        found = tuple(entity for entity in found if knows_state(entity, state)) or found
        if len(found) == 1:
            yes_no = "Yes" if is_in_state(found[0], state) else "No"
            return f"{yes_no}, {the(found[0])} {is_are(found[0].name)} {state_phrase(found[0])}."
        return _counted(found, str(state))
    if len(found) == 1 and found[0].domain == "todo":
        return await read_list(home, found[0])
    if len(found) > _MAX_NAMED_STATES:
        return _summed_up(found)
    return sentence(listed(_state_phrases(found, home.house()), "and"))


async def get_temperature(home: Home, tool: str, intent: ResolvedIntent) -> str:
    house, found = home.house(), intent.entities
    readings = [
        f"{number(warmth)} degrees{place_of(entity, house)}"
        for entity in found[:_MAX_NAMED_STATES]
        if (warmth := _warmth(entity)) is not None
    ]
    if not readings:
        raise HomeError(sentence(f"{the(found[0])} does not tell the temperature"))
    return sentence(f"it is {listed(readings, 'and')}")


def _state_phrases(found: Entities, house: House) -> list[str]:
    """A phrase per device; the parts of one device (a door's lock and its sensor) share one."""
    things = defaultdict[tuple[str, str | None], list[Entity]](list)
    for entity in found:
        things[entity.name, entity.area].append(entity)
    names = [name for name, _ in things]
    return [
        f"{the(name)}{place_of(sides[0], house) if names.count(name) > 1 else ''} {is_are(name)} "
        + listed([state_phrase(side) for side in sides], "and")
        for (name, _), sides in things.items()
    ]


def _counted(found: Entities, state: str) -> str:
    """Answers "are all", "are any", "which" and "how many" alike, since the call is the same."""
    matching = [entity for entity in found if is_in_state(entity, state)]
    said = state_phrase(matching[0]) if matching else state.replace("_", " ")
    things = counted(len(found), _noun(found))
    if len(matching) == len(found):
        return f"All {things} are {said}."
    if not matching:
        return f"No, none of the {things} is {said}."
    names = [the(entity) for entity in matching]
    if len(names) > _MAX_NAMED_STATES:
        names[_MAX_NAMED_DONE:] = [f"{len(names) - _MAX_NAMED_DONE} more"]
    others = [entity for entity in found if entity not in matching]
    but = ""
    if len(others) < len(matching) and len(others) <= _MAX_NAMED_DONE:
        # Who asks whether all are wants to know which are not.
        but = f" {sentence(f'{_names(others)} {_verb(others)} not')}"
    return f"{len(matching)} of {things} {'is' if len(matching) == 1 else 'are'} {said}: {listed(names, 'and')}.{but}"


def _summed_up(found: Entities) -> str:
    states = Counter(map(state_phrase, found))
    parts = [f"{count} {'is' if count == 1 else 'are'} {state}" for state, count in states.items()]
    return sentence(f"of {counted(len(found), _noun(found))}, {listed(parts[:_MAX_NAMED_STATES], 'and')}")


def _noun(found: Entities) -> str:
    return _only(entity.device_class for entity in found) or _only(entity.domain for entity in found) or "thing"


def _only(kinds: Iterable[str | None]) -> str:
    """The kind that all share, in words; "" if they differ."""
    (kind, *others) = set(kinds)
    return "" if others or not kind else kind.replace("_", " ")


def _warmth(entity: Entity) -> float | None:
    has_own = entity.domain in ("climate", "water_heater")
    value = entity.attributes.get("current_temperature") if has_own else entity.state
    try:
        return float(value) if value is not None else None
    except ValueError:
        return None
