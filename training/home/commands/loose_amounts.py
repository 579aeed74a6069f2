"""Lengths of time, times of day, levels and quantities in loose words: "like half an hour or so", "a dozen"."""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands.lists import shopping_words
from training.home.commands.switching import close_cover, light_off, light_on, lock, turn_off, turn_on
from training.home.lexicon.devices import COVERS, LIGHT
from training.home.lexicon.values import article, duration, hour
from training.home.lexicon.vocabulary import TIMER_NAMES, errand
from training.home.phrasing import is_plain_order
from training.home.speaker import Request, Slots, Speaker
from training.home.templates import Grammar, home_call

# --- lengths of time

_ROUGHLY = (
    "{d} or so", "{d} or so", "about {d}", "about {d}", "around {d}", "roughly {d}", "like {d}", "like {d} or so",
    "maybe {d}", "let's say {d}", "say {d}", "approximately {d}", "{d} give or take", "{d} more or less", "just {d}",
    "exactly {d}", "oh I don't know {d}", "um {d}", "I think {d}", "I'd say {d}", "something like {d}", "{d} tops",
    "{d} I guess", "{d} maybe", "{d} or thereabouts", "some {d}", "{d} max", "no more than {d}",
)  # fmt: skip
_FIXED: tuple[tuple[str, Slots], ...] = (
    ("a couple of minutes", {"minutes": 2}), ("a couple of minutes", {"minutes": 2}),
    ("a couple minutes", {"minutes": 2}), ("couple of minutes", {"minutes": 2}), ("a couple of hours", {"hours": 2}),
    ("a couple hours", {"hours": 2}), ("a couple of seconds", {"seconds": 2}),
    ("an hour and a quarter", {"hours": 1, "minutes": 15}), ("one and a quarter hours", {"hours": 1, "minutes": 15}),
    ("an hour and three quarters", {"hours": 1, "minutes": 45}), ("an hour ten", {"hours": 1, "minutes": 10}),
    ("one hour thirty", {"hours": 1, "minutes": 30}), ("an hour twenty", {"hours": 1, "minutes": 20}),
    ("two hours and a quarter", {"hours": 2, "minutes": 15}), ("two and a quarter hours", {"hours": 2, "minutes": 15}),
    ("two hours and a bit, make it two hours ten", {"hours": 2, "minutes": 10}),
    ("a quarter of an hour", {"minutes": 15}), ("quarter of an hour", {"minutes": 15}),
    ("a good quarter of an hour", {"minutes": 15}), ("a good half hour", {"minutes": 30}),
    ("half an hour", {"minutes": 30}), ("a half hour", {"minutes": 30}), ("half a hour", {"minutes": 30}),
    ("three quarters of an hour", {"minutes": 45}), ("three quarters of a hour", {"minutes": 45}),
    ("a full hour", {"hours": 1}), ("a whole hour", {"hours": 1}), ("an hour flat", {"hours": 1}),
    ("one single minute", {"minutes": 1}), ("a minute", {"minutes": 1}), ("half a minute", {"seconds": 30}),
    ("a dozen minutes", {"minutes": 12}), ("half a dozen minutes", {"minutes": 6}),
    ("an hour and a half", {"hours": 1, "minutes": 30}), ("one and half hour", {"hours": 1, "minutes": 30}),
    ("a minute and a half", {"minutes": 1, "seconds": 30}), ("a minute thirty", {"minutes": 1, "seconds": 30}),
    ("two and a half hours", {"hours": 2, "minutes": 30}), ("three and a half minutes", {"minutes": 3, "seconds": 30}),
)  # fmt: skip


def _round(speaker: Speaker) -> tuple[str, Slots]:
    """A round number of minutes: "twenty odd minutes", "thirty-ish minutes"."""
    count = speaker.pick((5, 10, 10, 15, 20, 20, 30, 40, 45, 50))
    said = speaker.numbers.say(count)
    words = speaker.pick(("{n} odd minutes", "{n}-ish minutes", "{n} minutes ish", "{n} minutes-ish", "{n} mins or so"))
    return words.replace("{n}", said), {"minutes": count}


