"""Random changes of messages and files from outside raise only the errors that their readers document."""

from __future__ import annotations

import random

import pytest

from fuzz.boundaries import BOUNDARIES, changed, check, corpus


@pytest.mark.parametrize("name", BOUNDARIES)
def test_no_changed_input_raises_an_undocumented_error(name: str) -> None:
    rng = random.Random(7)
    for sample in (*BOUNDARIES[name].samples, *corpus(name)):
        check(name, sample)
        for _ in range(25):
            check(name, changed(rng, sample))


@pytest.mark.parametrize("name", BOUNDARIES)
def test_deep_nesting_raises_no_recursion_error(name: str) -> None:
    for depth in (100, 10_000, 100_000):
        lists = ("[" * depth, "[" * depth + "]" * depth, "a = " + "[" * depth)
        tables = ('{"a":' * depth, "a." * depth + "a = 1", "[" + "a." * depth + "a]")
        for given in (*lists, *tables):
            check(name, given.encode() + b"\n")
