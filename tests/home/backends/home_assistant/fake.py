"""A small fake of Home Assistant's server, for behaviour that the real one cannot be made to show."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer

TOKEN = "a-token-that-nobody-may-see"
AREAS = [{"area_id": "attic", "name": "Attic", "aliases": ["Loft"], "floor_id": "top"}]
FLOORS = [{"floor_id": "top", "name": "Top Floor", "aliases": ["Upstairs"]}]


class FakeHomeAssistant:
    """Answers with what stands here; a test changes it as it likes."""

    def __init__(self) -> None:
        self.states: dict[str, dict[str, Any]] = {
            "light.attic": {"s": "off", "a": {"friendly_name": "Attic Light", "supported_color_modes": ["onoff"]}}
        }
        self.answers: dict[str, Any] = {
            "get_config": {"state": "RUNNING"},
            "supported_features": None,
            "subscribe_events": None,
            "config/area_registry/list": AREAS,
            "config/floor_registry/list": FLOORS,
            "config/device_registry/list": [],
            "config/entity_registry/list": [{"entity_id": "light.attic", "area_id": "attic"}],
            "config/entity_registry/get_entries": {"light.attic": {"aliases": ["Loft Lamp", None, " "]}},
        }
        self.delay_s = 0.0
        self.is_deaf = False
        """No answer to a ping."""
        self.logins = 0
        self.calls: list[dict[str, Any]] = []
        self.responses: dict[str, Any] = {}
        """What a service gives back, or the error it ends in."""
        self.scenes: dict[str, Any] = {}
        """The configurations of scenes, for the REST API."""
        self.silent: set[str] = set()
        """The commands that get no answer."""
        self.states_id = 0
        self._socket: web.WebSocketResponse | None = None

    async def tell(self, **event: Any) -> None:
        """Send an event of `subscribe_entities`."""
        assert self._socket is not None
        await self._socket.send_json({"id": self.states_id, "type": "event", "event": event})

    async def send(self, text: str) -> None:
        assert self._socket is not None
        await self._socket.send_str(text)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = self._socket = web.WebSocketResponse(autoping=not self.is_deaf)
        await socket.prepare(request)
        self.logins += 1
        await socket.send_json({"type": "auth_required", "ha_version": "2030.1.0"})
        if (await socket.receive_json())["access_token"] != TOKEN:
            await socket.send_json({"type": "auth_invalid", "message": "Invalid access token"})
            return socket
        await socket.send_json({"type": "auth_ok", "ha_version": "2030.1.0"})
        async for message in socket:
            await asyncio.sleep(self.delay_s)
            if message.type is WSMsgType.TEXT:
                await self._answer(socket, json.loads(message.data))
        return socket

    async def scene(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.Response(status=401)
        scene = self.scenes.get(request.match_info["scene"])
        return web.json_response(scene) if scene else web.Response(status=404)

    async def _answer(self, socket: web.WebSocketResponse, command: dict[str, Any]) -> None:
        number, kind = command["id"], command["type"]
        if kind in self.silent:
            return
        result: Any = None
        error: dict[str, str] | None = None
        match kind:
            case "subscribe_entities":
                self.states_id = number
            case "call_service":
                self.calls.append(command)
                response = self.responses.get(f"{command['domain']}.{command['service']}")
                error = response if isinstance(response, dict) and "code" in response else None
                result = {"response": response}
            case _ if kind in self.answers:
                result = self.answers[kind]
            case _:
                error = {"code": "unknown_command", "message": "Unknown command."}
        head = {"id": number, "type": "result", "success": error is None}
        await socket.send_json(head | ({"result": result} if error is None else {"error": error}))
        if kind == "subscribe_entities":
            await self.tell(a=self.states)


@asynccontextmanager
async def running(fake: FakeHomeAssistant) -> AsyncIterator[str]:
    """Its address, for as long as it runs."""
    app = web.Application()
    app.router.add_get("/api/websocket", fake.serve)
    app.router.add_get("/api/config/scene/config/{scene}", fake.scene)
    server = TestServer(app)
    await server.start_server()
    try:
        yield str(server.make_url("/"))
    finally:
        await server.close()
