"""Words that are a floor in one home and a room in another: basement, attic. The list decides."""

from __future__ import annotations

from collections.abc import Callable

from training.home.houses import LIKE_FLOORS
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.places import in_area, on_floor, with_article
from training.home.speaker import Said, Speaker, said
from training.home.things import COVERS, FAN, LIGHT
from training.home.values import say_temperature, temperature

# {f} is the place with its article, {b} without, {o} "in the basement", {n} things of a kind.
_KIND = Grammar("""
3! (turn|switch) {w} (all the|the|all|every single one of the) {n} {o}
3! (turn|switch) {w} the {b} {n}
2! (turn|switch) the {b} {n} {w}
2. {b} {n} {w}
2. {n} {w} {o}
2! (turn|switch) {w} (all the|the) {n} (in|on) the (whole|entire) {b}
. {o} (all|all the) {n} {w}
""")
_WHOLE = Grammar("""
4! (turn|switch|shut) {w} the (whole|entire) {b}
2! (turn|switch|shut) the (whole|entire) {b} {w}
2. the (whole|entire) {b} {w}
2! (turn|switch|shut) {w} everything {o}
2. everything {o} {w}
""")
_COVERS = Grammar("""
3! {v} (all the|the|all) {n} {o}
2! {v} the {b} {n}
! {v} (all the|the) {n} (in|on) the (whole|entire) {b}
""")
_BRIGHT = Grammar("""
3! (set|dim|put|turn) the {b} [lights] to {v}
2! (dim|set) the lights {o} to {v}
2! (set|dim|brighten) the (whole|entire) {b} to {v}
. {b} lights [to|at] {v}
""")
_WARM = Grammar("""
3! (set|heat|warm|cool) {f} to {v}
2! (set|put|turn) the (heating|temperature|thermostat) {o} to {v}
2! (heat|warm|set) the (whole|entire) {b} to {v}
! make it {v} {o}
""")
_ASK = Grammar("""
4? are (any|any of the|all the|all|the) {n} {o} {w}
2? are (any|the|all the) {b} {n} {w}
2? (which|how many) {n} are {w} {o}
? is (any|a) light {w} {o}
""")
_ASK_WARM = Grammar("""
3? (how warm|how cold|how hot) is it {o}
2? (what's|what is) the temperature {o}
""")


def _place(speaker: Speaker) -> tuple[str, dict[str, str]]:
    floors = [floor for floor in speaker.known.floors if floor not in speaker.known.areas]
    rooms = [area for area in speaker.known.areas if area in _LIKE and area not in speaker.known.floors]
    if floors and (not rooms or speaker.chance(0.65)):
        place = speaker.pick(floors)
        return place, {"floor": place}
    if rooms:
        place = speaker.pick(rooms)
        return place, {"area": place}
    place = speaker.floor() if speaker.chance(0.5) else speaker.area()
    is_floor = place in speaker.known.floors or place.endswith((" floor", " level", "stairs"))
    return place, {"floor" if is_floor and place not in speaker.known.areas else "area": place}


_LIKE = frozenset(LIKE_FLOORS)


def storey(speaker: Speaker) -> Said:
    """ "All the lights in the basement", "the whole first floor off"."""
    speaker.slips = False
    place, slots = _place(speaker)
    where = on_floor(place) if "floor" in slots else in_area(place)
    if "'" in place:
        place = speaker.pick(("attic", "loft"))
        slots, where = (
            ({"floor": place} if place in speaker.known.floors else {"area": place}),
            f"in the {place}",
        )
    fill = {"b": place, "o": where, "f": with_article(place)}
    word = speaker.pick(("on", "off", "off"))
    way = speaker.rng.random()
    if way < 0.3:
        kind = speaker.pick((LIGHT, LIGHT, LIGHT, FAN))
        calls = (home_call(f"turn_{word}", **slots, **kind.slots),)
        return said(speaker, _KIND, calls, w=word, n=kind.plural[0], **fill)
    if way < 0.45:
        if place.endswith("stairs"):
            return said(speaker, _EVERYTHING, (home_call(f"turn_{word}", **slots),), w=word, **fill)
        return said(speaker, _WHOLE, (home_call(f"turn_{word}", **slots),), w=word, **fill)
    if way < 0.58:
        cover = COVERS[speaker.pick(("blind", "curtain", "shutter", "window", "shade"))]
        verb, tool = speaker.pick((("open", "turn_on"), ("close", "turn_off"), ("shut", "turn_off")))
        return said(speaker, _COVERS, (home_call(tool, **slots, **cover.slots),), v=verb, n=cover.plural[0],
                    **fill)  # fmt: skip
    if way < 0.72:
        value = speaker.numbers.percent()
        calls = (home_call("light_set", **slots, brightness=value),)
        return said(speaker, _BRIGHT, calls, v=f"{speaker.numbers.say(value)} percent", **fill)
    if way < 0.82:
        degrees = temperature(speaker.rng)
        calls = (home_call("climate_set_temperature", **slots, temperature=degrees),)
        text = say_temperature(degrees, speaker.numbers, speaker.rng)
        unit = "" if any(mark in text for mark in ("degree", "°", "elsius", "ahrenheit")) else " degrees"
        return said(speaker, _WARM, calls, v=text + unit, **fill)
    if way < 0.93:
        calls = (home_call("get_state", **slots, **LIGHT.slots, state=word),)
        return said(speaker, _ASK, calls, n="lights", w=word, **fill)
    return said(speaker, _ASK_WARM, (home_call("climate_get_temperature", **slots),), **fill)


_EVERYTHING = Grammar("""
3! (turn|switch|shut) {w} everything {o}
2. everything {o} {w}
! (turn|switch) everything {w} {o}
""")


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1, storey),)
