"""Dialogues of request, calls and results in words; failed calls, follow-ups, clarifications."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping
from typing import Any

from edgevox.home.phrasing import number
from training.asr_noise import NoisyTranscript, simulate_asr
from training.disfluency import disfluent
from training.home.lexicon.devices import READINGS
from training.home.lexicon.values import COLOURS, duration, moment, say_temperature, temperature
from training.home.lexicon.vocabulary import GROCERIES, QUERIES, errand, in_area, with_article
from training.home.phrasing import phrase_request, sounds_like_a_question
from training.home.speaker import Request, Speaker
from training.home.templates import SLOT_ORDER, Grammar, home_call
from training.types import Call, Dialogue, Line, write_calls

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


_OPPOSITES |= {there: here for here, there in _OPPOSITES.items() if there != "docked"} | {"docked": "cleaning"}


def _noun(call: Call) -> str:
    slots = call.arguments
    return _NOUNS.get(str(slots.get("device_class")), "") or _NOUNS.get(str(slots.get("domain")), "things")


def _things(call: Call) -> str:
    slots = call.arguments
    if name := slots.get("name"):
        return str(name) if slots.get("domain") == "person" else with_article(str(name))
    where = f" {in_area(str(slots['area']))}" if "area" in slots else ""
    return f"the {_noun(call)}{where}"


def _said_state(call: Call, state: str) -> str:
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


def result_text(rng: random.Random, call: Call) -> str:
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
            | "alarm_status"
        ):
            return result_sentence(rng, call)
        case "set_alarm":
            return rng.choice(("The alarm is set for {t}.", "I will wake you at {t}.", "Alarm set.")).replace(
                "{t}", str(call.arguments["time"])
            )
        case "set_reminder":
            return rng.choice(("I will remind you.", "All right, I will remind you.", "The reminder is set."))
        case _:
            return rng.choice(_DONE)


def result_sentence(rng: random.Random, call: Call) -> str:
    """What a tool that only looks tells."""
    slots = call.arguments
    match call.tool:
        case "climate_get_temperature":
            where = f" {in_area(str(slots['area']))}" if "area" in slots else ""
            return f"It is {number(rng.randint(30, 52) / 2)} degrees{where}."
        case "get_weather":
            sky = rng.choice(("sunny", "cloudy", "partly cloudy", "rainy", "clear", "windy", "snowy", "foggy"))
            return f"It is {sky} and {number(rng.randint(-10, 60) / 2)} degrees."
        case "get_current_time":
            return f"It is {rng.randint(1, 12)}:{rng.randint(0, 59):02d} {rng.choice(('am', 'pm'))}."
        case "get_current_date":
            day = f"{rng.choice(_DAYS)}, {rng.choice(_MONTHS)} {rng.randint(1, 28)}"
            return f"It is {day}, {rng.randint(2024, 2029)}."
        case "timer_status":
            return f"{rng.randint(2, 50)} minutes and {rng.randint(2, 59)} seconds are left."
        case "alarm_status":
            return _alarms_told(rng, call)
        case _:
            return _state_told(rng, call)


def _alarms_told(rng: random.Random, call: Call) -> str:
    at = f"{rng.randint(5, 11)}:{rng.choice((0, 15, 30, 45)):02d} {rng.choice(('am', 'pm'))}"
    if "name" in call.arguments:
        return f"The one for {call.arguments['name']} is set for {at}."
    return rng.choice(("No alarm is set.", f"Your alarm is set for {at}.", f"There is one alarm, at {at}."))


def _any_state(rng: random.Random, call: Call) -> str:
    if call.arguments.get("domain") == "person":
        return rng.choice(("home", "away"))
    if call.arguments.get("domain") == "sensor" or call.arguments.get("name") in READINGS:
        return str(rng.randint(1, 90))
    return rng.choice(("on", "off"))


def _state_told(rng: random.Random, call: Call) -> str:
    slots = call.arguments
    state = _said_state(call, str(slots.get("state") or _any_state(rng, call)))
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


def result_as_data(rng: random.Random, call: Call) -> tuple[str, str]:
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
    if call.tool == "alarm_status":
        hour = rng.randint(5, 11)
        return f'{{"alarms": ["{hour:02d}:30"]}}', f"There is one alarm, at {hour}:30."
    if call.tool == "timer_status":
        minutes = rng.randint(2, 50)
        return f'{{"minutes_left": {minutes}}}', f"{minutes} minutes are left."
    if "name" in slots:
        state = _said_state(call, str(slots.get("state") or _any_state(rng, call)))
        thing = _things(call)
        return f'{{"state": "{state}"}}', f"{thing[0].upper()}{thing[1:]} is {state}."
    count = rng.randint(2, 9)
    return f'{{"count": {count}}}', f"There are {count}."


_DONE = ("Done.", "OK.", "All right.", "Okay, done.", "It is done.")


_DISFLUENT_SHARE = 0.16
_FREE_WORDS = frozenset({"task", "message", "search_query", "item", "conversation_command"})
FIXED = frozenset({"domain", "device_class", "state", "media_class", "volume_step"})


def tool_results_line(results: Collection[tuple[str, str]]) -> Line:
    """The results of a round of calls as the host tells them."""
    given = "; ".join(f"{name} gave {_quoted(result)}" for name, result in results)
    return Line("user", f"(The tools have run: {given}. Now answer my last request in one sentence.)")


def _quoted(result: str) -> str:
    try:
        json.loads(result)
    except ValueError:
        return json.dumps(result, ensure_ascii=False)
    return result


def transcribed_request(rng: random.Random, made: Request, *, may_mishear: bool = True) -> NoisyTranscript:
    text = phrase_request(rng, made)
    if may_mishear and rng.random() < _DISFLUENT_SHARE:
        ends_free = made.form == ":" or any(not _FREE_WORDS.isdisjoint(call.arguments) for call in made.calls)
        text = disfluent(rng, text, made.calls, ends_free=ends_free, fixed=FIXED)
    is_question = made.form == "?" or sounds_like_a_question(text)
    return simulate_asr(rng, text, made.calls, is_question=is_question, fixed=FIXED, may_mishear=may_mishear)


def single_turn(rng: random.Random, made: Request, category: str, before: tuple[Line, ...] = ()) -> Dialogue:
    """The person's words as they were heard, and the calls."""
    said = transcribed_request(rng, made)
    return Dialogue(
        category, (*before, Line("user", said.text), Line("assistant", write_calls(said.calls), learnt=True))
    )


