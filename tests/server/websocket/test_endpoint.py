"""Who is let in at the socket, who is cut off, with which code; and that nothing is left of those who go."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from typing import Any

import aiohttp
import numpy as np
import pytest
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from edgevox.core.files import Folders
from edgevox.server.routes.voice import send_frame
from tests.dialogue.sounds import voiced
from tests.server.websocket.harness import (
    GUEST,
    OWNER,
    TALKER,
    Client,
    VoiceServer,
    connected,
    unknown,
    until,
    voice_server,
)

HELLO = {"type": "hello", "version": 1, "token": OWNER}


async def code_after(client: Client, *frames: str | bytes | dict[str, Any]) -> int:
    for frame in frames:
        match frame:
            case str():
                await client.socket.send_str(frame)
            case bytes():
                await client.socket.send_bytes(frame)
            case dict():
                await client.socket.send_json(frame)
    return await client.closed()


async def let_go(behind: VoiceServer) -> None:
    """Returns when no conversation is left."""
    await until(lambda: not behind.lines.confirmation())


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"type": "hello", "version": 1}, 4401),
        ({"type": "hello", "version": 1, "token": "wrong-token-for-tests"}, 4401),
        ({"type": "hello", "version": 1, "token": TALKER}, 4403),
        ({"type": "hello", "version": 2, "token": OWNER}, 4406),
        ({"type": "hello", "version": 1, "token": OWNER, "rate_hz": 192_000}, 4400),
        ({"type": "hello", "version": 1, "token": OWNER, "more": 1}, 4400),
        ({"type": "hello", "version": "1", "token": OWNER}, 4400),
        ({"type": "text", "text": "hello"}, 4400),
        ("hello", 4400),
        ("[" * 1000, 4400),
        (b"\0\0", 4400),
    ],
)
async def test_who_does_not_say_hello_is_not_let_in(folders: Folders, first: Any, code: int) -> None:
    async with voice_server(folders, has_tools=False) as behind, unknown(behind.url) as client:
        assert await code_after(client, first) == code
        assert "wrong-token" not in str(client.frames)


async def test_a_program_may_bring_its_token_in_a_header(folders: Folders) -> None:
    async with (
        voice_server(folders, has_tools=False) as behind,
        unknown(behind.url, headers={"Authorization": f"Bearer {OWNER}"}) as client,
    ):
        await client.send("hello", version=1)
        assert (await client.until("hello"))["may_confirm"] is True


async def test_the_reason_is_in_the_last_frame_and_in_the_close(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, unknown(behind.url) as client:
        await client.send("hello", version=7, token=OWNER)
        assert (await client.until("error"))["code"] == "other_version"
        message = await client.socket.receive()
        assert (message.type, message.data) == (aiohttp.WSMsgType.CLOSE, 4406)
        assert message.extra == "protocol version 7 is not supported, only 1"


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
async def test_a_foreign_page_is_refused_before_the_upgrade(folders: Folders, headers: dict[str, str]) -> None:
    async with voice_server(folders, has_tools=False) as behind:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            async with unknown(behind.url, headers=headers):
                pass
    assert caught.value.status == 403


async def test_no_token_is_logged(folders: Folders, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url):
        pass
    assert OWNER not in "".join(
        record.getMessage() for record in caplog.records if record.name.startswith(("uvicorn", "edgevox"))
    )


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "hello", "version": 1, "token": OWNER},
        {"type": "played", "passage": 1, "samples": 10},
        {"type": "played", "passage": 0, "samples": 10},
        {"type": "played", "passage": 1, "samples": -1},
        {"type": "text", "text": ""},
        {"type": "text", "text": "x" * 4001},
        {"type": "text"},
        {"type": "nothing"},
        {},
        "null",
        "NaN",
        "{",
        b"\0",
    ],
)
async def test_what_is_not_understood_ends_the_connection(folders: Folders, frame: Any) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url) as client:
        assert await code_after(client, frame) == 4400
        await let_go(behind)


async def test_a_frame_that_is_too_large_ends_the_connection(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url) as client:
        assert await code_after(client, b"\0\0" * 40_000) == 1009
        await let_go(behind)


async def test_sound_faster_than_real_time_is_a_flood(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url) as client:
        for _second in range(20):  # held back by the network, they come at once
            await client.socket.send_bytes(bytes(32_000))
        await client.send("ping", id=7)
        await client.until("pong", id=7)
        assert await code_after(client, *[bytes(32_000)] * 20) == 4429
        await let_go(behind)


async def test_too_many_words_are_a_flood(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url) as client:
        with suppress(ConnectionError):
            for number in range(1000):
                await client.send("ping", id=number)
        assert await client.closed() == 4429
        await let_go(behind)


async def test_a_client_that_comes_back_takes_its_own_place(folders: Folders) -> None:
    async with (
        voice_server(folders, has_tools=False, voice_clients=1) as behind,
        connected(behind.url) as old,
        connected(behind.url) as new,
    ):
        assert await old.closed() == 4409
        await new.send("ping")
        await new.until("pong")


async def test_a_client_of_another_token_waits_until_there_is_a_place(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False, voice_clients=1) as behind:
        async with connected(behind.url), unknown(behind.url) as other:
            assert await code_after(other, {**HELLO, "token": GUEST}) == 4503
        await let_go(behind)
        async with connected(behind.url, token=GUEST) as now:
            await now.send("ping")
            await now.until("pong")


async def test_a_server_without_places_takes_nobody(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False, voice_clients=0) as behind, unknown(behind.url) as client:
        assert await code_after(client, HELLO) == 4503


async def test_the_server_tells_its_clients_that_it_ends(folders: Folders) -> None:
    async with AsyncExitStack() as running:
        async with voice_server(folders, has_tools=False) as behind:
            client = await running.enter_async_context(connected(behind.url))
        assert await client.closed() == 1012


async def test_nothing_is_left_of_clients_that_go_in_the_middle(folders: Folders) -> None:
    async with voice_server(folders, ["One. Two. Three. " * 40] * 40, has_tools=False) as behind:
        before = len(asyncio.all_tasks())
        for number in range(20):
            async with connected(behind.url, plays=False) as client:
                await client.send("text", text="count")
                await client.sound(voiced(0.5))
                if number % 2:
                    await client.until("audio_begin")
            await let_go(behind)
        await until(lambda: len(asyncio.all_tasks()) <= before)
        outcomes = {record.outcome for record in behind.records}
        assert outcomes <= {"cancelled", "interrupted"}, outcomes


async def test_a_client_that_never_plays_fails_its_turn_and_not_the_connection(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgevox.server.websocket.audio.GONE_AFTER_S", 0.2)
    async with (
        voice_server(folders, ["Hello."], has_tools=False) as behind,
        connected(behind.url, plays=False) as client,
    ):
        await client.send("text", text="hello")
        await client.until("audio_stop")
        done = await client.until("done")
        assert (done["outcome"], done["error_code"]) == ("failed", "device_unavailable")
        await client.send("ping")
        await client.until("pong")


async def test_sound_that_comes_in_single_samples_is_heard_too(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url) as client:
        for sample in np.zeros(100, dtype="<i2"):
            await client.socket.send_bytes(sample.tobytes())
        await client.socket.send_bytes(b"")
        await client.send("ping")
        await client.until("pong")


async def test_a_fault_of_ours_is_told_as_one(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_given: object) -> None:
        raise ValueError("nobody expected this")

    monkeypatch.setattr("edgevox.server.websocket.session.ClientSession.run", broken)
    async with voice_server(folders, has_tools=False) as behind, unknown(behind.url) as client:
        assert await code_after(client, HELLO) == 4500
    assert "nobody expected" not in str(client.frames)


async def test_who_says_nothing_is_not_waited_for(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.server.routes.voice.HELLO_WITHIN_S", 0.1)
    async with voice_server(folders, has_tools=False) as behind, unknown(behind.url) as client:
        assert await client.closed() == 4408


async def test_sending_on_a_connection_that_the_http_server_has_closed_is_a_disconnect() -> None:
    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        if message["type"] == "websocket.send":
            raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

    socket = WebSocket({"type": "websocket"}, receive, send)
    await socket.accept()
    with pytest.raises(WebSocketDisconnect):
        await send_frame(socket, "{}")
