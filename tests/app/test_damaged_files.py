"""A damaged state file never stops the assistant: it is set aside or skipped, and what follows is kept."""

from __future__ import annotations

import dataclasses
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from edgevox.agents.memory_file import FILE_NAME as MEMORY_FILE
from edgevox.agents.memory_file import MemoryFile
from edgevox.core.errors import StateError
from edgevox.core.metrics import FILE_NAME as TURNS_FILE
from edgevox.core.metrics import TurnLog, TurnMetrics
from edgevox.home.alarms.alarms import ALARMS_FILE, Alarms
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.home.alarms.watches import WATCHES_FILE, Condition, Watches
from edgevox.home.backends.demo import HOME_FILE, DemoHome
from edgevox.home.backends.ducked_players import DUCKED_FILE, HomeWithDuckedPlayers
from edgevox.home.backends.local_lists import LISTS_FILE, HomeWithLocalLists
from edgevox.llm.prefix_cache import SnapshotStore
from edgevox.satellites.hub import MUTED_FILE, SatelliteHub
from edgevox.speakers.people import PEOPLE_FILE, People
from edgevox.tools.builtin.documents import DOCUMENTS_FILE, DocumentIndex
from edgevox.tools.mcp.approvals import APPROVALS_FILE, Approvals
from edgevox.tools.mcp.config import StdioServer
from edgevox.tools.plugins.manager import START_ERRORS_FILE, PluginStartErrors
from edgevox.tools.results import STATS_FILE, ToolStats

DEEP = 10_000
SERVER = StdioServer("notes", "notes-server", ())
RECORD = TurnMetrics("t1", "2026-01-01T12:00:00.000+00:00", "text", "home", "hello", "hi", "ok", None, 10.0)


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def flipped(whole: bytes) -> bytes:
    """One letter of a text is another: still JSON, and of the right shape."""
    at = whole.index(b"egg") if b"egg" in whole else len(whole) // 2
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _whole: b"",
    "cut": cut,
    "random bytes": lambda whole: random.Random(1).randbytes(len(whole)),
    "zeros": lambda whole: bytes(len(whole)),
    "another shape": lambda _whole: b'{"timers": {"a": [1, null]}, "alarms": "x", "approved": 7, "at": {}}\n',
    "a list": lambda _whole: b"[1, 2]\n",
    "deeply nested": lambda _whole: b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"\n",
    "one wrong letter": flipped,
}


def timers(folder: Path) -> None:
    kept = Timers(lambda: 0.0, folder / TIMERS_FILE)
    kept.all()
    kept.start(60, name="eggs")
    assert [timer.name for timer in kept.all()][-1:] == ["eggs"]


def alarms(folder: Path) -> None:
    kept = Alarms(lambda: 0.0, folder / ALARMS_FILE)
    kept.all()
    kept.set("reminder", datetime(2030, 1, 1, 12, tzinfo=UTC), label="eggs")
    assert [alarm.label for alarm in kept.all()][-1:] == ["eggs"]


def demo_home(folder: Path) -> None:
    home = DemoHome(folder / HOME_FILE)
    assert home.house().entities
    with home._file.changing() as content:
        content.lists.setdefault("eggs", [])
    assert "eggs" in home._file.read().lists


def lists(folder: Path) -> None:
    home = HomeWithLocalLists(DemoHome(), folder / LISTS_FILE)
    with home._file.changing() as content:
        content.lists["eggs"] = []
    assert "eggs" in home._file.read().lists


def watches(folder: Path) -> None:
    kept = Watches(lambda: 0.0, folder / WATCHES_FILE)
    kept.all()
    condition = Condition(entity_ids=("sensor.eggs",), state="on", phrase="the eggs are done", fact="they are done")
    kept.add("tell", condition, "", is_repeating=False, is_met=False)
    assert [watch.condition for watch in kept.all()][-1:] == [condition]


def people(folder: Path) -> None:
    kept = People(folder / PEOPLE_FILE)
    with suppress(StateError):
        kept.all()
    kept.add("eggs", [np.ones(4, np.float32)])
    assert kept.find("eggs")


def ducked_players(folder: Path) -> None:
    home = HomeWithDuckedPlayers(DemoHome(), folder / DUCKED_FILE)
    with home._file.changing() as content:
        content.players = {}
    assert home.house().entities


def muted_satellites(folder: Path) -> None:
    hub = SatelliteHub(folder / MUTED_FILE)
    hub.is_muted("eggs")
    hub.mute("eggs", is_muted=True)
    assert hub.is_muted("eggs")


def stats(folder: Path) -> None:
    kept = ToolStats(folder)
    kept.summary()
    kept.count_offered(["eggs"])
    kept.save()
    assert ToolStats(folder).summary()["eggs"].offered >= 1


def approvals(folder: Path) -> None:
    kept = Approvals(folder / APPROVALS_FILE)
    kept.is_approved(SERVER)
    kept.approve(SERVER)
    assert Approvals(folder / APPROVALS_FILE).is_approved(SERVER)