def past_turn(rng: random.Random, made: Request) -> tuple[tuple[Line, ...], tuple[Call, ...]]:
    """A turn that lies behind: request, calls, results, sentence; and the calls as they were heard."""
    said = transcribed_request(rng, made, may_mishear=False)
    results = [(call.tool, result_text(rng, call)) for call in said.calls]
    sentence = " ".join(result for _, result in results)
    lines = (
        Line("user", said.text),
        Line("assistant", write_calls(said.calls)),
        tool_results_line(results),
        Line("assistant", sentence),
    )
    return lines, said.calls


def result_dialogue(rng: random.Random, made: Request) -> Dialogue | None:
    """A question to the home, what the tool gave, and the sentence."""
    call = made.calls[0]
    if call.tool not in (
        "get_state",
        "climate_get_temperature",
        "get_weather",
        "get_current_time",
        "get_current_date",
        "timer_status",
        "alarm_status",
    ):
        return None
    asked = single_turn(rng, made, "result")
    sentence = result_sentence(rng, call)
    result = sentence
    if rng.random() < 0.25:
        result, sentence = result_as_data(rng, call)
    return Dialogue(
        "result", (*asked.lines, tool_results_line([(call.tool, result)]), Line("assistant", sentence, learnt=True))
    )


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


def failed_call_dialogue(rng: random.Random, made: Request) -> Dialogue | None:
    """A call that was refused for its arguments, and the right one; or an honest word about a failure."""
    said = transcribed_request(rng, made, may_mishear=False)
    call = said.calls[0]
    asked = Line("user", said.text)
    if len(said.calls) == 1 and rng.random() < 0.6:
        wrong, why = _spoilt(rng, call)
        lines = (
            asked,
            Line("assistant", write_calls((wrong,))),
            tool_results_line([(call.tool, f"invalid_arguments: {why}")]),
        )
        return Dialogue("repair", (*lines, Line("assistant", write_calls(said.calls), learnt=True)))
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
    called = Line("assistant", write_calls(said.calls), learnt=True)
    results = [(one.tool, error if one is call else "ok") for one in said.calls]
    return Dialogue("repair", (asked, called, tool_results_line(results), Line("assistant", sentence, learnt=True)))


