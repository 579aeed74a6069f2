"""Rows: every dialogue continues its own system prompt, and only what is to be learnt is a target."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from tests.training.little_scenes import scenes
from training.packing import Row, rows
from training.scene import Dialogue, Line, Scene
from training.tokens import Tokens

ON = Dialogue("on", (Line("user", "on"), Line("assistant", "[on()]", learnt=True)))
AGAIN = Dialogue(
    "again",
    (
        Line("user", "off"),
        Line("assistant", "[off()]"),
        Line("user", "again"),
        Line("assistant", "[on()]", learnt=True),
    ),
)


def said(row: Row, tokens: Tokens, segment: int) -> str:
    return tokens.text(row.tokens[row.segments == segment].tolist())


def test_dialogues_stand_behind_their_system_prompt_and_continue_its_positions(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (AGAIN, ON))], byte_tokens, 512)
    assert said(row, byte_tokens, 1) == "<|im_start|>system\nS<|im_end|>\n"
    assert said(row, byte_tokens, 3) == (
        "<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n[on()]<|im_end|>\n"
    )
    system = int(np.count_nonzero(row.segments == 1))
    for segment in (2, 3):
        positions = row.positions[row.segments == segment]
        assert positions.tolist() == list(range(system, system + len(positions)))
        assert set(row.roots[row.segments == segment].tolist()) == {1}
    assert row.used == Counter(on=1, again=1)


def test_only_the_learnt_words_and_their_end_are_targets(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (ON, AGAIN))], byte_tokens, 512)
    for segment in (2, 3):
        targets = row.targets[row.segments == segment]
        assert byte_tokens.text(targets[targets >= 0].tolist()) == "[on()]<|im_end|>"
    assert row.learnt_tokens == 2 * len(byte_tokens.of("[on()]")) + 2


def test_a_target_is_the_token_that_comes_next(byte_tokens: Tokens) -> None:
    for row in itertools.islice(rows(scenes(1), byte_tokens, 1024), 5):
        learnt = np.flatnonzero(row.targets >= 0)
        assert (row.targets[learnt] == row.tokens[learnt + 1]).all()
        assert (row.segments[learnt] == row.segments[learnt + 1]).all()


def test_a_users_line_is_never_learnt(byte_tokens: Tokens) -> None:
    scene = Scene("S", (Dialogue("odd", (Line("user", "on", learnt=True),)),))
    (row,) = rows([scene], byte_tokens, 512)
    assert row.learnt_tokens == 0


def test_several_short_scenes_share_a_row(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (ON,)), Scene("T", (ON,))], byte_tokens, 512)
    assert said(row, byte_tokens, 3) == "<|im_start|>system\nT<|im_end|>\n"
    assert row.positions[row.segments == 3][0] == 0
    assert set(row.roots[row.segments == 4].tolist()) == {3}


def test_what_does_not_fit_is_left_out_and_counted(byte_tokens: Tokens) -> None:
    long = Dialogue("long", (Line("user", "x" * 400),))
    (row,) = rows([Scene("S", (long, ON))], byte_tokens, 256)
    assert (row.used, row.left_out) == (Counter(on=1), Counter(long=1))


def test_a_long_dialogue_finds_room_before_short_ones(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("S", (ON, ON, ON, AGAIN))], byte_tokens, 120)
    assert (row.used, row.left_out) == (Counter(again=1, on=1), Counter(on=2))


def test_a_scene_without_room_for_a_dialogue_leaves_no_system_prompt(byte_tokens: Tokens) -> None:
    (row,) = rows([Scene("y" * 300, (ON,)), Scene("S", (ON,))], byte_tokens, 256)
    assert said(row, byte_tokens, 1) == "<|im_start|>system\nS<|im_end|>\n"
    assert (row.used, row.left_out) == (Counter(on=1), Counter(on=1))


@pytest.mark.parametrize("row_tokens", [512, 2048])
def test_rows_have_one_length_and_are_mostly_full(byte_tokens: Tokens, row_tokens: int) -> None:
    made = list(itertools.islice(rows(scenes(2), byte_tokens, row_tokens), 20))
    assert {len(row.tokens) for row in made} == {row_tokens}
    assert sum(row.filled_tokens for row in made) > 0.8 * 20 * row_tokens
