"""Handles control requests: status, watch, mute, talk, ask, say, stop and reload."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import assert_never

from edgevox.agents.tool_loop import Agreement
from edgevox.app.control.protocol import Ask, Request, Say, SimpleRequest, audio_to_notes, event_to_note
from edgevox.app.control.server import ControlConnection
from edgevox.app.service import AssistantService, ServiceSession
from edgevox.config import Settings
from edgevox.core import events
from edgevox.core.errors import ControlError, OtherSettings
from edgevox.core.turn import CancelFlag, Turn, background_task
from edgevox.core.types import JsonObject
from edgevox.dialogue import Pipeline
from edgevox.tools.policy import USER_SAID_NO

_LEVEL_EVERY_S = 0.1
_STATUS_EVERY_S = 1.0


async def _watch(service: AssistantService, connection: ControlConnection) -> JsonObject:
    """Send status, levels and events across sessions, until cancelled because the client disconnected."""
    while True:
        await connection.send("status", **status(service))
        if service.session is None:
            await asyncio.sleep(_LEVEL_EVERY_S)
        else:
            await _watch_session(service, service.session, connection)


async def _watch_session(service: AssistantService, session: ServiceSession, connection: ControlConnection) -> None:
    level_due_s = status_due_s = time.monotonic()
    with session.runtime.bus.subscription() as subscription:
        while service.session is session:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEVEL_EVERY_S):
                    event = await subscription.next()
                record = session.runtime.records.last
                if isinstance(event, events.TurnEnded) and record is not None and record.turn_id == event.turn_id:
                    await connection.send("turn", record=dataclasses.asdict(record))
                await connection.send("event", **event_to_note(event))
            now_s = time.monotonic()
            if now_s >= level_due_s:
                level_due_s = now_s + _LEVEL_EVERY_S
                await connection.send("level", dbfs=round(float(session.sound.level_dbfs), 1))
            if now_s >= status_due_s:
                status_due_s = now_s + _STATUS_EVERY_S
                await connection.send("status", **status(service))


# Timeout for speech to start after `talk`.
_SPEAKS_WITHIN_S = 8.0
_ANSWERED_WITHIN_S = 120.0
_NOTHING = {"outcome": "dropped", "reply": "", "error": "no speech"}


async def handle_request(service: AssistantService, request: Request, connection: ControlConnection) -> JsonObject:
    """Execute a request and return the content of `done`. Raises EdgevoxError."""
    match request:
        case SimpleRequest(do="status"):
            return status(service)
        case SimpleRequest(do="watch"):
            return await _watch(service, connection)
        case SimpleRequest(do="mute" | "unmute"):
            service.mute(is_muted=request.do == "mute")
            return {}
        case SimpleRequest(do="reload"):
            return {"changed": await service.reload()}
        case SimpleRequest(do="stop"):
            return {"stopped": _session(service).loop.pipeline.act_on("stop")}
        case SimpleRequest():  # talk
            return await _talk(service, connection)
        case Ask():
            _check(service.settings, request.overrides)
            return await _ask(_session(service), request, connection)
        case Say():
            _check(service.settings, request.overrides)
            return await _say(_session(service), request, connection)
        case _:
            assert_never(request)


def status(service: AssistantService) -> JsonObject:
    """Return the status: state, devices, engines, last turn and problems."""
    session = service.session
    record = (session.runtime.records.last if session else None) or service.last_record
    if session:
        session.runtime.retry_recording()
    problem = session.runtime.record_problem if session else None
    last_turn = None
    if record and service.settings.records.keep_text:
        last_turn = {name: getattr(record, name) for name in ("at", "heard", "reply", "outcome", "total_ms")}
    return dict(service.status.facts()) | {
        "attention": session.loop.wake_state.attention if session else None,
        "is_muted": service.is_muted,
        "preset": service.settings.preset,
        "last_turn": last_turn,
        "trouble": {"message": problem.message, "hint": problem.hint} if problem else None,
    }


def _session(service: AssistantService) -> ServiceSession:
    if service.session is None:
        raise ControlError("the assistant is starting", hint="try again in a moment")
    return service.session


def _check(settings: Settings, overrides: JsonObject) -> None:
    """Raises OtherSettings if the request needs other settings than the running assistant has."""
    for name, wanted in overrides.items():
        value: object = settings
        for part in name.split("."):
            value = getattr(value, part, None)
        if json.dumps(value, default=str) != json.dumps(wanted, default=str):
            raise OtherSettings(f"the running assistant has another {name}")


# --- ask


async def _ask(session: ServiceSession, request: Ask, connection: ControlConnection) -> JsonObject:
    turn = Turn()
    runtime = session.runtime
    pipeline = runtime.pipeline()
    with runtime.bus.subscription() as subscription:
        async with background_task(pipeline.answer(request.text, turn)) as answering:
            try:
                async with _answers(pipeline, request, connection):
                    async for event in subscription:
                        match event:
                            case events.ReplyDelta(turn_id=turn.id, text=text):
                                await connection.send("delta", text=text)
                            case events.ConfirmationRequired(turn_id=turn.id, question=question):
                                await connection.send("question", text=question)
                            case events.TurnEnded(turn_id=turn.id):
                                break
                result = await answering
            finally:
                turn.cancel.set()
    record = runtime.records.last
    return {
        "turn_id": turn.id,
        "preset": runtime.preset.name,
        **result.as_json(),
        "timings_ms": record.timings_ms if record and record.turn_id == turn.id else {},
    }


@asynccontextmanager
async def _answers(pipeline: Pipeline, request: Ask, connection: ControlConnection) -> AsyncIterator[None]:
    """Accept the client's yes or no during the block, if it can answer."""

    async def read() -> None:
        while (answer := await connection.answers.get()) is not None:
            if question := pipeline.confirmation.open:
                granted = answer.get("granted") is True
                why = "the user said yes" if granted else USER_SAID_NO
                question.answer(Agreement(granted=granted, channel="keyboard", why=why))

    if not request.can_answer:
        yield
        return
    with pipeline.confirmation.answerable("keyboard"):
        async with background_task(read()):
            yield


