"""Dialogues of more than one turn: follow-ups, results that are put into words, calls that failed."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping
from typing import Any

from edgevox.tools.home.wording import number
from training.calls import Call, written
from training.heard import Heard, heard
from training.home.contents import GROCERIES, QUERIES
from training.home.manner import put, sounds_like_a_question
from training.home.ordering import SLOT_ORDER, home_call
from training.home.patterns import Grammar
from training.home.places import in_area, with_article
from training.home.speaker import Said, Speaker
from training.home.things import READINGS
from training.home.values import COLOURS, duration, say_temperature, temperature
from training.scene import Dialogue, Line

FIXED = frozenset({"domain", "device_class", "state", "media_class", "volume_step"})

_DONE = ("Done.", "OK.", "All right.", "Okay, done.", "It is done.")


def ran(results: Collection[tuple[str, str]]) -> Line:
    """The results of a round of calls as the host tells them."""
    given = "; ".join(f"{name} gave {_quoted(result)}" for name, result in results)
    return Line("user", f"(The tools have run: {given}. Now answer my last request in one sentence.)")


def _quoted(result: str) -> str:
    try:
        json.loads(result)
    except ValueError:
        return json.dumps(result, ensure_ascii=False)
    return result


def _heard(rng: random.Random, made: Said, *, may_mishear: bool = True) -> Heard:
    text = put(rng, made)
    is_question = made.form == "?" or sounds_like_a_question(text)
    return heard(rng, text, made.calls, is_question=is_question, fixed=FIXED, may_mishear=may_mishear)


def answered(rng: random.Random, made: Said, category: str, before: tuple[Line, ...] = ()) -> Dialogue:
    """The person's words as they were heard, and the calls."""
    said = _heard(rng, made)
    return Dialogue(
        category, (*before, Line("user", said.text), Line("assistant", written(said.calls), learnt=True))
    )


def earlier(rng: random.Random, made: Said) -> tuple[tuple[Line, ...], tuple[Call, ...]]:
    """A turn that lies behind: request, calls, results, sentence; and the calls as they were heard."""
    said = _heard(rng, made, may_mishear=False)
    results = [(call.tool, outcome(rng, call)) for call in said.calls]
    sentence = " ".join(result for _, result in results)
    lines = (
        Line("user", said.text),
        Line("assistant", written(said.calls)),
        ran(results),
        Line("assistant", sentence),
    )
    return lines, said.calls


# --- what the home's tools say


_NOUNS = {
    "light": "lights", "switch": "switches", "fan": "fans", "lock": "locks", "climate": "thermostats",
    "media_player": "players",
    "vacuum": "vacuum cleaners", "lawn_mower": "mowers", "valve": "valves", "humidifier": "humidifiers",
    "siren": "sirens",
    "cover": "covers", "person": "people", "sensor": "sensors", "binary_sensor": "sensors",
    "garage": "garage doors",
    "garage_door": "garage doors", "outlet": "outlets", "tv": "TVs", "battery": "batteries",
    **{name: f"{name}s" for name in ("door", "window", "blind", "curtain", "shutter", "shade", "awning",
    "gate", "damper")},
}  # fmt: skip
_OPENING = frozenset({"door", "window", "garage_door", "opening"})
_OPPOSITES = {
    "on": "off", "open": "closed", "locked": "unlocked", "home": "away", "playing": "paused",
    "cleaning": "docked",
    "mowing": "docked", "armed": "disarmed",
}  # fmt: skip
_OPPOSITES |= {there: here for here, there in _OPPOSITES.items() if there != "docked"} | {
    "docked": "cleaning"
}


def _noun(call: Call) -> str:
    slots = call.arguments
    return _NOUNS.get(str(slots.get("device_class")), "") or _NOUNS.get(str(slots.get("domain")), "things")


def _things(call: Call) -> str:
    slots = call.arguments
    if name := slots.get("name"):
        return str(name) if slots.get("domain") == "person" else with_article(str(name))
    where = f" {in_area(str(slots['area']))}" if "area" in slots else ""
    return f"the {_noun(call)}{where}"


def _state_words(call: Call, state: str) -> str:
    """A state as it is said: a window's sensor that is on means open."""
    if call.arguments.get("device_class") in _OPENING and state in ("on", "off"):
        return "open" if state == "on" else "closed"
    return "away" if state == "not_home" else state