def _spoilt(rng: random.Random, call: Call) -> tuple[Call, str]:
    """The call with something wrong in it, and what the checker says."""
    arguments = dict(call.arguments)
    for tool, slot, most in _WRONG:
        if call.tool == tool and slot in arguments and rng.random() < 0.7:
            wrong = arguments[slot] * 10 if arguments[slot] > 10 else 255
            return Call(tool, arguments | {slot: wrong}), f"{slot}: {wrong} is greater than the maximum of {most}"
    if arguments and rng.random() < 0.5:
        slot = rng.choice(list(arguments))
        renamed = {
            "room" if key == slot == "area" else f"{key}_value" if key == slot else key: value
            for key, value in arguments.items()
        }
        unknown = next(key for key in renamed if key not in arguments)
        return Call(call.tool, renamed), f"there is no argument '{unknown}'"
    return Call(call.tool, arguments | {"when": "now"}), "there is no argument 'when'"


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


def follow_up(rng: random.Random, speaker: Speaker, first: Request, offered: Collection[str]) -> Dialogue | None:
    """A turn, and a second one that makes sense only behind it; None where nothing follows from the first."""
    if len(first.calls) > 1 or first.calls[0].tool not in offered:
        return None
    before, calls = past_turn(rng, first)
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
            return _follow(rng, before, _valued(rng, text, it), Call(call.tool, slots | {"brightness": value}))
        case "set_volume":
            value, text = _other_percent(speaker)
            return _follow(rng, before, _valued(rng, text, "it"), Call(call.tool, slots | {"volume_level": value}))
        case "climate_set_temperature":
            value = rng.randint(16, 26)
            text = f"{speaker.numbers.say(value)} degrees" if rng.random() < 0.7 else speaker.numbers.say(value)
            return _follow(rng, before, _valued(rng, text, "it"), Call(call.tool, slots | {"temperature": value}))
        case "set_reminder" if "time" not in slots:
            return _reminded(rng, before, slots)
        case "set_alarm" if "cancel_alarm" in offered:
            text = rng.choice(_CANCEL).replace("timer", "alarm")
            told_by = "name" if "name" in slots else "time"
            return _follow(rng, before, text, Call("cancel_alarm", {told_by: slots[told_by]}))
        case "start_timer" if "cancel_timer" in offered and "conversation_command" not in slots:
            named = {"name": slots["name"]} if "name" in slots else {}
            return _follow(rng, before, rng.choice(_CANCEL), Call("cancel_timer", named))
        case _:
            return None


def _reminded(rng: random.Random, before: tuple[Line, ...], slots: dict[str, Any]) -> Dialogue:
    """The host asked when; the answer is the time alone."""
    when = moment(rng, needs_hour=False)
    text = rng.choice((when.placed, when.placed, when.text, f"{when.placed} please"))
    asked = rng.choice(("When should I remind you?", "When?", "For when?"))
    before = (*before[:2], tool_results_line([("set_reminder", asked)]), Line("assistant", asked))
    return _follow(rng, before, text, Call("set_reminder", slots | {"time": when.text}))


def _is_switched(first: Request) -> bool:
    return any(word in first.text.split() for word in ("turn", "switch", "on", "off"))


def _other_percent(speaker: Speaker) -> tuple[int, str]:
    value = speaker.numbers.percent()
    return value, f"{speaker.numbers.say(value)} percent"


def _valued(rng: random.Random, text: str, it: str) -> str:
    return rng.choice(_VALUES).replace("{v}", text).replace("{it}", it)


def _follow(
    rng: random.Random, before: tuple[Line, ...], text: str, call: Call, *, is_question: bool = False
) -> Dialogue:
    fresh = {slot: value for slot, value in call.arguments.items() if isinstance(value, str) and value in text}
    said = simulate_asr(rng, text, (Call(call.tool, fresh),), is_question=is_question, fixed=FIXED, may_mishear=False)
    merged = {**call.arguments, **said.calls[0].arguments}
    ordered = home_call(call.tool, **{slot: merged[slot] for slot in SLOT_ORDER[call.tool] if slot in merged})
    return Dialogue(
        "follow-up", (*before, Line("user", said.text), Line("assistant", write_calls((ordered,)), learnt=True))
    )


