"""benchmarks/unsynced_writes.py finds a program that forgets to sync, and none that does not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.unsynced_writes import WORKLOADS, Record, build, check_cut, losses, read_trace

STEPS = {
    "write": '1 openat(AT_FDCWD<{root}>, "{new}", O_WRONLY|O_CREAT|O_TRUNC, 0600) = 3<{new}>\n'
    '1 write(3<{new}>, "{text}", 4) = 4\n',
    "sync file": "1 fsync(3<{new}>) = 0\n",
    "rename": '1 rename("{new}", "{name}") = 0\n',
    "sync folder": "1 fsync(4<{root}>) = 0\n",
}


def record(*steps: str) -> Record:
    text = {"root": "/made/up", "new": "/made/up/new", "name": "/made/up/name", "text": "word"}
    written = {key: "".join(f"\\x{letter:02x}" for letter in value.encode()) for key, value in text.items()}
    lines = "".join(STEPS[step].format(**written) for step in steps)
    return read_trace(iter(lines.splitlines(keepends=True)), Path("/made/up"))


def found(made: Record, folder: Path) -> set[str | None]:
    """What the file may hold after all steps; None where it is not there."""
    contents: set[str | None] = set()
    for seed in range(20):
        for number, loss in enumerate(losses(random.Random(seed)).values()):
            place = folder / f"{seed}-{number}"
            build(made.root_node, place, made.length, loss)
            name = place / "name"
            contents.add(name.read_text() if name.exists() else None)
    return contents


def test_a_write_that_is_synced_at_every_step_is_never_lost(tmp_path: Path) -> None:
    assert found(record("write", "sync file", "rename", "sync folder"), tmp_path) == {"word"}


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        (("write", "rename", "sync folder"), ""),
        (("write", "sync file", "rename"), None),
        (("write", "rename", "sync file"), None),
    ],
    ids=["content", "name", "name behind the content"],
)
def test_what_is_not_synced_may_be_lost(steps: tuple[str, ...], lost: str | None, tmp_path: Path) -> None:
    assert lost in found(record(*steps), tmp_path)


def test_an_acknowledged_write_that_is_lost_is_found() -> None:
    made = record("write")
    made.acknowledged.append((made.length, "timer 1"))
    with pytest.raises(AssertionError, match="lost: timer"):
        check_cut(WORKLOADS["stores"], made, made.length, losses(random.Random(1))["nothing is lost"])
