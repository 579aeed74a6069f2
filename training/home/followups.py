"""Second turns that make sense only behind a first one: and the bedroom too, make it 30, 21 degrees."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

from training.calls import Call, written
from training.heard import heard
from training.home.clock import moment
from training.home.contents import GROCERIES, QUERIES
from training.home.dialogues import FIXED, earlier, ran
from training.home.manner import put
from training.home.ordering import SLOT_ORDER, home_call
from training.home.patterns import Grammar
from training.home.places import in_area, with_article
from training.home.speaker import Said, Speaker
from training.home.tasks import errand
from training.home.values import COLOURS, duration, say_temperature, temperature
from training.scene import Dialogue, Line

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
    before = (*before[:2], ran([("set_reminder", asked)]), Line("assistant", asked))
    return _follow(rng, before, text, Call("set_reminder", slots | {"time": when.text}))


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


_QUESTIONED: tuple[tuple[str, Grammar, str], ...] = (
    (
        "temperature",
        Grammar("! (set|change|adjust) the (temperature|heating|thermostat) {p}"),
        "To what temperature?",
    ),
    ("timer", Grammar("! (set|start|create) a timer"), "For how long?"),
    ("alarm", Grammar("! (set|create|make) an alarm"), "For what time?"),
    ("alarm", Grammar("! (wake me up|wake me)"), "When should I wake you?"),
    ("reminder", Grammar("! (set|create) a reminder"), "What should I remind you of?"),
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
        case "alarm":
            when = moment(rng)
            return rng.choice(
                (when.text, when.placed, when.placed, f"for {when.text}", f"{when.text} please")
            ), Call("set_alarm", {"time": when.text})
        case "reminder":
            task, when = errand(rng), moment(rng, needs_hour=False)
            return rng.choice((f"{task} {when.placed}", f"to {task} {when.placed}")), Call(
                "set_reminder", {"task": task, "time": when.text}
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
                "media_search_and_play", {**slots, "search_query": query.removeprefix("the ")}
            )


def _short(rng: random.Random, value: str) -> str:
    return rng.choice(("{v}", "{v}", "to {v}", "{v} please", "make it {v}", "let's say {v}")).replace(
        "{v}", value
    )
