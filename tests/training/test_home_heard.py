"""What recognisers write: the arguments follow the words."""

from __future__ import annotations

import random

from training.calls import Call
from training.heard import Heard, heard, misheard_word

_TEXT = "turn on Anna's lamp, please"
_CALL = Call("turn_on", {"name": "Anna's lamp", "domain": "light"})


def _many(text: str = _TEXT, call: Call = _CALL, **options: bool) -> list[Heard]:
    return [heard(random.Random(seed), text, (call,), fixed={"domain"}, **options) for seed in range(400)]


def test_half_is_written_without_case_and_marks() -> None:
    bare = [one for one in _many(may_mishear=False) if one.text == one.text.lower()]
    assert 140 < len(bare) < 260
    assert all(not set(one.text) & set(",.?!") for one in bare)


def test_arguments_are_spelt_as_the_sentence_is() -> None:
    for one in _many():
        assert one.calls[0].arguments["name"] in one.text
        assert one.calls[0].arguments["domain"] == "light"


def test_the_capital_of_the_sentence_is_not_one_of_the_name() -> None:
    call = Call("turn_on", {"area": "kitchen"})
    written = [one for one in _many("kitchen lights on", call) if one.text.startswith("K")]
    plain = [one for one in written if " Lights" not in one.text]
    assert plain
    assert all(not str(one.calls[0].arguments["area"]).startswith("K") for one in plain)


def test_questions_end_in_a_question_mark() -> None:
    asked = _many("is Anna's lamp on", is_question=True)
    assert sum(one.text.endswith("?") for one in asked) > 120
    assert not any(one.text.endswith("?") for one in _many(is_question=False))


def test_a_misheard_name_is_the_argument() -> None:
    names = {str(one.calls[0].arguments["name"]).lower() for one in _many()}
    assert len(names) > 3


def test_words_that_were_not_said_stay() -> None:
    call = Call("book", {"seating": "Terrace"})
    assert {one.calls[0].arguments["seating"] for one in _many("somewhere in the sun", call)} == {"Terrace"}


def test_a_misheard_word_is_another_one() -> None:
    assert all(misheard_word(random.Random(seed), "lamp") != "" for seed in range(50))
    assert len({misheard_word(random.Random(seed), "lamp") for seed in range(50)}) > 3
