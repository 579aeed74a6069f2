"""A minute of what `make soak` does for a long time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.__main__ import growth
from tests.soak.soak import soak


@pytest.mark.long
async def test_a_minute_of_use_with_faults_leaves_nothing_behind(tmp_path: Path) -> None:
    result = await soak(tmp_path, turns=150, within_s=75, seed=7)
    assert result.complaints == []
    assert result.turns > 20, "a machine that has something else to do has had time for these"
    assert result.outcomes["answered"] > result.turns // 2
    assert result.faults
    if len(result.samples) > 4:
        grown = growth(result)
        assert grown["descriptors"] < 10
        assert grown["threads"] < 5
        assert grown["tasks"] < 10
