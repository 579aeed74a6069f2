"""Events as a client is told of them: one frame for each that the contract names."""

from __future__ import annotations

import dataclasses
import json

from edgevox.events import (
    AnswerHeard,
    ConfirmationDecided,
    ConfirmationRequired,
    EngineChanged,
    Event,
    InstantWordHeard,
    ReplyDelta,
    RingEnded,
    RingStarted,
    ToolCallWritten,
    ToolFinished,
    ToolStarted,
    TranscriptReady,
    TurnEnded,
    TurnStarted,
)
from edgevox.metrics import TurnRecord
from edgevox.types import JsonObject, Transcript


def frame_of(event: Event, *, may_answer: bool = False) -> JsonObject | None:
    """The frame; None for what clients are not told. A turn's end is `done_frame`."""
    match event:
        case TurnStarted(turn_id=turn_id, source=source):
            return {"type": "turn_begin", "turn_id": turn_id, "source": source}
        case TranscriptReady(turn_id=turn_id, text=text, language=language, dropped=dropped):
            return _transcript(text, language, dropped, turn_id)
        case ReplyDelta(turn_id=turn_id, text=text):
            return {"type": "token", "turn_id": turn_id, "text": text}
        case ToolCallWritten():
            return {
                "type": "tool_call_delta",
                "turn_id": event.turn_id,
                "call_id": event.call_id,
                "name": event.name,
                "arguments_delta": event.arguments_delta,
            }
        case ToolStarted():
            return {
                "type": "tool_call",
                "turn_id": event.turn_id,
                "call_id": event.call_id,
                "name": event.name,
                "arguments": json.loads(event.arguments),
            }
        case ToolFinished():
            return {
                "type": "tool_result",
                "turn_id": event.turn_id,
                "call_id": event.call_id,
                "name": event.name,
                "is_error": event.code is not None,
                "code": event.code,
                "content": event.content,
                "elapsed_ms": round(event.elapsed_s * 1000, 1),
            }
        case ConfirmationRequired():
            return {
                "type": "confirmation_required",
                "turn_id": event.turn_id,
                "token": event.token,
                "name": event.name,
                "question": event.question,
                "level": event.level,
                "may_answer": may_answer,
            }
        case AnswerHeard():
            return {
                "type": "answer_heard",
                "turn_id": event.turn_id,
                "token": event.token,
                "text": event.text,
                "answer": event.answer,
            }
        case ConfirmationDecided():
            return {
                "type": "confirmation_decided",
                "turn_id": event.turn_id,
                "token": event.token,
                "granted": event.granted,
                "why": event.why,
            }
        case InstantWordHeard(turn_id=turn_id, word=word):
            return {"type": "instant_word", "turn_id": turn_id, "word": word}
        case _:
            return shared_frame_of(event)


def shared_frame_of(event: Event) -> JsonObject | None:
    """The same for what everybody is told, whose ever conversation it is: engines, and what rings."""
    match event:
        case EngineChanged(engine=engine, state=state, detail=detail):
            return {"type": "engine", "engine": engine, "state": state, "detail": detail}
        case RingStarted(ring_id=ring_id, kind=kind, text=text):
            return {"type": "ring", "ring_id": ring_id, "kind": kind, "text": text, "is_ringing": True}
        case RingEnded(ring_id=ring_id, kind=kind):
            return {"type": "ring", "ring_id": ring_id, "kind": kind, "text": "", "is_ringing": False}
        case _:
            return None


def partial_frame(heard: Transcript) -> JsonObject:
    """What was understood up to a pause, before it is a turn's."""
    return {**_transcript(heard.text, heard.language, None, None), "final": False}


def done_frame(ended: TurnEnded, record: TurnRecord) -> JsonObject:
    """The end of a turn, with what is kept of it."""
    return {
        "type": "done",
        "turn_id": ended.turn_id,
        "outcome": ended.outcome,
        "heard": record.heard,
        "reply": ended.reply,
        "error_code": ended.error_code,
        "error": ended.error,
        "hint": ended.hint,
        "waterfall": waterfall(record),
    }


def waterfall(record: TurnRecord) -> JsonObject:
    return {
        "total_ms": record.total_ms,
        "transcribed_early_ms": record.transcribed_early_ms,
        "prompt_tokens": record.prompt_tokens,
        "cached_tokens": record.cached_tokens,
        "generated_tokens": record.generated_tokens,
        "stages": [dataclasses.asdict(stage) for stage in record.stages],
    }


def _transcript(text: str, language: str, dropped: str | None, turn_id: str | None) -> JsonObject:
    return {
        "type": "transcript",
        "text": text,
        "final": True,
        "turn_id": turn_id,
        "language": language,
        "dropped": dropped,
    }
