"""Slow, half-open and malformed connections are closed, and do not delay the others; each response has an id."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

from edgevox.config import ServerSettings
from edgevox.core.errors import ModelError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDone, ChatReply, ChatRequest
from edgevox.server.app import create_app
from edgevox.server.http.connections import ConnectionLimits
from edgevox.server.http.listener import http_listener
from edgevox.server.http.middleware import HostRule, host_name
from edgevox.server.wav_stream import WavStream
from tests.server.harness import TOKENS, model, talking
from tests.server.test_auth import asked

BOUND_S = 20.0
HEALTHY = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
CHAT = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@asynccontextmanager
async def listening(limits: ConnectionLimits, **settings: Any) -> AsyncIterator[int]:
    app = create_app(talking(model([])), ServerSettings(**settings), TOKENS)
    async with asyncio.timeout(BOUND_S), http_listener(app, "127.0.0.1", 0, limits=limits) as url:
        yield int(url.rpartition(":")[2])


async def sent(port: int, text: str) -> str:
    """What the server answers to these bytes before it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(text.encode())
        return (await reader.read()).decode()
    except ConnectionResetError:
        return ""
    finally:
        writer.close()


@pytest.mark.parametrize("begun", ["", "GET /healthz HT", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
async def test_a_client_that_does_not_finish_its_headers_gets_an_error_and_is_closed(begun: str) -> None:
    limits = ConnectionLimits(headers_within_s=0.1)
    async with listening(limits) as port:
        answer = await sent(port, begun)
    assert answer.startswith("HTTP/1.1 408")
    assert "X-Request-ID: " in answer
    assert not limits.count


async def test_a_dripped_body_has_one_time_limit_in_all() -> None:
    async with listening(ConnectionLimits(headers_within_s=0.1, request_within_s=0.3)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{CHAT}Content-Length: 1000\r\n\r\n".encode())
        reading = asyncio.create_task(reader.read())
        begun_s = time.monotonic()
        while not reading.done():
            writer.write(b" ")
            await asyncio.wait((reading,), timeout=0.02)
        assert 0.2 < time.monotonic() - begun_s < 5
        writer.close()


async def test_a_request_after_another_on_the_same_connection_has_its_own_time() -> None:
    async with listening(ConnectionLimits(headers_within_s=0.3)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _request in range(3):
            writer.write(HEALTHY.replace("close", "keep-alive").encode())
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(b'{"status":"ok","engines":{}}'))
            await asyncio.sleep(0.15)  # longer in all than the headers of one may take
        writer.write(b"GET /hea")
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_many_half_open_clients_make_room_and_delay_no_other_client() -> None:
    limits = ConnectionLimits(per_address=50)
    async with listening(limits) as port, AsyncExitStack() as open_clients:
        for _client in range(300):
            _reader, writer = await asyncio.open_connection("127.0.0.1", port)
            open_clients.callback(writer.close)
            writer.write(b"GET / HTTP/1.1\r\n")
        begun_s = time.monotonic()
        answer = await sent(port, HEALTHY)
        assert answer.startswith("HTTP/1.1 200")
        assert time.monotonic() - begun_s < 5
        assert limits.count <= 50


class Thinking:
    """A model that does not answer before it may."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def stream(self, _request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.is_asked.set()
        await self.may_answer.wait()
        yield ChatDone("stop", 1, 0, 1)


async def test_a_connection_that_waits_for_its_answer_is_not_closed_for_a_new_one() -> None:
    thinking = Thinking()
    app = create_app(talking(thinking), ServerSettings(), TOKENS)
    body = '{"model": "default", "messages": [{"role": "user", "content": "?"}]}'
    request = f"{CHAT}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    async with (
        asyncio.timeout(BOUND_S),
        http_listener(app, "127.0.0.1", 0, limits=ConnectionLimits(per_address=1)) as url,
        asyncio.TaskGroup() as group,
    ):
        port = int(url.rpartition(":")[2])
        waiting = group.create_task(sent(port, request))
        await thinking.is_asked.wait()
        assert await sent(port, HEALTHY) == ""
        thinking.may_answer.set()
        assert (await waiting).startswith("HTTP/1.1 200")


async def test_two_lengths_in_one_request_are_refused() -> None:
    both = f"{CHAT}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    async with listening(ConnectionLimits()) as port:
        answer = await sent(port, both)
    assert answer.startswith("HTTP/1.1 400")
    assert "either Content-Length or Transfer-Encoding" in answer


@pytest.mark.parametrize("host", ["evil.com@127.0.0.1", "127.0.0.1/", "127.0.0.1#@evil.com", "127.0.0.1:80:80", "a b"])
def test_a_host_that_can_be_read_in_two_ways_is_none(host: str) -> None:
    assert not host_name(host)
    assert not HostRule("127.0.0.1", (), ()).allows_host(host)


async def test_an_allowed_origin_may_end_in_a_slash() -> None:
    async with listening(ConnectionLimits(), allowed_origins=["http://Panel.lan:8080/"]) as port:
        headers = {"Origin": "http://panel.lan:8080"}
        status, _body, got = await asked(f"http://127.0.0.1:{port}", headers=headers)
    assert (status, got["access-control-allow-origin"]) == (200, "http://panel.lan:8080")


@pytest.mark.parametrize("request_text", ["\r\n\r\n", "GET\r\n\r\n", "GET /other.wav HTTP/1.1\r\n\r\n", "x" * 20_000])
async def test_a_stream_for_a_media_player_is_not_for_others(
    request_text: str, caplog: pytest.LogCaptureFixture
) -> None:
    stream = WavStream("127.0.0.1", None, 22_050)
    url = await stream.open()
    async with asyncio.timeout(BOUND_S):
        answer = await sent(urlsplit(url).port or 0, request_text)
    await stream.close()
    assert answer.partition("\r\n")[0] in ("HTTP/1.1 404 Not Found", "")
    assert not caplog.records


# --- request ids


async def test_every_response_has_an_id_that_the_log_has_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    app = create_app(talking(model([ModelError("damaged")])), ServerSettings(), TOKENS)
    body = {"model": "default", "messages": [{"role": "user", "content": "?"}]}
    async with http_listener(app, "127.0.0.1", 0) as url, aiohttp.ClientSession() as session:
        for method, path, given, status in (
            ("GET", "/healthz", None, 200),
            ("GET", "/nowhere", None, 404),
            ("POST", "/v1/chat/completions", body, 500),
        ):
            async with session.request(method, url + path, json=given) as response:
                assert response.status == status
                request_id = response.headers["X-Request-ID"]
                assert (request_id in caplog.text) == (status >= 400)
        async with session.get(f"{url}/healthz", headers={"X-Request-ID": "mine-7"}) as response:
            assert response.headers["X-Request-ID"] == "mine-7"
        async with session.get(f"{url}/healthz", headers={"X-Request-ID": "a b"}) as response:
            assert response.headers["X-Request-ID"] != "a b"
        assert "X-Request-ID" in (await malformed(url))


async def malformed(url: str) -> str:
    return await sent(int(url.rpartition(":")[2]), "nonsense\r\n\r\n")
