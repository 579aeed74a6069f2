"""Tests of the plugin: python -m pytest examples/plugin"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from edgevox.tools.plugin_trial import try_plugin

PLUGIN = Path(__file__).with_name("bin_day.py")


def weekday(days_ahead: int) -> str:
    return f"{datetime.now(UTC).astimezone() + timedelta(days_ahead):%A}".lower()


def test_says_that_a_bin_is_collected_today() -> None:
    result = try_plugin(PLUGIN, "next_bin_collection", {"kind": "paper"}, paper=weekday(0))
    assert result.speech == "The paper bin is collected today."


def test_names_the_day_of_a_later_collection() -> None:
    result = try_plugin(PLUGIN, "next_bin_collection", {"kind": "paper"}, paper=weekday(3))
    assert result.speech == f"The paper bin is collected on {weekday(3).capitalize()}."


def test_a_bin_without_a_day_is_an_error() -> None:
    result = try_plugin(PLUGIN, "next_bin_collection", {"kind": "glass"}, paper="tuesday")
    assert result.is_error
    assert "no day is set" in result.content