def _done_words(call: Call) -> str:
    on = call.tool == "turn_on"
    match call.arguments.get("domain"):
        case "cover" | "valve":
            return "open" if on else "closed"
        case "lock":
            return "locked" if on else "unlocked"
        case _:
            return "on" if on else "off"


def outcome(rng: random.Random, call: Call) -> str:
    """A sentence as the home says it after a call."""
    things = _things(call)
    are = "is" if "name" in call.arguments else "are"
    match call.tool:
        case "turn_on" | "turn_off":
            return f"{things[0].upper()}{things[1:]} {are} {_done_words(call)}."
        case "light_set" if "brightness" in call.arguments:
            return f"Set to {call.arguments['brightness']} percent."
        case "climate_set_temperature":
            return f"Set to {number(float(call.arguments['temperature']))} degrees."
        case (
            "get_state"
            | "climate_get_temperature"
            | "get_weather"
            | "get_current_time"
            | "get_current_date"
            | "timer_status"
        ):
            return told(rng, call)
        case _:
            return rng.choice(_DONE)


def told(rng: random.Random, call: Call) -> str:
    """What a tool that only looks tells."""
    slots = call.arguments
    match call.tool:
        case "climate_get_temperature":
            where = f" {in_area(str(slots['area']))}" if "area" in slots else ""
            return f"It is {number(rng.randint(30, 52) / 2)} degrees{where}."
        case "get_weather":
            sky = rng.choice(
                ("sunny", "cloudy", "partly cloudy", "rainy", "clear", "windy", "snowy", "foggy")
            )
            return f"It is {sky} and {number(rng.randint(-10, 60) / 2)} degrees."
        case "get_current_time":
            return f"It is {rng.randint(1, 12)}:{rng.randint(0, 59):02d} {rng.choice(('am', 'pm'))}."
        case "get_current_date":
            day = f"{rng.choice(_DAYS)}, {rng.choice(_MONTHS)} {rng.randint(1, 28)}"
            return f"It is {day}, {rng.randint(2024, 2029)}."
        case "timer_status":
            return f"{rng.randint(2, 50)} minutes and {rng.randint(2, 59)} seconds are left."
        case _:
            return _state_told(rng, call)


def _any_state(rng: random.Random, call: Call) -> str:
    if call.arguments.get("domain") == "person":
        return rng.choice(("home", "away"))
    if call.arguments.get("domain") == "sensor" or call.arguments.get("name") in READINGS:
        return str(rng.randint(1, 90))
    return rng.choice(("on", "off"))


def _state_told(rng: random.Random, call: Call) -> str:
    slots = call.arguments
    state = _state_words(call, str(slots.get("state") or _any_state(rng, call)))
    things = _things(call)
    if "name" in slots:
        if "state" not in slots:
            return f"{things[0].upper()}{things[1:]} is {state}."
        other = _OPPOSITES.get(state, f"not {state}")
        return rng.choice((f"Yes, {things} is {state}.", f"No, {things} is {other}."))
    count, noun = rng.randint(2, 6), _noun(call)
    if "state" not in slots:
        return f"Of {count} {noun}, 1 is {state}."
    return rng.choice(
        (
            f"All {count} {noun} are {state}.",
            f"No, none of the {count} {noun} is {state}.",
            f"1 of {count} {noun} is {state}.",
        )
    )


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "March", "April", "June", "July", "September", "October", "December")


def told_in_words(rng: random.Random, made: Said) -> Dialogue | None:
    """A question to the home, what the tool gave, and the sentence."""
    call = made.calls[0]
    if call.tool not in (
        "get_state",
        "climate_get_temperature",
        "get_weather",
        "get_current_time",
        "get_current_date",
        "timer_status",
    ):
        return None
    asked = answered(rng, made, "result")
    sentence = told(rng, call)
    result = sentence
    if rng.random() < 0.25:
        result, sentence = _as_data(rng, call)
    return Dialogue(
        "result", (*asked.lines, ran([(call.tool, result)]), Line("assistant", sentence, learnt=True))
    )


