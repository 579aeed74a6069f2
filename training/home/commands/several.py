"""Several commands in one utterance: joined sentences, shared or opposing verbs, lists of devices.

A message or a title ends where the next command begins; some sentences have an "and" that belongs to the
text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from training.home.commands import set_values, switching
from training.home.commands.lists import list_words, shopping_words
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import ALARM, COVERS, FAN, LIGHT, LOCK, Kind
from training.home.lexicon.values import COLOURS, moment
from training.home.lexicon.vocabulary import (
    GROCERIES,
    MESSAGES,
    PEOPLE,
    QUERIES,
    TASKS,
    errand,
    in_area,
    on_floor,
    with_article,
)
from training.home.phrasing import is_plain_order
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings
from training.types import Call

# {m} is a message, {k} a task, {at} its time, {i} an item, {l} its list, {q} a title.
_BROADCAST = wordings(
    "(announce|broadcast|announce that|broadcast that|tell everyone|tell everybody|tell the kids|tell the "
    "family|tell everyone that|let everyone know|let everybody know that|let the family know|tell the "
    "whole house|make an announcement that|make an announcement saying|say everywhere that|say on all "
    "speakers|broadcast to everyone|announce to the house that|send a message to everyone that|spread the "
    "word that|call out to everyone that) {m}"
)
_REMIND = wordings(
    "(remind me to {k}|remind me to {k}|don't let me forget to {k}|set a reminder to {k}|make sure I "
    "remember to {k}|add a reminder to {k}|help me remember to {k})"
)
_REMIND_AT = wordings(
    "(remind me to {k} {at}|remind me to {k} {at}|remind me {at} to {k}|{at} remind me to {k}|set a "
    "reminder to {k} {at}|set a reminder {at} to {k}|don't let me forget to {k} {at}|nudge me {at} to {k})"
)
_FREE_TEXT_BUY = wordings(
    "(add {i} to {l}|add {i} to {l}|put {i} on {l}|write {i} on {l}|stick {i} on {l}|we need {i}|we're out "
    "of {i}|remind me to buy {i}|we've run out of {i}|{i} on {l})"
)
_FREE_TEXT_ADD = wordings(
    "(add {i} to {l}|add {i} to {l}|put {i} on {l}|write {i} on {l}|note {i} on {l}|stick {i} on {l})"
)
_PLAY = wordings("(play {q}|play {q}|play {q}|put on {q}|start playing {q}|let me hear {q}|find and play {q})")
_FREE_TEXT_LINKS = (
    " and ", " and ", " and ", " and ", " and then ", " then ", ", then ", ", and ", " and also ",
    ", and then ", ", also ", " and please ", " and after that ", ", plus ", " and could you ",
    " and can you ",
)  # fmt: skip
_COMMANDS: tuple[Callable[[Speaker], Request], ...] = (
    switching.turn_on, switching.turn_on, switching.turn_off, switching.turn_off, switching.open_cover,
    switching.close_cover, switching.lock, switching.unlock, set_values.brightness, set_values.warmth,
    set_values.colour,
)  # fmt: skip
_NEWS = (
    "the soup is on the table", "{w} is at the door", "the bus comes in ten minutes",
    "we're off to the beach", "{w} found the {r}", "I'm in the bath", "the cake is cut",
    "supper's getting cold", "nobody goes out barefoot", "{w} has the car keys", "the match has begun",
    "school is cancelled", "it's {w}'s birthday", "the vet called", "visitors are on their way",
    "my meeting is over", "I'm on a call", "the puppy is loose", "pancakes are ready",
    "the film begins at eight", "{w} needs a lift", "the {r} is fixed", "there's cake left",
    "I'm going for a run", "the floor is still wet", "it's tooth brushing time", "the washing is dry",
    "we have to leave by noon",
)  # fmt: skip
# Words of commands in somebody's own words: where these end, nobody could tell.
_DEVICES = ("turn", "switch", "lock", "close", "open", "shut", "dim", "start", "stop", "play", "lights")


def _is_clear(words: str) -> bool:
    return " and " not in words and "," not in words and not any(word in words.split() for word in _DEVICES)


def _command(speaker: Speaker) -> Request:
    order = speaker.pick(_COMMANDS)(speaker)
    while not is_plain_order(order) or order.text.startswith(("have ", "let ", "make ", "get ")):
        order = speaker.pick(_COMMANDS)(speaker)
    return order


def _task(speaker: Speaker) -> str:
    while not _is_clear(task := errand(speaker.rng)) or task.startswith(("buy ", "get ", "pick up ")):
        pass
    return task


def _own_words(speaker: Speaker) -> tuple[str, Call]:
    """A clause that ends in words of somebody's own, mostly."""
    way = speaker.rng.random()
    rng = speaker.rng
    if way < 0.32:
        while not _is_clear(message := _message(speaker)):
            pass
        return _BROADCAST.say(rng, {"m": message}), home_call("broadcast", message=message)
    if way < 0.62:
        task = _task(speaker)
        if speaker.chance(0.4):
            return _REMIND.say(rng, {"k": task}), home_call("set_reminder", task=task)
        when = moment(rng, needs_hour=False)
        call = home_call("set_reminder", task=task, time=when.text)
        return _REMIND_AT.say(rng, {"k": task, "at": when.placed}), call
    if way < 0.78:
        item = speaker.pick(GROCERIES)
        call = home_call("shopping_list_add_item", item=item)
        return _FREE_TEXT_BUY.say(rng, {"i": item, "l": shopping_words(speaker)}), call
    if way < 0.86:
        while not _is_clear(item := speaker.pick(TASKS)):
            pass
        shown, name = list_words(speaker)
        return _FREE_TEXT_ADD.say(rng, {"i": item, "l": shown}), home_call("list_add_item", item=item, name=name)
    query = speaker.pick(QUERIES) if speaker.chance(0.6) else vocabulary.rare_title(rng)
    while not _is_clear(query := query.removeprefix("some ")):
        query = speaker.pick(QUERIES)
    call = home_call("media_search_and_play", search_query=query.removeprefix("the ").removeprefix("The "))
    return _PLAY.say(rng, {"q": query}), call


