"""`edgevox forget`: afterwards the words are in no file of the state folder."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import json
import time
from pathlib import Path

import pytest

from edgevox.agents.memory import ConversationStore
from edgevox.agents.memory_file import FILE_NAME as MEMORY_FILE
from edgevox.agents.memory_file import MemoryBroken, MemoryFile
from edgevox.cli.commands.history import parse_time
from edgevox.cli.main import main
from edgevox.config import MemorySettings
from edgevox.core.errors import ConfigError
from edgevox.core.metrics import TurnLog, TurnMetrics
from edgevox.core.types import Message, ToolCall
from edgevox.home import WORD_STORES, Action, Alarms, DemoHome, Timers, Verb
from edgevox.home.alarms.alarms import ALARMS_FILE
from edgevox.home.alarms.timers import TIMERS_FILE
from edgevox.home.backends.demo import HOME_FILE

SECRET = "rumpelstiltskin"
HOUR_S = 3600.0
NOW = dt.datetime(2026, 3, 5, 12, 0).astimezone()


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # tracebacks of real commands stay
    return tmp_path / "state"


def say(folder: Path, text: str, *, turn_id: str, ago_s: float = 0.0) -> None:
    """One turn as the assistant leaves it: in the memory, in the log, and where its call put the words."""
    at_s = time.time() - ago_s
    call = ToolCall("1", "shopping_list_add_item", json.dumps({"item": text}))
    with ConversationStore.open(folder, MemorySettings(), clock=lambda: at_s) as store:
        conversation = store.conversation(turn_id)
        turn = (
            Message("user", f"Add {text}."),
            Message("assistant", "", (call,)),
            Message("tool", f"added {text}", tool_call_id="1"),
            Message("assistant", f"{text} is on the list."),
        )
        conversation.keep(turn, turn_id=turn_id)
    log(folder, text, turn_id=turn_id, ago_s=ago_s)
    do(folder, "add_item", "todo.shopping_list", item=text)


def log(folder: Path, text: str, *, turn_id: str, ago_s: float = 0.0) -> None:
    at = (dt.datetime.now().astimezone() - dt.timedelta(seconds=ago_s)).isoformat(timespec="milliseconds")
    record = TurnMetrics(turn_id, at, "voice", "p", text, text, "answered", None, 1.0, 0, 0, 0)
    TurnLog(folder, max_bytes=100_000).append(record)


def do(folder: Path, verb: Verb, entity_id: str, **values: object) -> None:
    home = DemoHome(folder / HOME_FILE)
    entity = home.house().entity(entity_id)
    assert entity is not None
    asyncio.run(home.apply(Action(verb, (entity,), values)))


def items(folder: Path) -> list[str]:
    return [item.text for item in asyncio.run(DemoHome(folder / HOME_FILE).items("todo.shopping_list"))]


def holders(folder: Path, word: str) -> list[str]:
    """The files whose bytes or names hold the word."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in paths if word.encode() in path.read_bytes().lower() + path.name.encode()]


