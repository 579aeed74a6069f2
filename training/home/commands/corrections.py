"""Self-corrections and exclusions: the last verb, device or state counts.

Devices that are to stay as they are, and reasons, get no call and fill no slot.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.lexicon.devices import COVERS, FAN, LIGHT, LOCK, Kind
from training.home.lexicon.values import COLOURS
from training.home.lexicon.vocabulary import GROCERIES, PEOPLE, in_area, with_article
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings
from training.types import Call

_NO = (
    ", no, ", " no ", ", er, ", " er ", ", uh, ", " uh no ", ", sorry, ", " sorry ", ", I mean ", " I mean ",
    ", no wait, ", " no wait ", ", I meant ", ", oh no, ", ", hang on, ", ", wait, ", ", actually ",
    ", actually no, ", " um ", ", um, no, ", ", scratch that, ", " or rather ", ", no sorry, ", " wait no ",
    ", no no, ", ", not that, ", ", nope, ", " oh sorry ", ", what am I saying, ", ", let me think, ",
    " hmm no ",
    " nah ", ", nah, ", " nah make that ", " no make it ",
    ". no, ", ". sorry, ", ". I mean ",
)  # fmt: skip
# {a} is the wrong verb, {b} the right one, {bit} the same with it or them, {t} the thing, {no} takes back,
# {the} is an article behind which somebody begins again.
_VERB = Grammar("""
5. {a} {the}{no}{b} {t}
4. {a}{no}{b} {t}
4. {a} {t}{no}{bit}
3. {a} {t}{no}{b} {t}
2. {a} {t}{no}{b}
. {a} {t}{no}{bit} instead
. please {a} {the}{no}{b} {t}
. can you {a}{no}{b} {t}
. can you {a} {t}{no}{bit}
. I want you to {a}{no}{b} {t}
. don't {a} {t}, {bit}
. don't {a} {t}{no}{bit} please
""")
# {x} and {y} are the wrong and the right word of state: on and off, up and down.
_STATE = Grammar("""
5. {t} {x}{no}{y}
4. {v} {t} {x}{no}{y}
4. {v} {x}{no}{y} {t}
2. {v} {x} {the}{no}{v} {y} {t}
2. {v} {t} {x}{no}{v} {it} {y}
. {t} {x}{no}{t} {y}
. I want {t} {x}{no}{y}
. can you {v} {t} {x}{no}{y} please
. not {x}, {t} {y}
. {v} {t} {x}, I mean {y}, {y}
""")
# What turns on, and what turns off.
_VERBS: dict[str, tuple[tuple[str, str], ...]] = {
    "cover": (("open", "close"), ("open", "close"), ("open", "shut"), ("raise", "lower"), ("open up", "close")),
    "lock": (("lock", "unlock"), ("lock", "unlock"), ("lock up", "unlock")),
    "valve": (("open", "close"), ("open", "shut")),
    "light": (("turn on", "turn off"), ("switch on", "switch off"), ("put on", "turn off")),
    "switch": (("turn on", "turn off"), ("switch on", "switch off"), ("start", "stop")),
    "fan": (("turn on", "turn off"), ("start", "stop")),
    "media_player": (("turn on", "turn off"), ("switch on", "switch off")),
}
# The verb before both, what turns on, what turns off.
_STATES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "cover": (("put", "up", "down"), ("leave", "open", "closed"), ("roll", "up", "down"), ("have", "open", "shut")),
    "light": (("turn", "on", "off"), ("switch", "on", "off"), ("turn", "on", "off")),
    "switch": (("turn", "on", "off"), ("switch", "on", "off")),
    "fan": (("turn", "on", "off"), ("switch", "on", "off")),
    "media_player": (("turn", "on", "off"), ("switch", "on", "off")),
}
_DOMAINS = ("light", "light", "light", "cover", "cover", "cover", "lock", "lock", "switch", "fan", "valve",
            "media_player")  # fmt: skip
_KINDS = {
    "light": (LIGHT,),
    "fan": (FAN,),
    "lock": (LOCK,),
    "cover": tuple(COVERS[name] for name in ("blind", "curtain", "shutter", "shade")),
}


def _target(speaker: Speaker, domain: str) -> Phrase:
    kinds = _KINDS.get(domain)
    if kinds and speaker.chance(0.4):
        return speaker.kind(speaker.pick(kinds), single=0.2)
    return speaker.named(domain, apart=0.06)


def _to_it(verb: str, it: str) -> str:
    """ "turn it off", but "close it"."""
    first, _, particle = verb.partition(" ")
    return f"{first} {it} {particle}".strip()


def _fill(speaker: Speaker, target: Phrase) -> dict[str, str]:
    no = speaker.pick(_NO)
    begun = target.text.startswith(("the ", "my ", "our ")) and speaker.chance(0.9)
    article = target.text.split(" ", 1)[0] if begun else "the"
    return {"t": target.text, "it": "them" if target.is_plural else "it", "no": no, "the": article}


def verb(speaker: Speaker) -> Request:
    """ "Open the, er, close the blinds"; "lock no unlock the front door"."""
    domain = speaker.pick(_DOMAINS)
    target = _target(speaker, domain)
    on, off = speaker.pick(_VERBS[domain])
    is_on = speaker.chance(0.5)
    wrong, right = (off, on) if is_on else (on, off)
    calls = (home_call("turn_on" if is_on else "turn_off", **target.slots),)
    fill = _fill(speaker, target)
    again = _to_it(right, fill["it"])
    return make_request(speaker, _VERB, calls, a=wrong, b=right, bit=again, **fill)


def state(speaker: Speaker) -> Request:
    """ "Lamp on, no off"; "turn the fan off I mean on"."""
    domain = speaker.pick(tuple(_STATES))
    target = _target(speaker, domain)
    before, on, off = speaker.pick(_STATES[domain])
    is_on = speaker.chance(0.5)
    wrong, right = (off, on) if is_on else (on, off)
    calls = (home_call("turn_on" if is_on else "turn_off", **target.slots),)
    return make_request(speaker, _STATE, calls, v=before, x=wrong, y=right, **_fill(speaker, target))


_QUALIFIERS = (
    "left", "right", "big", "small", "front", "back", "upper", "lower", "old", "new", "tall", "little",
    "outer", "inner", "first", "second", "kitchen", "bedroom", "hall", "desk", "floor", "garden", "side",
    "red", "blue",
)  # fmt: skip
_ON_OFF = Grammar("""
4. (turn|switch) {w} {q}
3. (turn|switch) {q} {w}
. {q} {w}
. please (turn|switch) {w} {q}
. can you (turn|switch) {q} {w}
""")


def qualifier(speaker: Speaker) -> Request:
    """ "The left no right lamp": what stands before the noun is taken back."""
    domain = speaker.pick(("light", "light", "light", "switch", "fan", "media_player"))
    for _ in range(6):
        name = str(speaker.named(domain, apart=0.0).slots["name"])
        if " " in name and "'" not in name:
            break
    else:
        name = f"{speaker.pick(_QUALIFIERS[:12])} lamp"
    first = name.split(" ", 1)[0]
    wrong = speaker.pick([other for other in _QUALIFIERS if other != first])
    if first in ("left", "right") and speaker.chance(0.8):
        wrong = "right" if first == "left" else "left"
    the = speaker.pick(("the ", "the ", "the ", "my ", ""))
    again = the if speaker.chance(0.3) else ""
    word = speaker.pick(("on", "off"))
    text = f"{the}{wrong}{speaker.pick(_NO[:-3])}{again}{name}"
    return make_request(speaker, _ON_OFF, (home_call(f"turn_{word}", name=name),), w=word, q=text)


# Orders of one family: each may be said in the place of another.
_FAMILIES: tuple[tuple[tuple[str, Call], ...], ...] = (
    (("mute it", home_call("media_player_mute")), ("unmute it", home_call("media_player_unmute"))),
    (("pause the music", home_call("media_pause")), ("resume the music", home_call("media_unpause"))),
    (("next song", home_call("media_next")), ("previous song", home_call("media_previous"))),
    (
        ("volume up", home_call("set_volume_relative", volume_step="up")),
        ("volume down", home_call("set_volume_relative", volume_step="down")),
    ),
    (
        ("turn it up", home_call("set_volume_relative", volume_step="up")),
        ("turn it down", home_call("set_volume_relative", volume_step="down")),
        ("pause it", home_call("media_pause")),
    ),
    (
        ("pause the timer", home_call("pause_timer")),
        ("cancel the timer", home_call("cancel_timer")),
        ("resume the timer", home_call("unpause_timer")),
    ),
    (("start the vacuum", home_call("vacuum_start")), ("send the vacuum home", home_call("vacuum_return_to_base"))),
    (("mow the lawn", home_call("lawn_mower_start_mowing")), ("dock the mower", home_call("lawn_mower_dock"))),
)


def wish(speaker: Speaker) -> Request:
    """ "Pause the timer, no, cancel it": another order of the same kind."""
    # Where a robot is called "Vacuum" its name would have to be said.
    families = _FAMILIES[:-2] if speaker.is_listed("vacuum") or speaker.is_listed("mower") else _FAMILIES
    family = speaker.pick(families)
    wrong, right = speaker.rng.sample(family, 2)
    begun = wrong[0] if speaker.chance(0.6) else wrong[0].rpartition(" ")[0]
    before = speaker.pick(("", "", "", "please ", "can you "))
    return Request(".", f"{before}{begun}{speaker.pick(_NO)}{right[0]}", (right[1],))


# {x} is not meant, {y} is; {n} is what both are, {v} the verb, {w} on or off where the verb wants it,
# {u} what it is to be where there is no verb.
_NOT_BUT = Grammar("""
4. {v} the {x} {n} {w} no not the {x} the {y} {n}
3. {v} the {x}, no not the {x}, the {y} {n} {w}
4. no not the {x} the {y} {n} {u}
3. no not the {x} {n}, {v} the {y} {n} {w}
3. {v} the {y} {n} {w}, not the {x} ({one}|{n})
2. {v} not the {x} but the {y} {n} {w}
2. not the {x} {n}, the {y} {n} {u}
2. not the {x} {one}, {v} the {y} {n} {w}
2. {v} the {x} {n} {w}(, sorry|, wait|) not the {x} the {y} ({one}|{n}) I mean the {y} {n}
. I said the {y} {n} {u} not the {x} ({one}|{n})
. {v} the {x} I mean the {y} {n} {w}
""")
# {z} is anything, {y} the whole name.
_CALLED = Grammar("""
4. {v} the {z} {w}, I mean the one called {y}
3. {v} the {z} {w}, the one (called|named) {y}
2. {v} the {z} {w}, no, the one (called|named) {y}
2. {v} the {z} {w}(, well|, sorry), I mean {y}
2. {v} the {z} (called|named|that's called) {y} {w}
. {v} the thing (called|named) {y} {w}
. not that one, {v} the one (called|named) {y} {w}
""")
_SIDES = ("east", "west", "north", "south", "left", "right", "front", "back", "upper", "lower", "old", "new",
          "big", "small", "inner", "outer", "wooden", "long")  # fmt: skip
_OPPOSITES = {one: other for pair in zip(_SIDES[::2], _SIDES[1::2], strict=True)
              for one, other in (pair, pair[::-1])}  # fmt: skip
_NOUNS = {
    "light": ("lamp", "light", "lamps", "light"),
    "cover": ("shutters", "blinds", "shutter", "curtains", "awning", "blind", "gate"),
    "fan": ("fan",),
    "switch": ("plug", "heater", "pump"),
    "lock": ("door", "gate"),
}


# Names of two words of which the first may be taken back.
_LAST = (" lamp", " light", " lights", " lamps", " spot", " strip", " fan", " plug", " heater", " pump",
         " door", " gate", " blind", " blinds", " shutter", " shutters", " curtain", " curtains", " awning",
         " shade", " shades", " window", " charger")  # fmt: skip


# What a thing is to be: behind turn_on, behind turn_off.
_TO_BE = {"cover": ("open", "closed"), "lock": ("locked", "unlocked")}


def _ordered(speaker: Speaker, domain: str) -> tuple[str, str, str]:
    """A verb, its particle, and the tool."""
    if domain in ("light", "fan", "switch"):
        word = speaker.pick(("on", "off"))
        return speaker.pick(("turn", "switch", "turn", "")), word, f"turn_{word}"
    on, off = speaker.pick(_VERBS[domain])
    return (on, "", "turn_on") if speaker.chance(0.5) else (off, "", "turn_off")


def not_but(speaker: Speaker) -> Request:
    """ "No not the east the west shutters": the one behind "not" is not meant."""
    speaker.slips = False
    domain = speaker.pick(("light", "light", "cover", "cover", "cover", "fan", "switch", "lock"))
    first, noun = speaker.pick(_SIDES), speaker.pick(_NOUNS[domain])
    for _ in range(4):
        name = str(speaker.named(domain, apart=0.0).slots["name"])
        if name.count(" ") == 1 and name.endswith(_LAST):
            first, noun = name.split()
            break
    wrong = _OPPOSITES.get(first) or speaker.pick([side for side in _SIDES if side != first])
    verb, word, tool = _ordered(speaker, domain)
    calls = (home_call(tool, name=f"{first} {noun}"),)
    one = "ones" if noun.endswith("s") else "one"
    to_be = word or _TO_BE[domain][tool == "turn_off"]
    return make_request(speaker, _NOT_BUT, calls, x=wrong, y=first, n=noun, v=verb, w=word, u=to_be, one=one)


def called(speaker: Speaker) -> Request:
    """ "The lamp, I mean the one called Salt Lamp": only the name that comes last."""
    speaker.slips = False
    domain = speaker.pick(("light", "light", "switch", "fan", "cover", "lock"))
    name = str(speaker.named(domain, apart=0.0).slots["name"])
    verb, word, tool = _ordered(speaker, domain)
    vague = speaker.pick(_NOUNS[domain])
    if speaker.chance(0.4) and "'" not in (area := speaker.area()):
        vague = f"{area} {vague}"
    return make_request(speaker, _CALLED, (home_call(tool, name=name),), z=vague, y=name, v=verb, w=word)


_NOT_COLOUR = Grammar("""
4. {v} {t} [to] {x}{no}{y}
3. {t} {x}{no}{y}
2. {v} {t} [to] {x}(, not| no not|, I said not) {x}, {y}
2. {v} {t} (not {x} but {y}|{y} not {x})
2. {t} {y}, not {x}
. not {x}, {t} (in|to) {y}
. {v} {t} [to] {x}, hmm, {y} (is better|looks better|instead)
""")


def colour(speaker: Speaker) -> Request:
    """ "Yellow nah blue"."""
    speaker.slips = False
    target = speaker.named("light", apart=0.05) if speaker.chance(0.6) else speaker.kind(LIGHT, single=0.3)
    slots = {slot: value for slot, value in target.slots.items() if slot != "domain"}
    wrong, right = speaker.rng.sample(COLOURS[:24], 2)
    calls = (home_call("light_set", **slots, color=right),)
    verb = speaker.pick(("make", "set", "turn", "change"))
    return make_request(speaker, _NOT_COLOUR, calls, t=target.text, x=wrong, y=right, v=verb, no=speaker.pick(_NO))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (3, verb),
    (2, state),
    (1.4, qualifier),
    (1.2, wish),
    (2, not_but),
    (1.2, called),
    (1.2, colour),
)


# {x} is meant, {y} is not; {w} is what is to be done, {on} how the other is now.
_SPARED = Grammar("""
5. {x} {w}, {y} can stay [{on}|as it is|like that|]
3. {x} {w}, {y} (stays|stays {on}|is fine|is okay as it is)
4. (turn|switch) {w} {x} but (leave|keep) {y} {on}
3. (turn|switch) {x} {w} but (leave|keep) {y} [{on}|alone|as it is|running]
2. (turn|switch) {x} {w} but not {y}
2. (turn|switch) {w} {x}, not {y}
2. (turn|switch) {w} {x} and (leave|keep) {y} {on}
3. (leave|keep) {y} {on} but (turn|switch) {x} {w}
2. (leave|keep) {y} {on}, just (turn|switch) {w} {x}
2. (don't touch|leave alone|don't bother with) {y}, (just|only) (turn|switch) {w} {x}
2. {y} (is fine|can stay|can stay {on}|is okay like that), [but] (turn|switch) {x} {w}
2. {y} stays {on}, {x} {w}
. I only (want|need) {x} {w}, {y} (stays|can stay) {on}
. not {y}, (turn|switch) {w} {x}
. only {x} {w}, (leave|keep) {y} {on}
. {x} {w} please, {y} (I still need|is still needed|we still need)
. I still need {y}, but {x} can go {w}
""")
_SPARED_COVER = Grammar("""
4. {w} {x}, {y} can stay [{on}|as it is|like that|]
4. {w} {x} but (leave|keep) {y} {on}
2. {w} {x} but (leave|keep) {y} [alone|as it is]
2. {w} {x} but not {y}
3. (leave|keep) {y} {on} but {w} {x}
2. {y} can stay {on}, (just|only) {w} {x}
. not {y}, {w} {x}
. don't touch {y}, just {w} {x}
""")


def _other(speaker: Speaker, domain: str, kinds: tuple[Kind, ...], meant: Phrase) -> Phrase:
    for _ in range(8):
        other = _thing(speaker, domain, kinds)
        if other.slots.get("name") != meant.slots.get("name") and other.slots != meant.slots:
            return other
    return Phrase("the big lamp", {"name": "big lamp"})


def _thing(speaker: Speaker, domain: str, kinds: tuple[Kind, ...]) -> Phrase:
    if kinds and speaker.chance(0.3):
        return speaker.kind(speaker.pick(kinds), nowhere=0.1, single=0.3)
    return speaker.named(domain, apart=0.04)


def with_exclusion(speaker: Speaker) -> Request:
    """ "The lamp off, the fan can stay"."""
    speaker.slips = False
    if speaker.chance(0.25):
        kinds = (COVERS["blind"], COVERS["curtain"], COVERS["shutter"])
        meant = _thing(speaker, "cover", kinds)
        other = _other(speaker, "cover", kinds, meant)
        word, tool, still = speaker.pick((("open", "turn_on", "closed"), ("close", "turn_off", "open")))
        calls = (home_call(tool, **meant.slots),)
        return make_request(speaker, _SPARED_COVER, calls, x=meant.text, y=other.text, w=word, on=still)
    domain = speaker.pick(("light", "light", "light", "switch", "fan", "media_player"))
    beside = speaker.pick(("light", "light", "switch", "fan", "media_player"))
    meant = _thing(speaker, domain, (LIGHT,) if domain == "light" else ())
    other = _other(speaker, beside, (LIGHT, FAN) if beside == "light" else (), meant)
    word, still = speaker.pick((("off", "on"), ("off", "on"), ("off", "on"), ("on", "off")))
    calls = (home_call(f"turn_{word}", **meant.slots),)
    made = make_request(speaker, _SPARED, calls, x=meant.text, y=other.text, w=word, on=still)
    if other.is_plural:
        text = made.text.replace(f"{other.text} is ", f"{other.text} are ")
        made = Request(made.form, text.replace(f"{other.text} stays", f"{other.text} stay"), made.calls)
    return made


_WRONG_WITH = wordings(
    "(there's (a smell|a funny smell|smoke|a strange noise|a burning smell|a hum|an odd noise|water) "
    "(from|coming from|out of|by) {that}|{that} (smells|is smoking|is making a noise|is driving me mad|is "
    "too hot|sounds awful|is buzzing|keeps flickering|woke the baby|is getting hot|is acting up)|I don't "
    "like the (smell|sound|look) of {that}|I can (smell|hear) {that} from here|{w} forgot {that}|nobody is "
    "using {that})"
)
_SO_OFF = Grammar("""
4. {why}(,| so|, so|. So| and so) (turn|switch|shut) {it} off
3. {why}(,| so|, so) (turn|switch|shut) off {t}
2. {why}(,| so|, so) (turn|switch) {t} off
2. {why}(,| so|, so) (please|could you|can you) (turn|switch) {it} off
. (turn|switch) {t} off, {why}
. (turn|switch) off {t}. {why}
""")


def complaint(speaker: Speaker) -> Request:
    """ "There's a smell from that heater so turn it off": one call for the one thing."""
    speaker.slips = False
    name = str(speaker.named(speaker.pick(("switch", "switch", "climate", "fan", "light")), apart=0.0).slots["name"])
    that = f"{speaker.pick(('that', 'that', 'the', 'the', 'this'))} {name}"
    if "'" in name:
        that = name
    why = _WRONG_WITH.say(speaker.rng, {"that": that, "w": speaker.pick(PEOPLE)})
    calls = (home_call("turn_off", name=name),)
    return make_request(speaker, _SO_OFF, calls, why=why, t=with_article(name), it="it")


# Where somebody goes, is or was: no place of what is asked for.
_WHEREABOUTS = Grammar("""
2. I need (the bathroom|the loo|the toilet|to go to the bathroom|a drink|a break)
2. I'm (going|off|heading|popping|nipping) (to|into|over to) {r}
2. I'm (on my way to|in|still in|just in|leaving) {r}
. I've got to go to {r}
. I left my (phone|glasses|keys|book|tea) {i}
. I'll be {i}
. {w} is (calling me|waiting for me|asleep|working|on the phone|having a bath) {i}
. {w} needs me {i}
. there's (someone|somebody|a noise|a spider|a parcel|no light) {i}
. the (cat|dog|baby|kettle|phone) is {i}
. we were {i} all day
. I have to fetch {g} from {r}
. somebody is at the door
. the doorbell rang
""")
_ORDERS: tuple[tuple[str, Call], ...] = (
    *(
        (words, home_call("media_pause"))
        for words in ("pause it", "pause the film", "pause the music", "pause this", "hit pause", "pause the movie")
    ),
    *((words, home_call("media_next")) for words in ("skip this", "next song", "skip it", "next one please")),
    *((words, home_call("media_player_mute")) for words in ("mute it", "mute the sound", "mute this")),
    *((words, home_call("media_unpause")) for words in ("resume the film", "unpause it", "carry on playing")),
    *(
        (words, home_call("set_volume_relative", volume_step="down"))
        for words in ("turn it down", "make it quieter", "volume down", "turn the music down")
    ),
    ("turn it up", home_call("set_volume_relative", volume_step="up")),
    ("pause the timer", home_call("pause_timer")),
    ("start the vacuum", home_call("vacuum_start")),
    ("what time is it", home_call("get_current_time")),
)
_LINKS = (", ", ", ", " so ", ", so ", ". ", " ", " and so ", ", can you ", ", please ", " so please ")
_BEHIND = (", ", " because ", ", ", ". ", " since ", " as ")


def with_story(speaker: Speaker) -> Request:
    """ "I need the bathroom, pause it"."""
    area = speaker.area()
    fill = {"r": with_article(area), "i": in_area(area), "w": speaker.pick(PEOPLE), "g": speaker.pick(GROCERIES)}
    story = _WHEREABOUTS.draw(speaker.rng).say(speaker.rng, fill)
    order, call = speaker.pick(_ORDERS)
    if call.tool == "vacuum_start" and speaker.is_listed("vacuum"):
        call = home_call("vacuum_start", name="vacuum")
    if speaker.chance(0.3):
        target = speaker.named(speaker.pick(("light", "switch", "media_player")), apart=0.0)
        word = speaker.pick(("on", "off"))
        order, call = f"turn {word} {target.text}", home_call(f"turn_{word}", **target.slots)
    if speaker.chance(0.7):
        return Request(".", f"{story}{speaker.pick(_LINKS)}{order}", (call,))
    return Request(".", f"{order}{speaker.pick(_BEHIND)}{story}", (call,))


# {r} is "the greenhouse", {b} the same without its article, {i} "in the greenhouse": why, and not what.
_WHY_THERE = wordings(
    "({b} (is|is way|is a bit|is getting|gets) too (hot|cold|stuffy|bright|dark|warm|damp)|{b} too "
    "(hot|cold|bright|dark|stuffy|warm|chilly)|it's (boiling|freezing|stuffy|too bright|baking|steaming|so "
    "gloomy|far too warm) {i}|{r} (smells|smells of paint|is full of smoke|is like an oven|needs some air|is "
    "flooded with sun|is damp again)|the sun is right (in|on) {r}|(movie|film|story|nap|bath) time {i}|"
    "{w} is (asleep|working|reading|sweating|cooking) {i}|we're (eating|sitting|having tea) {i}|the plants "
    "{i} are (wilting|too cold|burning)|we all freeze {i}|guests are coming to {r})"
)
_THERE = wordings("({i}|{i}|{i}|in there)")


def with_reason_at_place(speaker: Speaker) -> Request:
    """ "Greenhouse too hot, all windows in the greenhouse to eighty percent": one place, one call."""
    speaker.slips = False
    area = speaker.area()
    fill = {"r": with_article(area), "b": area, "i": in_area(area), "w": speaker.pick(PEOPLE)}
    why = _WHY_THERE.say(speaker.rng, fill)
    kind = COVERS[speaker.pick(("window", "blind", "curtain", "shutter", "shade", "window"))]
    place = _THERE.say(speaker.rng, fill)
    if "'" not in area and speaker.chance(0.25):
        shown = f"{speaker.pick(('all the', 'the', 'all'))} {area} {{n}}"
    else:
        shown = f"{speaker.pick(('all', 'all the', 'the', 'every one of the'))} {{n}} {place}".strip()
    slots = {"area": area}
    level = speaker.numbers.percent()
    way = speaker.rng.random()
    if way < 0.4:
        things, words = shown.replace("{n}", kind.plural[0]), speaker.numbers.say_percent(level)
        order = speaker.pick((f"{things} to {words}", f"set {things} to {words}", f"open {things} to {words}"))
        call = home_call("set_position", **slots, **kind.slots, position=level)
    elif way < 0.7:
        verb, tool = speaker.pick((("open", "turn_on"), ("close", "turn_off"), ("shut", "turn_off")))
        order = f"{verb} {shown.replace('{n}', kind.plural[0])}"
        call = home_call(tool, **slots, **kind.slots)
    else:
        one = speaker.pick((LIGHT, LIGHT, FAN))
        word = speaker.pick(("on", "off"))
        things = shown.replace("{n}", one.plural[0])
        order = speaker.pick((f"turn {word} {things}", f"{things} {word}", f"turn {things} {word}"))
        call = home_call(f"turn_{word}", **slots, **one.slots)
    is_verb_first = order.startswith(("set ", "open ", "close ", "shut ", "turn "))
    link = speaker.pick(_LINKS if is_verb_first else _LINKS[:7])
    return Request(".", f"{why}{link}{order}", (call,))


EXCLUSION_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (3, with_exclusion),
    (1.4, complaint),
    (2, with_story),
    (2, with_reason_at_place),
)