def _message(speaker: Speaker) -> str:
    if speaker.chance(0.45):
        return speaker.pick(MESSAGES)
    who = speaker.somebody(PEOPLE)
    return speaker.pick(_NEWS).replace("{w}", who).replace("{r}", vocabulary.rare_word(speaker.rng))


def then_command(speaker: Speaker) -> Request:
    """ "Tell everyone the soup is on the table and dim the porch light": two calls, in either order."""
    speaker.slips = False
    text, call = _own_words(speaker)
    order = _command(speaker)
    if speaker.chance(0.74):
        return Request(":", f"{text}{speaker.pick(_FREE_TEXT_LINKS)}{order.text}", (call, *order.calls))
    if text.split(" ", 1)[0] in ("we", "we're", "we've"):
        return then_command(speaker)
    return Request(":", f"{order.text}{speaker.pick(_FREE_TEXT_LINKS[:-2])}{text}", (*order.calls, call))


# One call: what follows the "and" is no command to a home.
_JOINED_TASKS = (
    "feed the cat and brush it", "call {w} and apologise", "take out the bins and sweep the porch",
    "wash and dry the {r}", "ring {w} and ask about the {r}", "water the beds and weed the path",
    "pack the {r} and the swimming things", "print and sign the form", "bake a cake and hide it",
    "sit down and write to {w}", "measure the shelf and order brackets", "go and see {w}",
    "stretch and drink some water", "fold the towels and put them away", "find the tickets and print them",
    "take my pills and the eye drops", "thank {w} and {v}", "walk the dog and post the letter",
)  # fmt: skip
_JOINED_NEWS = (
    "dinner is ready and {w} is waiting", "the taxi is here and it won't wait",
    "I'm home and I brought pizza", "wash your hands and come to the table", "{w} and {v} are here",
    "we're leaving now and nobody is dressed yet", "grab your coats and your boots",
    "it's snowing and the sledge is out", "the cake is ready and there is tea too",
    "school starts early and the bus is on time", "be quiet and let {w} sleep",
    "come down and say hello to {w}", "the {r} is broken and nobody is to touch it",
    "tidy up and then we can go", "tea and toast are on the table",
    "pick up your toys and put them in the box", "the water is off and the plumber is late",
)  # fmt: skip
_JOINED_TITLES = (
    "the {r} and the {s}", "{r} and {s}", "{r} and sons", "my {r} and me", "night and {r}", "bread and {r}",
    "{w} and the {r}s", "{w} and {v}", "rise and {r}", "the {r} and then the rain", "rock and roll",
    "drum and bass", "rhythm and blues",
)  # fmt: skip
_ONE_ITEM = (
    "salt and vinegar crisps", "mac and cheese", "fish and chips", "peanut butter and jelly bars",
    "half and half", "sweet and sour sauce", "cookies and cream ice cream", "a dustpan and brush",
    "black and white film", "sage and onion stuffing", "a bucket and spade", "oil and vinegar dressing",
    "nuts and bolts", "a hook and eye", "rhubarb and custard sweets",
)  # fmt: skip
_SOLE = Grammar(": {x}")


