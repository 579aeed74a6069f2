"""Fuzzy comparison of names, and phonetic distance."""

from __future__ import annotations

import pytest

from edgevox.core.words import normalized_words
from edgevox.home.resolve.fuzzy import (
    are_same,
    closest_names,
    consonant_skeleton,
    fuzzy_readings,
    is_plural,
    may_be_mishearing,
    phonetic_code,
    phonetic_distance,
    same_onset,
)


@pytest.mark.parametrize(
    "said",
    ["kitchen light", "The Kitchen Light", "KITCHEN LIGHTS", "my kitchen-light", "kitchen's light", "Kitchen, light!"],
)
def test_case_articles_plurals_and_punctuation_do_not_count(said: str) -> None:
    assert normalized_words(said) == ("kitchen", "light")


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
def test_other_spellings_of_a_word_are_equal(said: str, known: str) -> None:
    assert normalized_words(said) == normalized_words(known)


def test_articles_alone_are_still_words() -> None:
    assert normalized_words("the") == ("the",)
    assert normalized_words("") == ()


def test_words_may_be_split_anywhere() -> None:
    assert are_same(normalized_words("bed room lamp"), normalized_words("Bedroom Lamp"))
    assert not are_same(normalized_words("bed lamp"), normalized_words("Bedroom Lamp"))


def test_only_the_last_word_decides_on_a_plural() -> None:
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
def test_small_mishearings_are_matched(heard: str, known: str) -> None:
    assert may_be_mishearing(heard, known)
    assert may_be_mishearing(known, heard)


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
    assert not may_be_mishearing(heard, known)
    assert not may_be_mishearing(known, heard)


def test_only_unknown_words_are_corrected() -> None:
    known = frozenset({"kitchen", "light", "living", "room"})
    assert fuzzy_readings(("kitchin", "light"), known) == (("kitchen", "light"),)
    assert fuzzy_readings(("kitchen", "light"), known) == ()


def test_a_common_house_word_is_never_corrected() -> None:
    assert fuzzy_readings(("loft", "light"), frozenset({"left", "light"})) == ()


def test_joined_words_are_split() -> None:
    assert fuzzy_readings(("livingroom",), frozenset({"living", "room"})) == (("living", "room"),)


def test_equally_similar_words_give_several_readings() -> None:
    assert fuzzy_readings(("marna",), frozenset({"marta", "maria", "lamp"})) == (("maria",), ("marta",))


def test_the_number_of_readings_is_bounded() -> None:
    known = frozenset({"marta", "maria", "marla"})
    assert len(fuzzy_readings(("marna",) * 6, known)) == 8


def test_the_closest_names_come_first_and_dissimilar_ones_are_left_out() -> None:
    names = ["Kitchen Light", "Kitchen Fan", "Garage Door"]
    assert closest_names("kitchen lite", names) == ("Kitchen Light", "Kitchen Fan")
    assert closest_names("zebra", names) == ()


def apart(first: str, second: str) -> float:
    return phonetic_distance(phonetic_code(first), phonetic_code(second))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sealing", "ceiling"), ("gait", "gate"), ("lites", "lights"), ("ferry", "fairy"), ("tele", "telly"),
        ("troff", "trough"), ("knight", "night"), ("fone", "phone"), ("wring", "ring"), ("sawna", "sauna"),
    ],
)  # fmt: skip
def test_words_that_sound_alike_have_the_same_code(one: str, other: str) -> None:
    assert phonetic_code(one) == phonetic_code(other)


def test_confusable_consonants_are_closer_than_others() -> None:
    assert apart("pack", "back") < apart("mac", "back") < apart("sack", "back")
    assert apart("red", "led") < apart("bed", "led")


def test_a_changed_vowel_counts_less_than_a_lost_consonant() -> None:
    assert 0 < apart("tally", "telly") < apart("fold", "foal")


def test_the_distance_is_symmetric() -> None:
    assert apart("wander", "weather") == apart("weather", "wander") > 0
    assert apart("lamp", "lamp") == 0


def test_similar_codes_have_skeletons_that_differ_in_at_most_one_place() -> None:
    assert consonant_skeleton(phonetic_code("mac")) == consonant_skeleton(phonetic_code("back"))
    assert len(consonant_skeleton(phonetic_code("placement"))) == len(consonant_skeleton(phonetic_code("basement"))) + 1


def test_first_sounds_are_compared() -> None:
    assert same_onset(phonetic_code("ram"), phonetic_code("lamp"))
    assert not same_onset(phonetic_code("damp"), phonetic_code("lamp"))
