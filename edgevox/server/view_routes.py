"""The routes of what a page shows and does not change: how it is, the home, the tools, the turns of a day."""

from __future__ import annotations

import asyncio
import datetime as dt
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox import __version__
from edgevox.errors import StateError
from edgevox.metrics import TurnRecord
from edgevox.server.access import Access
from edgevox.server.assistant import Assistant
from edgevox.server.errors import ApiError, invalid
from edgevox.server.surroundings import Surroundings
from edgevox.server.trend import hourly
from edgevox.server.voice.clients import Clients
from edgevox.server.voice.event_frames import waterfall
from edgevox.tools.home.home import HomeError
from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.states import state_phrase
from edgevox.tools.stats import ToolCounts
from edgevox.tools.toolbox import Toolbox
from edgevox.types import JsonObject

HISTORY = "history"
"""The permission to see what was said."""

_MOST_TURNS = 500


class ViewRoutes:
    """Of one assistant, whose `clients` speak with it from elsewhere."""

    def __init__(self, assistant: Assistant, access: Access, clients: Clients) -> None:
        self._assistant = assistant
        self._access = access
        self._clients = clients

    async def status(self, request: Request) -> Response:
        """GET /v1/status."""
        self._access.talker(request, "status")
        around = self._around()
        problem = around.problem()
        return JSONResponse(
            {
                "version": __version__,
                "preset": self._assistant.name,
                "up_s": round(time.time() - self._assistant.started_s),
                "engines": around.engines(),
                "voice": {"clients": len(self._clients), "max_clients": self._clients.most},
                "trouble": {"message": problem.message, "hint": problem.hint} if problem else None,
            }
        )

    async def home(self, request: Request) -> Response:
        """GET /v1/home."""
        self._access.actor(request, "read")
        around, toolbox = self._around(), self._toolbox()
        problem = toolbox.home.problem
        try:
            house = toolbox.home.house()  # of this loop, as the counts below are
        except (HomeError, StateError) as error:
            house, problem = House(()), problem or error.message
        return JSONResponse(
            {
                "kind": around.settings.home.kind,
                "problem": problem,
                "areas": [{"id": area.id, "name": area.name, "floor": area.floor} for area in house.areas],
                "things": [_thing(entity, house) for entity in house.entities],
            }
        )

    async def tool_stats(self, request: Request) -> Response:
        """GET /v1/tools/stats."""
        self._access.actor(request, "read")
        toolbox = self._toolbox()
        counted = toolbox.stats.summary()
        tools = [
            _counts(tool.name, tool.description, counted.get(tool.name, ToolCounts()))
            for tool in toolbox.registry
        ]
        return JSONResponse({"object": "list", "data": tools, "not_offered": dict(toolbox.not_offered)})

    async def turns(self, request: Request) -> Response:
        """GET /v1/turns."""
        self._access.actor(request, HISTORY)
        around = self._around()
        day = _day(request.query_params.get("day"))
        from_s = dt.datetime.combine(day, dt.time()).astimezone().timestamp()
        until_s = dt.datetime.combine(day + dt.timedelta(days=1), dt.time()).astimezone().timestamp()
        records = await asyncio.to_thread(around.turns, from_s, until_s)
        return JSONResponse(
            {
                "day": day.isoformat(),
                "data": [_told(record) for record in records[-_MOST_TURNS:]],
                "trend": hourly(records),
            }
        )

    def _around(self) -> Surroundings:
        around = self._assistant.surroundings
        if around is None:
            raise ApiError(404, "not_served", "this server has nothing to show")
        return around

    def _toolbox(self) -> Toolbox:
        toolbox = self._around().toolbox
        if toolbox is None:
            raise ApiError(404, "no_tools", "this assistant has no tools: it only talks")
        return toolbox


def _day(text: str | None) -> dt.date:
    today = dt.datetime.now().astimezone().date()
    if text is None:
        return today
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise invalid("day is a date, such as 2026-11-15", "day") from None
    if not dt.date(1971, 1, 1) <= day <= today + dt.timedelta(days=1):
        raise invalid("there can be no turns of that day", "day")
    return day


def _thing(entity: Entity, house: House) -> JsonObject:
    area = house.area(entity.area)
    return {
        "id": entity.id,
        "name": entity.name,
        "domain": entity.domain,
        "device_class": entity.device_class,
        "area": area.id if area else None,
        "state": entity.state,
        "phrase": state_phrase(entity),
        "attributes": dict(entity.attributes),
    }


def _counts(name: str, description: str, counts: ToolCounts) -> JsonObject:
    return {
        "name": name,
        "description": description,
        "offered": counts.offered,
        "chosen": counts.chosen,
        "refused": counts.refused,
        "failed": counts.failed,
        "timed_out": counts.timed_out,
        "mean_ms": round(counts.mean_s * 1000, 1),
        "longest_ms": round(counts.longest_s * 1000, 1),
    }


def _told(record: TurnRecord) -> JsonObject:
    return {
        "turn_id": record.turn_id,
        "at": record.at,
        "source": record.source,
        "preset": record.preset,
        "heard": record.heard,
        "reply": record.reply,
        "outcome": record.outcome,
        "error_code": record.error_code,
        **waterfall(record),
    }