def one_command(speaker: Speaker) -> Request:
    """ "Announce be quiet and let Anna sleep": the "and" belongs to the words."""
    speaker.slips = False
    rng = speaker.rng
    fill = {
        "{r}": vocabulary.rare_word(rng),
        "{s}": vocabulary.rare_word(rng),
        "{w}": speaker.pick(PEOPLE),
        "{v}": vocabulary.rare_person(rng),
    }

    def filled(words: str) -> str:
        for mark, value in fill.items():
            words = words.replace(mark, value)
        return words

    way = rng.random()
    if way < 0.34:
        message = filled(speaker.pick(_JOINED_NEWS))
        call, text = home_call("broadcast", message=message), _BROADCAST.say(rng, {"m": message})
    elif way < 0.68:
        task = filled(speaker.pick(_JOINED_TASKS))
        if speaker.chance(0.4):
            call, text = home_call("set_reminder", task=task), _REMIND.say(rng, {"k": task})
        else:
            when = moment(rng, needs_hour=False)
            call = home_call("set_reminder", task=task, time=when.text)
            text = _REMIND_AT.say(rng, {"k": task, "at": when.placed})
    elif way < 0.84:
        title = filled(speaker.pick(_JOINED_TITLES))
        if speaker.chance(0.5):
            title = " ".join(word if word in ("and", "the", "then", "me") else word.capitalize()
                             for word in title.split())  # fmt: skip
        call = home_call("media_search_and_play", search_query=title.removeprefix("the "))
        text = _PLAY.say(rng, {"q": title})
    else:
        item = speaker.pick(_ONE_ITEM)
        call = home_call("shopping_list_add_item", item=item)
        text = _FREE_TEXT_BUY.say(rng, {"i": item, "l": shopping_words(speaker)})
    return make_request(speaker, _SOLE, (call,), x=text)


# What makes several calls is drawn by `combining`.
FREE_TEXT_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1, one_command),)


# What turns on and what turns off, by domain; {t} is the thing.
_ORDERS: dict[str, tuple[str, str]] = {
    "light": ("turn on {t}|{t} on|switch {t} on", "turn off {t}|{t} off|switch {t} off|kill {t}"),
    "switch": ("start {t}|{t} on|turn on {t}", "stop {t}|{t} off|turn off {t}"),
    "fan": ("start {t}|{t} on", "stop {t}|{t} off"),
    "cover": ("open {t}|open {t}|{t} open|raise {t}", "close {t}|shut {t}|{t} closed|{t} shut|lower {t}"),
    "lock": ("lock {t}|lock {t}|{t} locked", "unlock {t}"),
    "alarm_control_panel": ("arm {t}|{t} armed", "disarm {t}"),
    "valve": ("open {t}", "close {t}|shut {t}"),
}
_WORDINGS = {domain: (tuple(on.split("|")), tuple(off.split("|"))) for domain, (on, off) in _ORDERS.items()}
_DOMAINS = ("light", "light", "light", "cover", "cover", "cover", "switch", "switch", "fan", "lock", "valve",
            "alarm_control_panel", "media")  # fmt: skip
