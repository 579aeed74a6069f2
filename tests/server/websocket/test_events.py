"""The same without a WebSocket: one turn as server-sent events, and what happens in the room."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from edgevox.core.events import EngineChanged, TranscriptReady, TurnEnded, TurnStarted
from edgevox.core.files import Folders
from edgevox.core.types import to_pcm16
from tests.dialogue.sounds import voiced
from tests.server.websocket.harness import BOUND_S, LIGHT_ON, OWNER, UNLOCK, voice_server

HEADERS = {"Authorization": f"Bearer {OWNER}"}


@asynccontextmanager
async def asked(method: str, url: str, **more: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The events of a request, as they come."""
    timeout = aiohttp.ClientTimeout(BOUND_S)
    headers = HEADERS | more.pop("headers", {})
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.request(method, url, headers=headers, **more) as response,
    ):
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        yield _frames(response)


async def _frames(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    name = ""
    async for line in response.content:
        if line.startswith(b"event: "):
            name = line[7:].decode().strip()
        elif line.startswith(b"data: "):
            frame = json.loads(line[6:])
            assert frame["type"] == name
            yield frame


async def turn(url: str, **more: Any) -> list[dict[str, Any]]:
    async with asked("POST", f"{url}/v1/voice", **more) as frames:
        return [frame async for frame in frames]


async def test_a_typed_turn_is_answered_with_frames_and_sound(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind:
        frames = await turn(behind.url, json={"text": "turn on the kitchen light"})
        assert behind.state("light.kitchen") == "on"
    kinds = [frame["type"] for frame in frames]
    assert kinds[0] == "turn_begin"
    assert {"tool_call", "tool_result", "token", "audio_begin", "audio_end"} <= set(kinds)
    sound = b"".join(base64.b64decode(frame["pcm16"]) for frame in frames if frame["type"] == "audio")
    ended = next(frame for frame in frames if frame["type"] == "audio_end")
    assert len(sound) == 2 * ended["samples"] > 0
    done = next(frame for frame in frames if frame["type"] == "done")
    assert done["outcome"] == "answered"


async def test_a_spoken_turn_is_understood(folders: Folders) -> None:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setparams((1, 2, 16_000, 0, "NONE", ""))
        written.writeframes(to_pcm16(voiced(1.0)))
    async with voice_server(folders, [LIGHT_ON]) as behind:
        frames = await turn(
            behind.url, data=file.getvalue(), headers={"Content-Type": "audio/wav"}, params={"speak": "false"}
        )
        assert behind.state("light.kitchen") == "on"
    assert "audio_begin" not in {frame["type"] for frame in frames}
    assert next(frame for frame in frames if frame["type"] == "done")["heard"] == "turn on the kitchen light"


async def test_what_needs_a_yes_cannot_be_agreed_to_by_the_same_token(folders: Folders) -> None:
    async with voice_server(folders, [UNLOCK]) as behind:
        frames = await turn(behind.url, json={"text": "unlock the front door"})
        assert behind.state("lock.front_door") == "locked"
    decided = next(frame for frame in frames if frame["type"] == "confirmation_decided")
    assert decided["granted"] is False


async def test_the_events_of_the_room_are_told_as_frames(folders: Folders) -> None:
    async with voice_server(folders) as behind, asked("GET", f"{behind.url}/v1/events") as frames:
        async with asyncio.timeout(BOUND_S):
            assert (await anext(frames))["type"] == "state"
            behind.bus.publish(TurnStarted(turn_id="t", source="voice", preset="home"))
            behind.bus.publish(TranscriptReady(turn_id="t", text="light on", language="en"))
            behind.bus.publish(TurnEnded(turn_id="t", outcome="answered", reply="Done."))
            behind.bus.publish(EngineChanged(engine="tts", state="ready"))
            told = [await anext(frames) for _ in range(4)]
    assert [frame["type"] for frame in told] == ["turn_begin", "transcript", "done", "engine"]
    assert told[2]["reply"] == "Done."
