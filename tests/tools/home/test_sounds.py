"""Words by ear: what is spelt differently and sounds alike is the same."""

from __future__ import annotations

import pytest

from edgevox.tools.home.sounds import begin_alike, distance, skeleton, sound


def apart(first: str, second: str) -> float:
    return distance(sound(first), sound(second))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sealing", "ceiling"), ("gait", "gate"), ("lites", "lights"), ("ferry", "fairy"), ("tele", "telly"),
        ("troff", "trough"), ("knight", "night"), ("fone", "phone"), ("wring", "ring"), ("sawna", "sauna"),
    ],
)  # fmt: skip
def test_words_that_sound_alike_are_the_same(one: str, other: str) -> None:
    assert sound(one) == sound(other)


def test_consonants_that_are_mistaken_for_each_other_are_nearer_than_others() -> None:
    assert apart("pack", "back") < apart("mac", "back") < apart("sack", "back")
    assert apart("red", "led") < apart("bed", "led")


def test_a_vowel_changed_is_less_than_a_consonant_lost() -> None:
    assert 0 < apart("tally", "telly") < apart("fold", "foal")


def test_the_distance_is_the_same_both_ways() -> None:
    assert apart("wander", "weather") == apart("weather", "wander") > 0
    assert apart("lamp", "lamp") == 0


def test_near_sounds_have_one_skeleton_or_lack_a_bone() -> None:
    assert skeleton(sound("mac")) == skeleton(sound("back"))
    assert len(skeleton(sound("placement"))) == len(skeleton(sound("basement"))) + 1


def test_first_sounds_are_compared() -> None:
    assert begin_alike(sound("ram"), sound("lamp"))
    assert not begin_alike(sound("damp"), sound("lamp"))
