"""Faulty HTTP servers: each is unavailable without affecting the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from edgevox.config import McpSettings
from edgevox.testing.serve import free_port
from edgevox.tools.mcp.config import HttpServer
from tests.tools.mcp.running import raw, running, until

IMPATIENT = McpSettings(start_timeout_s=3.0)
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
_EVENT = b'event: message\r\ndata: {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\r\n\r\n'


async def _answer(fault: str, writer: asyncio.StreamWriter) -> None:
    match fault:
        case "hanging":
            await asyncio.sleep(3600)
        case "failing":
            writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        case "garbage":
            writer.write(b"\x00\x01 this is no HTTP \xff\r\n\r\n")
        case "no-json":
            writer.write(_OK + b"Content-Length: 7\r\n\r\n<html/>")
        case "huge":
            writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
            while True:
                writer.write(b"10000\r\n" + b"[" * 0x10000 + b"\r\n")
                await writer.drain()
        case "flooding":
            writer.write(_EVENTS)
            while True:
                writer.write(_EVENT * 100)
                await writer.drain()
    await writer.drain()


@asynccontextmanager
async def faulty(fault: str) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.read(65_536):
                await _answer(fault, writer)
        except ConnectionError:
            pass  # the client has had enough
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.close()


@pytest.mark.parametrize("fault", ["hanging", "failing", "garbage", "no-json", "huge", "flooding"])
async def test_a_faulty_server_does_not_affect_the_others(fault: str) -> None:
    async with faulty(fault) as url:
        servers = HttpServer("bad", url), raw("none", None, "good")
        async with running(*servers, settings=IMPATIENT) as home:
            await until(lambda: home.report("bad").status == "away")
            assert home.report("bad").reason
            assert (await home.call("good_look")).content == '"done"'


async def test_an_unreachable_server_is_away_with_a_reason() -> None:
    async with running(HttpServer("gone", f"http://127.0.0.1:{free_port()}/mcp"), settings=IMPATIENT) as home:
        report = home.report("gone")
        assert report.status == "away"
        assert "connect" in report.reason.lower()