def _as_data(rng: random.Random, call: Call) -> tuple[str, str]:
    slots = call.arguments
    if call.tool == "climate_get_temperature" or call.tool == "get_weather":
        warmth = number(rng.randint(20, 56) / 2)
        return f'{{"temperature": {warmth}}}', f"It is {warmth} degrees."
    if call.tool == "get_current_time":
        hour, minute = rng.randint(0, 23), rng.randint(10, 59)
        return (
            f'{{"time": "{hour:02d}:{minute}"}}',
            f"It is {hour % 12 or 12}:{minute} {'am' if hour < 12 else 'pm'}.",
        )
    if call.tool == "timer_status":
        minutes = rng.randint(2, 50)
        return f'{{"minutes_left": {minutes}}}', f"{minutes} minutes are left."
    if "name" in slots:
        state = _state_words(call, str(slots.get("state") or _any_state(rng, call)))
        thing = _things(call)
        return f'{{"state": "{state}"}}', f"{thing[0].upper()}{thing[1:]} is {state}."
    count = rng.randint(2, 9)
    return f'{{"count": {count}}}', f"There are {count}."


# --- follow-ups

_TOO = (
    "and {a} too", "and {a}", "{a} too", "also {a}", "{a} as well", "and {a} as well",
    "the same for {a}", "same for {a}",
    "do the same for {a}", "now {a}", "and now {a}", "and also {a}", "the same {i}", "do the same {i}",
    "and {i}",
    "what about {a}", "how about {a}", "and {i} too please", "do that {i} too", "now the same {i}",
)  # fmt: skip
_ASK_TOO = (
    "and {i}",
    "what about {a}",
    "and {a}",
    "how about {a}",
    "and how about {i}",
    "what about {i}",
    "and what about {a}",
)
_BACK_OFF = (
    "turn {it} off again", "switch {it} off again", "turn {it} back off", "now turn {it} off",
    "okay turn {it} off",
    "turn {it} off", "switch {it} off", "off again please", "and off again",
    "please turn {it} off again", "no, turn {it} off",
    "actually turn {it} off", "turn {it} off please", "can you turn {it} off again",
    "I changed my mind, turn {it} off",
)  # fmt: skip
_BACK_ON = tuple(text.replace("off", "on") for text in _BACK_OFF)
_VALUES = (
    "make it {v}", "make that {v}", "actually {v}", "no, {v}", "better {v}", "{v} instead",
    "change it to {v}", "set it to {v}",
    "make {it} {v} instead", "hmm, {v}", "no, make it {v}", "I meant {v}", "rather {v}",
    "set {it} to {v} instead",
)  # fmt: skip
_CANCEL = (
    "cancel it",
    "cancel it again",
    "stop it",
    "cancel that timer",
    "cancel that",
    "I don't need it any more, cancel it",
    "delete it again",
)


def followed(rng: random.Random, speaker: Speaker, first: Said, offered: Collection[str]) -> Dialogue | None:
    """A turn, and a second one that makes sense only behind it; None where nothing follows from the first."""
    if len(first.calls) > 1 or first.calls[0].tool not in offered:
        return None
    before, calls = earlier(rng, first)
    call = calls[0]
    slots = dict(call.arguments)
    it = "them" if "name" not in slots else "it"
    area = speaker.area()
    if "area" in slots and "name" not in slots and area != slots["area"] and rng.random() < 0.75:
        texts = _ASK_TOO if call.tool in ("get_state", "climate_get_temperature") else _TOO
        text = rng.choice(texts).replace("{a}", with_article(area)).replace("{i}", in_area(area))
        next_call = Call(call.tool, slots | {"area": area})
        return _follow(rng, before, text, next_call, is_question=texts is _ASK_TOO)
    match call.tool:
        case "turn_on" if "turn_off" in offered and _is_switched(first):
            return _follow(rng, before, rng.choice(_BACK_OFF).replace("{it}", it), Call("turn_off", slots))
        case "turn_off" if "turn_on" in offered and _is_switched(first):
            return _follow(rng, before, rng.choice(_BACK_ON).replace("{it}", it), Call("turn_on", slots))
        case "light_set" if "brightness" in slots and "color" not in slots:
            value, text = _other_percent(speaker)
            return _follow(
                rng, before, _valued(rng, text, it), Call(call.tool, slots | {"brightness": value})
            )
        case "set_volume":
            value, text = _other_percent(speaker)
            return _follow(
                rng, before, _valued(rng, text, "it"), Call(call.tool, slots | {"volume_level": value})
            )
        case "climate_set_temperature":
            value = rng.randint(16, 26)
            text = (
                f"{speaker.numbers.say(value)} degrees" if rng.random() < 0.7 else speaker.numbers.say(value)
            )
            return _follow(
                rng, before, _valued(rng, text, "it"), Call(call.tool, slots | {"temperature": value})
            )
        case "start_timer" if "cancel_timer" in offered and "conversation_command" not in slots:
            named = {"name": slots["name"]} if "name" in slots else {}
            return _follow(rng, before, rng.choice(_CANCEL), Call("cancel_timer", named))
        case _:
            return None


