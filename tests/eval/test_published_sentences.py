"""Tests of Home Assistant's form become rows that say the same in the words of our tools."""

from __future__ import annotations

import subprocess
import sys

import pytest

from edgevox.eval.suite import Case, read_suite

_HOME = """
floors:
  - {name: "Top Deck", id: top}
areas:
  - {name: "Map Room", id: map_room, floor: top}
entities:
  - {name: "Chart Lamp", id: light.chart, area: map_room}
  - {name: "Cook[']s", id: todo.cook}
  - {name: "Bilge", id: sensor.bilge, attributes: {device_class: volume_storage}}
"""
_TESTS = """
tests:
  - sentences: ["light up the map room", "Light up  the map room", "more light here"]
    intent: {name: HassTurnOn, slots: {area: "Map Room", domain: light, name: all}}
  - sentences: ["how full is the bilge"]
    intent: {name: HassGetState, slots: {name: Bilge, domain: sensor, device_class: volume_storage}}
  - sentences: ["biscuits on the cook's list"]
    intent: {name: HassListAddItem, slots: {item: [" biscuits", biscuits], name: "Cook[']s"}}
  - sentences: ["ahoy"]
    intent: {name: HassRespond, slots: {response: "ahoy yourself"}}
  - sentences: ["arm the cannons"]
    intent: {name: HassArmCannons}
  - sentences: ["a chart of another home"]
    slots: {name: "Chart"}
"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    folder = tmp_path_factory.mktemp("published")
    tests = folder / "checkout" / "tests" / "en"
    tests.mkdir(parents=True)
    (tests / "_fixtures.yaml").write_text(_HOME)
    (tests / "ship.yaml").write_text(_TESTS)
    suite = folder / "suite.jsonl"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.published_sentences", str(folder / "checkout"), str(suite)],
        check=True,
    )
    return {case.utterance: case for case in read_suite(suite)}


def test_each_sentence_is_a_row_once_where_a_tool_serves_it(cases: dict[str, Case]) -> None:
    assert set(cases) == {
        "light up the map room",
        "more light here",
        "how full is the bilge",
        "biscuits on the cook's list",
        "ahoy",
    }


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        ("light up the map room", "turn_on", {"area": "Map Room", "domain": "light"}),
        ("more light here", "turn_on", {"domain": "light"}),
        ("how full is the bilge", "get_state", {"name": "Bilge", "domain": "sensor"}),
        ("biscuits on the cook's list", "list_add_item", {"item": "biscuits", "name": "Cook's"}),
    ],
)
def test_slots_are_those_that_the_sentence_and_the_tool_have(
    cases: dict[str, Case], said: str, tool: str, arguments: dict[str, str]
) -> None:
    (call,) = cases[said].expect.calls

    assert (call.name, call.arguments) == (tool, arguments)


def test_where_nothing_is_to_be_done_no_call_is_wanted(cases: dict[str, Case]) -> None:
    assert cases["ahoy"].expect.no_call
