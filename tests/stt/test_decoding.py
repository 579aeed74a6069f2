from __future__ import annotations

from dataclasses import replace

import pytest

from edgevox.stt.decoding import Decoding, Hypothesis, best_decoding, choose, is_repetition_loop, says_it_twice


def attempt(
    text: str,
    *,
    ended: bool = True,
    mean_logprob: float = -0.2,
    no_speech_probability: float = 0.01,
    speech_s: float = 2.0,
) -> Decoding:
    return Decoding(text, ended, mean_logprob, no_speech_probability, speech_s, window_s=3.0)


@pytest.mark.parametrize(
    "text",
    [
        "next next next next next",
        "Read me the news. Read me the news. Read me the news. Read me the news.",
        "I'm sorry. I'm sorry. I'm sorry. I'm sorry. I'm sorry.",
        "Turn it off and on, and off and on, and off and on, and off and on, and off.",
        "la" * 60,
    ],
)
def test_a_loop_is_seen(text: str) -> None:
    assert is_repetition_loop(text)
    assert attempt(text, speech_s=20.0).fault() == "repetition"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No, no, no!",
        "Bye bye.",
        "Turn on the light in the hall and the light in the kitchen and the light in the office.",
        "The number is 555 555 1234.",
        "It is very, very, very cold.",
    ],
)
def test_what_people_really_repeat_is_no_loop(text: str) -> None:
    assert not is_repetition_loop(text)


def test_a_sentence_said_twice_is_tried_again_and_believed_if_it_stays() -> None:
    twice = attempt("Switch off the lights. Switch off the lights.", speech_s=4.0)
    assert says_it_twice(twice.text)
    assert twice.fault() == "repetition"
    assert best_decoding([twice]) is twice


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("How many days are in a week? How many days are in a week?", True),
        ("Open the door. Open the door. Open the do", False),
        ("Open the door. Open the door. Open", False),
    ],
)
def test_copies_that_nobody_had_the_time_to_say_are_left_out(text: str, ended: bool) -> None:
    once = attempt(text, ended=ended, speech_s=1.5).without_repetition()
    assert once.text == text[: len(text.split("?")[0].split(".")[0]) + 1]
    assert once.fault() is None


@pytest.mark.parametrize(
    "text",
    [
        "Switch off the lights. Switch off the lights.",
        "Turn on the light in the hall and the light in the kitchen.",
        "",
    ],
)
@pytest.mark.parametrize("speech_s", [2.0, 6.0])
def test_what_may_have_been_said_is_kept(text: str, speech_s: float) -> None:
    said = attempt(text, speech_s=speech_s)
    assert said.without_repetition() is said


def test_words_that_come_back_later_are_not_said_twice() -> None:
    assert not says_it_twice("Turn on the light in the hall and the light in the kitchen.")


def test_a_good_decoding_has_no_fault() -> None:
    assert attempt("Turn on the kitchen lights.").fault() is None


def test_a_decoding_that_did_not_end_is_faulty() -> None:
    assert attempt("Turn on the", ended=False).fault() == "no end"


def test_an_unlikely_decoding_is_faulty() -> None:
    assert attempt("Tarn own the chicken.", mean_logprob=-1.2).fault() == "low probability"


def test_more_words_than_fit_in_the_time_are_faulty() -> None:
    spoken = "she sells sea shells by the shore and more of them are sold"
    assert attempt(spoken, speech_s=3.0).fault() is None
    assert attempt(spoken, speech_s=0.5).fault() == "too many words"


def test_a_decoding_that_stops_in_a_pause_is_faulty() -> None:
    assert attempt("Chapter sixteen.", speech_s=15.0).fault() == "too few words"
    assert attempt("Chapter sixteen.", speech_s=2.5).fault() is None
    assert attempt("Set the lamp to red.", speech_s=5.0).fault() is None


def test_an_empty_decoding_of_speech_is_tried_again() -> None:
    assert attempt("").fault() == "no words"


@pytest.mark.parametrize("text", ["Thank you.", "Thanks for watching!", "I'll see you in the next video.", "you"])
def test_an_invention_is_nothing_when_the_decoder_doubts_it(text: str) -> None:
    assert attempt(text, mean_logprob=-1.0).is_no_speech()
    assert attempt(text, no_speech_probability=0.5).is_no_speech()


