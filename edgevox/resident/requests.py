"""What the assistant does for whoever speaks to it over the socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, assert_never

from edgevox.agents.confirm import Agreement
from edgevox.control.protocol import Ask, Mute, Reload, Request, Say, Status, Stop, Talk, Unmute, Watch
from edgevox.control.server import Dialogue
from edgevox.control.sound import sound_notes
from edgevox.errors import ControlError, OtherSettings
from edgevox.events import (
    AttentionChanged,
    ConfirmationRequired,
    ReplyDelta,
    SpeechDropped,
    SpeechStarted,
    TranscriptReady,
    TurnEnded,
    TurnStarted,
)
from edgevox.resident.watching import watch
from edgevox.settings import Settings
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import CancelFlag, Turn
from edgevox.types import Audio, JsonObject
from edgevox.voice import Pipeline

if TYPE_CHECKING:
    from edgevox.resident.resident import Resident, Session

# Whoever has pressed the button and says nothing for so long has changed their mind.
_SPEAKS_WITHIN_S = 8.0
_ANSWERED_WITHIN_S = 120.0
_NOTHING = {"outcome": "dropped", "reply": "", "error": "nobody said anything"}


async def answer(resident: Resident, request: Request, dialogue: Dialogue) -> JsonObject:
    """Do it; what is returned is how it ended. Raises EdgevoxError."""
    match request:
        case Status():
            return status(resident)
        case Watch():
            return await watch(resident, dialogue, partial(status, resident))
        case Mute():
            resident.mute(is_muted=True)
            return {}
        case Unmute():
            resident.mute(is_muted=False)
            return {}
        case Reload():
            return {"changed": await resident.reload()}
        case Stop():
            return {"stopped": _session(resident).loop.pipeline.act_on("stop")}
        case Talk():
            return await _talk(resident, dialogue)
        case Ask():
            _check(resident.settings, request.overrides)
            return await _ask(_session(resident), request, dialogue)
        case Say():
            _check(resident.settings, request.overrides)
            return await _say(_session(resident), request, dialogue)
        case _:
            assert_never(request)


def status(resident: Resident) -> JsonObject:
    """How it is: what it does, its devices, its engines, the last turn, and what is wrong."""
    session = resident.session
    record = (session.daemon.records.last if session else None) or resident.last_record
    if session:
        session.daemon.try_to_record_again()
    problem = session.daemon.record_problem if session else None
    return dict(resident.board.facts()) | {
        "attention": session.loop.wakefulness.attention if session else None,
        "is_muted": resident.is_muted,
        "preset": resident.settings.preset,
        "last_turn": {
            "at": record.at,
            "heard": record.heard,
            "reply": record.reply,
            "outcome": record.outcome,
            "total_ms": record.total_ms,
        }
        if record and resident.settings.records.keep_text
        else None,
        "trouble": {"message": problem.message, "hint": problem.hint} if problem else None,
    }


def _session(resident: Resident) -> Session:
    if resident.session is None:
        raise ControlError("the assistant is starting", hint="try again in a moment")
    return resident.session


def _check(settings: Settings, overrides: JsonObject) -> None:
    """Refuse what is wanted with other settings: whoever wants them has to load their own model."""
    for name, wanted in overrides.items():
        value: object = settings
        for part in name.split("."):
            value = getattr(value, part, None)
        if json.dumps(value, default=str) != json.dumps(wanted, default=str):
            raise OtherSettings(f"the assistant that runs has another {name}")


# --- ask


async def _ask(session: Session, request: Ask, dialogue: Dialogue) -> JsonObject:
    turn = Turn()
    daemon = session.daemon
    pipeline = daemon.pipeline()
    with daemon.bus.subscription() as events:
        answering = asyncio.create_task(pipeline.answer(request.text, turn))
        try:
            async with _answers(pipeline, request, dialogue):
                async for event in events:
                    match event:
                        case ReplyDelta(turn_id=turn.id, text=text):
                            await dialogue.tell("delta", text=text)
                        case ConfirmationRequired(turn_id=turn.id, question=question):
                            await dialogue.tell("question", text=question)
                        case TurnEnded(turn_id=turn.id):
                            break
            result = await answering
        finally:
            turn.cancel.set()
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
    record = daemon.records.last
    return {
        "turn_id": turn.id,
        "preset": daemon.preset.name,
        **result.told(),
        "timings_ms": record.timings_ms if record and record.turn_id == turn.id else {},
    }


@asynccontextmanager
async def _answers(pipeline: Pipeline, request: Ask, dialogue: Dialogue) -> AsyncIterator[None]:
    """Take the client's yes or no while the block runs, where somebody sits there."""
    if not request.can_answer:
        yield
        return

    async def take() -> None:
        while (said := await dialogue.answers.get()) is not None:
            if question := pipeline.asking.open:
                granted = said.get("granted") is True
                why = f"the user typed {'yes' if granted else 'no'}"
                question.answer(Agreement(granted=granted, channel="keyboard", why=why))

    with pipeline.asking.answerable("keyboard"):
        taking = asyncio.create_task(take())
        try:
            yield
        finally:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)


# --- say


async def _say(session: Session, request: Say, dialogue: Dialogue) -> JsonObject:
    cancel = CancelFlag()
    try:
        async with aclosing(_sounds(session, request.text, cancel)) as sounds:
            if request.where == "here":
                async for sound in sounds:
                    for note in sound_notes(sound):
                        await dialogue.tell("sound", **note)
            elif (mouth := session.loop.pipeline.mouth) is not None:
                await mouth.play(sounds, cancel, lambda: None)
            else:
                raise ControlError("the assistant that runs has no loudspeaker", hint="edgevox say -o FILE")
    finally:
        cancel.set()
    return {}


async def _sounds(session: Session, text: str, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
    splitter = SentenceSplitter()
    voice = session.daemon.voice()
    for sentence in (*splitter.feed(text), *splitter.finish()):
        async with aclosing(voice.speak(sentence, cancel)) as pieces:
            async for piece in pieces:
                yield piece


# --- talk


async def _talk(resident: Resident, dialogue: Dialogue) -> JsonObject:
    """Listen to one utterance and answer it, muted or not."""
    session = _session(resident)
    was_muted = resident.is_muted
    resident.mute(is_muted=False)
    try:
        with session.daemon.bus.subscription() as events:
            session.loop.wakefulness.talk()
            await dialogue.tell("listening", is_muted=was_muted)
            async with asyncio.timeout(_SPEAKS_WITHIN_S) as patience:
                async for event in events:
                    match event:
                        case SpeechStarted() | TurnStarted():
                            patience.reschedule(asyncio.get_running_loop().time() + _ANSWERED_WITHIN_S)
                        case TranscriptReady(text=text) if text:
                            await dialogue.tell("heard", text=text)
                        case ReplyDelta(text=text):
                            await dialogue.tell("delta", text=text)
                        case TurnEnded(outcome=outcome, reply=reply, error=error):
                            return {"outcome": outcome, "reply": reply, "error": error}
                        case SpeechDropped(reason=reason):
                            return _NOTHING | {"error": reason}
                        case AttentionChanged(attention="asleep"):
                            return _NOTHING
                        case _:
                            pass
    except TimeoutError:
        pass
    finally:
        if was_muted:
            resident.mute(is_muted=True)
    return _NOTHING
