"""The processes that make rows: what they make depends on the seed alone, and their death is noticed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import pytest

from edgevox.errors import EngineFailed
from tests.training.little_scenes import scenes
from training.packing import rows
from training.scene import Scene
from training.tokens import Tokens
from training.workers import RowWorkers, load_generator

LITTLE = "tests.training.little_scenes:scenes"


def workers(
    tokens: Tokens, generator: str = LITTLE, *, processes: int, longest_row_s: float = 60.0
) -> RowWorkers:
    return RowWorkers(
        generator,
        tokens,
        seed=3,
        rows_a_step=3,
        row_tokens=512,
        processes=processes,
        longest_row_s=longest_row_s,
    )


def broken_scenes(seed: int) -> Iterator[Scene]:
    yield from itertools.islice(scenes(seed), 20)
    raise ValueError("no more")


def endless_scenes(seed: int) -> Iterator[Scene]:
    yield from itertools.islice(scenes(seed), 20)
    threading.Event().wait()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_steps_rows_do_not_depend_on_the_number_of_processes(byte_tokens: Tokens, processes: int) -> None:
    streams = [rows(scenes(3000 + number), byte_tokens, 512) for number in range(3)]
    with workers(byte_tokens, processes=processes) as made:
        for _ in range(4):
            expected = [next(stream).tokens.tolist() for stream in streams]
            assert [row.tokens.tolist() for row in made.next_step()] == expected


def test_a_generator_that_fails_ends_the_training(byte_tokens: Tokens) -> None:
    broken = "tests.training.test_workers:broken_scenes"
    with workers(byte_tokens, broken, processes=1) as made:
        steps = iter(made.next_step, [])
        with pytest.raises(EngineFailed, match="has died"):
            list(itertools.islice(steps, 1000))


def test_a_generator_that_does_not_come_to_an_end_says_where_it_is(
    byte_tokens: Tokens, capfd: pytest.CaptureFixture[str]
) -> None:
    endless = "tests.training.test_workers:endless_scenes"
    with workers(byte_tokens, endless, processes=1, longest_row_s=1.0) as made:
        steps = iter(made.next_step, [])
        with pytest.raises(EngineFailed, match="has died"):
            list(itertools.islice(steps, 1000))
    assert "endless_scenes" in capfd.readouterr().err


def test_a_generator_is_found_by_its_name() -> None:
    assert next(load_generator(LITTLE)(5)) == next(scenes(5))
