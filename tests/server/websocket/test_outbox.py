"""What waits to be sent: in order, bounded, and sound in it can be taken back."""

from __future__ import annotations

import asyncio

import pytest

from edgevox.server.websocket.audio import Outbox
from edgevox.server.websocket.protocol import CloseCode, CloseConnection
from edgevox.server.websocket.session import TokenBucket
from tests.server.websocket.harness import until

BOUND_S = 10


async def test_sound_is_taken_back_and_words_are_not() -> None:
    outbox, sent = Outbox(), list[str | bytes]()

    async def send(frame: str | bytes) -> None:
        sent.append(frame)

    outbox.put(b"a")
    outbox.send_frame({"type": "x"})
    outbox.put(b"b")
    outbox.drop_audio()
    outbox.put(b"c")
    running = asyncio.create_task(outbox.run(send))
    await until(lambda: len(sent) == 2)
    running.cancel()
    assert sent == ['{"type":"x"}', b"c"]


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    async def send(_frame: str | bytes) -> None:
        await asyncio.Event().wait()

    outbox = Outbox(read_within_s=0.05)
    outbox.put(b"a")
    with pytest.raises(CloseConnection) as caught:
        async with asyncio.timeout(BOUND_S):
            await outbox.run(send)
    assert caught.value.code == CloseCode.STALLED


async def test_no_more_is_kept_than_the_bound() -> None:
    outbox = Outbox(most_bytes=10)
    for _ in range(100):
        outbox.put(bytes(4))

    async def send(_frame: str | bytes) -> None:
        return

    with pytest.raises(CloseConnection) as caught:
        async with asyncio.timeout(BOUND_S):
            await outbox.run(send)
    assert caught.value.code == CloseCode.STALLED
    assert outbox.waiting_bytes <= 14


def test_an_allowance_fills_with_time_up_to_its_burst() -> None:
    now_s = [0.0]
    allowance = TokenBucket(per_s=2.0, burst=4.0, clock=lambda: now_s[0])
    assert allowance.take(4.0)
    assert not allowance.take(0.1)
    now_s[0] = 1.0
    assert allowance.take(1.8)
    now_s[0] = 100.0
    assert not allowance.take(4.1)


def test_a_long_reason_fits_into_a_close_frame() -> None:
    assert len(CloseConnection(CloseCode.FAULT, "ü" * 200).reason.encode()) <= 123
