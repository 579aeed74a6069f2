"""The default model under a crowd: a sample of benchmarks/server_load.py, with three times its figure."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from benchmarks.load_clients import CLIENTS
from benchmarks.server_load import daemon_in, measure, typed_room
from edgevox.core.files import Folders
from edgevox.models import ModelStore

pytestmark = [pytest.mark.engine]

BOUND_S = 240
# Three times the figure of benchmarks/results/aarch64/server_load.json.
MOST_TIMES = 3.2
MAX_GROWTH_MB = 60


@pytest.mark.long
async def test_a_turn_in_the_room_does_not_wait_for_fifty_programs(folders: Folders, store: ModelStore) -> None:
    # One thread: several wait for each other in a loop, and would tell how busy the machine is otherwise.
    runtime = daemon_in(folders, store, {"llm.threads": 1})
    async with asyncio.timeout(BOUND_S):
        load = await measure(runtime, partial(typed_room, breaths_s=(0.5, 1.5)), load_s=12.0, idle_turns=3)
    told = load.figures()
    assert set(load.ratios) == {"first_word", "turn"}, told
    assert max(load.ratios.values()) < MOST_TIMES, told
    assert {int(status) for status in load.crowd["statuses"]} == {200}, told
    assert load.burst["answered"] == CLIENTS, told
    assert load.pauses, told
    assert load.grown_mb < MAX_GROWTH_MB, told
