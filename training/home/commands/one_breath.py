"""Two to four commands of different kinds in one breath, with a shared verb, a shared place or nothing between them.

The parts are requests of the other families. Where a time could belong to the next command as well ("wake me at seven
and turn on the lamp"), only a join that begins anew follows it: "oh and", "also", a full stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from training.home import state_questions
from training.home.commands import alarms, chores, lists, media, set_values, switching, timers
from training.home.commands.loose_amounts import loose_duration
from training.home.lexicon.devices import COVERS, FAN, LIGHT, Kind
from training.home.lexicon.values import COLOURS, Moment, article, duration, hour, moment
from training.home.lexicon.vocabulary import GROCERIES, TIMER_NAMES, errand, in_area, with_article
from training.home.phrasing import is_plain_order, reason
from training.home.speaker import Phrase, Request, Speaker
from training.home.templates import Form, Grammar, home_call, wordings
from training.types import Call

_Builder = Callable[[Speaker], Request]

# --- commands of different kinds

_DEVICES: tuple[_Builder, ...] = (
    switching.turn_on, switching.turn_off, switching.light_on, switching.light_off, switching.light_off,
    switching.open_cover, switching.close_cover, switching.close_cover, switching.lock, switching.lock,
    switching.unlock, switching.scene, set_values.brightness, set_values.brightness, set_values.warmth,
    set_values.warmth, set_values.colour, set_values.position, media.pause, media.volume, media.volume_step,
    media.next_track, media.mute, media.music_off, chores.vacuum_start, chores.vacuum_room, chores.vacuum_home,
    chores.mow, timers.cancel_all,
)  # fmt: skip
_QUESTIONS: tuple[_Builder, ...] = (
    chores.weather, chores.weather, chores.time, chores.date, timers.status, alarms.status,
    state_questions.own_state_named, state_questions.own_state_named, state_questions.warmth,
)  # fmt: skip
_JOINS = (
    " and ", " and ", " and ", " and ", ", ", ", ", " ", " ", " ", " then ", " and then ", " also ", " and also ",
    ", and ", ", then ", " plus ", " and um ", " and uh ", " and like ", " and please ", " and after that ",
    " and when you're done ", " and while you're at it ",
)  # fmt: skip
# What follows has nothing to do with the time before it.
_FRESH_JOINS = (
    " oh and ", ", oh and ", " also ", ", also ", ". ", ". also ", ", and also ", " oh yeah and ",
    " and another thing ", " and one more thing ", " oh and also ", ", and separately ", " and besides that ",
)  # fmt: skip
_BEFORE_QUESTION = (
    " and ",
    " and ",
    ", ",
    " oh and ",
    " and also ",
    " also ",
    ". ",
    " and tell me ",
    " and by the way ",
)
_AFTER_QUESTION = (" and ", " and ", " and also ", " oh and ", ", and ", ". ", " and could you ", " and please ")
_TIMED = frozenset({"start_timer", "set_alarm", "set_reminder"})
_MOST_WORDS = 9
_TRIES = 30

_TIMER = Grammar("""
4! (set|start|make|put on) a timer for {d}
3! (set|start) {a} {dt} timer
2! (set|start) {an} {n} timer for {d}
2. timer [for] {d}
2. {dt} timer
""")
_ALARM = Grammar("""
4! set an alarm for {v}
3! wake me [up] {at}
2! set (the|my) alarm for {v}
2. alarm for {v}
! get me up {at}
""")
_REMIND = wordings(
    "(remind me to {k} {at}|remind me to {k} {at}|remind me {at} to {k}|set a reminder to {k} {at}|"
    "don't let me forget to {k} {at})"
)
_BUY = Grammar("""
3! add {i} to {l}
3! put {i} on {l}
2! (stick|pop|throw|chuck|write|note|get) {i} on {l}
2. {i} on {l}
2. we need [some|more] {i}
2. we're [nearly|all] out of {i}
""")


# Nobody is out of two litres of milk.
_COUNTS = frozenset({"a", "an", "some", "two", "three", "four", "six", "ten", "half"})
_GOODS = tuple(
    item for item in GROCERIES
    if " and " not in item and not item[0].isdigit() and item.split()[0] not in _COUNTS
)  # fmt: skip


def _timer(speaker: Speaker) -> Request:
    loose = loose_duration(speaker) if speaker.chance(0.25) else None
    words, slots, adjective = loose or duration(speaker.rng, speaker.numbers)
    name = speaker.pick(TIMER_NAMES)
    pattern = _TIMER.draw(speaker.rng)
    while not adjective and "dt" in pattern.places:
        pattern = _TIMER.draw(speaker.rng)
    named = {"name": name} if "n" in pattern.places else {}
    fill = {"d": words, "dt": adjective, "a": article(adjective), "an": article(name), "n": name}
    return Request(pattern.form, pattern.say(speaker.rng, fill), (home_call("start_timer", **slots, **named),))


def _alarm(speaker: Speaker) -> Request:
    when = Moment(hour(speaker.rng), "at") if speaker.chance(0.6) else moment(speaker.rng)
    text = (pattern := _ALARM.draw(speaker.rng)).say(speaker.rng, {"v": when.text, "at": when.placed})
    return Request(pattern.form, text, (home_call("set_alarm", time=when.text),))


def _reminder(speaker: Speaker) -> Request:
    when = moment(speaker.rng, needs_hour=False)
    while " and " in (task := errand(speaker.rng)) or "," in task:
        pass
    text = _REMIND.say(speaker.rng, {"k": task, "at": when.placed})
    return Request(":", text, (home_call("set_reminder", task=task, time=when.text),))


def _purchase(speaker: Speaker) -> Request:
    items = speaker.rng.sample(_GOODS, speaker.pick((1, 1, 1, 2, 2, 3)))
    shown = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    pattern = _BUY.draw(speaker.rng)
    text = pattern.say(speaker.rng, {"i": shown, "l": speaker.pick(("the list", lists.shopping_words(speaker)))})
    if text.endswith("the list"):
        text = f"{text.removesuffix('the list')}the shopping list"
    return Request(pattern.form, text, tuple(home_call("shopping_list_add_item", item=item) for item in items))


_SORTS: tuple[tuple[float, Sequence[_Builder]], ...] = (
    (10, _DEVICES), (2, (_timer,)), (1.6, (_alarm,)), (1.3, (_reminder,)), (2, (_purchase,)),
)  # fmt: skip


def _fits(order: Request) -> bool:
    """True for a short order that ends where its words end."""
    words = order.text.split()
    return (
        "conversation_command" not in order.calls[0].arguments
        and order.calls[0].tool not in ("respond", "nevermind")
        and not set(words) & {"it", "them", "that", "again", "and"}
        and (is_plain_order(order) and len(words) <= _MOST_WORDS and words[0] not in ("have", "let", "get", "make"))
    )


def _order(speaker: Speaker) -> Request:
    """An order that begins with its verb, or one of the own kinds of this module."""
    (group,) = speaker.rng.choices([group for _, group in _SORTS], [weight for weight, _ in _SORTS])
    for _ in range(_TRIES):
        order = speaker.pick(group)(speaker)
        if group is not _DEVICES or _fits(order):
            return order
    return Request("!", "pause the music", (home_call("media_pause"),))


def _question(speaker: Speaker) -> Request:
    for _ in range(_TRIES):
        asked = speaker.pick(_QUESTIONS)(speaker)
        if asked.form == "?" and "," not in asked.text and len(asked.text.split()) <= _MOST_WORDS + 1:
            return asked
    return Request("?", "what time is it", (home_call("get_current_time"),))


def _about(request: Request) -> tuple[object, ...]:
    call = request.calls[0]
    return (call.tool.removeprefix("turn_").replace("off", "on"), *map(str, call.arguments.values()))


def _begins_anew(order: Request) -> bool:
    return order.text.split(" ", 1)[0] in _VERBS_OF_OWN or is_plain_order(order)


_VERBS_OF_OWN = frozenset({"set", "start", "wake", "remind", "don't", "add", "put", "stick", "pop", "throw", "chuck",
                           "write", "note", "get", "make", "we", "we're"})  # fmt: skip


def _join(speaker: Speaker, before: Request, after: Request) -> str:
    """What stands between two requests; words that cannot be taken for a part of either."""
    if after.form == "?":
        return speaker.pick(_BEFORE_QUESTION)
    if before.form == "?":
        return speaker.pick(_AFTER_QUESTION)
    # "Timer for ten minutes and turn off the fan" is two commands; behind an alarm the second may wait for it.
    if before.calls[0].tool in ("set_alarm", "set_reminder") and after.calls[0].tool not in _TIMED:
        return speaker.pick(_FRESH_JOINS)
    link = speaker.pick(_JOINS)
    if before.calls[0].tool == "start_timer" and ("then" in link or "done" in link or "after" in link):
        link = " and "
    if not _begins_anew(after):
        # "Timer five minutes" behind nothing could belong to the words before it.
        an = {"timer": " and a ", "alarm": " and an "}.get(after.text.split(" ", 1)[0], " and ")
        link = speaker.pick((", ", " and ", an))
    if after.text.startswith(("we ", "we're ")):
        link = speaker.pick((" and ", ", ", " oh and ", " also ", ". "))
    return link


def in_one_breath(speaker: Speaker) -> Request:
    """ "Turn off the lights lock the door and set an alarm for seven"."""
    speaker.slips = False
    count = speaker.pick((2, 2, 2, 2, 3, 3, 3, 4))
    parts: list[Request] = []
    for _ in range(_TRIES):
        part = _order(speaker)
        if all(_about(part) != _about(other) and part.calls != other.calls for other in parts):
            parts.append(part)
        if len(parts) == count:
            break
    # What ends in a time, or in free words, stands last where it can.
    if speaker.chance(0.6):
        parts.sort(key=lambda part: (part.calls[0].tool in _TIMED) + (part.form == ":"))
    if speaker.chance(0.16):
        at = 0 if speaker.chance(0.3) else len(parts) - 1
        parts[at] = _question(speaker)
    return _joined(speaker, parts)


def _joined(speaker: Speaker, parts: Sequence[Request]) -> Request:
    text, before = parts[0].text, parts[0]
    for part in parts[1:]:
        text += _join(speaker, before, part) + part.text
        before = part
    calls = tuple(call for part in parts for call in part.calls)
    form: Form = parts[-1].form
    if form != ":":  # behind free words nothing may follow
        opened = _opened(speaker, text, is_order=is_plain_order(parts[0]))
        form = "." if opened != text or form == "?" or parts[0].form in "?." else form
        text = opened
    return Request(form, text, calls)


_OPENINGS = (
    "okay so ", "right ", "alright ", "okay ", "so ", "um ", "uh ", "hey so ", "two things ", "a few things ",
    "couple of things, ", "listen ", "hi there, ", "quick one, ", "before I go, ", "right then, ", "okay first ",
    "hello, ", "dear, ", "hey buddy, ", "I need a few things done, ",
)  # fmt: skip
_ORDER_OPENINGS = (
    "can you please ", "could you ", "could you please ", "please ", "would you ", "I need you to ", "I want you to ",
    "would you be so kind as to ", "do me a favour and ", "be a dear and ", "I'd like you to ", "go ahead and ",
    "can you just ", "hey can you ", "um could you ", "please please ", "kindly ", "if you could ", "you please ",
    "if it's not too much trouble could you ", "when you have a moment please ", "I was wondering if you could ",
)  # fmt: skip
_ENDS = (" please", " please", " thanks", " thank you", " thank you dear", " and that's it", " that's all", " okay",
         " cheers", " if you can", " will you", " thanks so much")  # fmt: skip


def _opened(speaker: Speaker, text: str, *, is_order: bool) -> str:
    """Words before the first command: a reason, a greeting, politeness."""
    way = speaker.rng.random()
    if way < 0.12:
        link = speaker.pick((" so ", ", ", ", so ", " ", ". "))
        polite = speaker.pick(_ORDER_OPENINGS) if is_order and speaker.chance(0.4) else ""
        return f"{reason(speaker.rng)}{link}{polite}{text}"
    if way < 0.3 and is_order:
        return speaker.pick(_ORDER_OPENINGS) + text
    return speaker.pick(_OPENINGS) + text if way < 0.42 else text


# --- one of them is nothing that a home can do

_IMPOSSIBLE = wordings(
    "(order (a pizza|some sushi|a taxi|a new phone|flowers for {w})|call (my mum|{w}|the dentist|a cab|the plumber)|"
    "book (a table for two|a flight|a haircut|a hotel)|send {w} (an email|a text|a message on whatsapp)|text {w} that "
    "I'm late|make (me a sandwich|the bed)|(do|wash) the dishes|walk the dog|feed the cat|fold the "
    "laundry|iron my shirt|cook (dinner|some pasta)|buy (stocks|me a lottery ticket)|transfer fifty dollars to {w}|"
    "pay (the rent|my phone bill)|post it on facebook|fly to the moon|do my homework|empty the bins|water my "
    "neighbour's plants by hand|print the report|tell me a secret about {w}|check my email|renew my "
    "passport|scan this letter)"
)


def with_impossible(speaker: Speaker) -> Request:
    """ "Turn off the lights and order a pizza": what can be done is done."""
    speaker.slips = False
    other = _IMPOSSIBLE.say(speaker.rng, {"w": speaker.somebody(rare_share=0.3)})
    for _ in range(_TRIES):
        order = speaker.pick(_DEVICES)(speaker)
        if _fits(order):
            break
    link = speaker.pick((" and ", " and ", ", ", " and then ", " then ", " and also ", " oh and ", " plus ", " "))
    text = (
        f"{order.text}{link}{other}"
        if speaker.chance(0.65)
        else f"{other}{link.replace(' oh and ', ' and ')}{order.text}"
    )
    return Request(".", _opened(speaker, text, is_order=True), order.calls)


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


BUILDERS: tuple[tuple[float, _Builder], ...] = (
    (11, in_one_breath),
    (2.2, and_the_one),
    (2.4, at_one_place),
    (1.4, both_there),
    (1.6, here_and_there),
    (1.5, and_it),
    (1.3, two_timed),
)
# Another tool may serve what the home's cannot.
ALONE_BUILDERS: tuple[tuple[float, _Builder], ...] = ((1.6, with_impossible),)
