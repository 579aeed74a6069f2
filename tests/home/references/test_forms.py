"""Only sentences that refer to earlier ones are recognised."""

from __future__ import annotations

import pytest

from edgevox.home.references.form_parser import parse_form
from edgevox.home.references.forms import Also, Correct


@pytest.mark.parametrize(
    "text",
    [
        "what time is it",
        "is it raining",
        "add it to the shopping list",
        "put it on the list",
        "remind me to turn it off",
        "make it stop",
        "no lights",
        "no thanks",
        "me too",
        "more light please",
        "undo the top button of the shirt",
        "what did you do to the kitchen light",
        "and butter",
        "and turn off the lamp too",
        "turn on the other lights",
        "not now",
        "play it again sam",
        "further explain that",
    ],
)
def test_other_sentences_are_left_alone(text: str) -> None:
    assert parse_form(text) is None


def test_a_target_is_what_is_left_of_the_sentence() -> None:
    assert parse_form("And the bedroom one, too.") == Also("the bedroom one")
    assert parse_form("Sorry, wrong one, I meant the hallway light.") == Correct("the hallway light")