_KINDS = {"light": LIGHT, "fan": FAN, "lock": LOCK}
_PLAYED: tuple[tuple[str, Call], ...] = (
    ("pause the music", home_call("media_pause")), ("stop the music", home_call("media_pause")),
    ("next song", home_call("media_next")), ("mute it", home_call("media_player_mute")),
    ("volume down", home_call("set_volume_relative", volume_step="down")),
    ("resume the music", home_call("media_unpause")),
)  # fmt: skip


def opposed(speaker: Speaker) -> Request:
    """Two to four orders; neighbours mostly want opposite things."""
    speaker.slips = False
    count = speaker.pick((2, 2, 3, 3, 3, 4))
    is_terse = speaker.chance(0.5)
    parts: list[tuple[str, Call]] = []
    for _ in range(40):
        text, call = _part(speaker, is_terse=is_terse)
        repeats = bool(parts) and call.tool == parts[-1][1].tool and speaker.chance(0.75)
        if not repeats and all(dict(call.arguments) != dict(other.arguments) for _, other in parts):
            parts.append((text, call))
        if len(parts) == count:
            break
    link = speaker.pick((" ", " ", ", ") if is_terse else (", ", ", ", " and ", " then "))
    last = speaker.pick((link, " and ", " and ", " and ", " and then "))
    text = link.join(text for text, _ in parts[:-1]) + last + parts[-1][0]
    return Request(".", text, tuple(call for _, call in parts))


def _part(speaker: Speaker, *, is_terse: bool) -> tuple[str, Call]:
    domain = speaker.pick(_DOMAINS)
    if domain == "media":
        return speaker.pick(_PLAYED)
    thing = _thing(speaker, domain)
    on, off = _WORDINGS[domain]
    words, tool = (speaker.pick(on), "turn_on") if speaker.chance(0.5) else (speaker.pick(off), "turn_off")
    if domain == "alarm_control_panel" and "name" in thing.slots and speaker.chance(0.5):
        words = f"{{t}} {tool.removeprefix('turn_')}"
    if domain == "light" and "domain" in thing.slots and "area" in thing.slots and speaker.chance(0.3):
        # "Lights off kitchen"
        word = speaker.pick(("on", "off"))
        return f"lights {word} {thing.slots['area']}", home_call(f"turn_{word}", **thing.slots)
    text = thing.text
    if is_terse and speaker.chance(0.7):
        text = text.removeprefix("the ").removeprefix("my ").removeprefix("our ").removeprefix("all ")
        text = text.removeprefix("the ")
    return words.replace("{t}", text), home_call(tool, **thing.slots)


def _thing(speaker: Speaker, domain: str) -> Phrase:
    if domain == "alarm_control_panel" and not speaker.known.by_domain.get(domain):
        noun = speaker.pick(ALARM.singular)
        return Phrase(f"the {noun}", {"name": noun} if speaker.is_listed(noun) else dict(ALARM.slots))
    if domain == "cover" and speaker.chance(0.35):
        kind = COVERS[speaker.pick(("blind", "curtain", "shutter", "window"))]
        return speaker.kind(kind, nowhere=0.3, single=0.0)
    if domain in _KINDS and speaker.chance(0.35):
        return speaker.kind(_KINDS[domain], nowhere=0.15, single=0.0)
    while " and " in (phrase := speaker.named(domain, apart=0.03)).text:
        pass
    return phrase


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


