"""The guides' examples, as they stand there. Those of the frameworks are in tests/adapters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.guide import play


def test_the_first_server_of_the_mcp_guide_works_as_it_is_written(tmp_path: Path) -> None:
    seen = play("mcp.md", tmp_path)
    assert "thirsty_plants(), only reads" in seen
    assert "water_plant(name), asks before it runs" in seen
    assert '"basil, fern"' in seen
    assert "removed plants" in seen


def test_the_plugin_of_the_guide_works_and_so_does_its_test(tmp_path: Path) -> None:
    seen = play("plugins.md", tmp_path)
    assert "switch_lamp" in seen
    assert '"desk lamp on"' in seen
    assert "2 passed" in seen


@pytest.mark.long
@pytest.mark.engine
def test_the_tuning_guide_measures_with_the_default_model(tmp_path: Path) -> None:
    seen = play("tuning.md", tmp_path, bound_s=240.0, EDGEVOX_PRESET="home")
    assert "first token" in seen  # edgevox last
    assert "turn_on" in seen  # edgevox stats
    assert json.loads((tmp_path / "before.json").read_text(encoding="utf-8"))
