"""Reading suites: what rows may say, and what is said of those that are of no use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgevox.core.errors import ConfigError
from edgevox.eval import read_suite
from edgevox.eval.suite import Recording
from tests.eval.rows import LIGHT_ON, PRICE, row, write

HEADER = {
    "suite": {
        "title": "tools of other programs",
        "plugins": {"shares": [PRICE]},
        "homes": {
            "flat": {
                "floors": [{"name": "First Floor", "aliases": ["Upstairs"]}],
                "areas": [{"name": "Studio", "floor": "first floor"}],
                "entities": [{"name": "Big Lamp", "domain": "light", "area": "studio"}],
            }
        },
    }
}
CALL_PRICE = {"calls": [{"name": "get_price", "arguments": {"share": "siemens"}}]}


def test_a_row_gets_the_home_tools_and_the_demo_home(tmp_path: Path) -> None:
    (case,) = read_suite(write(tmp_path, row()))
    assert "turn_on" in case.offer.registry
    assert "Kitchen Light" in case.offer.home_prompt().for_utterance("")


def test_rows_that_are_offered_the_same_share_one_prompt(tmp_path: Path) -> None:
    one, two, three = read_suite(write(tmp_path, row(), "", row(id="two"), row(id="three", home="none")))
    assert one.offer is two.offer
    assert three.offer is not one.offer
    assert "Home:" not in three.offer.home_prompt().for_utterance("")


def test_a_plugin_replaces_the_home_or_stands_beside_it(tmp_path: Path) -> None:
    alone, beside = read_suite(
        write(
            tmp_path,
            HEADER,
            row(tools="shares", expect=CALL_PRICE),
            row(id="two", tools=["shares"], tools_with_home=True, expect=CALL_PRICE),
        )
    )
    assert alone.offer.registry.names == ("get_price",)
    assert "Home:" not in alone.offer.home_prompt().for_utterance("")
    assert {"get_price", "turn_on"} <= set(beside.offer.registry.names)
    assert "Home:" in beside.offer.home_prompt().for_utterance("")


def test_a_plugins_examples_can_be_kept_back(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER, row(tools=[PRICE], expect=CALL_PRICE))
    (with_them,) = read_suite(path)
    (without,) = read_suite(path, with_examples=False)
    assert with_them.offer.registry.get("get_price").examples
    assert not without.offer.registry.get("get_price").examples


@pytest.mark.parametrize("home", ["flat", HEADER["suite"]["homes"]["flat"]])  # type: ignore[index]
def test_a_home_of_its_own(tmp_path: Path, home: Any) -> None:
    (case,) = read_suite(write(tmp_path, HEADER, row(home=home)))
    assert "Studio: light Big Lamp" in case.offer.home_prompt().for_utterance("")
    assert "First Floor (Upstairs): Studio" in case.offer.home_prompt().for_utterance("")
    assert "Kitchen" not in case.offer.home_prompt().for_utterance("")


def test_a_recording_needs_no_more_than_its_file_and_what_is_expected(tmp_path: Path) -> None:
    expect = {"no_call": True}
    short, full = read_suite(
        write(
            tmp_path,
            {"file": "clips/1.flac", "expect": expect},
            row(file="/sounds/2.wav", speaker="Anna", expect=expect),
        )
    )
    assert short.recording == Recording(tmp_path / "clips/1.flac", "recorded")
    assert (short.id, short.category, short.utterance) == ("clips/1.flac", "recorded", "")
    assert full.recording == Recording(Path("/sounds/2.wav"), "Anna")
    assert (full.id, full.category, full.utterance) == ("one", "lights", "kitchen light on")


def test_the_words_of_a_recording_may_be_called_text(tmp_path: Path) -> None:
    (case,) = read_suite(write(tmp_path, {"file": "1.wav", "text": "hi", "expect": {"no_call": True}}))
    assert case.utterance == "hi"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("{", "not valid JSON"),
        ("[]", "object"),
        ({"id": "two"}, "utterance"),
        (row(id="two", utterence="on"), "utterence: unknown key"),
        (row(), "duplicate id one"),
        (row(id="two", expect={}), "expect is empty"),
        ({"file": "1.wav", "text": "kitchen light on"}, "expect is empty"),
        (row(id="two", file=""), "file: String should have at least 1 character"),
        (row(id="two", file="1.wav", text="on"), "text: unknown key"),
        (row(id="two", speaker="Anna"), "speaker: unknown key"),
        (row(id="two", expect={"no_call": True, "calls": [LIGHT_ON]}), "both calls and no_call"),
        (row(id="two", expect={"calls": [{"name": "turn_up"}]}), "turn_up, which is not offered"),
        (row(id="two", expect={"calls": [{"name": "set_volume"}]}), "volume_level must be given"),
        (row(id="two", tools="shares"), "plugin shares is not defined"),
        (row(id="two", tools=[{"function": {}}]), "OpenAI format"),
        (row(id="two", tools=[PRICE, PRICE], expect={"no_call": True}), "two tools are called get_price"),
        (row(id="two", home="castle"), "home castle is not defined"),
        (row(id="two", home={"areas": [{"name": "hall", "floor": "x"}]}), "unknown floor x"),
        (row(id="two", expect={"state": {"light.attic": "on"}}), "no entity light.attic"),
        (row(id="two", home="none", expect={"state": {"light.kitchen": "on"}}), "only the demo home"),
    ],
)
def test_a_broken_row_is_named_by_file_and_line(tmp_path: Path, bad: object, says: str) -> None:
    path = write(tmp_path, row(), bad)
    with pytest.raises(ConfigError) as caught:
        read_suite(path)
    assert caught.value.message.startswith(f"{path}:2: ")
    assert says in caught.value.message
    assert "docs/guide/evaluation.md" in caught.value.hint


def test_a_file_that_is_not_there_or_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.jsonl cannot be read"):
        read_suite(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="contains no rows"):
        read_suite(write(tmp_path, HEADER))
