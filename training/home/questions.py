"""What questions about a home sound like, whatever it is that they ask about."""

from __future__ import annotations

from training.calls import Call
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.speaker import Phrase, Said, Slots, Speaker

# {w} is a state behind "is": on, closed, low. {is} fits {t}.
OF_ONE = Grammar(
    """
6? {is} {t} {w}
2? {is} {t} (still|currently|already|right now) {w}
? {is} {t} {w} (right now|at the moment|now|currently)
2? (can|could) you (tell me|check|see) (if|whether) {t} {is} {w}
! (tell me|check|find out|look up|see|verify) (if|whether) {t} {is} {w}
? do you know (if|whether) {t} {is} {w}
. (I want|I need|I would like|I'd like) to know (if|whether) {t} {is} {w}
? {is} {t} {w} or not
. {t} {is} {w}, right
? would you (check|look) (if|whether) {t} {is} {w}
"""
)


LEFT_ON = Grammar("""
2? did (I|we|someone|anyone|somebody) leave {t} on
2! (tell me|please tell me) (I haven't|I didn't|we haven't|nobody has) (left|leave) {t} on
? has (someone|anyone) left {t} (on|running)
. I (think|hope|fear) (I left|I didn't leave|someone left) {t} on
? have (I|we) left {t} on
? was {t} left on
? did (I|we) forget to (turn|switch) off {t}
? did (I|we) (turn|switch) on {t}
""")


LEFT_OFF = Grammar("""
2? did (I|we|someone|anyone) (turn|switch) off {t}
? did (I|we) (turn|switch) {t} off
? have (I|we) (turned|switched) {t} off
? has {t} been (turned|switched) off
""")


DONE_TO = {
    "open": Grammar("""
        3? did (I|we|someone|anyone|somebody) leave {t} open
        2! (tell me|please tell me|promise me) (I haven't|we haven't|nobody has|I didn't|we didn't) \
    (left|leave) {t} open
        2. (I hope|I think|I'm afraid) (I|we|someone|the kids) (left|didn't leave|haven't left) {t} open
        2? was {t} left (open|up|ajar|wide open)
        ? (did|has) (anyone|anybody|someone|the kids|the postman) (open|opened|left open) {t}
        ? has (someone|anyone|anybody) left {t} open
        ? (haven't|didn't) (I|we) (left|leave) {t} open
        ? is {t} standing open
        . don't tell me {t} is [still] open
        2? have (I|we) left {t} open
        ? was {t} left open
        ? did (I|we) open {t}
        ? did (I|we|anyone) forget to (close|shut) {t}
        2? was {t} open [last night|this morning|all day|all night|]
        2? did (anyone|anybody|somebody) open {t} [last night|this morning|while I was out|]
        ? are you sure {t} isn't open
        """),
    "closed": Grammar("""
        3? did (I|we|someone|anyone) (close|shut) {t}
        2! (tell me|please tell me|reassure me) (that|) {t} is (closed|shut|down)
        2. (I hope|tell me) (I|we|someone|anybody) (closed|shut) {t}
        2? did (I|we|anyone|the kids|he|she) (remember to|bother to) (close|shut) {t}
        ? has (anyone|anybody|someone) (closed|shut) {t}
        2? have (I|we) (closed|shut) {t}
        ? has {t} been (closed|shut)
        2? was {t} (closed|shut) [last night|this morning|when we left|]
        2? did (anyone|anybody|someone|somebody) (close|shut) {t} [last night|this morning|]
        ? are you sure {t} is (closed|shut)
        """),
    "locked": Grammar("""
        4? did (I|we|someone|anyone) lock {t}
        2! (tell me|please tell me|reassure me) (I|we|someone) (locked|did lock|remembered to lock) {t}
        2? has (anyone|anybody|someone) locked {t}
        . I hope {t} is locked
        2? have (I|we) locked {t}
        ? has {t} been locked [up|yet|]
        2? was {t} locked [last night|this morning|when I left|overnight|]
        2? did (anyone|anybody|somebody|he|she|the kids) lock {t} [last night|this morning|]
        ? are you sure {t} is locked
        ? did (I|we) remember to lock {t}
        """),
    "unlocked": Grammar("""
        3? did (I|we|someone|anyone) leave {t} unlocked
        3? (did|has) (anyone|anybody|someone|somebody|the kids) (unlock|unlocked|left unlocked) {t}
        2! (tell me|please tell me) (I haven't|we haven't|I didn't|nobody has) (left|leave) {t} unlocked
        ? was {t} (left unlocked|not locked|unlocked by someone)
        ? has {t} been unlocked
        2? was {t} unlocked [last night|this morning|all day|]
        2? did (anyone|anybody|somebody) (unlock {t}|leave {t} unlocked)
        2? did (I|we|someone) unlock {t}
        ? have (I|we) left {t} unlocked
        ? was {t} left unlocked
        ? did (I|we) forget to lock {t}
        """),
}  # fmt: skip