def _is_switched(first: Said) -> bool:
    return any(word in first.text.split() for word in ("turn", "switch", "on", "off"))


def _other_percent(speaker: Speaker) -> tuple[int, str]:
    value = speaker.numbers.percent()
    return value, f"{speaker.numbers.say(value)} percent"


def _valued(rng: random.Random, text: str, it: str) -> str:
    return rng.choice(_VALUES).replace("{v}", text).replace("{it}", it)


def _follow(
    rng: random.Random, before: tuple[Line, ...], text: str, call: Call, *, is_question: bool = False
) -> Dialogue:
    fresh = {
        slot: value for slot, value in call.arguments.items() if isinstance(value, str) and value in text
    }
    said = heard(
        rng, text, (Call(call.tool, fresh),), is_question=is_question, fixed=FIXED, may_mishear=False
    )
    merged = {**call.arguments, **said.calls[0].arguments}
    ordered = home_call(call.tool, **{slot: merged[slot] for slot in SLOT_ORDER[call.tool] if slot in merged})
    return Dialogue(
        "follow-up", (*before, Line("user", said.text), Line("assistant", written((ordered,)), learnt=True))
    )


# --- a question back, and its answer

_QUESTIONED: tuple[tuple[str, Grammar, str], ...] = (
    (
        "temperature",
        Grammar("! (set|change|adjust) the (temperature|heating|thermostat) {p}"),
        "To what temperature?",
    ),
    ("timer", Grammar("! (set|start|create) a timer"), "For how long?"),
    ("brightness", Grammar("! (dim|brighten|adjust) the lights {p}"), "To what percentage?"),
    ("volume", Grammar("! (set|change|adjust) the volume {p}"), "To what volume?"),
    (
        "colour",
        Grammar("! (change|set) the (colour|color) of the lights {p}"),
        "Which colour would you like?",
    ),
    ("item", Grammar("! add something to (the|my) shopping list"), "What should I add?"),
    ("music", Grammar("! play (something|some music|music) {p}"), "What would you like to hear?"),
)


def asked_back(rng: random.Random, speaker: Speaker, respond_slot: str) -> Dialogue:
    """A request that lacked something, the question, and the answer that completes it."""
    lack, grammar, question = rng.choice(_QUESTIONED)
    place = speaker.where(nowhere=0.5, floors=0.0)
    pattern = grammar.draw(rng)
    first = heard(
        rng,
        put(rng, Said("!", pattern.say(rng, {"p": place.text}), ())),
        (Call("", dict(place.slots)),),
        may_mishear=False,
    )
    slots = first.calls[0].arguments if "p" in pattern.places else {}
    answer, call = _completed(rng, speaker, lack, slots)
    second = heard(rng, answer, (call,), may_mishear=False)
    merged = {slot: second.calls[0].arguments[slot] for slot in call.arguments if slot not in slots}
    ordered = home_call(call.tool, **slots, **merged)
    asked = (
        (
            Line("assistant", written((Call("respond", {"message": question}),))),
            ran([("respond", question)]),
            Line("assistant", question),
        )
        if respond_slot == "message"
        else (Line("assistant", question),)
    )
    lines = (Line("user", first.text), *asked, Line("user", second.text))
    return Dialogue("follow-up", (*lines, Line("assistant", written((ordered,)), learnt=True)))


