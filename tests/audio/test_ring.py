"""The ring, against a plain queue that does the same."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edgevox.audio.io.streams import RingBuffer

STEPS = st.lists(st.tuples(st.sampled_from(["write", "read"]), st.integers(0, 40)), max_size=60)


@given(capacity=st.integers(1, 32), steps=STEPS)
def test_what_is_read_is_what_was_written_and_every_loss_is_counted(
    capacity: int, steps: list[tuple[str, int]]
) -> None:
    ring, queue = RingBuffer(capacity), deque[float]()
    dropped = written = 0
    for action, count in steps:
        if action == "write":
            samples = np.arange(written, written + count, dtype=np.float32)
            written += count
            fits = min(count, capacity - len(queue))
            assert ring.write(samples) == fits
            queue.extend(samples[:fits].tolist())
            dropped += count - fits
        else:
            out = np.full(count, np.nan, dtype=np.float32)
            there = min(count, len(queue))
            assert ring.read_into(out) == there
            assert out.tolist() == [queue.popleft() for _ in range(there)] + [0.0] * (count - there)
        assert (ring.available, ring.room) == (len(queue), capacity - len(queue))
        assert ring.dropped_samples == dropped


def test_two_threads_pass_everything_on_in_order() -> None:
    count = 20_000
    ring, received = RingBuffer(1024), np.zeros(count, dtype=np.float32)

    def write() -> None:
        sent = 0
        while sent < count:
            upcoming = np.arange(sent, min(count, sent + 300), dtype=np.float32)
            sent += ring.write(upcoming[: ring.room])

    writer = threading.Thread(target=write)
    writer.start()
    got = 0
    while got < count:
        got += ring.read_into(received[got : got + 257])
    writer.join(10)
    assert np.array_equal(received, np.arange(count, dtype=np.float32))
    assert ring.dropped_samples == 0


def test_it_reads_into_one_channel_of_many() -> None:
    ring, frames = RingBuffer(8), np.ones((4, 2), dtype=np.float32)
    ring.write(np.array([1, 2, 3], dtype=np.float32))
    ring.read_into(frames[:, 0])
    assert frames[:, 0].tolist() == [1, 2, 3, 0]
