"""Routes about the assistant: health, metrics, status, home, tool statistics, turns of a day, editable settings."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
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
from edgevox.core.languages import ENGLISH, all_phrases
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import JsonObject
from edgevox.home.colours import find_colour
from edgevox.home.entities import Entity, Home, HomeError, House
from edgevox.home.intents.replies import state_phrase_in
from edgevox.models import open_store
from edgevox.server.assistant import DashboardTools
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import read_json
from edgevox.server.routes import HISTORY, ApiRoute, ServerContext
from edgevox.server.websocket.protocol import fields_of, waterfall
from edgevox.tools.policy import Caller
from edgevox.tools.results import ToolCounts
from edgevox.tools.tool import Tool


def hourly_medians(records: Sequence[TurnMetrics]) -> list[JsonObject]:
    """Return median latencies by hour; hours without requests, alarms and calls made on a screen are left out."""
    hours: defaultdict[int, list[TurnMetrics]] = defaultdict(list)
    for record in records:
        if record.source not in ("ring", "screen") and record.outcome != "dropped":
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


_MOST_TURNS = 500
_MOST_FOUND = 100
_MAX_QUERY_CHARS = 100
_TURN_FIELDS = (
    "turn_id",
    "at",
    "source",
    "preset",
    "heard",
    "reply",
    "outcome",
    "error_code",
    "calls",
    "room",
    "speaker",
)
# What the turns of a day and those found can be limited to.
_TURN_FILTERS = ("room", "speaker")
# Of the phrases of states; a language without a catalogue gets English.
_LANGUAGE_QUERY = {"language": {"type": "string", "maxLength": 16}}
_FILTER_QUERY = {name: {"type": "string", "maxLength": _MAX_QUERY_CHARS} for name in _TURN_FILTERS}


async def _healthz(server: ServerContext, _request: Request, _caller: Caller) -> Response:
    states = dict(server.assistant.states())
    is_ready = all(state == "ready" for state in states.values())
    return JSONResponse({"status": "ok" if is_ready else "degraded", "engines": states}, 200 if is_ready else 503)


async def _openapi(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    return server.openapi


async def _metrics(server: ServerContext, _request: Request, _caller: Caller) -> Response:
    queues = {
        "model": server.queues.model,
        "hearing": server.queues.transcriber,
        "speaking": server.queues.speaking,
        "embedding": server.queues.embedding,
    }
    queue_of = {f'{{queue="{name}"}}': queue for name, queue in queues.items()}
    answers = sorted(server.answers.items())
    counts = {f'{{path="{path}",status="{status}"}}': count for (path, status), count in answers}
    waiting = {labels: queue.admitted for labels, queue in queue_of.items()}
    refused = {labels: queue.refused for labels, queue in queue_of.items()}
    up = {f'{{engine="{name}"}}': int(state == "ready") for name, state in server.assistant.states().items()}
    metrics = (
        _metric("requests_total", "counter", "Answered requests.", counts),
        _metric("queue_requests", "gauge", "Running and waiting requests.", waiting),
        _metric("queue_refused_total", "counter", "Requests rejected because the queue was full.", refused),
        _metric("pauses_total", "counter", "Replies paused for the local speaker.", {"": server.queues.model.pauses}),
        _metric("engine_up", "gauge", "Whether an engine is ready.", up),
    )
    return Response("".join(metrics), media_type="text/plain; version=0.0.4; charset=utf-8")


def _metric(name: str, kind: str, meaning: str, values: Mapping[str, int]) -> str:
    """Format a metric with a value for each set of labels, in Prometheus' text format."""
    samples = "".join(f"edgevox_{name}{labels} {value}\n" for labels, value in values.items())
    return f"# HELP edgevox_{name} {meaning}\n# TYPE edgevox_{name} {kind}\n{samples}"