def loose_duration(speaker: Speaker) -> tuple[str, Slots, str]:
    """A length as `duration` gives it, in loose words; it cannot stand before "timer"."""
    way = speaker.rng.random()
    if way < 0.15:
        return (*_round(speaker), "")
    if way < 0.55:
        words, slots = speaker.pick(_FIXED)
        if speaker.chance(0.55) or "make it" in words:
            return words, slots, ""
    else:
        words, slots, _ = duration(speaker.rng, speaker.numbers)
    return speaker.pick(_ROUGHLY).replace("{d}", words), slots, ""


_TIMER = Grammar("""
5! (set|start|put on|give me|make) a timer for {d}
2! (set|start) a timer, {d}
2! (set|start) a timer for the next {p}
2! time the next {p}
3! (buzz|ping|shout at|nudge|poke|alert|warn|call) me in {d}
2! (beep|shout|ring|holler|make a noise|go off) in {d}
2! let me know (in|after|when it's been) {d}
2! (give me|put) {d} on the (clock|timer)
2! count [down] {d} [for me]
2! (can|could|would) you time {d}
3. timer (for|of|,) {d}
2. {d} on the timer [please]
2. {d}, (starting now|go|from now|timer please)
2. I (need|want|have) {d} (on the clock|on a timer|, time it)
. I've only got {d}, (set a timer|start a timer|time me)
. I'm (having a nap|lying down|taking a break), (wake|get|rouse) me in {d}
. it (has to|needs to|should) (cook|bake|soak|rest|cool|boil) for {d}, (set a timer|start a timer|can you time it)
. (this|it) takes {d}, (set a timer|start the timer|put the timer on)
. (don't let me|stop me if I) (sleep|nap) (longer than|for more than) {p}
""")
_NAMED_TIMER = Grammar("""
4! (set|start|make) {an} {n} timer for {d}
3! (set|start|put on) a timer for the {n}, {d}
3. {n} timer, {d}
2. {d} for the {n}, timer please
2! time the {n} for {d}
. the {n} (needs|wants|takes|gets) {d}, (set|start|put on) {an} {n} timer
""")


def timer(speaker: Speaker) -> Request:
    """ "Let me know in like half an hour or so"."""
    speaker.slips = False
    words, slots, _ = loose_duration(speaker)
    plain, length, _ = duration(speaker.rng, speaker.numbers)
    name = speaker.pick(TIMER_NAMES)
    is_named = speaker.chance(0.25)
    pattern = (_NAMED_TIMER if is_named else _TIMER).draw(speaker.rng)
    text = pattern.say(speaker.rng, {"d": words, "p": plain, "n": name, "an": article(name)})
    text = text.replace("the next an hour", "the next hour").replace("the next a ", "the next ")
    if "p" in pattern.places:
        slots = length
    return Request(pattern.form, text, (home_call("start_timer", **slots, **({"name": name} if is_named else {})),))


_LATER = Grammar("""
4. {c} in {d}
4. in {d} {c}
2. in {d}, {c}
2. give it {d} then {c}
2. give me {d} and then {c}
2. wait {d} and [then] {c}
2. {d} from now {c}
. once {d} have passed {c}
. {c}, not now, in {d}
""")
_LATER_ORDERS = (turn_on, turn_off, turn_off, light_on, light_off, light_off, close_cover, lock)


def later(speaker: Speaker) -> Request:
    """ "In like half an hour or so turn the heater off"."""
    for _ in range(30):
        speaker.slips = False
        order = speaker.pick(_LATER_ORDERS)(speaker)
        if is_plain_order(order) and not speaker.slipped:
            break
    else:
        return timer(speaker)
    words, slots, _ = loose_duration(speaker)
    text = _LATER.draw(speaker.rng).say(speaker.rng, {"c": order.text, "d": words})
    return Request(".", text, (home_call("start_timer", **slots, conversation_command=order.text),))


_CHANGE: tuple[tuple[str, Grammar], ...] = (
    ("increase_timer", Grammar("""
4! (give|add) {r} {d} more
3! add {d} to {r}
2. {r} needs {d} more
2. {d} more on {r}
2. (it's not done|not ready|still raw), {d} more on {r}
""")),
    ("decrease_timer", Grammar("""
4! take {d} off {r}
3! (knock|shave|cut|trim) {d} off {r}
2. {d} less on {r}
""")),
)  # fmt: skip


