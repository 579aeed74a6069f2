"""Tests of Home Assistant's form become rows that say the same in the words of our tools."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import published_sentences
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
  - sentences: ["spyglass off"]
    intent: {name: HassTurnOff, slots: {name: Spyglass, domain: remote}}
  - sentences: ["are any gramophones on", "are any gramophones playing"]
    intent: {name: HassGetState, slots: {domain: media_player, state: playing}}
  - sentences: ["a test of nothing"]
"""
_TESTS_OF_INTENT = """
areas: [{name: "Harbour"}]
entities:
  - {name: "Beacon", domain: light, area: Harbour}
tests:
  - sentences: ["beacon to half", "light up the map room"]
    slots: {name: Beacon, brightness: 50}
"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    folder = tmp_path_factory.mktemp("published")
    tests = folder / "checkout" / "tests" / "en"
    tests.mkdir(parents=True)
    (tests / "_fixtures.yaml").write_text(_HOME)
    (tests / "ship.yaml").write_text(_TESTS)
    (tests / "HassLightSet").mkdir()
    (tests / "HassLightSet" / "name_brightness.yaml").write_text(_TESTS_OF_INTENT)
    suite = folder / "suite.jsonl"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.home_assistant_sentences", str(folder / "checkout"), str(suite)], check=True
    )
    return {f"{case.utterance} ({_home_of(case)})": case for case in read_suite(suite)}


def _home_of(case: Case) -> str:
    assert case.offer.house is not None
    return "harbour" if case.offer.house.areas[0].name == "Harbour" else "ship"


def test_each_sentence_is_a_row_once_where_a_tool_serves_it(cases: dict[str, Case]) -> None:
    assert set(cases) == {
        "light up the map room (ship)",
        "more light here (ship)",
        "how full is the bilge (ship)",
        "biscuits on the cook's list (ship)",
        "ahoy (ship)",
        "are any gramophones on (ship)",
        "are any gramophones playing (ship)",
        "beacon to half (harbour)",
        "light up the map room (harbour)",
    }


@pytest.mark.parametrize(
    ("said", "tool", "arguments"),
    [
        ("light up the map room (ship)", "turn_on", {"area": "Map Room", "domain": "light"}),
        ("more light here (ship)", "turn_on", {"domain": "light"}),
        ("how full is the bilge (ship)", "get_state", {"name": "Bilge", "domain": "sensor"}),
        ("biscuits on the cook's list (ship)", "list_add_item", {"item": "biscuits", "name": "Cook's"}),
        ("are any gramophones on (ship)", "get_state", {"domain": "media_player", "state": "on"}),
        ("are any gramophones playing (ship)", "get_state", {"domain": "media_player", "state": "playing"}),
        ("beacon to half (harbour)", "light_set", {"name": "Beacon", "brightness": 50}),
    ],
)
def test_slots_are_those_that_the_sentence_and_the_tool_have(
    cases: dict[str, Case], said: str, tool: str, arguments: dict[str, object]
) -> None:
    (call,) = cases[said].expect.calls

    assert (call.name, call.arguments) == (tool, arguments)


def test_where_nothing_is_to_be_done_no_call_is_wanted(cases: dict[str, Case]) -> None:
    assert cases["ahoy (ship)"].expect.no_call


_GERMAN_TESTS = """
tests:
  - sentences: ["Chart Lamp an", "Chart Lamp bimsen"]
    intent: {name: HassTurnOn, slots: {name: "Chart Lamp"}}
  - sentences: ["Chart Lamp aus"]
    intent: {name: HassTurnOn, slots: {name: "Chart Lamp"}}
"""


def test_sentences_of_another_language_are_counted_and_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = tmp_path / "tests" / "de"
    tests.mkdir(parents=True)
    (tests / "_fixtures.yaml").write_text(_HOME)
    (tests / "ship.yaml").write_text(_GERMAN_TESTS)
    results = tmp_path / "results.json"
    given = ["--intents", str(tmp_path), "--languages", "de", "--results", str(results)]
    monkeypatch.setattr(sys, "argv", ["published_sentences", *given])

    published_sentences.main()

    counted = json.loads(results.read_text(encoding="utf-8"))["de"]
    percents = [counted[f"{part}_percent"] for part in ("right_tool", "exact", "not_understood")]
    assert (counted["sentences"], *percents) == (3, 33.3, 33.3, 33.3)
    assert "Chart Lamp" not in capsys.readouterr().out + results.read_text(encoding="utf-8")
