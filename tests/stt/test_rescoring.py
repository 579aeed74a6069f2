from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from edgevox.stt.decoding import Hypothesis, choose
from edgevox.stt.rescoring import NAME, NUMBER, Rescorer, model_words, with_name_class


@pytest.fixture(scope="module")
def rescorer() -> Rescorer:
    return Rescorer.load()


def readings(*texts: str, apart: float = 1.0) -> list[Hypothesis]:
    """The first is the likeliest; each next one is less likely by the same factor."""
    return [Hypothesis(text, -1 - apart * place, len(text.split()) + 2) for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("What's the wedding?", "What's the weather?"),
        ("Set it timer for five minutes.", "Set a timer for five minutes."),
        ("Cancel all tires.", "Cancel all timers."),
        ("Add apples to my chocolate list.", "Add apples to my shopping list."),
        ("Tender lights to soft white.", "Turn the lights to soft white."),
    ],
)
def test_a_command_is_preferred_to_what_only_sounds_like_it(rescorer: Rescorer, heard: str, meant: str) -> None:
    choice = rescorer.choose(readings(heard, meant, apart=0.9))
    assert choice is not None
    assert choice.hypothesis.text == meant


@pytest.mark.parametrize(
    ("said", "like_a_command"),
    [
        ("She had your dark suit in greasy wash water all year.", "Set your dark suit in greasy wash water."),
        ("He never turned on his friends.", "He never turn on his fan."),
        ("The light of the moon fell on the snow.", "The lights of the room fan on the snow."),
        ("Dogs are sitting by the door.", "Dock is sitting by the door."),
    ],
)
def test_talk_is_not_bent_into_a_command(rescorer: Rescorer, said: str, like_a_command: str) -> None:
    choice = rescorer.choose(readings(said, like_a_command))
    assert choice is not None
    assert choice.hypothesis.text == said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn on the kitchen light.", "Turn off the kitchen light."),
        ("Open the blinds.", "Close the blinds."),
        ("Lock the front door.", "Unlock the front door."),
        ("Set the heating to 15 degrees.", "Set the heating to 50 degrees."),
    ],
)
def test_the_language_model_does_not_decide_between_opposites_and_numbers(
    rescorer: Rescorer, one: str, other: str
) -> None:
    for texts in ((one, other), (other, one)):
        choice = rescorer.choose(readings(*texts, apart=0.1))
        assert choice is not None
        assert choice.hypothesis.text == texts[0]


def test_a_name_of_the_house_is_preferred_to_other_words(rescorer: Rescorer) -> None:
    texts = readings("Turn on the zuma lamb.", "Turn on the zuma lamp.", apart=3.0)
    without, with_names = rescorer.choose(texts), rescorer.choose(texts, ("Zuma Lamp", "Hall"))
    assert without is not None
    assert with_names is not None
    assert with_names.hypothesis.text == "Turn on the zuma lamp."
    assert with_names.probability > 1 - without.probability


def test_talk_gains_hardly_anything(rescorer: Rescorer) -> None:
    talk = rescorer.log_ratio("the old man had been looking at the sea for a very long time")
    command = rescorer.log_ratio("turn on the lights in the kitchen")
    assert talk < 0.5
    assert command > 5


def test_readings_that_differ_in_spelling_only_count_once() -> None:
    choice = choose(readings("Turn on the TV.", "turn on the television", "Turn on the tea.", apart=0.0))
    assert choice is not None
    assert choice.hypothesis.text == "Turn on the TV."
    assert math.isclose(choice.probability, 0.5)


def test_without_readings_there_is_no_choice(rescorer: Rescorer) -> None:
    assert rescorer.choose(()) is None


def test_numbers_are_one_class_and_opposites_one_word() -> None:
    assert model_words("Turn off 21 lamps.") == ["turn", "on", NUMBER, NUMBER, "lamps"]


def test_the_longest_name_is_found_first() -> None:
    names = [["kitchen"], ["kitchen", "light"]]
    assert with_name_class(["the", "kitchen", "light", "in", "the", "kitchen"], names) == [
        *("the", NAME, "in", "the", NAME)
    ]


class Scorer:
    """Finds likely what the test says, and remembers what it was asked."""

    def __init__(self, **scores: float) -> None:
        self._scores = scores
        self.asked: list[Sequence[str]] = []

    def load(self) -> None: ...

    def log_probabilities(self, texts: Sequence[str]) -> list[float] | None:
        self.asked.append(texts)
        return [sum(score for word, score in self._scores.items() if word in text) for text in texts]


def test_what_the_n_grams_leave_open_is_decided_by_the_larger_model(rescorer: Rescorer) -> None:
    texts = readings("Add dark rose to my shopping list.", "Add dark roast to my shopping list.", apart=0.2)
    scorer = Scorer(roast=20.0)
    choice = replace(rescorer, text_scorer=scorer).choose(texts)
    assert choice is not None
    assert choice.hypothesis.text == "Add dark roast to my shopping list."


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(("Turn on the kitchen light.", "Burn on a kitten lie."), id="clear"),
        pytest.param(("He never turned on his friends.", "He never turned on his friend."), id="talk"),
    ],
)
def test_the_larger_model_is_not_asked_about_what_is_clear_or_talk(rescorer: Rescorer, texts: tuple[str, str]) -> None:
    scorer = Scorer()
    replace(rescorer, text_scorer=scorer).choose(readings(*texts, apart=0.2))
    assert not scorer.asked


def test_the_larger_model_does_not_see_opposites_and_numbers(rescorer: Rescorer) -> None:
    texts = ("Turn off the lamp at seven.", "Turn on the lamp at eleven.", "Turn off the lamb at seven.")
    scorer = Scorer()
    replace(rescorer, text_scorer=scorer).choose(readings(*texts, apart=0.1))
    assert scorer.asked == [["Turn on the lamp at 10.", "Turn on the lamb at 10."]]
