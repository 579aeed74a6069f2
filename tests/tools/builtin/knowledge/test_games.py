"""Chance is fair and bounded, and only a request for it is read; words are spelled letter by letter."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from edgevox.tools.builtin.knowledge.games import read_game, spoken_roll, spoken_word
from edgevox.tools.builtin.knowledge.question import Reading


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Flip a coin.", Reading("flip_coin")),
        ("heads or tails", Reading("flip_coin")),
        ("roll two dice please", Reading("roll_dice", {"count": 2, "sides": 6})),
        ("roll a twenty sided die", Reading("roll_dice", {"count": 1, "sides": 20})),
        ("pick a number between one and ten", Reading("pick_random", {"low": 1, "high": 10})),
        ("choose between pizza and pasta", Reading("pick_random", {"options": ["pizza", "pasta"]})),
        ("how do you spell necessary", Reading("spell_word", {"word": "necessary"})),
        ("how many letters are in the word banana", Reading("spell_word", {"word": "banana", "ask": "count"})),
    ],
)
def test_a_request_is_read(text: str, reading: Reading) -> None:
    assert read_game(text) == reading


@pytest.mark.parametrize(
    "text",
    [
        "roll up the blinds",
        "throw a party",
        "pick a song",
        "choose a movie",
        "how do you spell it",
        "how many letters are in the mailbox",
        "add dice to the shopping list",
        "roll a million dice",
        "what's the spell in that book",
    ],
)
def test_other_sentences_are_not_read(text: str) -> None:
    assert read_game(text) is None


def test_every_side_of_a_die_comes_up_equally_often() -> None:
    chance = random.Random(7)
    counts = Counter(spoken_roll(1, 6, chance) for _ in range(6000))
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())


def test_letters_are_spoken_apart() -> None:
    assert spoken_word("necessary") == "N, E, C, E, S, S, A, R, Y."
    assert spoken_word("mother-in-law", counts=True) == "Mother-in-law has 11 letters."
