from __future__ import annotations

import json

import pytest

from edgevox.app.control.protocol import event_from_note, event_to_note
from edgevox.core.events import EngineChanged, Event, RingStarted, SoundChanged, ToolStarted, TurnEnded

EVENTS: list[Event] = [
    TurnEnded(turn_id="t", outcome="answered", reply="Ja."),
    ToolStarted(turn_id="t", call_id="1", name="turn_on", arguments='{"name": "lamp"}'),
    EngineChanged(engine="llm", state="restarting", detail="died"),
    SoundChanged(device="microphone", is_there=False),
    RingStarted(ring_id="r", kind="timer", text="The timer is done."),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    note = {"kind": "event", **event_to_note(event)}
    assert note["kind"] == "event"
    assert event_from_note(json.loads(json.dumps(note))) == event


def test_what_this_version_does_not_know_is_passed_over() -> None:
    assert event_from_note({"event": "TeaReady", "at_s": 1.0}) is None
    assert event_from_note({"event": "TurnEnded", "at_s": 1.0}) is None
    known = event_from_note({**event_to_note(EVENTS[0]), "mood": "cheerful"})
    assert known == EVENTS[0]
