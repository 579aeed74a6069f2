"""Two commands that share a verb, a state, a place or a thing, so that neither is whole without the other."""

from __future__ import annotations

from training.home.commands.one_breath import Builder, in_one_breath
from training.home.lexicon.devices import COVERS, FAN, LIGHT, Kind
from training.home.lexicon.values import COLOURS, article, duration, hour, moment
from training.home.lexicon.vocabulary import TIMER_NAMES, errand, in_area, with_article
from training.home.speaker import Phrase, Request, Speaker
from training.home.templates import Grammar, home_call
from training.types import Call

# --- a verb or a state that two things share

_ONE_MORE = Grammar("""
4. {t} and the one {p} {w} [please]
3. {t} {w} and the one {p} (too|as well|also)
3! (turn|switch) {w} {t} and the one {p}
2! (turn|switch) {w} {t} and also the one {p}
2! (turn|switch) {t} {w} and the one {p} (too|as well)
2. {t} {w}, (same for|and) the one {p}
. (both|) {t} and the one {p} {w}
. {w} with {t} and the one {p}
""")
_ONE_MORE_COVER = Grammar("""
4! {v} {t} and the (one|ones) {p}
3. {t} and the (one|ones) {p} {u} [please]
2. {t} {u} and the (one|ones) {p} (too|as well)
2! {v} {t} and also the (one|ones) {p}
""")
_COVER_WORDS = (
    (("open", "raise"), "open", "turn_on"), (("open",), "up", "turn_on"),
    (("close", "shut", "lower"), "closed", "turn_off"), (("close", "shut"), "shut", "turn_off"),
    (("close",), "down", "turn_off"),
)  # fmt: skip


def and_the_one(speaker: Speaker) -> Request:
    """ "The kitchen light and the one in the hall off please"."""
    speaker.slips = False
    first, second = speaker.area(), speaker.area()
    if first == second or "'" in first + second:
        return in_one_breath(speaker)
    rng, place = speaker.rng, in_area(second)
    if speaker.chance(0.7):
        kind: Kind = speaker.pick((LIGHT, LIGHT, LIGHT, FAN))
        target = _in_area(speaker, kind, first)
        word = speaker.pick(("off", "off", "on"))
        calls = (home_call(f"turn_{word}", **target.slots), home_call(f"turn_{word}", area=second, **kind.slots))
        pattern = _ONE_MORE.draw(rng)
        return Request(pattern.form, pattern.say(rng, {"t": target.text, "p": place, "w": word}), calls)
    kind = COVERS[speaker.pick(("blind", "blind", "curtain", "shutter", "window", "shade"))]
    target = _in_area(speaker, kind, first)
    verbs, state, tool = speaker.pick(_COVER_WORDS)
    calls = (home_call(tool, **target.slots), home_call(tool, area=second, **kind.slots))
    pattern = _ONE_MORE_COVER.draw(rng)
    return Request(
        pattern.form, pattern.say(rng, {"t": target.text, "p": place, "v": speaker.pick(verbs), "u": state}), calls
    )


def _in_area(speaker: Speaker, kind: Kind, area: str) -> Phrase:
    """One thing of a kind in a room: by its name where the home lists one so called."""
    noun = speaker.pick(kind.singular)
    name = f"{area} {noun}"
    if speaker.is_listed(name):
        return Phrase(with_article(name), {"name": name})
    if speaker.known.house is None or speaker.chance(0.5) or speaker.is_listed(noun):
        slots = {"name": noun, "area": area} if speaker.is_listed(noun) else {"area": area, **kind.slots}
        return Phrase(f"the {noun} {in_area(area)}", slots)
    return Phrase(with_article(name), {"area": area, **kind.slots})


# --- a place that two kinds share

_STATES: tuple[tuple[Kind, tuple[tuple[str, str], ...]], ...] = (
    (LIGHT, (("on", "turn_on"), ("off", "turn_off"), ("off", "turn_off"))),
    (FAN, (("on", "turn_on"), ("off", "turn_off"))),
    *(
        (COVERS[kind], (("closed", "turn_off"), ("down", "turn_off"), ("shut", "turn_off"), ("open", "turn_on"),
                        ("up", "turn_on")))
        for kind in ("blind", "blind", "curtain", "shutter", "shade")
    ),
    (COVERS["window"], (("closed", "turn_off"), ("shut", "turn_off"), ("open", "turn_on"))),
)  # fmt: skip