# --- say


async def _say(session: ServiceSession, request: Say, connection: ControlConnection) -> JsonObject:
    cancel, runtime = CancelFlag(), session.runtime
    try:
        language = runtime.engines.voice_languages[0]
        async with aclosing(runtime.voice().speak_text(request.text, cancel, language)) as sounds:
            if request.where == "here":
                async for sound in sounds:
                    for note in audio_to_notes(sound):
                        await connection.send("sound", **note)
            elif (speech_output := session.loop.pipeline.speech_output) is not None:
                await speech_output.play(sounds, cancel, lambda: None)
            else:
                raise ControlError("the running assistant has no loudspeaker", hint="edgevox say -o FILE")
    finally:
        cancel.set()
    return {}


# --- talk


async def _talk(service: AssistantService, connection: ControlConnection) -> JsonObject:
    """Listen to one utterance and answer it, even if muted."""
    session = _session(service)
    was_muted = service.is_muted
    service.mute(is_muted=False)
    try:
        with session.runtime.bus.subscription() as subscription:
            session.loop.wake_state.talk()
            await connection.send("listening", is_muted=was_muted)
            async with asyncio.timeout(_SPEAKS_WITHIN_S) as patience:
                async for event in subscription:
                    match event:
                        case events.SpeechStarted() | events.TurnStarted():
                            patience.reschedule(asyncio.get_running_loop().time() + _ANSWERED_WITHIN_S)
                        case events.TranscriptReady(text=text) if text:
                            await connection.send("heard", text=text)
                        case events.ReplyDelta(text=text):
                            await connection.send("delta", text=text)
                        case events.TurnEnded(outcome=outcome, reply=reply, error=error):
                            return {"outcome": outcome, "reply": reply, "error": error}
                        case events.SpeechDropped(reason=reason):
                            return _NOTHING | {"error": reason}
                        case events.AttentionChanged(attention="asleep"):
                            return _NOTHING
                        case _:
                            pass
    except TimeoutError:
        pass
    finally:
        if was_muted:
            service.mute(is_muted=True)
    return _NOTHING
