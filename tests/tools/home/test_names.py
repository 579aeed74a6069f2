"""Words as people say them, and words as a recogniser writes them."""

from __future__ import annotations

import pytest

from edgevox.tools.home.names import are_same, is_plural, nearest, readings, sounds_like, words


@pytest.mark.parametrize(
    "said",
    [
        "kitchen light",
        "The Kitchen Light",
        "KITCHEN LIGHTS",
        "my kitchen-light",
        "kitchen's light",
        "Kitchen, light!",
    ],
)
def test_case_articles_plurals_and_punctuation_do_not_count(said: str) -> None:
    assert words(said) == ("kitchen", "light")


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("lamp two", "Lamp 2"),
        ("the second lamp", "2nd Lamp"),
        ("twelve", "12"),
        ("entrée", "Entree"),
        ("switches", "switch"),
        ("batteries", "Battery"),
        ("glass", "Glass"),
        ("Straße", "strasse"),
    ],
)
def test_other_spellings_of_the_same_word(said: str, known: str) -> None:
    assert words(said) == words(known)


def test_articles_alone_are_still_words() -> None:
    assert words("the") == ("the",)
    assert words("") == ()


def test_words_may_be_split_anywhere() -> None:
    assert are_same(words("bed room lamp"), words("Bedroom Lamp"))
    assert not are_same(words("bed lamp"), words("Bedroom Lamp"))


def test_a_plural_is_heard_at_the_end() -> None:
    assert is_plural("all of the lights")
    assert not is_plural("the lights switch")
    assert not is_plural("glass")


@pytest.mark.parametrize(
    ("heard", "known"),
    [
        ("kitchin", "kitchen"),
        ("bedrom", "bedroom"),
        ("curtin", "curtain"),
        ("lamb", "lamp"),
        ("thermostad", "thermostat"),
        ("vacume", "vacuum"),
        ("seller", "cellar"),
        ("offise", "office"),
        ("hallwey", "hallway"),
        ("speeker", "speaker"),
    ],
)
def test_small_mishearings_are_recognised(heard: str, known: str) -> None:
    assert sounds_like(heard, known)
    assert sounds_like(known, heard)


@pytest.mark.parametrize(
    ("heard", "known"),
    [
        ("bathroom", "bedroom"),
        ("wall", "hall"),
        ("deck", "desk"),
        ("porch", "torch"),
        ("night", "light"),
        ("upstairs", "downstairs"),
        ("fan", "fun"),
        ("tv", "tea"),
        ("table", "cable"),
        ("kitten", "kitchen"),
        ("dining", "living"),
        ("1", "7"),
        ("lamp1", "lamp2"),
        ("front", "back"),
    ],
)
def test_other_words_are_not_mishearings(heard: str, known: str) -> None:
    assert not sounds_like(heard, known)
    assert not sounds_like(known, heard)


def test_only_unknown_words_are_put_right() -> None:
    known = frozenset({"kitchen", "light", "living", "room"})
    assert readings(("kitchin", "light"), known) == (("kitchen", "light"),)
    assert readings(("kitchen", "light"), known) == ()


def test_a_word_that_houses_use_is_what_was_said() -> None:
    assert readings(("loft", "light"), frozenset({"left", "light"})) == ()


def test_words_run_together_are_taken_apart() -> None:
    assert readings(("livingroom",), frozenset({"living", "room"})) == (("living", "room"),)


def test_words_that_are_equally_near_give_several_readings() -> None:
    assert readings(("marna",), frozenset({"marta", "maria", "lamp"})) == (("maria",), ("marta",))


def test_many_readings_are_bounded() -> None:
    known = frozenset({"marta", "maria", "marla"})
    assert len(readings(("marna",) * 6, known)) == 8


def test_the_nearest_names_come_best_first_and_strangers_not_at_all() -> None:
    names = ["Kitchen Light", "Kitchen Fan", "Garage Door"]
    assert nearest("kitchen lite", names) == ("Kitchen Light", "Kitchen Fan")
    assert nearest("zebra", names) == ()
