"""Somebody who takes a word back in mid-sentence: the verb, or what stands before a noun. The last counts."""

from __future__ import annotations

from collections.abc import Callable

from training.calls import Call
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.speaker import Phrase, Said, Speaker, said
from training.home.things import COVERS, FAN, LIGHT, LOCK

_NO = (
    ", no, ", " no ", ", er, ", " er ", ", uh, ", " uh no ", ", sorry, ", " sorry ", ", I mean ", " I mean ",
    ", no wait, ", " no wait ", ", I meant ", ", oh no, ", ", hang on, ", ", wait, ", ", actually ",
    ", actually no, ", " um ", ", um, no, ", ", scratch that, ", " or rather ", ", no sorry, ", " wait no ",
    ", no no, ", ", not that, ", ", nope, ", " oh sorry ", ", what am I saying, ", ", let me think, ",
    " hmm no ",
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
    family = speaker.pick(_FAMILIES)
    wrong, right = speaker.rng.sample(family, 2)
    begun = wrong[0] if speaker.chance(0.6) else wrong[0].rpartition(" ")[0]
    before = speaker.pick(("", "", "", "please ", "can you "))
    return Said(".", f"{before}{begun}{speaker.pick(_NO)}{right[0]}", (right[1],))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (3, verb),
    (2, state),
    (1.4, qualifier),
    (1.2, wish),
)