def test_after_forget_all_a_secret_is_in_no_file(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(40):
        say(state_folder, f"{SECRET} {number}", turn_id=f"t{number}")
    with ConversationStore.open(state_folder, MemorySettings()) as store:
        conversation = store.conversation()
        conversation.keep((Message("user", "Hello."), Message("assistant", "Hello.")))
        conversation.forget_oldest(1)
        conversation.turns_to_summarise()
        conversation.set_summary(f"They spoke of {SECRET}.")
    timers = Timers(time.time, state_folder / TIMERS_FILE)
    timers.start(600, name=SECRET, command=f"play {SECRET}")
    alarms = Alarms(time.time, state_folder / ALARMS_FILE)
    alarms.set_in("reminder", 600, label=SECRET)
    do(state_folder, "play", "media_player.kitchen", search_query=SECRET)
    leave_behind(state_folder)
    places = {MEMORY_FILE, HOME_FILE, TIMERS_FILE, ALARMS_FILE, "turns.jsonl", "turns.jsonl.1"}
    assert places <= set(holders(state_folder, SECRET))

    assert main(["forget", "--all", "--yes"]) == 0
    assert holders(state_folder, SECRET) == []
    assert "41 turns" in capsys.readouterr().out
    (timer,) = timers.all()
    assert (timer.name, timer.command) == ("", "")
    assert timer.remaining_s(time.time()) > 500
    assert [alarm.label for alarm in alarms.all()] == [""]


def leave_behind(folder: Path) -> None:
    """What crashes, power cuts and broken files leave."""
    for name in (
        "turns.jsonl.1",
        ".turns.jsonl.x8fk2.partial",
        ".turns.jsonl.1.x8fk2.partial",
        f"{MEMORY_FILE}.broken",
        f"{MEMORY_FILE}.broken-wal",
        f"{TIMERS_FILE}.broken",
        f"{TIMERS_FILE}.damaged-20260101-120000",
        f".{ALARMS_FILE}.x8fk2.partial",
        f".{HOME_FILE}.x8fk2.partial",
        "prompts/0123.prefix",
        "prompts/.0123.prefix.x8fk2.partial",
        "documents.sqlite3",
        "documents.sqlite3-wal",
    ):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"… {SECRET} …\n", encoding="utf-8")


@pytest.mark.parametrize("name", [MEMORY_FILE, HOME_FILE, TIMERS_FILE, ALARMS_FILE, "turns.jsonl"])
def test_a_broken_file_is_forgotten_too(state_folder: Path, name: str) -> None:
    state_folder.mkdir()
    (state_folder / name).write_text(f"{{ {SECRET}" * 100, encoding="utf-8")
    assert main(["forget", "--all", "--yes"]) == 0
    assert holders(state_folder, SECRET) == []