def start_errors(folder: Path) -> None:
    kept = PluginStartErrors(folder / START_ERRORS_FILE)
    kept.read()
    kept.note({"eggs": "it has a mistake"})
    assert "eggs" in PluginStartErrors(folder / START_ERRORS_FILE).read()


def turns(folder: Path) -> None:
    kept = TurnLog(folder, max_bytes=1_000_000)
    kept.last()
    kept.between(0.0, 1e12)
    kept.append(dataclasses.replace(RECORD, heard="eggs"))
    last = TurnLog(folder, max_bytes=0).last()
    assert last is not None
    assert last.heard == "eggs"


def memory(folder: Path) -> None:
    file = MemoryFile.open(folder)
    file.count()
    file.close()


def documents(folder: Path) -> None:
    documents = folder / "documents"
    documents.mkdir(exist_ok=True)
    (documents / "a.txt").write_text("eggs and milk\n" * 200, encoding="utf-8")
    index = DocumentIndex(documents, folder / DOCUMENTS_FILE)
    for attempt in range(2):
        try:
            found = index.search("eggs")
        except StateError:
            assert attempt == 0
        else:
            assert found
            return


def snapshot(folder: Path) -> None:
    kept = SnapshotStore(folder, "model", max_bytes=10**6)
    state = kept.load([1, 2])
    assert state in (None, b"eggs" * 1000)
    kept.save([1, 2], b"eggs" * 1000)
    assert kept.load([1, 2]) == b"eggs" * 1000


FILES: dict[str, Callable[[Path], None]] = {
    TIMERS_FILE: timers,
    ALARMS_FILE: alarms,
    HOME_FILE: demo_home,
    LISTS_FILE: lists,
    WATCHES_FILE: watches,
    PEOPLE_FILE: people,
    DUCKED_FILE: ducked_players,
    MUTED_FILE: muted_satellites,
    STATS_FILE: stats,
    APPROVALS_FILE: approvals,
    START_ERRORS_FILE: start_errors,
    TURNS_FILE: turns,
    MEMORY_FILE: memory,
    DOCUMENTS_FILE: documents,
    "snapshot": snapshot,
}


def test_every_state_file_is_damaged_here_and_has_its_promise_in_the_guide() -> None:
    root = Path(__file__).parents[2]
    modules = [path.read_text(encoding="utf-8") for path in (root / "edgevox").rglob("*.py")]
    users = [text for text in modules if " StateFile(" in text]
    assert len(users) > 5
    written = {name for text in users for name in re.findall(r'^[A-Z_]+_FILE = "(.+)"$', text, re.MULTILINE)}
    assert written <= FILES.keys()
    guide = (root / "docs" / "guide" / "reliability.md").read_text(encoding="utf-8")
    assert [name for name in sorted(written) if f"`{name}`" not in guide] == []


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_neither_fatal_nor_silently_lost(name: str, tmp_path: Path) -> None:
    for number, (kind, damage) in enumerate(DAMAGE.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        FILES[name](folder)
        path = next(folder.glob("*.prefix")) if name == "snapshot" else folder / name
        for side_file in (f"{name}-wal", f"{name}-shm"):
            (folder / side_file).unlink(missing_ok=True)
        damaged = damage(path.read_bytes())
        path.write_bytes(damaged)
        FILES[name](folder)
        if path.suffix == ".json":
            assert [kept.read_bytes() for kept in folder.glob(f"{name}.damaged-*")] == [damaged], kind


def test_damaged_files_of_the_same_second_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / TIMERS_FILE
    for content in (b"1", b"2", b"3"):
        path.write_bytes(content)
        Timers(lambda: 0.0, path).all()
    assert {kept.read_bytes() for kept in tmp_path.glob(f"{TIMERS_FILE}.damaged-*")} == {b"1", b"2", b"3"}


def test_a_turn_after_a_cut_line_is_kept(tmp_path: Path) -> None:
    turns(tmp_path)
    path = tmp_path / TURNS_FILE
    path.write_bytes(path.read_bytes()[:-20])
    TurnLog(tmp_path, max_bytes=1_000_000).append(dataclasses.replace(RECORD, turn_id="next"))
    assert TurnLog(tmp_path, max_bytes=0).moments().keys() == {"next"}


def test_a_memory_with_a_damaged_page_is_set_aside(tmp_path: Path) -> None:
    memory(tmp_path)
    path = tmp_path / MEMORY_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + random.Random(2).randbytes(len(whole) - 4096))
    memory(tmp_path)
    assert len(list(tmp_path.glob(f"{MEMORY_FILE}.damaged-*"))) == 1
    with sqlite3.connect(path) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


def test_nothing_acknowledged_is_lost_when_the_program_is_killed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.power_cut", "--rounds", "5"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 kills, 5 starts" in done.stdout
    assert "0 lost writes, 0 failed starts, 0 damaged files" in done.stdout
