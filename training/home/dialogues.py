"""A person's words as they were heard, the calls, and the results put into words."""

from __future__ import annotations

import json
import random
from collections.abc import Collection

from training.calls import Call, written
from training.heard import Heard, heard
from training.home.manner import put, sounds_like_a_question
from training.home.outcomes import outcome, told, told_as_data
from training.home.speaker import Said
from training.scene import Dialogue, Line

FIXED = frozenset({"domain", "device_class", "state", "media_class", "volume_step"})


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


def heard_as_put(rng: random.Random, made: Said, *, may_mishear: bool = True) -> Heard:
    text = put(rng, made)
    is_question = made.form == "?" or sounds_like_a_question(text)
    return heard(rng, text, made.calls, is_question=is_question, fixed=FIXED, may_mishear=may_mishear)


def answered(rng: random.Random, made: Said, category: str, before: tuple[Line, ...] = ()) -> Dialogue:
    """The person's words as they were heard, and the calls."""
    said = heard_as_put(rng, made)
    return Dialogue(
        category, (*before, Line("user", said.text), Line("assistant", written(said.calls), learnt=True))
    )


def earlier(rng: random.Random, made: Said) -> tuple[tuple[Line, ...], tuple[Call, ...]]:
    """A turn that lies behind: request, calls, results, sentence; and the calls as they were heard."""
    said = heard_as_put(rng, made, may_mishear=False)
    results = [(call.tool, outcome(rng, call)) for call in said.calls]
    sentence = " ".join(result for _, result in results)
    lines = (
        Line("user", said.text),
        Line("assistant", written(said.calls)),
        ran(results),
        Line("assistant", sentence),
    )
    return lines, said.calls


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
        "alarm_status",
    ):
        return None
    asked = answered(rng, made, "result")
    sentence = told(rng, call)
    result = sentence
    if rng.random() < 0.25:
        result, sentence = told_as_data(rng, call)
    return Dialogue(
        "result", (*asked.lines, ran([(call.tool, result)]), Line("assistant", sentence, learnt=True))
    )
