"""Routes for the web page: status, home, tool statistics, turns of a day, and editable settings."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median

from pydantic import RootModel, ValidationError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox import __version__
from edgevox.config import Settings
from edgevox.config.editing import editable_settings, reason_not_editable, save_changes, value_of
from edgevox.config.schema import Setting, sections
from edgevox.core.errors import StateError
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import JsonObject
from edgevox.home.entities import Entity, HomeError, House
from edgevox.home.phrasing import state_phrase
from edgevox.server.assistant import Assistant, DashboardData, DashboardTools
from edgevox.server.http.auth import Access
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import read_json
from edgevox.server.websocket.protocol import waterfall
from edgevox.server.websocket.session import Clients
from edgevox.tools.results import ToolCounts


def hourly_medians(records: Sequence[TurnMetrics]) -> list[JsonObject]:
    """Return median latencies by hour; hours without requests and alarms are left out."""
    hours: defaultdict[int, list[TurnMetrics]] = defaultdict(list)
    for record in records:
        if record.source != "ring" and record.outcome != "dropped":
            hours[dt.datetime.fromisoformat(record.at).astimezone().hour].append(record)
    return [
        {
            "hour": hour,
            "turns": len(turns),
            "failed": sum(turn.outcome == "failed" for turn in turns),
            "median_ms": _medians([turn for turn in turns if turn.outcome == "answered"]),
        }
        for hour, turns in sorted(hours.items())
    ]


def _medians(turns: Sequence[TurnMetrics]) -> JsonObject:
    timings: defaultdict[str, list[float]] = defaultdict(list)
    for turn in turns:
        for name, ms in turn.timings_ms.items():
            timings[name].append(ms)
    return {name: round(median(values), 1) for name, values in timings.items()}


HISTORY = "history"
"""Scope for past turns."""

_MOST_TURNS = 500


class DashboardRoutes:
    """Read-only routes of one assistant; `clients` are its remote voice clients."""

    def __init__(self, assistant: Assistant, access: Access, clients: Clients) -> None:
        self._assistant = assistant
        self._access = access
        self._clients = clients

    async def status(self, request: Request) -> Response:
        """GET /v1/status."""
        self._access.allow_local(request, "status")
        dashboard = self._dashboard()
        problem = dashboard.problem()
        return JSONResponse(
            {
                "version": __version__,
                "preset": self._assistant.name,
                "up_s": round(time.time() - self._assistant.started_s),
                "engines": dashboard.engines(),
                "voice": {"clients": len(self._clients), "max_clients": self._clients.most},
                "trouble": {"message": problem.message, "hint": problem.hint} if problem else None,
            }
        )

    async def home(self, request: Request) -> Response:
        """GET /v1/home."""
        self._access.require_token(request, "read")
        dashboard, toolbox = self._dashboard(), self._toolbox()
        problem = toolbox.home.problem
        try:
            house = toolbox.home.house()  # not thread-safe, like the counts below
        except (HomeError, StateError) as error:
            house, problem = House(()), problem or error.message
        return JSONResponse(
            {
                "kind": dashboard.settings.home.kind,
                "problem": problem,
                "areas": [{"id": area.id, "name": area.name, "floor": area.floor} for area in house.areas],
                "things": [_entity_json(entity, house) for entity in house.entities],
            }
        )

    async def tool_stats(self, request: Request) -> Response:
        """GET /v1/tools/stats."""
        self._access.require_token(request, "read")
        toolbox = self._toolbox()
        counted = toolbox.stats.summary()
        tools = [
            _tool_json(tool.name, tool.description, counted.get(tool.name, ToolCounts())) for tool in toolbox.registry
        ]
        return JSONResponse({"object": "list", "data": tools, "not_offered": dict(toolbox.not_offered)})

    async def turns(self, request: Request) -> Response:
        """GET /v1/turns."""
        self._access.require_token(request, HISTORY)
        dashboard = self._dashboard()
        day = _day(request.query_params.get("day"))
        from_s = dt.datetime.combine(day, dt.time()).astimezone().timestamp()
        until_s = dt.datetime.combine(day + dt.timedelta(days=1), dt.time()).astimezone().timestamp()
        records = await asyncio.to_thread(dashboard.turns, from_s, until_s)
        return JSONResponse(
            {
                "day": day.isoformat(),
                "data": [_turn_json(record) for record in records[-_MOST_TURNS:]],
                "trend": hourly_medians(records),
            }
        )

    def _dashboard(self) -> DashboardData:
        dashboard = self._assistant.dashboard
        if dashboard is None:
            raise ApiError(404, "not_served", "this server has no dashboard")
        return dashboard

    def _toolbox(self) -> DashboardTools:
        toolbox = self._dashboard().toolbox
        if toolbox is None:
            raise ApiError(404, "no_tools", "this assistant has no tools")
        return toolbox


def _day(text: str | None) -> dt.date:
    today = dt.datetime.now().astimezone().date()
    if text is None:
        return today
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise invalid("day must be a date, such as 2026-11-15", "day") from None
    if not dt.date(1971, 1, 1) <= day <= today + dt.timedelta(days=1):
        raise invalid("day is out of range", "day")
    return day


def _entity_json(entity: Entity, house: House) -> JsonObject:
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


def _tool_json(name: str, description: str, counts: ToolCounts) -> JsonObject:
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


def _turn_json(record: TurnMetrics) -> JsonObject:
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


SETTINGS = "settings"
"""Scope for viewing and changing settings."""


class SettingsBody(RootModel[dict[str, bool | int | float | str]]):
    """New values by setting name."""


class SettingsRoutes:
    """`reload` applies the settings file; without it, changes apply at the next start."""

    def __init__(
        self, dashboard: DashboardData | None, access: Access, reload: Callable[[], None] | None = None
    ) -> None:
        self._dashboard = dashboard
        self._access = access
        self._reload = reload

    async def list(self, request: Request) -> Response:
        """GET /v1/settings."""
        self._access.require_token(request, SETTINGS)
        settings = self._served().settings
        return JSONResponse(
            {"object": "list", "data": [_setting_json(setting, settings) for setting in editable_settings()]}
        )

    async def change(self, request: Request) -> Response:
        """PATCH /v1/settings."""
        self._access.require_token(request, SETTINGS)
        dashboard = self._served()
        try:
            changes = SettingsBody.model_validate(await read_json(request), strict=True).root
        except ValidationError:
            raise invalid("the body must map setting names to values") from None
        if not changes:
            raise invalid("no settings given")
        try:
            await asyncio.to_thread(save_changes, dashboard.settings, dashboard.folders, changes)
        except ValueError as error:
            raise invalid(str(error)) from None
        result = {"saved": sorted(changes), "in_force": "soon" if self._reload else "restart"}
        # Sends the response first, because a reload restarts this server.
        return JSONResponse(result, background=BackgroundTask(self._apply))

    async def _apply(self) -> None:
        # A coroutine runs in the event loop; a plain function would run in a thread.
        if self._reload is not None:
            self._reload()

    def _served(self) -> DashboardData:
        if self._dashboard is None:
            raise ApiError(404, "not_served", "this server has no settings")
        return self._dashboard


def _setting_json(setting: Setting, settings: Settings) -> JsonObject:
    reason = reason_not_editable(settings, setting.name)
    source = settings.sources.get(setting.name)
    return {
        "name": setting.name,
        "section": sections()[setting.section],
        "description": setting.description,
        "expected": setting.expected,
        "value": value_of(settings, setting.name),
        "default": setting.default,
        "source": str(source) if source else "default",
        "schema": setting.schema,
        "is_changeable": not reason,
        "why_not": reason,
    }
