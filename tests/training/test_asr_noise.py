"""What recognisers write: the arguments follow the words."""

from __future__ import annotations

import random

from training.asr_noise import NoisyTranscript, mishear_names, mishear_word, replace_homophones, simulate_asr
from training.types import Call

_TEXT = "turn on Anna's lamp, please"
_CALL = Call("turn_on", {"name": "Anna's lamp", "domain": "light"})


def _many(text: str = _TEXT, call: Call = _CALL, **options: bool) -> list[NoisyTranscript]:
    return [simulate_asr(random.Random(seed), text, (call,), fixed={"domain"}, **options) for seed in range(400)]


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
    assert all(mishear_word(random.Random(seed), "lamp") != "" for seed in range(50))
    assert len({mishear_word(random.Random(seed), "lamp") for seed in range(50)}) > 3


def test_names_in_capitals_are_copied_as_they_are_written() -> None:
    call = Call("get_state", {"name": "front door"})
    asked = _many("is the front door locked", call, may_mishear=False)
    assert {"Front Door"} < {str(one.calls[0].arguments["name"]) for one in asked}
    assert any(one.text.startswith("Is The Front Door Locked") for one in asked)
    assert any(one.text.startswith("Is the Front Door locked") for one in asked)
    assert all(str(one.calls[0].arguments["name"]) in one.text for one in asked)


def test_a_sentence_cut_in_two_keeps_its_arguments_whole() -> None:
    call = Call("turn_on", {"name": "strip under the bed", "area": "kitchen"})
    cut = [one for one in _many("turn on the strip under the bed in the kitchen", call) if ". In the" in one.text]
    assert cut
    assert all(str(value) in one.text for one in cut for value in one.calls[0].arguments.values())


def test_the_first_word_may_be_lost() -> None:
    assert any(one.text.lower().startswith("on anna") for one in _many())


def test_times_keep_their_marks_or_lose_them_in_both_places() -> None:
    call = Call("set_alarm", {"time": "6:30 a.m. tomorrow"})
    for one in _many("wake me at 6:30 a.m. tomorrow", call):
        assert str(one.calls[0].arguments["time"]) in one.text
        assert "6:30" in one.text


def test_dollars_are_a_sign_where_nobody_copies_them() -> None:
    written = _many("send 5 dollars to Anna", Call("send", {"amount": 5, "to": "Anna"}))
    assert any("$5" in one.text for one in written)
    copied = _many("note 5 dollars", Call("note", {"text": "5 dollars"}))
    assert not any("$" in one.text for one in copied)


def test_a_misheard_thing_of_a_room_does_not_become_all_of_them() -> None:
    call = Call("turn_on", {"name": "kitchen light"})
    heard_as = {other for seed in range(3000) for other in mishear_names(random.Random(seed), (call,)).values()}
    assert len(heard_as) > 5
    assert "lights" not in heard_as


def test_a_number_is_heard_as_the_word_that_sounds_like_it() -> None:
    call = Call("start_timer", {"minutes": 8, "name": "courier"})
    text = "set a timer to eight minutes for the courier"
    said = {replace_homophones(random.Random(seed), text, (call,)) for seed in range(60)}
    assert "set a timer to ate minutes for the courier" in said
    assert "set a timer to eight minutes four the courier" in said


def test_words_of_an_argument_and_numbers_without_a_unit_have_no_homophone() -> None:
    call = Call("set_reminder", {"task": "walk for the vote", "time": "in eight minutes"})
    text = "in eight minutes remind me: walk for the vote"
    assert replace_homophones(random.Random(1), text, (call,)) == text
    assert replace_homophones(random.Random(1), "play channel four", ()) == "play channel four"