# {n} and {s} are a kind's plural and singular, {p} a place behind them, {b} before them.
OF_MANY = Grammar(
    """
3? are (any|any|any of the|some) {b} {n} {w} {p}
2? any {b} {n} [still] {w} {p}
2? are (any|any of the) {n} {p} {w}
2? are there [any] {n} {w} {p}
2? is (any|a|any of the) {s} {w} {p}
? is there (a|any) {s} {w} {p}
4? are (all|all|all the|all of the) {b} {n} {w} {p}
2? are (all|all the|all of the) {n} {p} {w}
2? is (every|each) {s} {w} {p}
3? are the {b} {n} {w} {p}
2? are the {n} {p} {w}
4? (which|which|what) {b} {n} are [still|currently] {w} {p}
2? which {n} {p} are {w}
2? which of the {b} {n} are {w} {p}
? which {s} is {w} {p}
4? how many {b} {n} are [still|currently] {w} {p}
2? how many of the {n} are {w} {p}
2? how many {n} {p} are {w}
? how many {n} do (I|we) have {w} {p}
? do (I|we) have any {n} {w} {p}
! tell me (which|how many) {n} are {w} {p}
! tell me (if|whether) (any|all|all the) {n} are {w} {p}
! (check|see) (if|whether) (any|all|all the) {n} are {w} {p}
! list [all] [the] {n} that are {w} {p}
! (give|tell) me the number of {n} that are {w} {p}
? (can|could) you (tell me|check) (if|whether) (any|all) {n} are {w} {p}
? (can|could) you tell me (which|how many) {n} are {w} {p}
? do you know (which|how many) {n} are {w} {p}
. I want to know (if|whether) (all|any) {n} are {w} {p}
. {n} {w} {p}, how many
? what's the number of {n} [that are] {w} {p}
"""
)


OF_ANYTHING = Grammar("""
4? is (anything|something|any of it) {w} {p}
2? is anything {w} {p} right now
3? (what is|what's) {w} {p}
! tell me what is {w} {p}
! (tell me|check) (if|whether) anything is {w} {p}
? what (things|devices) are {w} {p}
""")


OF_EVERYTHING = Grammar("""
4? is everything {w} {p}
! (check|tell me) (if|whether) everything is {w} {p}
? is it all {w} {p}
""")


ON_IN_PLACE = Grammar("""
3? is the {s} [still|currently] {w} {p}
2? is the {s} {p} {w}
? is there a {s} {w} {p}
2? did (I|we|someone) leave (the|a|any) {s} on {p}
2? did (I|we|someone) leave (the|any) {n} on {p}
? have (I|we) left (the|any) {n} on {p}
""")


STATE_OF = Grammar(
    """
4? (what is|what's) the (state|status) of {t}
3? (what's|what is) {t's} (state|status)
3? (what's|what is) the [current] (state|status) of {t}
2? (what's|what is) {t} (state|status)
2! (tell|give) me the [current] (state|status) of {t}
2! (check|get|report) the [current] (state|status) of {t}
? how's {t} doing
2. (state|status) of {t}
? in what state is {t}
. I'd like to know the (state|status) of {t}
? (can|could) you tell me the (state|status) of {t}
"""
)


READING = Grammar("""
5? (what's|what is) the [current] {n}
3! (tell|give|show) me the [current] {n}
2! (read|check|get|report) the {n}
2? how (high|much) is the {n}
2. [current] {n} please
3? what does the {n} (say|show|read)
? (can|could) you tell me the {n}
? do you know the {n}
. I (want|need) to know the {n}
? (what's|what is) the {n} (right now|at the moment|now|today)
? (what's|what is) the (value|state|reading) of the {n}
""")


MEASURED_OF = Grammar(
    """
4? (what's|what is) the [current] {m} of {t}
3? (what's|what is) {t's} [current] {m}
2? (what's|what is) {t} {m}
2! (tell|give|show) me the [current] {m} of {t}
! (check|get|read) the {m} of {t}
? how high is the {m} of {t}
. {m} of {t} [please]
. {t} {m}
? (can|could) you tell me the {m} of {t}
? do you know the {m} of {t}
. I want to know the {m} of {t}
"""
)


MEASURED_IN = Grammar("""
5? (what's|what is) the [current] {m} {p}
2! (tell|give|show) me the [current] {m} {p}
! (check|get|read) the {m} {p}
2? how high is the {m} {p}
. {m} {p} [please]
? (can|could) you tell me the {m} {p}
? do you know the {m} {p}
? (what's|what is) the {m} {p} (right now|at the moment|now)
""")


ON = wordings("(on|on|on|turned on|switched on)")


OFF = wordings("(off|off|off|turned off|switched off)")


OPEN = wordings("(open|open|open|opened|up)")


CLOSED = wordings("(closed|closed|closed|shut|down)")


def is_or_are(phrase: Phrase) -> str:
    return "are" if phrase.is_plural else "is"


def owner(text: str) -> str:
    return f"{text}'" if text.endswith("s") else f"{text}'s"


def said_of(speaker: Speaker, grammar: Grammar, calls: tuple[Call, ...], target: Phrase, **fill: str) -> Said:
    """A sentence about a thing; nobody says "the lamp in the kitchen's battery"."""
    pattern = grammar.draw(speaker.rng)
    while "t's" in pattern.places and not target.slots.keys().isdisjoint(("area", "floor")):
        pattern = grammar.draw(speaker.rng)
    fill |= {"t": target.text, "t's": owner(target.text)}
    return Said(pattern.form, pattern.say(speaker.rng, fill), calls)


def on_or_off(speaker: Speaker, on: bool) -> tuple[str, str]:
    pattern, state = (ON, "on") if on else (OFF, "off")
    return pattern.say(speaker.rng, {}), state


def said_of_many(
    speaker: Speaker, one: str, many: str, words: str, slots: Slots, *, can_lead: bool, nowhere: float = 0.35
) -> Said:
    place = speaker.where(nowhere=nowhere, floors=0.2)
    lead = ""
    pattern = OF_MANY.draw(speaker.rng)
    behind = place.text
    if can_lead and "b" in pattern.places and place.slots and speaker.chance(0.4):
        lead = str(next(iter(place.slots.values())))
        behind = ""
        if "'" in lead or not place.text.endswith(lead):
            lead, behind = "", place.text
    text = pattern.say(speaker.rng, {"n": many, "s": one, "w": words, "p": behind, "b": lead})
    return Said(pattern.form, text, (home_call("get_state", **place.slots, **slots),))
