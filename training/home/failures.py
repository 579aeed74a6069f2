"""Calls that failed: mended where the arguments were wrong, else an honest word."""

from __future__ import annotations

import random

from training.calls import Call, written
from training.home.dialogues import heard_as_put, ran
from training.home.speaker import Said
from training.scene import Dialogue, Line

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
    said = heard_as_put(rng, made, may_mishear=False)
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