_QUESTIONED: tuple[tuple[str, Grammar, str], ...] = (
    ("temperature", Grammar("! (set|change|adjust) the (temperature|heating|thermostat) {p}"), "To what temperature?"),
    ("timer", Grammar("! (set|start|create) a timer"), "For how long?"),
    ("alarm", Grammar("! (set|create|make) an alarm"), "For what time?"),
    ("alarm", Grammar("! (wake me up|wake me)"), "When should I wake you?"),
    ("reminder", Grammar("! (set|create) a reminder"), "What should I remind you of?"),
    ("brightness", Grammar("! (dim|brighten|adjust) the lights {p}"), "To what percentage?"),
    ("volume", Grammar("! (set|change|adjust) the volume {p}"), "To what volume?"),
    ("colour", Grammar("! (change|set) the (colour|color) of the lights {p}"), "Which colour would you like?"),
    ("item", Grammar("! add something to (the|my) shopping list"), "What should I add?"),
    ("music", Grammar("! play (something|some music|music) {p}"), "What would you like to hear?"),
)


def clarification(rng: random.Random, speaker: Speaker, respond_slot: str) -> Dialogue:
    """A request that lacked something, the question, and the answer that completes it."""
    lack, grammar, question = rng.choice(_QUESTIONED)
    place = speaker.where(nowhere=0.5, floors=0.0)
    pattern = grammar.draw(rng)
    first = simulate_asr(
        rng,
        phrase_request(rng, Request("!", pattern.say(rng, {"p": place.text}), ())),
        (Call("", dict(place.slots)),),
        may_mishear=False,
    )
    slots = first.calls[0].arguments if "p" in pattern.places else {}
    answer, call = _completed(rng, speaker, lack, slots)
    second = simulate_asr(rng, answer, (call,), may_mishear=False)
    merged = {slot: second.calls[0].arguments[slot] for slot in call.arguments if slot not in slots}
    ordered = home_call(call.tool, **slots, **merged)
    asked = (
        (
            Line("assistant", write_calls((Call("respond", {"message": question}),))),
            tool_results_line([("respond", question)]),
            Line("assistant", question),
        )
        if respond_slot == "message"
        else (Line("assistant", question),)
    )
    lines = (Line("user", first.text), *asked, Line("user", second.text))
    return Dialogue("follow-up", (*lines, Line("assistant", write_calls((ordered,)), learnt=True)))


def _completed(rng: random.Random, speaker: Speaker, lack: str, slots: Mapping[str, Any]) -> tuple[str, Call]:
    match lack:
        case "temperature":
            value = temperature(rng)
            return _short(rng, say_temperature(value, speaker.numbers, rng)), Call(
                "climate_set_temperature", {**slots, "temperature": value}
            )
        case "timer":
            text, length, _ = duration(rng, speaker.numbers)
            return rng.choice(("{v}", "{v}", "for {v}", "{v} please")).replace("{v}", text), Call("start_timer", length)
        case "alarm":
            when = moment(rng)
            return rng.choice((when.text, when.placed, when.placed, f"for {when.text}", f"{when.text} please")), Call(
                "set_alarm", {"time": when.text}
            )
        case "reminder":
            task, when = errand(rng), moment(rng, needs_hour=False)
            return rng.choice((f"{task} {when.placed}", f"to {task} {when.placed}")), Call(
                "set_reminder", {"task": task, "time": when.text}
            )
        case "brightness" | "volume":
            share = speaker.numbers.percent()
            tool, slot = ("light_set", "brightness") if lack == "brightness" else ("set_volume", "volume_level")
            return _short(rng, speaker.numbers.say_percent(share)), Call(tool, {**slots, slot: share})
        case "colour":
            colour = rng.choice(COLOURS)
            return rng.choice((colour, f"{colour} please", f"make them {colour}")), Call(
                "light_set", {**slots, "color": colour}
            )
        case "item":
            item = rng.choice(GROCERIES)
            return rng.choice((item, f"{item} please", f"add {item}")), Call("shopping_list_add_item", {"item": item})
        case _:
            query = rng.choice(QUERIES).removeprefix("some ")
            return rng.choice((query, f"{query} please", f"play {query}")), Call(
                "media_search_and_play", {**slots, "search_query": query.removeprefix("the ")}
            )


def _short(rng: random.Random, value: str) -> str:
    return rng.choice(("{v}", "{v}", "to {v}", "{v} please", "make it {v}", "let's say {v}")).replace("{v}", value)