def test_a_part_cannot_be_forgotten_in_a_file_that_broke_and_that_is_said(
    state_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(state_folder, SECRET, turn_id="t0")
    (state_folder / MEMORY_FILE).write_text(SECRET * 100, encoding="utf-8")
    assert main(["forget", "--since", "1h", "--yes"]) == 6
    assert f"{MEMORY_FILE}.damaged-" in capsys.readouterr().err
    assert "turns.jsonl" not in holders(state_folder, SECRET)


def test_a_memory_that_breaks_while_it_is_forgotten_is_deleted_all_the_same(
    state_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(state_folder, SECRET, turn_id="t0")

    def breaks(_file: MemoryFile, **_times: float) -> int:
        raise MemoryBroken("malformed")

    monkeypatch.setattr(MemoryFile, "delete", breaks)
    assert main(["forget", "--all", "--yes"]) == 0
    assert holders(state_folder, SECRET) == []


def test_the_last_turns_are_forgotten_with_what_they_put_into_lists(
    state_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, word in enumerate(("apples", "Pears", SECRET)):
        say(state_folder, word, turn_id=f"t{number}", ago_s=100 - number)
    assert main(["forget", "--last", "2", "--yes"]) == 0
    assert holders(state_folder, SECRET) == holders(state_folder, "pears") == []
    assert {MEMORY_FILE, HOME_FILE, "turns.jsonl"} <= set(holders(state_folder, "apples"))
    assert items(state_folder) == ["milk", "bread", "apples"]
    assert capsys.readouterr().out == "deleted: 2 turns, 2 log records, 2 list items or titles\n"


def test_the_last_turn_may_be_in_the_log_alone(state_folder: Path) -> None:
    say(state_folder, "apples", turn_id="t0", ago_s=60)
    log(state_folder, SECRET, turn_id="t1")  # a turn that failed is not remembered
    assert main(["forget", "--last", "1", "--yes"]) == 0
    assert holders(state_folder, SECRET) == []
    assert MEMORY_FILE in holders(state_folder, "apples")


def test_what_was_said_since_a_moment_is_forgotten(state_folder: Path) -> None:
    say(state_folder, "apples", turn_id="t0", ago_s=3 * HOUR_S)
    say(state_folder, SECRET, turn_id="t1", ago_s=HOUR_S)
    assert main(["forget", "--since", "2h", "--yes"]) == 0
    assert holders(state_folder, SECRET) == []
    assert {MEMORY_FILE, "turns.jsonl"} <= set(holders(state_folder, "apples"))


def test_what_is_too_old_is_deleted_at_the_next_start(state_folder: Path) -> None:
    say(state_folder, SECRET, turn_id="t0", ago_s=31 * 24 * HOUR_S)
    say(state_folder, "apples", turn_id="t1", ago_s=29 * 24 * HOUR_S)
    ConversationStore.open(state_folder, MemorySettings(retention_days=30), stores=WORD_STORES).close()
    assert holders(state_folder, SECRET) == [HOME_FILE]  # a list is its owner's
    assert {MEMORY_FILE, "turns.jsonl"} <= set(holders(state_folder, "apples"))


def test_one_place_that_fails_does_not_save_the_others(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say(state_folder, SECRET, turn_id="t0")
    (state_folder / TIMERS_FILE).mkdir()
    assert main(["forget", "--all", "--yes"]) == 6
    assert TIMERS_FILE in capsys.readouterr().err
    assert holders(state_folder, SECRET) == []


@pytest.mark.parametrize(("answer", "exit_code", "left"), [("y\n", 0, False), ("\n", 1, True), ("", 1, True)])
def test_a_person_is_asked_first(
    state_folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str, exit_code: int, left: bool
) -> None:
    say(state_folder, SECRET, turn_id="t0")
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert main(["forget", "--all"]) == exit_code
    assert bool(holders(state_folder, SECRET)) is left


def test_a_program_must_say_yes(
    state_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say(state_folder, SECRET, turn_id="t0")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["forget", "--all"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert holders(state_folder, SECRET)


@pytest.mark.parametrize("words", [["--all"], ["--last", "3"], ["--since", "today"]])
def test_where_nothing_is_kept_nothing_happens(
    state_folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["forget", *words, "--yes"]) == 0
    assert capsys.readouterr().out == "nothing to delete\n"
    assert not state_folder.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", NOW - dt.timedelta(minutes=90)),
        ("2 h", NOW - dt.timedelta(hours=2)),
        ("3d", NOW - dt.timedelta(days=3)),
        ("999999d", dt.datetime.fromtimestamp(0, dt.UTC)),
        ("today", NOW.replace(hour=0)),
        ("Yesterday", NOW.replace(day=4, hour=0)),
        ("09:30", NOW.replace(hour=9, minute=30)),
        ("2026-02-01", NOW.replace(month=2, day=1, hour=0)),
        ("2026-02-01T08:15", NOW.replace(month=2, day=1, hour=8, minute=15)),
        ("2026-02-01T08:15:00+00:00", dt.datetime(2026, 2, 1, 8, 15, tzinfo=dt.UTC)),
    ],
)
def test_a_moment_can_be_written_in_many_ways(text: str, expected: dt.datetime) -> None:
    assert parse_time(text, NOW.timestamp()) == expected.timestamp()


@pytest.mark.parametrize("text", ["", "soon", "5", "2h30", "25:00", "2026-13-01", "-3d", "9" * 5000 + "d"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="invalid time"):
        parse_time(text, NOW.timestamp())


def test_forget_all_deletes_tracebacks_in_the_temporary_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crash, other = tmp_path / "edgevox-abc.traceback", tmp_path / "notes.traceback"
    crash.write_text(SECRET)
    other.write_text("")
    assert main(["forget", "--all", "--yes"]) == 0
    assert "1 file" in capsys.readouterr().out
    assert not crash.exists()
    assert other.exists()