def changed(speaker: Speaker) -> Request:
    """ "Give the pasta timer a couple of minutes more"."""
    speaker.slips = False
    words, slots = speaker.pick(_FIXED)
    while "make it" in words or words in ("an hour flat", "a minute thirty"):
        words, slots = speaker.pick(_FIXED)
    tool, grammar = speaker.pick(_CHANGE)
    name = speaker.pick(TIMER_NAMES)
    shown, named = (f"the {name} timer", {"name": name}) if speaker.chance(0.5) else ("the timer", {})
    pattern = grammar.draw(speaker.rng)
    text = pattern.say(speaker.rng, {"d": words, "r": shown}).replace(f"add {shown} ", f"give {shown} ")
    return Request(pattern.form, text, (home_call(tool, **slots, **named),))


# --- times of day

_WAKE = Grammar("""
4! (wake me|wake me up|get me up) (around|at around|about|at about|at like|at say|somewhere around|by|at roughly) {v}
3! (wake me|wake me up|get me up) at {v} (or so|ish|sharp|give or take|or thereabouts|at the latest)
3! set an alarm for (around|about|like|say|roughly|maybe|um|uh) {v}
2! set an alarm for {v} (or so|ish|sharp|at the latest)
2. alarm (around|about|at around|for like) {v}
2. I (have to|need to|want to|gotta|should) be (up|awake|out of bed) (by|around|by about|before) {v}
2. I'd like to (get up|be woken|be up) (around|at about|by) {v}
. (early start|big day|long day ahead), wake me (around|by|at) {v}
""")
_NUDGE = Grammar("""
4! remind me (around|at around|about|at about|at like|by|somewhere around) {v} to {k}
3: remind me at {v} (or so|ish|sharp) to {k}
2: (around|at about|at like|by) {v} remind me to {k}
2: (nudge|poke|ping|tell|nag) me (around|at about|by) {v} to {k}
""")
_NUDGE_IN = Grammar("""
4: remind me in {d} (or so|ish|give or take|more or less|or thereabouts) to {k}
3: in {d} (or so|give or take) remind me to {k}
2: (nudge|poke|ping|tell) me in {d} (or so|more or less) to {k}
""")
_PLAIN_LENGTHS = (
    "half an hour", "an hour", "ten minutes", "twenty minutes", "a couple of hours", "a couple of minutes",
    "two hours", "five minutes", "an hour and a half", "15 minutes", "45 minutes", "three hours",
    "a quarter of an hour",
)  # fmt: skip


def about_then(speaker: Speaker) -> Request:
    """ "Wake me somewhere around seven": the time alone is the argument."""
    speaker.slips = False
    rng, way = speaker.rng, speaker.rng.random()
    if way < 0.5:
        time = hour(rng)
        pattern = _WAKE.draw(rng)
        if "tomorrow" not in time and pattern.form == "!" and speaker.chance(0.2):
            time = f"{time} {speaker.pick(('tomorrow', 'on monday', 'on saturday', 'tomorrow morning'))}"
        return Request(pattern.form, pattern.say(rng, {"v": time}), (home_call("set_alarm", time=time),))
    task = errand(rng)
    if way < 0.75:
        time = hour(rng)
        text = _NUDGE.draw(rng).say(rng, {"v": time, "k": task})
        return Request(":", text, (home_call("set_reminder", task=task, time=time),))
    length = speaker.pick(_PLAIN_LENGTHS)
    text = _NUDGE_IN.draw(rng).say(rng, {"d": length, "k": task})
    return Request(":", text, (home_call("set_reminder", task=task, time=f"in {length}"),))


# --- levels

_ABOUT_LEVEL = (
    "about {v}", "around {v}", "like {v}", "say {v}", "maybe {v}", "roughly {v}", "somewhere around {v}", "{v} or so",
    "{v} I guess", "something like {v}", "{v} tops", "{v} give or take", "exactly {v}", "um {v}", "let's say {v}",
)  # fmt: skip
_LEVEL = Grammar("""
4! (set|put|dim|bring|turn) {t} to {v}
3. {t} (to|at) {v}
2. I (want|would like|need) {t} at {v}
2! (have|keep|leave) {t} at {v}
2? (can|could) (you|we) (put|have|bring|get) {t} (at|to) {v}
""")
_WARM = Grammar("""
4! (set|put|turn|bring) the (heating|temperature|thermostat|heat) to {v} {p}
3. (heating|temperature|thermostat) (to|at) {v} {p}
2! make it {v} {p}
2. I (want|would like|need) it {v} {p}
2! keep it at {v} {p}
""")


