from __future__ import annotations

import asyncio
import errno

import pytest

from edgevox.core.events import Bus, EngineChanged, Event


def event(name: str) -> EngineChanged:
    return EngineChanged(engine=name, state="ready")


def test_every_listener_receives_every_event_while_subscribed() -> None:
    bus = Bus()
    heard: list[Event] = []
    bus.publish(event("before"))
    with bus.listening(heard.append):
        bus.publish(event("during"))
    bus.publish(event("after"))
    assert [e.engine for e in heard if isinstance(e, EngineChanged)] == ["during"]


async def test_a_slow_reader_loses_the_oldest_events_and_their_count_is_known() -> None:
    bus = Bus()
    with bus.subscription(capacity=2) as events:
        for name in "abcd":
            bus.publish(event(name))
        assert events.lost == 2
        async with asyncio.timeout(5):
            stream = aiter(events)
            kept = [await anext(stream), await anext(stream)]
    assert [e.engine for e in kept if isinstance(e, EngineChanged)] == ["c", "d"]


def test_a_listener_that_cannot_print_disturbs_nobody_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    bus, heard = Bus(), list[Event]()

    def print_to_a_full_disk(_event: Event) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with bus.listening(print_to_a_full_disk), bus.listening(heard.append):
        bus.publish(event("a"))
        bus.publish(event("b"))
    assert len(heard) == 2
    (record,) = caplog.records
    assert "No space left" in record.message
    assert not record.exc_info


def test_a_closed_pipe_ends_the_program() -> None:
    bus = Bus()

    def print_to_nobody(_event: Event) -> None:
        raise BrokenPipeError

    with bus.listening(print_to_nobody), pytest.raises(BrokenPipeError):
        bus.publish(event("a"))
