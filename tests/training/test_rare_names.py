"""Names that nobody knows: varied, and copied as they were heard."""

from __future__ import annotations

import random

from training.calls import Call
from training.heard import heard
from training.rare_names import rare_name


def test_names_hardly_repeat_and_come_in_many_shapes() -> None:
    rng = random.Random(1)
    names = [rare_name(rng) for _ in range(2000)]
    assert len(set(names)) > 1500
    assert sum(" " in name for name in names) > 500
    assert all(any(mark in name for name in names) for mark in "'-øłğí")
    assert all(name == name.strip() and name[:1].isalpha() for name in names)


def test_a_name_is_an_argument_as_it_was_heard() -> None:
    rng = random.Random(2)
    for _ in range(500):
        name = rare_name(rng)
        said = heard(rng, f"please ring {name} tonight", (Call("call", {"who": name}),), may_mishear=False)
        assert str(said.calls[0].arguments["who"]) in said.text