def about_so_much(speaker: Speaker) -> Request:
    """ "The hall lights at like thirty percent", "make it twenty one and a half degrees or so in the den"."""
    speaker.slips = False
    rng, way = speaker.rng, speaker.rng.random()
    if way < 0.35:
        value: float = rng.randint(16, 25) + (0.5 if speaker.chance(0.3) else 0)
        said = speaker.numbers.say(value)
        if value % 1 and speaker.chance(0.6):
            said = f"{speaker.numbers.say(int(value))} and a half"
        words = speaker.pick(_ABOUT_LEVEL).replace("{v}", f"{said} degrees")
        place = speaker.where(nowhere=0.4, floors=0.1)
        text = _WARM.draw(rng).say(rng, {"v": words, "p": place.text})
        names = [word for word in ("heating", "temperature", "thermostat", "heat") if f"{word} " in f"{text} "]
        named = {"name": names[0]} if names and speaker.is_listed(names[0]) else {}
        value = int(value) if value == int(value) else value
        return Request(".", text, (home_call("climate_set_temperature", **named, **place.slots, temperature=value),))
    share = speaker.numbers.percent()
    said = speaker.numbers.say_percent(share)
    said = said if "%" in said or "cent" in said else f"{said} percent"
    if speaker.chance(0.25):
        said, share = speaker.pick((("a third", 33), ("a quarter", 25), ("three quarters", 75), ("half", 50)))
    words = speaker.pick(_ABOUT_LEVEL).replace("{v}", said)
    if way < 0.75:
        target = speaker.named("light", apart=0.05) if speaker.chance(0.5) else speaker.kind(LIGHT, nowhere=0.1)
        slots = {slot: value for slot, value in target.slots.items() if slot != "domain"}
        calls = (home_call("light_set", **slots, brightness=share),)
    else:
        target = speaker.kind(COVERS[speaker.pick(("blind", "curtain", "shutter", "shade"))], nowhere=0.2, single=0.0)
        calls = (home_call("set_position", **target.slots, position=share),)
    pattern = _LEVEL.draw(rng)
    text = pattern.say(rng, {"t": target.text, "v": words})
    if calls[0].tool == "set_position":
        text = text.replace("dim ", "set ", 1) if text.startswith("dim ") else text
    return Request(pattern.form, text, calls)


# --- quantities

_COUNTED = ("eggs", "lemons", "bread rolls", "onions", "apples", "yoghurts", "batteries", "tea lights", "avocados",
            "bananas", "peppers", "tins of tuna", "light bulbs", "oranges", "bagels", "tomatoes")  # fmt: skip
_COUNTS = ("a dozen", "half a dozen", "a couple of", "three or four", "ten", "a handful of", "six", "two dozen",
           "a few", "a pack of", "eight", "a bag of")  # fmt: skip
_WEIGHED = ("flour", "rice", "sugar", "minced beef", "oats", "cheddar", "coffee beans", "butter", "pasta")
_WEIGHTS = ("half a pound of", "a kilo of", "a bit of", "a bag of", "half a kilo of", "500 grams of", "two packs of")
_POURED = ("milk", "olive oil", "cream", "orange juice", "soy sauce", "cider")
_POURS = ("a litre of", "two pints of", "two litres of", "a small bottle of", "another carton of", "a pint of")
_BUY = Grammar("""
2! add {i} to {l}
2! put {i} on {l}
2! (stick|pop|throw|chuck|bung|jot) {i} on {l}
2. {i} on {l}
2. we need {i}
2. I need to (get|buy|pick up) {i}
2. we (could do with|could use) {i}
2. (get|put) me down for {i} on {l}
. for {l}, {i}
. remind me to (buy|get|pick up) {i}
""")


def so_many(speaker: Speaker) -> Request:
    """ "Stick half a dozen bread rolls on the list"."""
    speaker.slips = False
    amounts, goods = speaker.pick(((_COUNTS, _COUNTED), (_COUNTS, _COUNTED), (_WEIGHTS, _WEIGHED), (_POURS, _POURED)))
    item = f"{speaker.pick(amounts)} {speaker.pick(goods)}"
    pattern = _BUY.draw(speaker.rng)
    text = pattern.say(speaker.rng, {"i": item, "l": shopping_words(speaker)})
    return Request(pattern.form, text, (home_call("shopping_list_add_item", item=item),))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (4, timer),
    (2.4, later),
    (1, changed),
    (2.6, about_then),
    (2.4, about_so_much),
    (1.2, so_many),
)
