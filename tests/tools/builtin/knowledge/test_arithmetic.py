"""Arithmetic as people say it: the value is right, the sentence can be spoken, and nothing else is taken for it."""

from __future__ import annotations

import time
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.core.words import NUMBER_WORDS
from edgevox.tools.builtin.knowledge.arithmetic import evaluate, read_arithmetic, spoken_result
from edgevox.tools.builtin.knowledge.terms import TOO_LARGE, NotArithmetic
from edgevox.tts.normalize.english import normalize_english


def answer(text: str) -> str:
    reading = read_arithmetic(text)
    return spoken_result(reading.arguments["expression"]) if reading else ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What is 15 times 12?", "15 times 12 is 180."),
        ("hey what's fifteen times twelve please", "15 times 12 is 180."),
        ("20 percent of 85", "20 percent of 85 is 17."),
        ("what's 3/4 of 20", "Three quarters of 20 is 15."),
        ("two thirds of 90", "Two thirds of 90 is 60."),
        ("12 squared", "12 squared is 144."),
        ("what is two to the tenth power", "2 to the power of 10 is 1,024."),
        ("square root of two", "The square root of 2 is about 1.414."),
        ("what's minus five plus three", "Minus 5 plus 3 is minus 2."),
        ("what's 15 percent off 80", "80 with 15 percent off is 68."),
        ("split 90 dollars between 4 people", "90 dollars split 4 ways is $22.50."),
        ("what's a 20 percent tip on 60 dollars", "20 percent of 60 dollars is 12 dollars, so 72 with the tip."),
        ("100 plus 20 percent", "100 plus 20 percent is 120."),
        ("subtract three from ten", "10 minus 3 is 7."),
        ("how many times does 7 go into 100", "7 goes into 100 14 times, with 2 left over."),
        ("what percentage of 80 is 20", "20 as a percentage of 80 is 25 percent."),
        ("what's the average of 3, 4 and 8", "The average of 3, 4 and 8 is 5."),
        ("what is ten divided by three", "10 divided by 3 is about 3.333."),
        ("what is 5 divided by zero", "Dividing by zero has no result."),
        ("what's two million five hundred thousand minus one", "2,500,000 minus 1 is 2,499,999."),
    ],
)
def test_a_question_of_arithmetic_has_a_spoken_answer(text: str, said: str) -> None:
    assert answer(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "24/7",
        "110 over 76",
        "10-4",
        "what is 10",
        "five minutes",
        "twenty twenty",
        "four plus five equals nine",
        "add two eggs to my shopping list",
        "add milk and five apples to the list",
        "turn it up by 10 percent",
        "set the lights to half",
        "dim the lamp by twenty percent",
        "play 99 problems",
        "what is the temperature",
        "take away the trash",
    ],
)
def test_other_sentences_are_no_arithmetic(text: str) -> None:
    assert read_arithmetic(text) is None


_SIGNS = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}


@given(
    st.lists(st.tuples(st.sampled_from(sorted(_SIGNS)), st.integers(1, 5000)), min_size=1, max_size=4),
    st.integers(0, 5000),
)
def test_a_spoken_chain_has_the_value_that_python_computes(steps: list[tuple[str, int]], first: int) -> None:
    spoken = f"{first} " + " ".join(f"{word} {number}" for word, number in steps)
    written = f"Fraction({first})" + "".join(f"{_SIGNS[word]}Fraction({number})" for word, number in steps)
    expected: Fraction = eval(written, {"Fraction": Fraction})
    assert evaluate(spoken).value == expected


@given(st.integers(0, 10**12))
def test_a_number_in_words_is_read_back(number: int) -> None:
    assert evaluate(f"{in_words(number)} plus one").value == number + 1


def in_words(number: int) -> str:
    """Independent of the reader: scale by scale."""
    ones, tens = NUMBER_WORDS[:20], NUMBER_WORDS[::10]
    for size, name in (
        (10**12, "trillion"),
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if number >= size:
            rest = number % size
            joined = " and " if 0 < rest < 100 else " "
            return f"{in_words(number // size)} {name}" + (f"{joined}{in_words(rest)}" if rest else "")
    if number < 20:
        return ones[number]
    return tens[number // 10] + (f"-{ones[number % 10]}" if number % 10 else "")


@pytest.mark.parametrize(
    "expression", ["9**9**9", "9^9^9^9", "1000!", "(10^300)^300", "9" * 10_000, "2 * " * 500 + "2"]
)
def test_what_would_take_long_is_refused_at_once(expression: str) -> None:
    started_s = time.perf_counter()
    assert spoken_result(expression) == TOO_LARGE
    assert time.perf_counter() - started_s < 10  # unbounded, it would not end


@given(st.text(alphabet="0123456789+-*/^()!%. plustimesofand", max_size=60))
def test_any_text_ends_in_a_sentence_or_is_no_arithmetic(text: str) -> None:
    with suppress(NotArithmetic):
        assert spoken_result(text).endswith(".")


def test_an_answer_has_no_sign_that_the_voice_misreads() -> None:
    assert normalize_english(answer("what is 1,250 times minus 3")) == "1,250 times minus 3 is minus 3,750."