def _completed(rng: random.Random, speaker: Speaker, lack: str, slots: Mapping[str, Any]) -> tuple[str, Call]:
    match lack:
        case "temperature":
            value = temperature(rng)
            return _short(rng, say_temperature(value, speaker.numbers, rng)), Call(
                "climate_set_temperature", {**slots, "temperature": value}
            )
        case "timer":
            text, length, _ = duration(rng, speaker.numbers)
            return rng.choice(("{v}", "{v}", "for {v}", "{v} please")).replace("{v}", text), Call(
                "start_timer", length
            )
        case "brightness" | "volume":
            share = speaker.numbers.percent()
            tool, slot = (
                ("light_set", "brightness") if lack == "brightness" else ("set_volume", "volume_level")
            )
            return _short(rng, speaker.numbers.say_percent(share)), Call(tool, {**slots, slot: share})
        case "colour":
            colour = rng.choice(COLOURS)
            return rng.choice((colour, f"{colour} please", f"make them {colour}")), Call(
                "light_set", {**slots, "color": colour}
            )
        case "item":
            item = rng.choice(GROCERIES)
            return rng.choice((item, f"{item} please", f"add {item}")), Call(
                "shopping_list_add_item", {"item": item}
            )
        case _:
            query = rng.choice(QUERIES).removeprefix("some ")
            return rng.choice((query, f"{query} please", f"play {query}")), Call(
                "media_search_and_play", {**slots, "search_query": query}
            )


def _short(rng: random.Random, value: str) -> str:
    return rng.choice(("{v}", "{v}", "to {v}", "{v} please", "make it {v}", "let's say {v}")).replace(
        "{v}", value
    )


# --- failures

_WRONG = (
    ("light_set", "brightness", 100), ("set_position", "position", 100), ("fan_set_speed", "percentage", 100),
    ("set_volume", "volume_level", 100),
)  # fmt: skip
_FAILED = (
    ("timeout: {tool} did not answer within 10 seconds", ("That took too long, please try again.",
    "It did not answer in time, sorry.")),
    ("internal_error: ConnectionError", ("Something went wrong, sorry.",
    "That did not work, something went wrong.")),
    ("The {thing} does not answer.", ("The {thing} does not answer.",)),
    ("I know nothing called {name}.", ("I know nothing called {name}.",)),
    ("not done: the user said no", ("All right, I did not do it.", "Okay, I left it as it is.")),
    ("tool_denied: not allowed", ("I am not allowed to do that.", "Sorry, I may not do that.")),
)  # fmt: skip


def repaired(rng: random.Random, made: Said) -> Dialogue | None:
    """A call that was refused for its arguments, and the right one; or an honest word about a failure."""
    said = _heard(rng, made, may_mishear=False)
    call = said.calls[0]
    asked = Line("user", said.text)
    if len(said.calls) == 1 and rng.random() < 0.6:
        wrong, why = _spoilt(rng, call)
        lines = (asked, Line("assistant", written((wrong,))), ran([(call.tool, f"invalid_arguments: {why}")]))
        return Dialogue("repair", (*lines, Line("assistant", written(said.calls), learnt=True)))
    if call.tool in ("respond", "nevermind"):
        return None
    error, sentences = rng.choice(_FAILED)
    name = str(call.arguments.get("name", ""))
    if not name and ("{name}" in error or "{thing}" in error):
        error, sentences = _FAILED[0]
    fill = {"{tool}": call.tool, "{name}": name, "{thing}": name}
    sentence = rng.choice(sentences)
    for place, text in fill.items():
        error, sentence = error.replace(place, text), sentence.replace(place, text)
    called = Line("assistant", written(said.calls), learnt=True)
    results = [(one.tool, error if one is call else "ok") for one in said.calls]
    return Dialogue("repair", (asked, called, ran(results), Line("assistant", sentence, learnt=True)))


def _spoilt(rng: random.Random, call: Call) -> tuple[Call, str]:
    """The call with something wrong in it, and what the checker says."""
    arguments = dict(call.arguments)
    for tool, slot, most in _WRONG:
        if call.tool == tool and slot in arguments and rng.random() < 0.7:
            wrong = arguments[slot] * 10 if arguments[slot] > 10 else 255
            return Call(
                tool, arguments | {slot: wrong}
            ), f"{slot}: {wrong} is greater than the maximum of {most}"
    if arguments and rng.random() < 0.5:
        slot = rng.choice(list(arguments))
        renamed = {
            "room" if key == slot == "area" else f"{key}_value" if key == slot else key: value
            for key, value in arguments.items()
        }
        unknown = next(key for key in renamed if key not in arguments)
        return Call(call.tool, renamed), f"there is no argument '{unknown}'"
    return Call(call.tool, arguments | {"when": "now"}), "there is no argument 'when'"