def _state_there(speaker: Speaker, area: str, taken: set[str]) -> tuple[str, str, Call]:
    """A kind of thing and what it is to be, without its place: the words of both, and the call."""
    kind, states = speaker.pick([one for one in _STATES if one[0].plural[0] not in taken])
    taken.add(kind.plural[0])
    way = speaker.rng.random()
    if kind is LIGHT and way < 0.45:
        words, value = speaker.numbers.share({"half": 50, "full": 100})
        link = speaker.pick((" to ", " at ", " "))
        return kind.plural[0], f"{link}{words}".strip(), home_call("light_set", area=area, brightness=value)
    if kind is LIGHT and way < 0.55:
        colour = speaker.pick(COLOURS[:12])
        return kind.plural[0], colour, home_call("light_set", area=area, color=colour)
    if kind.domain == "cover" and way < 0.2:
        words, value = speaker.numbers.share({"half": 50, "halfway": 50})
        return (
            kind.plural[0],
            f"{speaker.pick(('to', 'at'))} {words}",
            home_call("set_position", area=area, **kind.slots, position=value),
        )
    word, tool = speaker.pick(states)
    return kind.plural[0], word, home_call(tool, area=area, **kind.slots)


def at_one_place(speaker: Speaker) -> Request:
    """ "Bedroom lights to 30 percent and the blinds closed", "in the den lights off, fan on"."""
    speaker.slips = False
    area = speaker.area()
    if "'" in area:
        return in_one_breath(speaker)
    taken: set[str] = set()
    parts = [_state_there(speaker, area, taken) for _ in range(2 if speaker.chance(0.75) else 3)]
    calls = tuple(call for _, _, call in parts)
    the = speaker.pick(("the ", ""))
    rest = [f"{the}{noun} {state}" for noun, state, _ in parts[1:]]
    way = speaker.rng.random()
    if way < 0.5:
        noun, state, _ = parts[0]
        first = f"{speaker.pick(('', 'the '))}{area} {noun} {state}"
    else:
        lead = speaker.pick((in_area(area), in_area(area), area, f"for {with_article(area)}"))
        first = f"{lead}{speaker.pick((', ', ' ', ', '))}{the}{parts[0][0]} {parts[0][1]}"
    link = speaker.pick((" and ", " and ", ", ", " ", ", and ")) if len(rest) == 1 else ", "
    last = speaker.pick((" and ", ", ", " and ")) if len(rest) > 1 else ""
    text = f"{first}{link}{rest[0]}" if len(rest) == 1 else f"{first}{link}{rest[0]}{last}{rest[1]}"
    lead = speaker.pick(("", "", "", "set the ", "I want the ")) if way < 0.5 and not first.startswith("the ") else ""
    return Request(".", f"{lead}{text}", calls)


_BOTH_THERE = Grammar("""
4! (turn|switch) {w} the {a} and [the] {b} {p}
3. {a} and {b} {w} {p}
3. {p} {a} and {b} {w}
2! (turn|switch) the {a} and [the] {b} {w} {p}
. {p} I want the {a} and the {b} {w}
""")


def both_there(speaker: Speaker) -> Request:
    """ "Lights and fan off in the den": one state and one place for two kinds of things."""
    speaker.slips = False
    area = speaker.area()
    first, second = speaker.rng.sample((LIGHT, FAN, *(COVERS[kind] for kind in ("blind", "curtain", "shutter"))), 2)
    if first.domain == second.domain == "cover":
        verb, tool = speaker.pick((("open", "turn_on"), ("close", "turn_off"), ("shut", "turn_off")))
        text = f"{verb} the {first.plural[0]} and {speaker.pick(('the ', ''))}{second.plural[0]} {in_area(area)}"
    elif "cover" in (first.domain, second.domain):
        return at_one_place(speaker)
    else:
        word = speaker.pick(("off", "off", "on"))
        tool = f"turn_{word}"
        fill = {"a": first.plural[0], "b": second.plural[0], "p": in_area(area), "w": word}
        text = _BOTH_THERE.draw(speaker.rng).say(speaker.rng, fill)
    return Request(".", text, (home_call(tool, area=area, **first.slots), home_call(tool, area=area, **second.slots)))


# --- one kind in two places

_HERE_AND_THERE = Grammar("""
4. {n} {x} {p} and {y} {q}
3! (turn|switch) the {n} {x} {p} and {y} {q}
3! (turn|switch) {x} the {n} {p} and {y} the ones {q}
2. {n} {p} {x}, {q} {y}
2. {n} {p} {x} and {q} {y}
""")


def here_and_there(speaker: Speaker) -> Request:
    """ "Lights on in the kitchen and off in the hall", "kitchen light to 50 hall to 20"."""
    speaker.slips = False
    first, second = speaker.area(), speaker.area()
    if first == second or "'" in first + second:
        return in_one_breath(speaker)
    if speaker.chance(0.4):
        (one, low), (other, high) = (speaker.numbers.share({"half": 50, "full": 100}) for _ in range(2))
        calls = (
            home_call("light_set", area=first, brightness=low),
            home_call("light_set", area=second, brightness=high),
        )
        to, verb = speaker.pick((" to ", " at ", " ")), speaker.pick(("", "", "set ", "dim ", "put "))
        link = speaker.pick((" and ", ", ", " ", " and the ", ", the "))
        noun = speaker.pick(("lights", "lights", "lights"))
        return Request(".", f"{verb}{'the ' if verb else ''}{first} {noun}{to}{one}{link}{second}{to}{other}", calls)
    kind: Kind = speaker.pick((LIGHT, LIGHT, LIGHT, FAN))
    x, y = speaker.pick((("on", "off"), ("off", "on")))
    calls = (home_call(f"turn_{x}", area=first, **kind.slots), home_call(f"turn_{y}", area=second, **kind.slots))
    fill = {"n": kind.plural[0], "x": x, "y": y, "p": in_area(first), "q": in_area(second)}
    pattern = _HERE_AND_THERE.draw(speaker.rng)
    return Request(".", pattern.say(speaker.rng, fill), calls)


