"""Several commands in one breath, loose amounts, indirect wishes and slips of the tongue: what they must keep."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import jsonschema
import pytest

from edgevox.home.entities import House
from edgevox.home.intents.catalogue import catalogue
from training.disfluency import disfluent
from training.home.commands import loose_amounts, one_breath, wishes
from training.home.dialogues import FIXED
from training.home.houses import DEMO, KnownHome
from training.home.sampling import any_request
from training.home.speaker import Request, Speaker

_SCHEMAS = {tool.name: jsonschema.Draft202012Validator(tool.parameters) for tool in catalogue().values()}
_BUILDERS = [
    builder
    for group in (
        one_breath.BUILDERS,
        one_breath.ALONE_BUILDERS,
        loose_amounts.BUILDERS,
        wishes.BUILDERS,
        wishes.RARE_VERB_BUILDERS,
    )
    for _, builder in group
]


def _drawn(builder: Callable[[Speaker], Request], house: House | None, times: int = 60) -> Iterator[Request]:
    known = KnownHome(house)
    for seed in range(times):
        yield builder(Speaker(random.Random(seed), known))


@pytest.mark.parametrize("house", [None, DEMO])
def test_calls_fit_their_schemas_and_repeat_words_that_were_said(house: House | None) -> None:
    for builder in _BUILDERS:
        for made in _drawn(builder, house):
            for call in made.calls:
                assert not [*_SCHEMAS[call.tool].iter_errors(dict(call.arguments))], made
                for slot, value in call.arguments.items():
                    assert slot in FIXED or not isinstance(value, str) or value in made.text, made


def test_most_breaths_hold_several_calls_in_the_order_of_their_words() -> None:
    drawn = [*_drawn(one_breath.in_one_breath, DEMO, 200)]
    assert sum(len(made.calls) > 1 for made in drawn) > 190
    for made in drawn:
        named = [name for call in made.calls if isinstance(name := call.arguments.get("name"), str)]
        if all(made.text.count(name) == 1 for name in named):
            assert sorted(named, key=made.text.find) == named, made


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("a couple of minutes", {"minutes": 2}),
        ("an hour and a quarter", {"hours": 1, "minutes": 15}),
        ("quarter of an hour", {"minutes": 15}),
        ("a dozen minutes", {"minutes": 12}),
    ],
)
def test_loose_lengths_mean_what_is_said(words: str, slots: dict[str, int]) -> None:
    known = KnownHome(None)
    drawn = (loose_amounts.loose_duration(Speaker(random.Random(seed), known)) for seed in range(4000))
    assert next(found for text, found, _ in drawn if text == words) == slots


def test_slips_leave_the_words_of_arguments_together() -> None:
    known = KnownHome(DEMO)
    for seed in range(400):
        rng = random.Random(seed)
        made = any_request(Speaker(rng, known))
        text = disfluent(rng, made.text, made.calls, ends_free=made.form == ":", fixed=FIXED)
        for call in made.calls:
            for slot, value in call.arguments.items():
                if slot not in FIXED and isinstance(value, str) and value in made.text:
                    assert value in text, (made, text)
