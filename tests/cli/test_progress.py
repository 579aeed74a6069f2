"""Download rates and remaining times, with a fake clock."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from edgevox.cli.ui.progress import PullView
from edgevox.models import BytesReceived, PullMessage


class Download:
    """A view without a terminal, its clock, and what it printed."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._output = io.StringIO()
        console = Console(file=self._output, width=200)
        self._view = PullView(Progress(console=console, disable=True, get_time=lambda: self.now_s))

    def at(self, now_s: float, bytes_done: int, bytes_total: int | None = 1000) -> None:
        self.now_s = 100.0 + now_s
        self._view.show(BytesReceived("tiny", "tiny.gguf", bytes_done, bytes_total))

    def message(self, text: str) -> None:
        self._view.show(PullMessage("tiny", text))

    @property
    def lines(self) -> list[str]:
        return self._output.getvalue().splitlines()


@pytest.fixture
def download() -> Download:
    return Download()


def test_the_rate_and_the_time_left_follow_from_the_bytes(download: Download) -> None:
    download.at(0, 0)
    download.at(5, 100)
    download.at(10, 200)
    assert download.lines[-1] == "tiny: tiny.gguf: 200 B of 1 kB, 20 B/s, 40 s left"


def test_bytes_of_an_earlier_attempt_do_not_count_for_the_rate(download: Download) -> None:
    download.at(0, 800)
    download.at(5, 825)
    download.at(10, 850)
    assert "5 B/s, 30 s left" in download.lines[-1]


def test_the_rate_is_that_of_the_last_seconds(download: Download) -> None:
    for second in range(100):
        download.at(second, 10 * second, 10_000)
    for second in range(100, 151):
        download.at(second, 1000 + 50 * (second - 100), 10_000)
    assert "50 B/s" in download.lines[-1]


def test_lines_are_few_but_the_last_one_always_comes(download: Download) -> None:
    for step in range(1, 1001):
        download.at(step / 50, step)
    assert len(download.lines) <= 4
    assert download.lines[-1].startswith("tiny: tiny.gguf: 1 kB of 1 kB")


def test_without_a_total_no_time_left_is_claimed(download: Download) -> None:
    download.at(0, 0, None)
    download.at(5, 50, None)
    download.at(10, 100, None)
    assert download.lines[-1] == "tiny: tiny.gguf: 100 B, 10 B/s"


def test_messages_name_the_model(download: Download) -> None:
    download.message("complete")
    assert download.lines == ["tiny: complete"]