# --- the second command is about the first one's thing

_AND_IT = Grammar("""
4! (turn|switch) on {t} and (set|dim|put|bring) {it} (to|at) {v}
3! (turn|switch|put|flick|pop) {t} on and (dim|set|turn) {it} [down] to {v}
2! (turn|switch) on {t} then (set|dim) {it} to {v}
. {t} on and {it} at {v}
""")
_AND_COLOUR = Grammar("""
4! (turn|switch) on {t} and (make|turn|set) {it} {v}
3! (turn|switch|put|pop) {t} on and (make|turn) {it} {v}
. {t} on and {it} in {v} please
""")


def and_it(speaker: Speaker) -> Request:
    """ "Turn on the desk lamp and set it to 40 percent"."""
    speaker.slips = False
    lamp = speaker.named("light", apart=0.0) if speaker.chance(0.6) else speaker.kind(LIGHT, nowhere=0.0, single=0.3)
    slots = {slot: value for slot, value in lamp.slots.items() if slot != "domain"}
    it = "them" if lamp.is_plural else "it"
    if speaker.chance(0.6):
        words, value = speaker.numbers.share({"half": 50})
        text = (pattern := _AND_IT.draw(speaker.rng)).say(speaker.rng, {"t": lamp.text, "it": it, "v": words})
        return Request(
            pattern.form, text, (home_call("turn_on", **lamp.slots), home_call("light_set", **slots, brightness=value))
        )
    colour = speaker.pick(COLOURS[:16])
    text = (pattern := _AND_COLOUR.draw(speaker.rng)).say(speaker.rng, {"t": lamp.text, "it": it, "v": colour})
    return Request(
        pattern.form, text, (home_call("turn_on", **lamp.slots), home_call("light_set", **slots, color=colour))
    )


# --- two of one kind

_TWO_TIMERS = (
    "set a timer for {a} for the {x} and one for {b} for the {y}", "{x} timer {a} {y} timer {b}",
    "set two timers, {a} for the {x} and {b} for the {y}", "start {an} {x} timer for {a} and {ay} {y} timer for {b}",
    "timer for the {x} {a} and for the {y} {b}", "{a} for the {x} and {b} for the {y}, timers please",
    "can you time the {x} for {a} and the {y} for {b}",
    "I need a timer for {a} called {x} and another for {b} called {y}",
)  # fmt: skip
_UP_AND_REMINDED = (
    "wake me {at} and remind me to {k} {b}", "set an alarm for {v} and remind me to {k} {b}",
    "alarm {at} and a reminder to {k} {b}", "get me up {at} and remind me {b} to {k}",
    "wake me up {at} oh and don't let me forget to {k} {b}", "remind me to {k} {b} and set an alarm for {v}",
    "remind me {b} to {k} and wake me up {at}",
)  # fmt: skip


def two_timed(speaker: Speaker) -> Request:
    """Two timers by their names, or an alarm and a reminder."""
    speaker.slips = False
    rng = speaker.rng
    if speaker.chance(0.5):
        (a, first, _), (b, second, _) = duration(rng, speaker.numbers), duration(rng, speaker.numbers)
        x, y = rng.sample(TIMER_NAMES, 2)
        text = speaker.pick(_TWO_TIMERS)
        for mark, words in (("{a}", a), ("{b}", b), ("{x}", x), ("{y}", y), ("{an}", article(x)), ("{ay}", article(y))):
            text = text.replace(mark, words)
        return Request(
            ".", text, (home_call("start_timer", **first, name=x), home_call("start_timer", **second, name=y))
        )
    time = hour(rng)
    when = moment(rng)
    while " and " in (task := errand(rng)) or "," in task:
        pass
    template = speaker.pick(_UP_AND_REMINDED)
    fill = (("{at}", f"at {time}"), ("{v}", time), ("{k}", task), ("{b}", when.placed))
    text = template
    for mark, words in fill:
        text = text.replace(mark, words)
    alarm, reminder = home_call("set_alarm", time=time), home_call("set_reminder", task=task, time=when.text)
    return Request(".", text, (reminder, alarm) if template.startswith("remind") else (alarm, reminder))


BUILDERS: tuple[tuple[float, Builder], ...] = (
    (2.2, and_the_one),
    (2.4, at_one_place),
    (1.4, both_there),
    (1.6, here_and_there),
    (1.5, and_it),
    (1.3, two_timed),
)
