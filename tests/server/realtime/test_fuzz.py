"""Events in any order, with any values: the session goes on, and nothing is left of it."""

from __future__ import annotations

import asyncio
import base64
import json
import random
from typing import Any

import aiohttp

from edgevox.core.files import Folders
from edgevox.core.types import to_pcm16
from edgevox.server.realtime.protocol import CLIENT_EVENTS
from tests.dialogue.sounds import silent, voiced
from tests.server.realtime.test_session import ASK_WEATHER, LONG, RATE_HZ, WEATHER
from tests.server.websocket.harness import BOUND_S, OWNER, until, voice_server

SOUNDS = [base64.b64encode(to_pcm16(sound)).decode() for sound in (voiced(0.1, RATE_HZ), silent(0.1, RATE_HZ))]
VALUES: tuple[Any, ...] = (None, 0, -1, 540, "", "x", "none", "required", [], {}, [WEATHER], ["text"], ["audio"], True)
SESSIONS: tuple[Any, ...] = (
    {"output_modalities": ["text"]},
    {"output_modalities": ["audio"], "tools": [WEATHER]},
    {"tools": [], "tool_choice": "auto"},
    {"audio": {"input": {"turn_detection": None, "transcription": {}}}},
    {"audio": {"input": {"turn_detection": {"type": "semantic_vad", "interrupt_response": False}}}},
    {"audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": False}}}},
)


def any_event(rng: random.Random, item_ids: list[str]) -> str:
    kind = rng.choice([*CLIENT_EVENTS, *["input_audio_buffer.append"] * 6, *["response.create"] * 2])
    text = {"type": "input_text", "text": "hello"}
    items: tuple[Any, ...] = (
        {"type": "message", "role": rng.choice(["user", "system", "assistant"]), "content": [text]},
        {"type": "message", "role": "user", "content": [{"type": "input_audio", "audio": SOUNDS[0]}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"},
        {"type": "function_call_output", "call_id": "c", "output": "]"},
    )
    event: dict[str, Any] = {
        "type": kind,
        **({"session": rng.choice(SESSIONS)} if kind == "session.update" else {}),
        **({"audio": rng.choice(SOUNDS)} if kind.endswith("append") else {}),
        **({"item": rng.choice(items)} if kind.endswith("item.create") else {}),
        **({"item_id": rng.choice(item_ids)} if kind.endswith(("retrieve", "delete", "truncate")) else {}),
        **({"audio_end_ms": rng.randrange(2000), "content_index": 0} if kind.endswith("truncate") else {}),
    }
    if rng.random() < 0.15:
        event[rng.choice([*event, "more", "response", "previous_item_id"])] = rng.choice(VALUES)
    written = json.dumps(event)
    return written[: rng.randrange(len(written))] if rng.random() < 0.03 else written


async def until_end(socket: aiohttp.ClientWebSocketResponse, item_ids: list[str]) -> None:
    """Note the ids of items until the error of the last event comes."""
    async for message in socket:
        assert message.type == aiohttp.WSMsgType.TEXT, message
        event = json.loads(message.data)
        if item := event.get("item"):
            item_ids.append(item["id"])
        if event["type"] == "error" and event["error"]["event_id"] == "end":
            return
    raise AssertionError(f"closed with {socket.close_code}")


async def test_events_in_any_order_break_nothing_and_leave_nothing(folders: Folders) -> None:
    rng = random.Random(7)
    lines = [rng.choice(["Yes.", LONG, ASK_WEATHER]) for _ in range(2000)]
    async with voice_server(folders, lines, heard=["hello there"], has_tools=False) as behind:
        before = len(asyncio.all_tasks())
        for _session in range(6):
            item_ids = ["none"]
            async with (
                asyncio.timeout(3 * BOUND_S),
                aiohttp.ClientSession(headers={"Authorization": f"Bearer {OWNER}"}) as http,
                http.ws_connect(f"{behind.url}/v1/realtime") as socket,
            ):
                reading = asyncio.create_task(until_end(socket, item_ids))
                for _event in range(80):
                    await socket.send_str(any_event(rng, item_ids))
                    await socket.ping()
                await socket.send_json({"type": "conversation.item.delete", "item_id": "the end", "event_id": "end"})
                await reading
        await until(lambda: not behind.lines.pipelines)
        await until(lambda: len(asyncio.all_tasks()) <= before)
