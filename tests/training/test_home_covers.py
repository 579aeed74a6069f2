"""Covers that are wound, drawn and tucked away: what a verb does depends on the thing."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from training.home.commands import covers
from training.home.houses import KnownHome
from training.home.lexicon import vocabulary
from training.home.speaker import Request, Speaker


def _drawn(times: int = 3000) -> Iterator[Request]:
    for seed in range(times):
        yield covers.moved_cover(Speaker(random.Random(seed), KnownHome(None)))


@pytest.mark.parametrize(
    ("thing", "verb", "tool"),
    [("awning", "roll out", "turn_on"), ("awning", "tuck", "turn_off"), ("pool cover", "spread", "turn_off")],
)
def test_what_a_verb_does_depends_on_the_thing(thing: str, verb: str, tool: str) -> None:
    made = [said for said in _drawn() if thing in said.text and all(word in said.text for word in verb.split())]
    assert made
    assert {said.calls[0].tool for said in made} == {tool}


def test_an_invented_name_that_sounds_like_a_sort_without_verbs_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "rare_word", lambda _rng: "flouvob")
    assert not any("flouvob" in said.text and "gate" in said.text for said in _drawn(600))
