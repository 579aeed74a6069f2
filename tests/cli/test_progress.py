"""Download rates and remaining times, with a fake clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edgevox.models import BytesReceived, PullEvent
from edgevox.models.download import ProgressMeter


class Download:
    """A meter, its clock, and what it reported."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.events: list[PullEvent] = []
        self._meter = ProgressMeter("tiny", "tiny.gguf", self.events.append, clock_s=lambda: self.now_s)

    def at(self, now_s: float, bytes_done: int, bytes_total: int | None = 1000) -> None:
        self.now_s = 100.0 + now_s
        self._meter.update(bytes_done, bytes_total)

    @property
    def received(self) -> Iterator[BytesReceived]:
        return (event for event in self.events if isinstance(event, BytesReceived))

    @property
    def last(self) -> BytesReceived:
        return list(self.received)[-1]


@pytest.fixture
def download() -> Download:
    return Download()


def test_the_rate_and_the_time_left_follow_from_the_bytes(download: Download) -> None:
    download.at(0, 0)
    download.at(2, 200)
    assert download.last == BytesReceived("tiny", "tiny.gguf", 200, 1000, rate_bytes_s=100, left_s=8)


def test_bytes_of_an_earlier_attempt_do_not_count_for_the_rate(download: Download) -> None:
    download.at(0, 800)
    download.at(1, 850)
    assert (download.last.rate_bytes_s, download.last.left_s) == (50, 3)


def test_the_rate_is_that_of_the_last_seconds(download: Download) -> None:
    for second in range(10):
        download.at(second, 10 * second)
    for second in range(10, 20):
        download.at(second, 100 + 50 * (second - 10))
    assert download.last.rate_bytes_s == 50


def test_events_are_few_but_the_last_one_always_comes(download: Download) -> None:
    for step in range(1, 1001):
        download.at(step / 1000, step)
    counts = [event.bytes_done for event in download.received]
    assert len(counts) <= 12
    assert counts[-1] == 1000


def test_without_a_total_no_time_left_is_claimed(download: Download) -> None:
    download.at(0, 0, None)
    download.at(1, 100, None)
    assert download.last.left_s is None
