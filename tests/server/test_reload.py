"""A setting is changed over HTTP in an assistant that runs: it lives by it soon, and clients come back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from edgevox.testing import NullSinks
from tests.server.web.browser import BOUND_S, TOKEN, ServedAssistant

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

SERVER_RESTARTS = 1012
HELLO = {"type": "hello", "version": 1, "token": TOKEN, "play_rate_hz": 24_000}


async def test_a_change_is_in_force_soon_and_voice_clients_are_told_to_come_back(
    tmp_path: Path, smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path
) -> None:
    with NullSinks() as room:
        served = room.environment | {"EDGEVOX_SERVER__ENABLED": "true"}
        household = ServedAssistant(tmp_path / "household", ("run", "--plain"), served)
        try:
            await asyncio.to_thread(household.start)
            async with (
                asyncio.timeout(BOUND_S),
                aiohttp.ClientSession(household.url, headers={"Authorization": f"Bearer {TOKEN}"}) as session,
            ):
                await _change_speed(session)
                assert await _speed(session) == 1.5
                async with session.ws_connect("/v1/voice") as socket:
                    await socket.send_json(HELLO)
                    assert (await socket.receive_json())["type"] == "hello"
        finally:
            await asyncio.to_thread(household.end)


async def _change_speed(session: aiohttp.ClientSession) -> None:
    """Returns when the server that had to be replaced is gone, and another is there."""
    async with session.ws_connect("/v1/voice") as socket:
        await socket.send_json(HELLO)
        assert (await socket.receive_json())["type"] == "hello"
        async with session.patch("/v1/settings", json={"tts.speed": 1.5}) as answer:
            assert (await answer.json())["in_force"] == "soon"
        async for _frame in socket:
            pass
        assert socket.close_code == SERVER_RESTARTS
    while True:
        try:
            await _speed(session)
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.1)
        else:
            return


async def _speed(session: aiohttp.ClientSession) -> float:
    async with session.get("/v1/settings") as answer:
        settings = (await answer.json())["data"]
    return next(float(setting["value"]) for setting in settings if setting["name"] == "tts.speed")