async def _status(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    dashboard = server.dashboard
    problem = dashboard.problem()
    return {
        "version": __version__,
        "preset": server.assistant.name,
        "up_s": round(time.time() - server.assistant.started_s),
        "engines": dashboard.engines(),
        "voice": {"clients": len(server.clients), "max_clients": server.clients.most},
        "trouble": {"message": problem.message, "hint": problem.hint} if problem else None,
    }


async def _home(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    home = _toolbox(server).home
    problem = home.problem
    try:
        house = home.house()  # not thread-safe, like the counts below
    except (HomeError, StateError) as error:
        house, problem = House(()), problem or error.message
    return {
        "kind": server.dashboard.settings.home.kind,
        "problem": problem,
        "areas": [fields_of(area, "id", "name", "floor") for area in house.areas],
        "things": [_entity_json(entity, house, _language(request)) for entity in house.entities],
    }


async def _changes(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    home, entity_id = _toolbox(server).home, request.path_params["id"]
    try:
        entity = home.house().entity(entity_id)
        if entity is None:
            raise ApiError(404, "entity_not_found", "nothing in the home has this id")
        changes = await home.changes(entity_id, dt.datetime.combine(_day(None), dt.time()).astimezone())
    except (HomeError, StateError) as error:
        raise ApiError(503, error.code, error.message) from None
    language = _language(request)
    data = [
        {"at": one.at.isoformat(), "phrase": state_phrase_in(replace(entity, state=one.state), language)}
        for one in changes
    ]
    return {"object": "list", "data": data}


async def _schedule(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    entries = await asyncio.to_thread(_toolbox(server).scheduled.entries)
    shown = ("id", "kind", "due_s", "text", "when", "time", "days", "is_on", "name")
    data = [fields_of(entry, *shown) for entry in entries]
    return {"object": "list", "now_s": time.time(), "data": data}


async def _cancel_entry(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    entry_id = request.path_params["id"]
    if not await asyncio.to_thread(_toolbox(server).scheduled.remove, [entry_id]):
        raise ApiError(404, "not_scheduled", "nothing with this id is set: it is over, or was cancelled")
    return {"id": entry_id, "cancelled": True}


async def _lists(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    home = _toolbox(server).home
    try:
        lists = [entity for entity in home.house().entities if entity.domain == "todo"]
        data = [{"id": one.id, "name": one.name, "items": await _items(home, one.id)} for one in lists]
    except HomeError as error:
        raise ApiError(503, error.code, error.message) from None
    return {"object": "list", "data": data}


async def _items(home: Home, list_id: str) -> list[JsonObject]:
    return [fields_of(item, "text", "is_done") for item in await home.items(list_id)]


async def _tool_stats(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    toolbox = _toolbox(server)
    counted = toolbox.stats.summary()
    tools = [_tool_json(tool, counted.get(tool.name, ToolCounts())) for tool in toolbox.registry]
    return {"object": "list", "data": tools, "not_offered": dict(toolbox.not_offered)}


async def _turns(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    dashboard = server.dashboard
    day = _day(request.query_params.get("day"))
    from_s, until_s = (
        dt.datetime.combine(date, dt.time()).astimezone().timestamp() for date in (day, day + dt.timedelta(days=1))
    )
    everything = await asyncio.to_thread(dashboard.turns, 0.0, until_s)
    before = _filtered(everything, request)
    records = [record for record in before if record.ended_s >= from_s]
    earlier = max((record.at[:10] for record in before if record.ended_s < from_s), default=None)
    return {
        "day": day.isoformat(),
        "earlier": earlier,
        "rooms": sorted({record.room for record in everything if record.room}),
        "speakers": sorted({record.speaker for record in everything if record.speaker}),
        "data": [_turn_json(record) for record in records[-_MOST_TURNS:]],
        "trend": hourly_medians(records),
    }


async def _search_turns(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    words = request.query_params.get("words", "").casefold().split()
    if not words or len(" ".join(words)) > _MAX_QUERY_CHARS:
        raise invalid(f"words must have 1 to {_MAX_QUERY_CHARS} characters", "words")
    records = await asyncio.to_thread(server.dashboard.turns, 0.0, time.time())
    found = [record for record in _filtered(records, request) if _contains(record, words)]
    return {"object": "list", "data": [_turn_json(record) for record in found[-_MOST_FOUND:]]}


def _filtered(records: Sequence[TurnMetrics], request: Request) -> list[TurnMetrics]:
    wanted = {name: value for name in _TURN_FILTERS if (value := request.query_params.get(name))}
    return [record for record in records if fields_of(record, *wanted) == wanted]


def _contains(record: TurnMetrics, words: Sequence[str]) -> bool:
    text = " ".join((record.heard, record.reply, *record.calls)).casefold()
    return all(word in text for word in words)


def _turn_json(record: TurnMetrics) -> JsonObject:
    return {**fields_of(record, *_TURN_FIELDS), **waterfall(record)}


def _toolbox(server: ServerContext) -> DashboardTools:
    toolbox = server.dashboard.toolbox
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


def _language(request: Request) -> str:
    """The language that states are asked for in."""
    return request.query_params.get("language", ENGLISH)


def _entity_json(entity: Entity, house: House, language: str) -> JsonObject:
    area = house.area(entity.area)
    return {
        **fields_of(entity, "id", "name", "domain", "device_class", "state"),
        "area": area.id if area else None,
        "phrase": state_phrase_in(entity, language),
        "attributes": dict(entity.attributes),
        "color": _color_code(entity),
    }


def _color_code(entity: Entity) -> str | None:
    """Return the colour of a light as #rrggbb; None if it is not known."""
    try:
        rgb = find_colour(str(entity.attributes.get("color") or "")).rgb
    except HomeError:
        return None
    return "#{:02x}{:02x}{:02x}".format(*rgb)


def _tool_json(tool: Tool, counts: ToolCounts) -> JsonObject:
    return {
        **fields_of(tool, "name", "description"),
        **fields_of(counts, "offered", "chosen", "refused", "failed", "timed_out"),
        "mean_ms": round(counts.mean_s * 1000, 1),
        "longest_ms": round(counts.longest_s * 1000, 1),
    }


class SettingsBody(RootModel[dict[str, bool | int | float | str]]):
    """New values by setting name."""


# Settings that must name something that is there.
_OF_THIS_INSTALLATION = ("tts.voice", "home.room")


async def _list_settings(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    settings, choices = server.dashboard.settings, await _choices(server)
    data = [{**_setting_json(one, settings), "choices": choices.get(one.name, [])} for one in editable_settings()]
    return {"object": "list", "in_force": _in_force(server), "data": data}


def _in_force(server: ServerContext) -> str:
    """When a change applies: "soon", after a reload, or from the next "restart" on."""
    return "soon" if server.reload else "restart"


async def _choices(server: ServerContext) -> dict[str, list[str]]:
    """The values to offer: the installed voices, the areas of the home, the languages that it speaks itself."""
    dashboard = server.dashboard
    store = open_store(dashboard.folders)
    installed = await asyncio.to_thread(store.installed)
    voices = [model_id for model_id in installed if store.manifest.entry(model_id).kind == "tts"]
    areas: list[str] = []
    if dashboard.toolbox is not None:
        with suppress(HomeError, StateError):
            areas = [area.name for area in dashboard.toolbox.home.house().areas]
    return {"tts.voice": voices, "home.room": areas, "stt.language": ["auto", *all_phrases()]}


async def _change_settings(server: ServerContext, request: Request, _caller: Caller) -> Response:
    dashboard = server.dashboard
    try:
        changes = SettingsBody.model_validate(await read_json(request), strict=True).root
    except ValidationError:
        raise invalid("the body must map setting names to values") from None
    if not changes:
        raise invalid("no settings given")
    choices = await _choices(server)
    for name, value in changes.items():
        if name in _OF_THIS_INSTALLATION and value not in choices[name]:
            raise invalid(f"{name} must be one of: {', '.join(choices[name]) or 'nothing, there are none'}", name)
    try:
        await asyncio.to_thread(save_changes, dashboard.settings, dashboard.folders, changes)
    except ValueError as error:
        raise invalid(str(error)) from None

    async def reload() -> None:  # a coroutine runs in the event loop; a plain function would run in a thread
        if server.reload is not None:
            server.reload()

    result = {"saved": sorted(changes), "in_force": _in_force(server)}
    # Sends the response first, because a reload restarts this server.
    return JSONResponse(result, background=BackgroundTask(reload))


def _setting_json(setting: Setting, settings: Settings) -> JsonObject:
    reason = reason_not_editable(settings, setting.name)
    source = settings.sources.get(setting.name)
    return {
        **fields_of(setting, "name", "description", "expected", "default", "schema"),
        "section": sections()[setting.section],
        "value": value_of(settings, setting.name),
        "source": str(source) if source else "default",
        "is_changeable": not reason,
        "why_not": reason,
    }


_shown = partial(ApiRoute, "GET", errors=(404,))
ROUTES = (
    ApiRoute("GET", "/healthz", "State of the engines", _healthz, "status", allow_local=True, errors=(503,)),
    ApiRoute("GET", "/metrics", "Prometheus metrics", _metrics, "status", allow_local=True, answers={"text/plain": {}}),
    ApiRoute("GET", "/openapi.json", "This document", _openapi, "status", allow_local=True),
    _shown("/v1/status", "Status of the assistant", _status, "status", allow_local=True),
    _shown("/v1/home", "State of the home", _home, "read", query=_LANGUAGE_QUERY),
    ApiRoute(
        "GET",
        "/v1/home/{id}/changes",
        "States of an entity today",
        _changes,
        "read",
        errors=(404, 503),
        query=_LANGUAGE_QUERY,
    ),
    _shown("/v1/schedule", "Timers, alarms, reminders, schedules and watches", _schedule, "read"),
    ApiRoute("DELETE", "/v1/schedule/{id}", "Cancel one of them", _cancel_entry, "act", errors=(404,)),
    _shown("/v1/lists", "Shopping and to-do lists with their items", _lists, "read"),
    _shown("/v1/tools/stats", "Tool statistics", _tool_stats, "read"),
    ApiRoute(
        "GET",
        "/v1/turns",
        "Turns of a day",
        _turns,
        HISTORY,
        errors=(400, 404),
        query={"day": {"type": "string", "format": "date"}, **_FILTER_QUERY},
    ),
    ApiRoute(
        "GET",
        "/v1/turns/search",
        "Turns that contain these words",
        _search_turns,
        HISTORY,
        errors=(400, 404),
        query={"words": {"type": "string", "minLength": 1, "maxLength": _MAX_QUERY_CHARS}, **_FILTER_QUERY},
    ),
    _shown("/v1/settings", "Editable settings", _list_settings, "settings"),
    ApiRoute(
        "PATCH", "/v1/settings", "Change settings", _change_settings, "settings", body=SettingsBody, errors=(404,)
    ),
)
