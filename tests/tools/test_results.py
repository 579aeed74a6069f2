"""What a tool returns becomes short text that says where it begins and ends."""

from __future__ import annotations

import datetime as dt
import enum
import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from edgevox.tools import Speech, ToolResult
from edgevox.tools.results import render
from edgevox.types import Message


class State(enum.Enum):
    ON = "on"


@dataclass
class Light:
    name: str
    state: State


class Forecast(BaseModel):
    day: dt.date
    highest_c: float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("noon", '"noon"'),
        ('with "quotes"\nand lines', '"with \\"quotes\\"\\nand lines"'),
        (None, "done"),
        (3, "3"),
        (True, "true"),
        (21.5, "21.5"),
        (float("inf"), '"inf"'),
        ([1, "a"], '[1, "a"]'),
        ((1, 2), "[1, 2]"),
        ({"on": True}, '{"on": true}'),
        ('{"on": true}', '{"on": true}'),
        ("{not json}", '"{not json}"'),
        (Light("hall", State.ON), '{"name": "hall", "state": "on"}'),
        (Forecast(day=dt.date(2026, 1, 2), highest_c=3.5), '{"day": "2026-01-02", "highest_c": 3.5}'),
        (Speech("It is noon."), '"It is noon."'),
        ("café", '"café"'),
    ],
)
def test_a_value_is_shown_as_json(value: object, expected: str) -> None:
    assert render(value) == expected


def test_a_long_text_is_cut_with_a_note() -> None:
    shown = render("word " * 2000)
    assert shown.endswith('" (cut: the beginning of 10,000 characters)')
    assert len(json.loads(shown.partition(" (cut")[0])) == 4000


@pytest.mark.parametrize("piece", ['"', "\\", "<a", "\n", "[A]"])
def test_what_has_to_be_written_longer_is_still_short(piece: str) -> None:
    shown = render(piece * 1300)
    assert len(shown) < 4100
    assert isinstance(json.loads(shown.partition(" (cut")[0]), str)


def test_a_long_list_is_cut_with_a_note() -> None:
    shown = render(list(range(10_000)), max_chars=50)
    assert shown.startswith("[0, 1, 2")
    assert shown.endswith("… (cut at 50 characters)")


def test_a_cut_does_not_finish_a_call() -> None:
    shown = render([{"name": "get_time", "arguments": {"x": "y" * 100}}], names=("get_time",), max_chars=40)
    assert '"get_time"' not in shown


def test_what_holds_itself_is_the_tools_mistake() -> None:
    holds: list[Any] = []
    holds.append(holds)
    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        render(holds)


def test_a_result_is_a_message_with_the_calls_id() -> None:
    result = ToolResult(tool_call_id="a1b2c3d4e", name="get_time", content='"noon"')
    assert result.as_message() == Message("tool", '"noon"', tool_call_id="a1b2c3d4e")
