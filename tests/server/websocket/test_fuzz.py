"""A short run of the fuzzer (fuzz/voice_socket.py): broken frames, any order, ends in the middle; no leak."""

from __future__ import annotations

import random

import pytest

from edgevox.core.files import Folders
from fuzz.voice_socket import AnyModel, attack
from tests.server.websocket.harness import voice_server


@pytest.mark.parametrize("seed", [3, 17])
async def test_broken_clients_break_nothing_and_leave_nothing(folders: Folders, seed: int) -> None:
    rng = random.Random(seed)
    async with voice_server(folders, model=AnyModel(rng), voice_clients=16) as behind:
        assert await attack(behind, rng, lambda count: count < 32) == 32
