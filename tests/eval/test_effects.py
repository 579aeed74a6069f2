"""Rows that run on a demo home with real tools: effects, what is scheduled, replies, and dialogues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgevox.core.errors import ConfigError
from edgevox.eval import read_suite, summarise
from edgevox.eval.expectation import ExpectedReply, Range
from edgevox.eval.reply_check import matches_reply, numbers
from edgevox.eval.report import ModelResults, rows
from tests.eval.rows import LIGHT_ON, calls, result, results, row, write

DIMMED = {"name": "light_set", "arguments": {"name": "kitchen light", "brightness": 30}}
TIMER = {"name": "start_timer", "arguments": {"minutes": 10, "name": "pasta"}}
LATER = {"name": "start_timer", "arguments": {"minutes": 10, "conversation_command": "turn off the kitchen light"}}
LIT = {"light.kitchen": {"state": "on", "brightness": 60}}


def dialogue(*turns: tuple[str, dict[str, Any]], **keys: Any) -> dict[str, Any]:
    said = [{"utterance": utterance, "expect": expect} for utterance, expect in turns]
    return {"id": "one", "category": "references", "turns": said, **keys}


async def test_an_effect_is_compared_with_the_state_before(tmp_path: Path) -> None:
    case = row(before=LIT, expect={"state": {"light.kitchen": {"brightness": {"above": 10, "below": 60}}}})
    assert (await result(tmp_path, case, calls(DIMMED))).score.is_right
    assert not (await result(tmp_path, case, "No.")).score.is_right


async def test_an_effect_that_is_not_listed_is_wrong(tmp_path: Path) -> None:
    case = row(before=LIT, expect={"state": {"light.kitchen": {"brightness": 30}}})
    both = calls(DIMMED, {"name": "turn_on", "arguments": {"name": "bedroom light"}})
    assert not (await result(tmp_path, case, both)).score.state_ok


async def test_a_request_that_must_change_nothing(tmp_path: Path) -> None:
    case = row(expect={"unchanged": True})
    assert (await result(tmp_path, case, "Which one?")).score.is_right
    assert not (await result(tmp_path, case, calls(LIGHT_ON))).score.is_right
    assert not (await result(tmp_path, case, calls(TIMER))).score.is_right


async def test_a_question_or_another_reading_may_be_as_right(tmp_path: Path) -> None:
    other = [{"light.kitchen": {"brightness": 30}}]
    case = row(before=LIT, expect={"state": {"light.counter": "on"}, "or_state": other, "or_unchanged": True})
    assert (await result(tmp_path, case, calls(DIMMED))).score.is_right
    assert (await result(tmp_path, case, "Which one?")).score.is_right
    assert not (
        await result(tmp_path, case, calls({"name": "turn_on", "arguments": {"name": "bedroom light"}}))
    ).score.is_right


async def test_what_is_scheduled_is_compared_by_words_and_time(tmp_path: Path) -> None:
    def case(**item: Any) -> dict[str, Any]:
        return row(now="2026-03-11T21:55", expect={"schedule": [item]})

    right = case(kind="command", words=["kitchen light", "off"], at="2026-03-11T22:05")
    assert (await result(tmp_path, right, calls(LATER))).score.is_right
    assert (await result(tmp_path, case(in_s=600), calls(LATER))).score.is_right
    assert not (await result(tmp_path, case(in_s=900), calls(LATER))).score.is_right
    assert not (await result(tmp_path, case(words=["hallway"]), calls(LATER))).score.is_right
    assert not (await result(tmp_path, case(kind="timer"), calls(LATER))).score.is_right
    assert not (await result(tmp_path, right, calls(LATER, LIGHT_ON))).score.is_right


async def test_what_was_scheduled_before_can_be_cancelled(tmp_path: Path) -> None:
    before = [{"kind": "timer", "words": ["pasta"], "in_s": 300}, {"kind": "reminder", "words": ["rent"], "in_s": 900}]
    case = row(scheduled=before, expect={"schedule": [{"kind": "reminder", "words": ["rent"]}]})
    cancel = calls({"name": "cancel_timer", "arguments": {"name": "pasta"}})
    assert (await result(tmp_path, case, cancel)).score.is_right
    assert not (await result(tmp_path, case, "No.")).score.is_right


async def test_a_dialogue_is_right_when_every_turn_is(tmp_path: Path) -> None:
    case = dialogue(
        ("kitchen light on", {"state": {"light.kitchen": "on"}}),
        ("kitchen light to thirty percent", {"state": {"light.kitchen": {"brightness": 30}}}),
    )
    good, bad = await results(
        read_suite(write(tmp_path, case, {**case, "id": "two"})),
        *(calls(LIGHT_ON), calls(DIMMED), calls(LIGHT_ON), calls(LIGHT_ON)),
    )
    assert good.score.is_right
    assert not bad.score.is_right
    assert [turn.score.is_right for turn in bad.turns] == [True, False]
    assert bad.turns[0].changes == {"light.kitchen": {"brightness": 100, "state": "on"}}
    summary = summarise([good, bad])
    assert (summary.right.ok, summary.right.of, summary.turns.ok, summary.turns.of) == (1, 2, 3, 4)
    facts = next(rows([ModelResults("model", [bad])]))
    assert [turn["right"] for turn in facts["turns"]] == [True, False]
    assert facts["utterance"] == "kitchen light on / kitchen light to thirty percent"


async def test_a_reply_is_scored_beside_the_effects(tmp_path: Path) -> None:
    case = row(utterance="guess my number", expect={"reply": {"number": {"min": 42, "max": 42}}})
    assert (await result(tmp_path, case, "That is forty-two.")).score.is_right
    got = await result(tmp_path, case, "That is 41.")
    assert got.score.state_ok
    assert not got.score.reply_ok


def test_numbers_are_read_in_digits_and_words() -> None:
    said = "1,200 or two thousand and five, minus 3.5, three point one four, two and a half, one two, a hundred and ten"
    assert numbers(said) == [1200, 2005, -3.5, 3.14, 2.5, 1, 2, 110]


@pytest.mark.parametrize(
    ("wanted", "reply", "is_right"),
    [
        (ExpectedReply(contains=("ten", ("Kitchen", "hall"))), "10 in the hall.", True),
        (ExpectedReply(contains=("c a t",)), "C-A-T.", True),
        (ExpectedReply(contains=("light",)), "The lightning.", False),
        (ExpectedReply(excludes=("Paris",)), "It is Paris!", False),
        (ExpectedReply(number=Range(min=1, max=6)), "You rolled a five.", True),
        (ExpectedReply(no_number=True), "I cannot tell you that one.", True),
        (ExpectedReply(no_number=True), "About 330 metres.", False),
        (ExpectedReply(declines=True), "I don’t know.", True),
        (ExpectedReply(declines=True), "I know nothing called Moby Dick.", True),
        (ExpectedReply(declines=True), "It is Paris.", False),
        (ExpectedReply(contains=("Paris",), or_declines=True), "Sorry, I cannot look that up.", True),
        (ExpectedReply(contains=("Paris",), or_declines=True), "It is Lyon.", False),
    ],
)
def test_a_reply_is_compared_by_words(wanted: ExpectedReply, reply: str, is_right: bool) -> None:
    assert matches_reply(wanted, reply) is is_right


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (row(before={"light.attic": "on"}), "no entity light.attic"),
        (row(home="none", expect={"unchanged": True}), "only the demo home"),
        (row(expect={"unchanged": True, "state": {"light.kitchen": "on"}}), "both unchanged and an effect"),
        (row(scheduled=[{"kind": "timer"}]), "scheduled needs at or in_s"),
        (row(before=LIT, results={"turn_on": 1}), "without an effect"),
        (dialogue(("hello", {"no_call": True})), "turns"),
    ],
)
def test_a_broken_row_says_what_is_wrong(tmp_path: Path, bad: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_suite(write(tmp_path, bad))
