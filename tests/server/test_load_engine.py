"""The default model under a crowd: a sample of benchmarks/server_load.py, with three times its bound."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.load_clients import CLIENTS
from benchmarks.server_load import RATIO_BAR, daemon_in, measure
from edgevox.core.files import Folders
from edgevox.models import ModelStore

pytestmark = [pytest.mark.engine]

BOUND_S = 240
MAX_GROWTH_MB = 60


@pytest.mark.long
async def test_the_first_word_in_the_room_does_not_wait_for_fifty_programs(folders: Folders, store: ModelStore) -> None:
    # One thread: several wait for each other in a loop, and would tell how busy the machine is otherwise.
    runtime = daemon_in(folders, store, **{"llm.threads": 1})
    async with asyncio.timeout(BOUND_S):
        load = await measure(runtime, load_s=12.0, idle_turns=3, breaths_s=(0.5, 1.5))
    told = load.figures()
    assert load.ratio < 3 * RATIO_BAR, told
    assert {int(status) for status in load.crowd["statuses"]} <= {200, 429}, told
    assert load.burst["answered"] == CLIENTS, told
    assert load.pauses, told
    assert load.grown_mb < MAX_GROWTH_MB, told
