"""A thing and a number or nothing, and hardly a verb: what the home lists the thing as decides the tool.

"Piano lamp to 20" is a brightness, "party speaker to 20" a volume, "gas fire to 20" a temperature.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.speaker import Phrase, Said, Slots, Speaker, said
from training.home.things import FAN, LIGHT
from training.home.values import say_temperature, temperature

_TO = Grammar("""
8. {t} (to|to|at|on|) {v}
2. {t} (up|down) to {v}
4! (set|put|turn|get|bring|take|make|move|change|adjust|push|shift|have) {t} to {v}
4! (turn|bring|take|put|push|crank|knock|drop|nudge) {t} (up|down) to {v}
2! (turn|bring|take|crank|push) (up|down) {t} to {v}
2! (put|set|leave|keep|have) {t} (at|on) {v}
! (turn|switch) {t} on (at|to) {v}
! (turn|switch) on {t} (at|to) {v}
! (lower|raise|reduce|increase|drop|lift) {t} to {v}
! give {t} {v}
. {v} (on|for) {t}
. I (want|need|would like) {t} (at|on|to be at) {v}
. I'd like {t} (at|on) {v}
. let's have {t} at {v}
. {t} should be (at|on) {v}
? (can|could) (I|we) have {t} (at|on) {v}
? (can|could) {t} go (up|down) to {v}
""")
_DOMAINS = (
    "light",
    "light",
    "media_player",
    "media_player",
    "cover",
    "cover",
    "fan",
    "fan",
    "climate",
    "climate",
)
_SET = {
    "light": ("light_set", "brightness"),
    "media_player": ("set_volume", "volume_level"),
    "cover": ("set_position", "position"),
    "fan": ("fan_set_speed", "percentage"),
    "climate": ("climate_set_temperature", "temperature"),
}
FRACTIONS = {
    "a third": 33, "one third": 33, "a fifth": 20, "one fifth": 20, "a quarter": 25, "one quarter": 25,
    "three quarters": 75, "half": 50, "a half": 50, "a tenth": 10, "one tenth": 10, "two fifths": 40,
    "three fifths": 60, "four fifths": 80, "the maximum": 100, "max": 100, "full": 100,
}  # fmt: skip


def level(speaker: Speaker) -> Said:
    """A listed thing and its level; without a home, one whose name tells what it is."""
    domain = speaker.pick(_DOMAINS)
    tool, slot = _SET[domain]
    target = _target(speaker, domain)
    if domain == "climate":
        degrees = temperature(speaker.rng)
        calls = (home_call(tool, **target.slots, **{slot: degrees}),)
        return said(
            speaker, _TO, calls, t=target.text, v=say_temperature(degrees, speaker.numbers, speaker.rng)
        )
    text, value = speaker.numbers.share(FRACTIONS)
    calls = (home_call(tool, **target.slots, **{slot: value}),)
    return said(speaker, _TO, calls, t=target.text, v=text)


def _target(speaker: Speaker, domain: str) -> Phrase:
    target = speaker.named(domain, apart=0.0)
    # A name that two kinds of things share, or that the list gives to another kind, decides nothing.
    for _ in range(6):
        name = str(target.slots["name"]).casefold()
        domains = {
            kind
            for kind, things in speaker.known.by_domain.items()
            for thing in things
            if name in (thing.name.casefold(), *map(str.casefold, thing.aliases))
        }
        if domains <= {domain}:
            break
        target = speaker.named(domain, apart=0.0)
    return target


_THERE = Grammar("""
3. {t}
3. {t} please
. {t} now
. {t} please and thank you
. {t}, (thanks|please)
. (just|only) {t} please
. {t} (would be nice|would be great|would be lovely)
""")


def noun(speaker: Speaker) -> Said:
    """A thing that can be on, and nothing else said of it: it is to be turned on."""
    speaker.slips = False
    if speaker.chance(0.45):
        target = speaker.named(speaker.pick(("light", "light", "light", "fan", "switch")), apart=0.2)
        text = target.text.removeprefix("my ").removeprefix("our ")
        return said(speaker, _THERE, (home_call("turn_on", **target.slots),), t=_without_the(speaker, text))
    kind = speaker.pick((LIGHT, LIGHT, LIGHT, LIGHT, FAN))
    place = speaker.where(nowhere=0.0)
    leads = "area" in place.slots and speaker.chance(0.4)
    # Without a list of things, nobody can tell whether "kitchen light" is a name.
    one = speaker.chance(0.5) and not (leads and speaker.known.house is None)
    thing = kind.singular[0] if one else kind.plural[0]
    named = f"{next(iter(place.slots.values()))} {thing}"
    if leads and "'" not in named:
        slots = {"name": named} if one and speaker.is_listed(named) else {**place.slots, **kind.slots}
        return said(speaker, _THERE, (home_call("turn_on", **slots),), t=named)
    slots = (
        {"name": thing, **place.slots} if one and speaker.is_listed(thing) else {**place.slots, **kind.slots}
    )
    return said(speaker, _THERE, (home_call("turn_on", **slots),), t=f"{thing} {place.text}")


def _without_the(speaker: Speaker, text: str) -> str:
    return text.removeprefix("the ") if speaker.chance(0.6) else text


_LOUDER = Grammar("""
4! (turn|crank|bring|push|put|pump) {t} (up|up) [by|by|] {v}
2! (turn|crank|bring|push) up {t} by {v}
! (raise|increase|boost) {t} by {v}
. {t} up [by] {v}
. {t} {v} (up|louder)
! make {t} {v} louder
""")
_QUIETER = Grammar("""
4! (turn|bring|take|put|knock) {t} down [by|by|] {v}
2! (turn|bring|take) down {t} by {v}
! (lower|reduce|decrease|drop) {t} by {v}
. {t} down [by] {v}
. {t} {v} (down|quieter)
! make {t} {v} quieter
""")


def step(speaker: Speaker) -> Said:
    """A player, or a room, louder or quieter by some percent."""
    if speaker.chance(0.55):
        target = _target(speaker, "media_player")
        text, slots = target.text, target.slots
    else:
        area = speaker.area()
        text, slots = speaker.pick((f"the {area}", f"the {area}", area)), Slots(area=area)
        if "'" in area:
            text = area
    value = (
        speaker.pick((5, 10, 10, 15, 20, 20, 25, 30, 40, 50))
        if speaker.chance(0.8)
        else speaker.rng.randint(1, 60)
    )
    up = speaker.chance(0.5)
    shown = speaker.numbers.say_percent(value)
    if shown[-1].isalnum() and "cent" not in shown:
        shown += " percent"
    calls = (home_call("set_volume_relative", **slots, volume_step=value if up else -value),)
    return said(speaker, _LOUDER if up else _QUIETER, calls, t=text, v=shown)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((8, level), (1.2, step), (2.2, noun))
