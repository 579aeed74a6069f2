"""Several commands in one breath: joined sentences, shared verbs, lists of things and of places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from training.calls import Call
from training.home.breaths import then_command
from training.home.contents import GROCERIES, QUERIES, TASKS
from training.home.listing import list_words, shopping_words
from training.home.manner import is_plain_order
from training.home.opposing import opposed
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.places import in_area, on_floor, with_article
from training.home.speaker import Phrase, Said, Speaker, said
from training.home.things import COVERS, FAN, LIGHT, LOCK, Kind
from training.home.values import COLOURS

_ON = Grammar("""
3! (turn|switch|put) on {t}
3! (turn|switch) {t} on
. {t} on
""")
_OFF = Grammar("""
3! (turn|switch|shut) off {t}
3! (turn|switch) {t} off
. {t} off
""")
_OPEN = Grammar("""
3! open {t}
! open up {t}
""")
_CLOSE = Grammar("""
3! close {t}
! shut {t}
""")
_LOCK = Grammar("! lock {t}")
_UNLOCK = Grammar("! unlock {t}")
_BUY = Grammar("""
3! (add|put) {t} (to|on) {s}
2! put {t} on {s}
: we need {t}
: we're out of {t}
""")
_ADD = Grammar("""
3! (add|put) {t} (to|on) {s}
""")
_LINKS = (
    " and ",
    " and ",
    " and ",
    " and then ",
    ", then ",
    " then ",
    ", and ",
    " and also ",
    ", also ",
    " and after that ",
    " plus ",
)


def _listed(speaker: Speaker, parts: Sequence[str]) -> str:
    if len(parts) == 2:
        return f"{parts[0]} {speaker.pick(('and', 'and', 'and', 'and also', 'as well as'))} {parts[1]}"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _many(speaker: Speaker) -> int:
    return 2 if speaker.chance(0.75) else 3


def things(speaker: Speaker) -> Said:
    """One verb for several things."""
    grammar, tool, draw = speaker.pick(_SHARED)
    phrases: list[Phrase] = []
    while len(phrases) < _count(speaker, phrases):
        phrase = draw(speaker)
        if all(phrase.slots != other.slots for other in phrases) and " and " not in phrase.text:
            phrases.append(phrase)
    calls = tuple(home_call(tool, **phrase.slots) for phrase in phrases)
    return said(speaker, grammar, calls, t=_listed(speaker, [phrase.text for phrase in phrases]))


def _count(speaker: Speaker, phrases: list[Phrase]) -> int:
    return 2 if len(phrases) < 2 else 3 if len(phrases) == 2 and speaker.chance(0.2) else 2


def _switched(speaker: Speaker) -> Phrase:
    domain = speaker.pick(("light", "light", "light", "switch", "fan", "media_player"))
    return (
        speaker.named(domain, apart=0.05)
        if speaker.chance(0.65)
        else speaker.kind(speaker.pick((LIGHT, LIGHT, FAN)), nowhere=0.15)
    )


def _covers(speaker: Speaker) -> Phrase:
    if speaker.chance(0.6):
        return speaker.named("cover", apart=0.05)
    return speaker.kind(COVERS[speaker.pick(("blind", "curtain", "shutter", "window"))], nowhere=0.3)


def _locks(speaker: Speaker) -> Phrase:
    return speaker.named("lock", apart=0.05)


_SHARED: tuple[tuple[Grammar, str, Callable[[Speaker], Phrase]], ...] = (
    *((_ON, "turn_on", _switched), (_OFF, "turn_off", _switched)) * 2,
    (_OPEN, "turn_on", _covers), (_CLOSE, "turn_off", _covers),
    (_LOCK, "turn_on", _locks), (_UNLOCK, "turn_off", _locks),
)  # fmt: skip


def places(speaker: Speaker) -> Said:
    """One kind of thing in several places."""
    kind: Kind = speaker.pick(
        (LIGHT, LIGHT, LIGHT, FAN, COVERS["blind"], COVERS["curtain"], COVERS["window"], LOCK)
    )
    if kind.domain == "cover":
        grammar, tool = speaker.pick(((_OPEN, "turn_on"), (_CLOSE, "turn_off")))
    elif kind is LOCK:
        grammar, tool = speaker.pick(((_LOCK, "turn_on"), (_UNLOCK, "turn_off")))
    else:
        grammar, tool = speaker.pick(((_ON, "turn_on"), (_OFF, "turn_off")))
    areas = list(dict.fromkeys(speaker.area() for _ in range(_many(speaker))))
    if len(areas) < 2 or any("'" in area for area in areas):
        return places(speaker)
    calls = tuple(home_call(tool, area=area, **kind.slots) for area in areas)
    noun = speaker.pick(kind.plural)
    way = speaker.rng.random()
    if way < 0.4:
        first, *rest = areas
        behind = _listed(
            speaker,
            [in_area(first), *((in_area if speaker.chance(0.3) else with_article)(area) for area in rest)],
        )
        text = f"the {noun} {behind}"
    elif way < 0.6:
        behind = _listed(speaker, areas)
        text = f"the {noun} in the {behind}"
    else:
        text = f"the {_listed(speaker, areas)} {noun}"
    return said(speaker, grammar, calls, t=text)


def floors(speaker: Speaker) -> Said:
    """Lights on two floors."""
    tool, grammar = speaker.pick((("turn_on", _ON), ("turn_off", _OFF)))
    first, second = speaker.floor(), speaker.floor()
    if first == second:
        return places(speaker)
    calls = tuple(home_call(tool, floor=floor, domain="light") for floor in (first, second))
    return said(speaker, grammar, calls, t=f"the lights {on_floor(first)} and {on_floor(second)}")


def on_and_off(speaker: Speaker) -> Said:
    """ "Turn the lamp on and the fan off"."""
    one, other = _switched(speaker), _switched(speaker)
    if one.slots == other.slots:
        return on_and_off(speaker)
    verb = speaker.pick(("turn", "switch"))
    first, second = speaker.pick((("on", "off"), ("off", "on")))
    calls = (home_call(f"turn_{first}", **one.slots), home_call(f"turn_{second}", **other.slots))
    again = speaker.pick(("", "", f"{verb} "))
    return Said("!", f"{verb} {one.text} {first} and {again}{other.text} {second}", calls)


_TOLD = ("on", "on", "off", "off")


def _telegram(speaker: Speaker) -> tuple[str, Call]:
    """A thing and what it is to be, without a verb."""
    way = speaker.rng.random()
    if way < 0.5:
        domain = speaker.pick(("light", "light", "light", "switch", "switch", "fan", "media_player"))
        name, word = _bare(speaker, domain), speaker.pick(_TOLD)
        return f"{name[0]} {word}", home_call(f"turn_{word}", name=name[1])
    if way < 0.66:
        kind = speaker.pick((LIGHT, LIGHT, LIGHT, FAN))
        area, word = (
            (speaker.area(), speaker.pick(_TOLD)) if speaker.chance(0.5) else ("", speaker.pick(_TOLD))
        )
        slots = {"area": area} if area else {}
        if kind is LIGHT and speaker.chance(0.2):
            word = "up"
        tool = "turn_off" if word == "off" else "turn_on"
        return f"{area} {kind.plural[0]} {word}".strip(), home_call(tool, **slots, **kind.slots)
    if way < 0.84:
        word, tool = speaker.pick(
            (("up", "turn_on"), ("open", "turn_on"), ("down", "turn_off"), ("closed", "turn_off"))
        )
        if speaker.chance(0.5):
            name = _bare(speaker, "cover")
            return f"{name[0]} {word}", home_call(tool, name=name[1])
        kind = COVERS[speaker.pick(("blind", "blind", "curtain", "shutter", "shade"))]
        return f"{kind.plural[0]} {word}", home_call(tool, **kind.slots)
    name = _bare(speaker, "light")
    if speaker.chance(0.6):
        colour = speaker.pick(COLOURS[:12])
        return f"{name[0]} {colour}", home_call("light_set", name=name[1], color=colour)
    value = speaker.numbers.percent()
    level = f"{speaker.numbers.say(value)} percent"
    return f"{name[0]} {level}", home_call("light_set", name=name[1], brightness=value)


def _about(call: Call) -> tuple[object, ...]:
    return tuple(call.arguments.get(slot) for slot in ("name", "area", "domain"))


def _bare(speaker: Speaker, domain: str) -> tuple[str, str]:
    name = str(speaker.named(domain, apart=0.0).slots["name"])
    return (f"the {name}" if speaker.chance(0.12) and "'" not in name else name), name


def telegrams(speaker: Speaker) -> Said:
    """ "Salt lamp on desk fan off": a list without verbs, and mostly without links."""
    parts: list[tuple[str, Call]] = []
    wanted = 2 if speaker.chance(0.65) else 3
    while len(parts) < wanted:
        part = _telegram(speaker)
        if all(_about(part[1]) != _about(other[1]) for other in parts):
            parts.append(part)
    if speaker.chance(0.2):
        query = speaker.pick(QUERIES).removeprefix("some ")
        parts.append(
            (f"play {query}", home_call("media_search_and_play", search_query=query.removeprefix("the ")))
        )
    link = speaker.pick((" ", " ", " ", ", "))
    last = speaker.pick((link, link, " and ", " and "))
    text = link.join(text for text, _ in parts[:-1]) + last + parts[-1][0]
    is_open = parts[-1][0].startswith("play ")
    return Said(":" if is_open else ".", text, tuple(call for _, call in parts))


def levels(speaker: Speaker) -> Said:
    """Two lamps, two levels."""
    calls: list[Call] = []
    parts: list[str] = []
    for _ in range(2):
        lamp = speaker.named("light", apart=0.05) if speaker.chance(0.6) else speaker.kind(LIGHT, nowhere=0.0)
        slots = {slot: value for slot, value in lamp.slots.items() if slot != "domain"}
        value = speaker.numbers.percent()
        calls.append(home_call("light_set", **slots, brightness=value))
        parts.append(f"{lamp.text} to {speaker.numbers.say_percent(value)}")
    if len({next(iter(call.arguments.items())) for call in calls}) < 2:
        return levels(speaker)
    verb = speaker.pick(("set", "set", "dim", "put"))
    return Said("!", f"{verb} {parts[0]} and {parts[1]}", tuple(calls))


def items(speaker: Speaker) -> Said:
    """Several items for a list."""
    count = _many(speaker)
    if speaker.chance(0.65):
        chosen = list(dict.fromkeys(speaker.pick(GROCERIES) for _ in range(count)))
        calls = tuple(home_call("shopping_list_add_item", item=item) for item in chosen)
        grammar, shown = _BUY, shopping_words(speaker)
    else:
        chosen = list(dict.fromkeys(speaker.pick(TASKS) for _ in range(count)))
        shown, name = list_words(speaker)
        calls = tuple(home_call("list_add_item", item=item, name=name) for item in chosen)
        grammar = _ADD
    if len(chosen) < 2 or any(" and " in item for item in chosen):
        return items(speaker)
    return said(speaker, grammar, calls, t=_listed(speaker, chosen), s=shown)


def joined(speaker: Speaker, draw: Callable[[Speaker], Said]) -> Said:
    """Two or three orders, one behind the other; `draw` makes any request."""
    orders: list[Said] = []
    count = 2 if speaker.chance(0.82) else 3
    for _ in range(60):
        order = draw(speaker)
        last = len(orders) == count - 1
        fits = is_plain_order(order) or (last and order.form in ":?" and "," not in order.text)
        # A pause of hours, or another command inside, would not end where it should.
        if (
            fits
            and "conversation_command" not in order.calls[0].arguments
            and order.calls[0].tool not in ("respond", "nevermind")
        ):
            if orders and order.calls == orders[-1].calls:
                continue
            orders.append(order)
        if len(orders) == count:
            break
    text = orders[0].text
    for order in orders[1:]:
        text += speaker.pick(_LINKS if order.form != "?" else (" and ", " and ", ", and ")) + order.text
    return Said(
        "!" if orders[-1].form == "!" else ":", text, tuple(call for order in orders for call in order.calls)
    )


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (3, things),
    (2.4, places),
    (0.4, floors),
    (1.2, on_and_off),
    (0.8, levels),
    (3.2, telegrams),
    (3.4, opposed),
    (1.6, items),
    (4.4, then_command),
)