def things(speaker: Speaker) -> Request:
    """One verb for several things."""
    grammar, tool, draw = speaker.pick(_SHARED)
    phrases: list[Phrase] = []
    while len(phrases) < _count(speaker, phrases):
        phrase = draw(speaker)
        if all(phrase.slots != other.slots for other in phrases) and " and " not in phrase.text:
            phrases.append(phrase)
    calls = tuple(home_call(tool, **phrase.slots) for phrase in phrases)
    return make_request(speaker, grammar, calls, t=_listed(speaker, [phrase.text for phrase in phrases]))


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


def places(speaker: Speaker) -> Request:
    """One kind of thing in several places."""
    kind: Kind = speaker.pick((LIGHT, LIGHT, LIGHT, FAN, COVERS["blind"], COVERS["curtain"], COVERS["window"], LOCK))
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
            speaker, [in_area(first), *((in_area if speaker.chance(0.3) else with_article)(area) for area in rest)]
        )
        text = f"the {noun} {behind}"
    elif way < 0.6:
        behind = _listed(speaker, areas)
        text = f"the {noun} in the {behind}"
    else:
        text = f"the {_listed(speaker, areas)} {noun}"
    return make_request(speaker, grammar, calls, t=text)


def floors(speaker: Speaker) -> Request:
    """Lights on two floors."""
    tool, grammar = speaker.pick((("turn_on", _ON), ("turn_off", _OFF)))
    first, second = speaker.floor(), speaker.floor()
    if first == second:
        return places(speaker)
    calls = tuple(home_call(tool, floor=floor, domain="light") for floor in (first, second))
    return make_request(speaker, grammar, calls, t=f"the lights {on_floor(first)} and {on_floor(second)}")


def on_and_off(speaker: Speaker) -> Request:
    """ "Turn the lamp on and the fan off"."""
    one, other = _switched(speaker), _switched(speaker)
    if one.slots == other.slots:
        return on_and_off(speaker)
    verb = speaker.pick(("turn", "switch"))
    first, second = speaker.pick((("on", "off"), ("off", "on")))
    calls = (home_call(f"turn_{first}", **one.slots), home_call(f"turn_{second}", **other.slots))
    again = speaker.pick(("", "", f"{verb} "))
    return Request("!", f"{verb} {one.text} {first} and {again}{other.text} {second}", calls)


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
        area, word = (speaker.area(), speaker.pick(_TOLD)) if speaker.chance(0.5) else ("", speaker.pick(_TOLD))
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


def telegrams(speaker: Speaker) -> Request:
    """ "Salt lamp on desk fan off": a list without verbs, and mostly without links."""
    parts: list[tuple[str, Call]] = []
    wanted = 2 if speaker.chance(0.65) else 3
    while len(parts) < wanted:
        part = _telegram(speaker)
        if all(_about(part[1]) != _about(other[1]) for other in parts):
            parts.append(part)
    if speaker.chance(0.2):
        query = speaker.pick(QUERIES).removeprefix("some ")
        parts.append((f"play {query}", home_call("media_search_and_play", search_query=query.removeprefix("the "))))
    link = speaker.pick((" ", " ", " ", ", "))
    last = speaker.pick((link, link, " and ", " and "))
    text = link.join(text for text, _ in parts[:-1]) + last + parts[-1][0]
    is_open = parts[-1][0].startswith("play ")
    return Request(":" if is_open else ".", text, tuple(call for _, call in parts))


def levels(speaker: Speaker) -> Request:
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
    return Request("!", f"{verb} {parts[0]} and {parts[1]}", tuple(calls))


def items(speaker: Speaker) -> Request:
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
    return make_request(speaker, grammar, calls, t=_listed(speaker, chosen), s=shown)


def joined(speaker: Speaker, draw: Callable[[Speaker], Request]) -> Request:
    """Two or three orders, one behind the other; `draw` makes any request."""
    orders: list[Request] = []
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
    return Request(
        "!" if orders[-1].form == "!" else ":", text, tuple(call for order in orders for call in order.calls)
    )


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
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
