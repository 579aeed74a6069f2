"""A scripted HTTP server on loopback that answers correctly, wrongly, partially or not at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from aiohttp import web

Answer: TypeAlias = Callable[[web.Request, "ScriptedServer"], Awaitable[web.StreamResponse]]


class ScriptedServer:
    """One answer for each request, the last one for all further ones; what was asked is in `bodies`."""

    def __init__(self, answers: Sequence[Answer], models: Answer | None = None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.gone = asyncio.Event()
        """Set when somebody who was kept waiting went away."""
        self.url = ""
        self._answers = list(answers)
        self._models = models or listed("big")

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        self.paths.append(request.path)
        self.headers.append(dict(request.headers))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return await answer(request, self)

    async def models(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        return await self._models(request, self)


@asynccontextmanager
async def scripted(*answers: Answer, models: Answer | None = None) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(answers, models)
    app = web.Application()
    app.router.add_post("/v1/{rest:.*}", server.chat)
    app.router.add_get("/v1/models", server.models)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield server
    finally:
        await runner.cleanup()


# --- answers


def listed(*names: str, owned_by: str = "somebody") -> Answer:
    return whole({"data": [{"id": name, "owned_by": owned_by} for name in names]})


def whole(content: object, status: int = 200, **headers: str) -> Answer:
    async def answer(_request: web.Request, _server: ScriptedServer) -> web.StreamResponse:
        return web.json_response(content, status=status, headers=headers)

    return answer


def raw(body: bytes, content_type: str = "text/html", status: int = 200) -> Answer:
    async def answer(_request: web.Request, _server: ScriptedServer) -> web.StreamResponse:
        return web.Response(body=body, content_type=content_type, status=status)

    return answer


def events(*data: object, then: str = "end") -> Answer:
    """A stream of events: JSON, or text as it is. `then` it ends, breaks off ("cut") or says no more."""

    async def answer(request: web.Request, server: ScriptedServer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for one in data:
            text = one if isinstance(one, str) else f"data: {json.dumps(one)}\n\n"
            await response.write(text.encode())
        match then:
            case "end":
                await response.write_eof()
            case "cut":
                assert request.transport is not None
                request.transport.abort()
            case "silence":
                try:
                    await asyncio.Event().wait()
                finally:
                    server.gone.set()
        return response

    return answer


# --- what OpenAI's form holds

DONE = "data: [DONE]\n\n"
USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 20}},
}


def said(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def ended(reason: str = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def called(index: int | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    call: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        call["index"] = index
    if name:
        call |= {"id": f"call_{name}", "type": "function"}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}


def talk(text: str) -> Answer:
    return events(*map(said, text.split("|")), ended(), USAGE, DONE)


def call(name: str, /, **arguments: object) -> Answer:
    text = json.dumps(arguments)
    pieces = (called(0, name, ""), called(0, None, text[:5]), called(0, None, text[5:]))
    return events(*pieces, ended("tool_calls"), USAGE, DONE)
