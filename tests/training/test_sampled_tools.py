"""Tools that no file has: what is said still fits the schema that is shown."""

from __future__ import annotations

import random

import jsonschema
import pytest

from training.sampled_tools import SlotPool, invented_word
from training.tool_files import load_tools

TOOLS = load_tools()
POOL = SlotPool.of(TOOLS)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_asked_for_fits_the_varied_tool(seed: int) -> None:
    rng = random.Random(seed)
    for tool in rng.sample(TOOLS, 120):
        drawn = tool.draw(rng, POOL)
        parameters = drawn.schema["function"]["parameters"]
        _text, arguments = drawn.request(rng)
        jsonschema.validate(arguments, parameters)
        assert [*arguments] == [name for name in parameters["properties"] if name in arguments]
        two = drawn.request_for_two(rng)
        if two is not None:
            assert len(two[1]) == 2
            for one in two[1]:
                jsonschema.validate(one, parameters)


def test_the_same_seed_gives_the_same_tool() -> None:
    def drawn() -> list[object]:
        rng = random.Random(5)
        return [tool.draw(rng, POOL).schema for tool in TOOLS[:50]]

    assert drawn() == drawn()


def test_choices_and_values_move_between_tools() -> None:
    rng = random.Random(1)
    tool = next(tool for tool in TOOLS if any(slot.kind == "enum" for slot in tool.slots))
    seen = {str(tool.draw(rng, POOL).schema["function"]["parameters"]) for _ in range(40)}
    assert len(seen) > 20


def test_invented_words_are_words() -> None:
    rng = random.Random(2)
    words = {invented_word(rng) for _ in range(200)}
    assert len(words) > 150
    assert all(word.isalpha() and word.islower() for word in words)
