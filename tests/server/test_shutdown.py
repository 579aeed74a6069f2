"""A server that is stopped while it answers: waiting clients get an error, and no fault is logged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import aiohttp
import pytest

from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatReply, ChatRequest
from tests.server.harness import served, talking

SAID = {"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}
PATH = "/v1/chat/completions"


class Endless:
    """A model that begins, and does not end."""

    def __init__(self) -> None:
        self.has_begun = asyncio.Event()

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        yield ChatDelta("Well, that is a long story. ")
        self.has_begun.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_pending_requests_get_an_error_on_shutdown(is_streamed: bool, caplog: pytest.LogCaptureFixture) -> None:
    model = Endless()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(30)) as session:

        async def ask(url: str) -> tuple[int, str]:
            async with session.post(url + PATH, json=SAID | {"stream": is_streamed}) as response:
                return response.status, await response.text()

        async with served(talking(model)) as url:
            asking = asyncio.create_task(ask(url))
            await model.has_begun.wait()
        status, text = await asking
    assert status == (200 if is_streamed else 503)
    assert "the server is shutting down" in text
    assert [record for record in caplog.records if record.exc_info] == []
    assert "in ASGI application" not in caplog.text


async def test_a_second_ctrl_c_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async def serve() -> None:
        async with served(talking(Endless()), mcp=True):
            is_up.set()
            await asyncio.Event().wait()

    is_up, before = asyncio.Event(), asyncio.all_tasks()
    async with asyncio.timeout(30):
        serving = asyncio.create_task(serve())
        await is_up.wait()
        tasks = asyncio.all_tasks() - before
        for task in tasks:  # as asyncio.run does it
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert serving.done()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