def test_a_clear_thank_you_was_said() -> None:
    assert not attempt("Thank you.").is_no_speech()


def test_doubtful_words_that_nobody_invents_are_kept() -> None:
    assert not attempt("Open the garage.", mean_logprob=-0.9, no_speech_probability=0.5).is_no_speech()


def test_improbable_words_in_probable_silence_are_nothing() -> None:
    assert attempt("Open the garage.", mean_logprob=-1.1, no_speech_probability=0.7).is_no_speech()


@pytest.mark.parametrize("text", ["", "...", "♪ ♪", "!"])
def test_punctuation_alone_is_nothing(text: str) -> None:
    assert attempt(text).is_no_speech()


def test_the_likeliest_of_faulty_attempts_is_believed() -> None:
    worse, better = attempt("aah", mean_logprob=-2.0), attempt("ah", mean_logprob=-1.5)
    assert best_decoding([worse, better]) is better


def test_a_loop_is_never_believed_however_likely() -> None:
    loop = attempt("no " * 20, mean_logprob=-0.1)
    unlikely = attempt("no", mean_logprob=-3.0)
    assert best_decoding([loop, unlikely]) is unlikely
    assert best_decoding([loop]) is None


def test_an_invention_is_never_believed_however_likely() -> None:
    invention = attempt("Thanks for watching!", no_speech_probability=0.5, mean_logprob=-0.3)
    words = attempt("To the phone.", mean_logprob=-1.4)
    assert invention.fault() == "no words"
    assert best_decoding([invention, words]) is words


def test_an_attempt_without_a_fault_beats_a_likelier_one_with_one() -> None:
    twice = attempt("Lights off now. Lights off now.", mean_logprob=-0.1, speech_s=4.0)
    once = attempt("Lights off now.", mean_logprob=-0.4)
    assert best_decoding([twice, once]) is once


def test_an_unended_attempt_is_never_believed() -> None:
    assert best_decoding([attempt("and then", ended=False)]) is None


def test_an_unsure_word_makes_it_worth_reading_again() -> None:
    sure, unsure = (replace(attempt("Lamp on."), least_word_logprob=least) for least in (-0.05, -0.5))
    assert (sure.is_unsure(), unsure.is_unsure()) == (False, True)
    assert sure.confidence > unsure.confidence


def test_what_was_written_into_silence_is_not_made_a_command() -> None:
    invented = replace(attempt("Thank you.", mean_logprob=-1.2), least_word_logprob=-2.0)
    assert invented.is_no_speech()
    assert not invented.is_unsure()


def test_only_a_reading_that_fits_into_the_time_is_taken() -> None:
    unsure = replace(attempt("Lamb on.", speech_s=1.0), least_word_logprob=-0.5)
    long = Hypothesis(" ".join(f"word{number}" for number in range(20)), -0.1, 20)
    assert unsure.read_as([long, Hypothesis("Lamp on.", -2.0, 3)], choose).text == "Lamp on."
    assert unsure.read_as([long], choose) == unsure


def test_the_other_plausible_readings_are_kept_each_in_one_spelling() -> None:
    unsure = replace(attempt("Lamb on.", speech_s=1.0), least_word_logprob=-0.5)
    texts = {
        "Lamp on.": -2.0,
        "lamp on": -2.5,
        "Lamb on.": -1.0,
        "Lamb Lamb Lamb Lamb Lamb Lamb": -0.5,
        "Lump on.": -3.0,
    }
    read = unsure.read_as([Hypothesis(text, log, 3) for text, log in texts.items()], choose)
    assert (read.text, read.alternatives) == ("Lamb on.", ("Lamp on.", "Lump on."))


def test_a_reading_that_stops_in_a_pause_is_not_chosen() -> None:
    greedy = attempt("Chapter thirty one Isabel came back to Florence.", speech_s=6.0)
    early, whole = (
        Hypothesis("Chapter thirty one", -1.0, 4),
        Hypothesis("Chapter thirty one, Isabelle came back to Florence.", -3.0, 10),
    )
    assert greedy.read_as([early, whole], choose).text == whole.text
    assert attempt("Turn the lamp on").read_as([Hypothesis("Lamp on", -1.0, 3)], choose).text == "Lamp on"
