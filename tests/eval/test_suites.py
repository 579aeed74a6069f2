"""The suites hold: every row can be read, asks for calls that can be made, and says what it asks for."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import pytest

from edgevox.eval.live_home import HomeSetup, LiveHome, has_effects
from edgevox.eval.scoring import reaches_demo_state
from edgevox.eval.suite import Case, read_suite
from edgevox.home import DemoHome
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.resolve.target_resolver import has_targets, resolved_targets

Json: TypeAlias = dict[str, Any]

HERE = Path(__file__).parent
FEWEST_ROWS = {"home": 430, "home_b": 300, "unseen_tools": 220, "no_call": 130, "no_call_b": 40, "talk": 50}
EFFECT_SUITES = ("relative", "scheduled", "references", "knowledge", "opposites", "messy")
FEWEST_ROWS |= {"relative": 150, "scheduled": 150, "references": 60, "knowledge": 150, "opposites": 150}
FEWEST_ROWS |= {"messy": 120, "overheard": 150}
SUITES = tuple(FEWEST_ROWS)
# Their calls have the names of the home, which may be said in another form: "la televisione" for the TV.
LANGUAGE_SUITES = {"german": 100, "french": 60, "spanish": 60, "italian": 60, "dutch": 60, "portuguese": 60}
HOME_SUITES = ("home", "home_b")
BINARY_SENSORS = {
    "battery", "battery_charging", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas",
    "heat", "light", "lock", "moisture", "motion", "moving", "occupancy", "opening", "plug", "power",
    "presence", "problem", "running", "safety", "smoke", "sound", "tamper", "update", "vibration", "window",
}  # fmt: skip
HOME_TOOLS = {tool.name: tool.parameters for tool in catalogue().values()}


@pytest.mark.parametrize("suite", [*SUITES, *LANGUAGE_SUITES])
def test_the_evaluation_reads_every_row(suite: str) -> None:
    assert len(_cases(suite)) == len(_rows(suite)) >= (FEWEST_ROWS | LANGUAGE_SUITES)[suite]


def test_no_id_and_no_request_comes_twice() -> None:
    rows = [row for suite in SUITES for row in _rows(suite)]
    ids = Counter(row["id"] for row in rows)
    requests = Counter((row.get("home"), _words(row["utterance"])) for row in rows if "turns" not in row)
    assert [one for one, count in (*ids.items(), *requests.items()) if count > 1] == []


def test_expected_calls_fit_the_schemas() -> None:
    validators: dict[str, jsonschema.Draft202012Validator] = {}
    for row, call, parameters in _expected_calls():
        strict = {**parameters, "additionalProperties": False}
        key = json.dumps(strict, sort_keys=True)
        validator = validators.setdefault(key, jsonschema.Draft202012Validator(strict))
        assert [f"{row['id']}: {error.message}" for error in validator.iter_errors(call["arguments"])] == []


def test_expected_arguments_stand_in_the_order_of_the_schema() -> None:
    for row, call, parameters in _expected_calls():
        order = [slot for slot in parameters["properties"] if slot in call["arguments"]]
        assert list(call["arguments"]) == order, row["id"]


def test_texts_that_are_expected_were_said() -> None:
    for row, call, parameters in _expected_calls():
        for slot, value in call["arguments"].items():
            schema = parameters["properties"][slot]
            # A state is a word of the home's, and a choice is a word of the tool's.
            if slot != "state" and schema.get("type") == "string" and "enum" not in schema:
                assert _is_said(value, row["utterance"]), f"{row['id']}: {slot}={value!r}"


# --- the home


def test_every_home_tool_is_asked_for_at_least_four_times() -> None:
    rows = [row for suite in HOME_SUITES for row in _rows(suite)]
    asked = sum(map(_asked, HOME_SUITES), Counter[str]())
    asked["respond"] = sum(row["expect"].get("no_call", False) for row in rows)
    assert {tool: asked[tool] for tool in HOME_TOOLS if asked[tool] < 4} == {}


def test_hard_ways_to_speak_have_their_share() -> None:
    counts = Counter(row["category"] for row in _rows("home"))
    assert counts["several"] >= 40
    assert counts["corrections"] >= 20
    assert counts["misheard"] >= 20


def test_several_commands_expect_several_calls() -> None:
    rows = [row for suite in HOME_SUITES for row in _rows(suite) if row["category"] == "several"]
    assert all(len(row["expect"]["calls"]) > 1 for row in rows)


def test_two_fifths_of_the_home_suite_are_in_other_homes() -> None:
    rows = _rows("home")
    homes = Counter(row["home"] for row in rows if "home" in row)
    assert len(homes) >= 6
    assert 0.35 < homes.total() / len(rows) < 0.45


def test_the_second_home_suite_speaks_of_seven_other_homes_and_of_alarms() -> None:
    rows = _rows("home_b")
    assert len({row["home"] for row in rows if "home" in row}) >= 7
    assert Counter(row["category"] for row in rows)["alarms"] >= 40


def test_every_class_of_binary_sensor_is_asked_about() -> None:
    asked = {
        call["arguments"].get("device_class")
        for suite in HOME_SUITES
        for row in _rows(suite)
        for call in row["expect"].get("calls", ())
        if call["arguments"].get("domain") == "binary_sensor"
    }
    assert asked >= BINARY_SENSORS


@pytest.mark.parametrize("suite", HOME_SUITES)
def test_whatever_is_named_is_found_in_the_home(suite: str) -> None:
    for case in _cases(suite):
        assert case.offer.house is not None
        for call in case.expect.calls:
            if call.arguments and has_targets(call.name):
                assert resolved_targets(call.name, call.arguments, case.offer.house), f"{case.id}: {call}"


@pytest.mark.long
async def test_the_expected_calls_bring_about_the_expected_state() -> None:
    cases = [case for suite in HOME_SUITES for case in _cases(suite) if case.expect.state]
    assert len(cases) >= 150
    wrong = [case.id for case in cases if not await reaches_demo_state(case.expect.state, case.expect.calls)]
    assert wrong == []


async def test_an_expected_state_is_not_there_from_the_start() -> None:
    home = DemoHome()
    house = home.house()
    for case in (case for suite in HOME_SUITES for case in _cases(suite)):
        for thing, facts in case.expect.state.items():
            entity = house.entity(thing)
            assert entity is not None
            items = [item.text for item in await home.items(thing)]
            before = {**entity.attributes, "state": entity.state, "items": items}
            assert all(before.get(fact) != value for fact, value in facts.items()), f"{case.id}: {thing}"


# --- effects on a demo home


@pytest.mark.long
async def test_an_expected_effect_is_not_there_from_the_start() -> None:
    """To do nothing is right only where a row says so. Later turns of a dialogue are not examined."""
    wrong = []
    for case in (case for suite in EFFECT_SUITES for case in _cases(suite) if case.setup):
        before = await LiveHome(_setup(case)).snapshot()
        expect = case.turns[0].expect
        asks_for_effect = (expect.state or expect.schedule is not None) and not expect.or_unchanged
        if asks_for_effect and has_effects(expect, before, before, _setup(case).now):
            wrong.append(case.id)
    assert wrong == []


def test_dialogues_have_two_to_four_turns() -> None:
    dialogues = [case.turns for case in _cases("references")]
    assert all(2 <= len(turns) <= 4 for turns in dialogues)
    assert sum(map(len, dialogues)) >= 150


def test_no_tool_knows_some_forty_facts_that_are_asked_for() -> None:
    assert Counter(row["category"] for row in _rows("knowledge"))["facts"] >= 40


def _setup(case: Case) -> HomeSetup:
    assert case.setup is not None
    return case.setup


# --- tools that no model was trained on


def test_the_plugins_are_many_and_each_tool_is_asked_for() -> None:
    plugins = _plugins("unseen_tools")
    tools = [tool["function"]["name"] for plugin in plugins.values() for tool in plugin]
    assert len(plugins) >= 14
    assert len(set(tools)) == len(tools) >= 45
    assert all(2 <= len(plugin) <= 5 for plugin in plugins.values())
    asked = _asked("unseen_tools")
    assert {tool for tool in tools if asked[tool] < 3} == set()


def test_every_plugin_tool_brings_two_examples_that_no_row_repeats() -> None:
    said = {_words(row["utterance"]) for row in _rows("unseen_tools")}
    for plugin in _plugins("unseen_tools").values():
        for tool in plugin:
            function = tool["function"]
            assert len(function["examples"]) == 2, function["name"]
            assert said.isdisjoint(map(_words, function["examples"])), function["name"]
            jsonschema.Draft202012Validator.check_schema(function["parameters"])


def test_two_thirds_of_the_plugin_rows_come_beside_the_home_tools() -> None:
    rows = _rows("unseen_tools")
    assert 0.6 < sum(row.get("tools_with_home", False) for row in rows) / len(rows) < 0.73


# --- requests that no tool serves


@pytest.mark.parametrize("suite", ["no_call", "no_call_b", "talk", "overheard"])
def test_nothing_is_to_be_called(suite: str) -> None:
    assert all(row["expect"] == {"no_call": True} for row in _rows(suite))


def test_some_requests_without_a_tool_come_beside_a_plugin() -> None:
    rows = _rows("no_call")
    beside_plugin = sum("tools" in row for row in rows)
    assert beside_plugin >= 40
    assert len(rows) - beside_plugin >= 90
    assert sum("tools" in row for row in _rows("no_call_b")) == len(_rows("no_call_b")) / 2


@functools.cache
def _cases(suite: str) -> tuple[Case, ...]:
    return read_suite(HERE / f"{suite}.jsonl")


# --- reading them, apart from the evaluation's own reader


def _lines(suite: str) -> list[Json]:
    return [json.loads(line) for line in (HERE / f"{suite}.jsonl").read_text(encoding="utf-8").splitlines()]


def _rows(suite: str) -> list[Json]:
    return [line for line in _lines(suite) if "suite" not in line]


def _plugins(suite: str) -> dict[str, list[Json]]:
    plugins: dict[str, list[Json]] = _lines(suite)[0].get("suite", {}).get("plugins", {})
    return plugins


def _asked(suite: str) -> Counter[str]:
    return Counter(call["name"] for row in _rows(suite) for call in row["expect"].get("calls", ()))


def _expected_calls() -> Iterator[tuple[Json, Json, Json]]:
    """Every row with each of its calls and the parameters of the tool that is called."""
    for suite in SUITES:
        plugins = _plugins(suite)
        for row in _rows(suite):
            offered: Json = dict(HOME_TOOLS) if "tools" not in row or row.get("tools_with_home") else {}
            for plugin in row.get("tools", ()):
                functions = (tool["function"] for tool in plugins[plugin])
                offered |= {function["name"]: function["parameters"] for function in functions}
            for call in row.get("expect", {}).get("calls", ()):
                yield row, call, offered[call["name"]]


def _is_said(value: str, utterance: str) -> bool:
    """Every word of it: a self-correction may stand between them ("the left no right lamp")."""
    said = _words(utterance)
    return all(f" {word} " in said for word in _words(value).split())


def _words(text: str) -> str:
    words = re.findall(r"[^\W_]+", text.casefold().replace("’", "").replace("'", ""))
    return f" {' '.join(words)} "
