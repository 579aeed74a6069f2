"""Asking a model the cases of a suite, and what is right in its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgevox.agents.model_profile import ModelProfile
from edgevox.core.errors import ContextOverflow
from edgevox.eval import read_suite, run_cases
from edgevox.eval.scoring import is_spoken_sentence
from edgevox.testing import ScriptedModel
from tests.eval.rows import LIGHT_ON, LIGHT_ON_STATE, PRICE, calls, result, results, row, scripted, write

NO_CALL = {"no_call": True}
ALL_LIGHTS = {"calls": [{"name": "turn_on", "arguments": {"area": "kitchen", "domain": "light"}}]}


async def test_a_right_call_is_right_in_every_way(tmp_path: Path) -> None:
    case = row(expect={"calls": [LIGHT_ON], "state": LIGHT_ON_STATE})
    got = await result(tmp_path, case, calls(LIGHT_ON))
    assert [(call.name, dict(call.arguments)) for call in got.calls] == [("turn_on", {"name": "kitchen light"})]
    assert got.score.tool_ok
    assert got.score.args_ok
    assert got.score.lenient_ok
    assert got.score.valid
    assert got.score.state_ok
    assert got.score.spoken_ok is None  # the words are the tool's


async def test_the_right_tool_with_wrong_arguments(tmp_path: Path) -> None:
    case = row(expect={"calls": [LIGHT_ON], "state": LIGHT_ON_STATE})
    got = await result(tmp_path, case, calls({"name": "turn_on", "arguments": {"name": "counter light"}}))
    assert got.score.tool_ok
    assert not got.score.args_ok
    assert not got.score.state_ok


async def test_another_way_to_the_same_state_is_right_by_its_state(tmp_path: Path) -> None:
    case = row(expect={"calls": [LIGHT_ON], "state": LIGHT_ON_STATE})
    got = await result(
        tmp_path, case, calls({"name": "light_set", "arguments": {"name": "kitchen light", "brightness": 100}})
    )
    assert not got.score.tool_ok
    assert got.score.state_ok


async def test_a_missing_domain_is_wrong_but_for_the_lenient(tmp_path: Path) -> None:
    got = await result(tmp_path, row(expect=ALL_LIGHTS), calls({"name": "turn_on", "arguments": {"area": "kitchen"}}))
    assert not got.score.args_ok
    assert got.score.lenient_ok


async def test_what_needs_a_yes_is_done_for_the_state(tmp_path: Path) -> None:
    unlock = {"name": "turn_off", "arguments": {"name": "front door", "domain": "lock"}}
    case = row(expect={"calls": [unlock], "state": {"lock.front_door": "unlocked"}})
    got = await result(tmp_path, case, calls(unlock))
    assert got.score.args_ok
    assert got.score.state_ok


async def test_a_list_is_compared_by_what_it_holds(tmp_path: Path) -> None:
    eggs = {"name": "shopping_list_add_item", "arguments": {"item": "eggs"}}
    wanted = {"todo.shopping_list": {"items": ["milk", "bread", "eggs"]}}
    assert (await result(tmp_path, row(expect={"state": wanted}), calls(eggs))).score.state_ok
    got = await result(tmp_path, row(expect={"state": wanted}), "I would rather not.")
    assert not got.score.state_ok
    assert got.score.tool_ok is None  # only the state was asked for


async def test_the_home_of_one_case_is_not_that_of_the_next(tmp_path: Path) -> None:
    is_off = row(id="two", expect={"no_call": True, "state": {"light.kitchen": "off"}})
    one, two = await results(read_suite(write(tmp_path, row(), is_off)), calls(LIGHT_ON), "Hello.")
    assert one.score.args_ok
    assert two.score.state_ok


@pytest.mark.parametrize(
    "line",
    [
        "I can only help with this home.",
        calls({"name": "respond", "arguments": {"message": "I can only help with this home."}}),
        calls({"name": "nevermind", "arguments": {}}),
    ],
)
async def test_talk_is_no_call(tmp_path: Path, line: str) -> None:
    got = await result(tmp_path, row(expect=NO_CALL), line)
    assert got.score.tool_ok
    assert got.score.args_ok


async def test_a_call_that_nobody_asked_for_is_wrong(tmp_path: Path) -> None:
    got = await result(tmp_path, row(expect=NO_CALL), calls(LIGHT_ON))
    assert got.score.tool_ok is False
    assert got.score.args_ok is False


async def test_an_expected_respond_is_talk_however_it_comes(tmp_path: Path) -> None:
    case = row(expect={"calls": [{"name": "respond"}]})
    assert (await result(tmp_path, case, "Good morning.")).score.tool_ok


async def test_talk_instead_of_a_call_is_wrong(tmp_path: Path) -> None:
    got = await result(tmp_path, row(), "The light is on.")
    assert got.score.tool_ok is False
    assert got.score.valid is None
    assert got.score.spoken_ok


async def test_words_of_the_respond_tool_are_the_models_own(tmp_path: Path) -> None:
    said = calls({"name": "respond", "arguments": {"message": "One. Two."}})
    assert (await result(tmp_path, row(expect=NO_CALL), said)).score.spoken_ok is False


async def test_a_call_that_was_mended_counts_but_was_not_valid(tmp_path: Path) -> None:
    wrong = calls({"name": "set_volume", "arguments": {"name": "tv", "volume_level": 300}})
    right = {"name": "set_volume", "arguments": {"name": "tv", "volume_level": 30}}
    got = await result(tmp_path, row(expect={"calls": [right]}), wrong, calls(right))
    assert got.score.args_ok
    assert got.score.valid is False


async def test_a_tools_result_is_worded_by_the_model(tmp_path: Path) -> None:
    price = {"name": "get_price", "arguments": {"share": "siemens"}}
    case = row(tools=[PRICE], expect={"calls": [price]}, results={"get_price": {"price": 12.3}})
    got = await result(tmp_path, case, calls(price), "It costs twelve euros.")
    assert got.score.args_ok
    assert got.score.spoken_ok
    assert got.reply == "It costs twelve euros."
    got = await result(tmp_path, case, calls(price), "The price is [12.3].")
    assert got.score.args_ok
    assert not got.score.spoken_ok


async def test_cases_with_one_prompt_are_asked_together(tmp_path: Path) -> None:
    price: dict[str, Any] = {"tools": [PRICE], "expect": NO_CALL}
    rows = [row(id="a", expect=NO_CALL), row(id="b", **price), row(id="c", expect=NO_CALL), row(id="d", **price)]
    got = await results(read_suite(write(tmp_path, *rows)), *["No."] * 4)
    assert [one.case.id for one in got] == ["a", "c", "b", "d"]


async def test_the_model_is_asked_as_its_preset_says(tmp_path: Path) -> None:
    asked, model = scripted(["No."], policy="required_first_hop", tools_as="lines", stop=("#",))
    cases = read_suite(write(tmp_path, row(tools=[PRICE], expect=NO_CALL)))
    assert [one async for one in run_cases(asked, cases)]
    (request,) = model.requests
    assert request.tool_choice == "required"
    assert request.tools_as == "lines"
    assert request.wire_format == "hermes"
    assert request.stop == ("#",)
    assert [tool["function"]["name"] for tool in request.tools] == ["get_price", "respond"]
    assert request.tools[0]["function"]["examples"] == ["what does Siemens cost"]
    assert [message.content for message in request.messages[1:]] == ["kitchen light on"]


async def test_a_prompt_that_does_not_fit_is_a_wrong_answer_with_a_reason(tmp_path: Path) -> None:
    model = ModelProfile(ScriptedModel([ContextOverflow("too long"), calls(LIGHT_ON)]), parsers=("hermes",))
    cases = read_suite(write(tmp_path, row(), row(id="two")))
    one, two = [one async for one in run_cases(model, cases)]
    assert one.error == "too long"
    assert one.score.tool_ok is False
    assert two.score.args_ok


@pytest.mark.parametrize(
    ("reply", "is_one"),
    [
        ("The kitchen light is on.", True),
        ("It is 20.5 degrees, and Dr. Smith is at home", True),
        ("It is on. It was off before.", False),
        ("First\nsecond", False),
        ('{"price": 12}', False),
        ("[turn_on()]", False),
        ("It is **on**.", False),
        ("", False),
        ("...", False),
    ],
)
def test_what_can_be_said_in_one_sentence(reply: str, is_one: bool) -> None:
    assert is_spoken_sentence(reply) is is_one
