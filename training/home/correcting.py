"""Somebody who takes a word back in mid-sentence: the verb, or what stands before a noun. The last counts."""

from __future__ import annotations

from collections.abc import Callable

from training.calls import Call
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.speaker import Phrase, Said, Speaker, said
from training.home.things import COVERS, FAN, LIGHT, LOCK
from training.home.values import COLOURS

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
    "cover": (
        ("open", "close"),
        ("open", "close"),
        ("open", "shut"),
        ("raise", "lower"),
        ("open up", "close"),
    ),
    "lock": (("lock", "unlock"), ("lock", "unlock"), ("lock up", "unlock")),
    "valve": (("open", "close"), ("open", "shut")),
    "light": (("turn on", "turn off"), ("switch on", "switch off"), ("put on", "turn off")),
    "switch": (("turn on", "turn off"), ("switch on", "switch off"), ("start", "stop")),
    "fan": (("turn on", "turn off"), ("start", "stop")),
    "media_player": (("turn on", "turn off"), ("switch on", "switch off")),
}
# The verb before both, what turns on, what turns off.
_STATES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "cover": (
        ("put", "up", "down"),
        ("leave", "open", "closed"),
        ("roll", "up", "down"),
        ("have", "open", "shut"),
    ),
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


def verb(speaker: Speaker) -> Said:
    """ "Open the, er, close the blinds"; "lock no unlock the front door"."""
    domain = speaker.pick(_DOMAINS)
    target = _target(speaker, domain)
    on, off = speaker.pick(_VERBS[domain])
    is_on = speaker.chance(0.5)
    wrong, right = (off, on) if is_on else (on, off)
    calls = (home_call("turn_on" if is_on else "turn_off", **target.slots),)
    fill = _fill(speaker, target)
    again = _to_it(right, fill["it"])
    return said(speaker, _VERB, calls, a=wrong, b=right, bit=again, **fill)


def state(speaker: Speaker) -> Said:
    """ "Lamp on, no off"; "turn the fan off I mean on"."""
    domain = speaker.pick(tuple(_STATES))
    target = _target(speaker, domain)
    before, on, off = speaker.pick(_STATES[domain])
    is_on = speaker.chance(0.5)
    wrong, right = (off, on) if is_on else (on, off)
    calls = (home_call("turn_on" if is_on else "turn_off", **target.slots),)
    return said(speaker, _STATE, calls, v=before, x=wrong, y=right, **_fill(speaker, target))


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


def qualifier(speaker: Speaker) -> Said:
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
    return said(speaker, _ON_OFF, (home_call(f"turn_{word}", name=name),), w=word, q=text)


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
    (
        ("start the vacuum", home_call("vacuum_start")),
        ("send the vacuum home", home_call("vacuum_return_to_base")),
    ),
    (
        ("mow the lawn", home_call("lawn_mower_start_mowing")),
        ("dock the mower", home_call("lawn_mower_dock")),
    ),
)


def wish(speaker: Speaker) -> Said:
    """ "Pause the timer, no, cancel it": another order of the same kind."""
    # Where a robot is called "Vacuum" its name would have to be said.
    families = _FAMILIES[:-2] if speaker.is_listed("vacuum") or speaker.is_listed("mower") else _FAMILIES
    family = speaker.pick(families)
    wrong, right = speaker.rng.sample(family, 2)
    begun = wrong[0] if speaker.chance(0.6) else wrong[0].rpartition(" ")[0]
    before = speaker.pick(("", "", "", "please ", "can you "))
    return Said(".", f"{before}{begun}{speaker.pick(_NO)}{right[0]}", (right[1],))


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


def not_but(speaker: Speaker) -> Said:
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
    return said(speaker, _NOT_BUT, calls, x=wrong, y=first, n=noun, v=verb, w=word, u=to_be, one=one)


def called(speaker: Speaker) -> Said:
    """ "The lamp, I mean the one called Salt Lamp": only the name that comes last."""
    speaker.slips = False
    domain = speaker.pick(("light", "light", "switch", "fan", "cover", "lock"))
    name = str(speaker.named(domain, apart=0.0).slots["name"])
    verb, word, tool = _ordered(speaker, domain)
    vague = speaker.pick(_NOUNS[domain])
    if speaker.chance(0.4) and "'" not in (area := speaker.area()):
        vague = f"{area} {vague}"
    return said(speaker, _CALLED, (home_call(tool, name=name),), z=vague, y=name, v=verb, w=word)


_NOT_COLOUR = Grammar("""
4. {v} {t} [to] {x}{no}{y}
3. {t} {x}{no}{y}
2. {v} {t} [to] {x}(, not| no not|, I said not) {x}, {y}
2. {v} {t} (not {x} but {y}|{y} not {x})
2. {t} {y}, not {x}
. not {x}, {t} (in|to) {y}
. {v} {t} [to] {x}, hmm, {y} (is better|looks better|instead)
""")


def colour(speaker: Speaker) -> Said:
    """ "Yellow nah blue"."""
    speaker.slips = False
    target = speaker.named("light", apart=0.05) if speaker.chance(0.6) else speaker.kind(LIGHT, single=0.3)
    slots = {slot: value for slot, value in target.slots.items() if slot != "domain"}
    wrong, right = speaker.rng.sample(COLOURS[:24], 2)
    calls = (home_call("light_set", **slots, color=right),)
    verb = speaker.pick(("make", "set", "turn", "change"))
    return said(speaker, _NOT_COLOUR, calls, t=target.text, x=wrong, y=right, v=verb, no=speaker.pick(_NO))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (3, verb),
    (2, state),
    (1.4, qualifier),
    (1.2, wish),
    (2, not_but),
    (1.2, called),
    (1.2, colour),
)
