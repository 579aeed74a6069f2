"""The memory across restarts, crashes, damaged files and full disks."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from edgevox.agents.conversation import Conversation, TurnRecord
from edgevox.agents.forget import forget_all, forget_since
from edgevox.agents.memory import ConversationStore
from edgevox.agents.memory_file import FILE_NAME, MemoryFile
from edgevox.config import MemorySettings
from edgevox.core.errors import StateError
from edgevox.core.types import Message, ToolCall

NOW_S = 1_700_000_000.0
DAY_S = 86_400.0
CALL = ToolCall("a1b2c3d4e", "turn_on", '{"name": "Küche"}')
TURN = (
    Message("user", "Licht in der Küche, bitte."),
    Message("assistant", "Moment.", (CALL,)),
    Message("tool", "“on”\n", tool_call_id=CALL.id),
    Message("assistant", "Es ist an."),
)


class Clock:
    def __init__(self) -> None:
        self.now_s = NOW_S

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def numbered(number: int) -> tuple[Message, ...]:
    return (Message("user", f"question {number}"), Message("assistant", f"answer {number}"))


def stored(number: int, at_s: float) -> TurnRecord:
    return TurnRecord(str(number), "default", at_s, "text", "stop", numbered(number))


def summarised(conversation: Conversation) -> None:
    """Three turns, the first two of which left the prompt."""
    for number in range(3):
        conversation.keep(numbered(number))
    conversation.forget_oldest(2)
    assert conversation.turns_to_summarise() == (numbered(0), numbered(1))
    conversation.set_summary("of the first two")


def all_turns(folder: Path) -> list[TurnRecord]:
    """What is in the file, newest first."""
    file = MemoryFile.open_to_read(folder)
    assert file is not None
    with closing(file):
        return list(file.turns())


def holders(folder: Path, word: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]


def opened(folder: Path, clock: Clock, **settings: object) -> ConversationStore:
    return ConversationStore.open(folder, MemorySettings.model_validate(settings), clock=clock)


def test_a_conversation_continues_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        store.conversation().keep(TURN, turn_id="t1", source="voice", finish_reason="stop")
        store.conversation("kitchen").keep(numbered(1))
    clock.now_s += 300
    with opened(tmp_path, clock) as store:
        assert store.conversation().messages() == TURN
        assert store.conversation("kitchen").messages() == numbered(1)
        assert store.problem is None


def test_a_turn_is_kept_with_its_time_source_and_end(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        store.conversation().keep(TURN, turn_id="t1", source="voice", finish_reason="cancelled")
    assert all_turns(tmp_path) == [TurnRecord("t1", "default", NOW_S, "voice", "cancelled", TURN)]


def test_a_new_session_starts_without_old_turns(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        store.conversation().keep(numbered(1))
    clock.now_s += 601
    with opened(tmp_path, clock) as store:
        assert store.conversation().messages() == ()


def test_a_session_starts_after_the_last_long_silence(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        for number, minutes in enumerate((0, 2, 12, 1)):
            clock.now_s += minutes * 60
            store.conversation().keep(numbered(number))
    with opened(tmp_path, clock) as store:
        assert store.conversation().messages() == (*numbered(2), *numbered(3))


def test_at_most_max_turns_are_loaded(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        for number in range(6):
            store.conversation().keep(numbered(number))
    with opened(tmp_path, clock, max_turns=2) as store:
        assert store.conversation().messages() == (*numbered(4), *numbered(5))


def test_a_restart_restores_the_summary_instead_of_its_turns(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        summarised(store.conversation())
    with opened(tmp_path, clock) as store:
        note, *rest = store.conversation().messages()
        assert "of the first two" in note.content
        assert tuple(rest) == numbered(2)
        assert store.conversation().summary == "of the first two"
    clock.now_s += 601
    with opened(tmp_path, clock) as store:
        assert store.conversation().messages() == ()


def test_turns_are_deleted_when_they_are_too_old(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        summarised(store.conversation())
    clock.now_s += 29 * DAY_S
    with opened(tmp_path, clock, retention_days=30) as store:
        store.conversation().keep(numbered(3))
    clock.now_s += 2 * DAY_S
    opened(tmp_path, clock, retention_days=30).close()
    assert [turn.messages for turn in all_turns(tmp_path)] == [numbered(3)]
    assert holders(tmp_path, b"of the first two") == []


def test_with_memory_off_nothing_is_written(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path / "state", clock, enabled=False) as store:
        store.conversation().keep(TURN)
        assert store.conversation().messages() == TURN
        assert store.problem is None
    assert not (tmp_path / "state").exists()


def test_storing_a_turn_does_not_wait_for_a_locked_file(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        holder = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        conversation = store.conversation()
        conversation.keep(numbered(1), turn_id="1")  # nothing can be written now
        assert conversation.messages() == numbered(1)
        assert all_turns(tmp_path) == []
        holder.execute("ROLLBACK")
        holder.close()
    assert [turn.id for turn in all_turns(tmp_path)] == ["1"]


def test_two_programs_write_to_the_same_memory(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as one, opened(tmp_path, clock) as other:
        for number in range(20):
            (one if number % 2 else other).conversation().keep(numbered(number), turn_id=str(number))
    assert {turn.id for turn in all_turns(tmp_path)} == {str(number) for number in range(20)}


# --- forgetting, seen from a program that runs


@pytest.mark.parametrize("everything", [True, False])
def test_deleted_turns_leave_the_prompt_of_a_running_assistant(tmp_path: Path, clock: Clock, everything: bool) -> None:
    with opened(tmp_path, clock) as store:
        conversation = store.conversation()
        summarised(conversation)
        clock.now_s += 60
        conversation.keep(numbered(3))
        store.flush()
        if everything:
            assert forget_all(tmp_path).turns == 4
            assert conversation.messages() == ()
        else:
            assert forget_since(tmp_path, clock.now_s - 30).turns == 1
            assert conversation.messages()[1:] == numbered(2)
        conversation.keep(numbered(4))
    assert all_turns(tmp_path)[0].messages == numbered(4)


def test_bytes_are_gone_while_the_assistant_runs(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        for number in range(30):
            store.conversation().keep((Message("user", f"xylophone {number}"), Message("assistant", "Yes.")))
        store.flush()
        assert holders(tmp_path, b"xylophone")
        forget_all(tmp_path)
        assert holders(tmp_path, b"xylophone") == []
    assert holders(tmp_path, b"xylophone") == []


# --- crashes and broken files

KILLED = """
import os, signal, sys
from pathlib import Path
from edgevox.agents.memory_file import MemoryFile
from edgevox.agents.conversation import TurnRecord
from edgevox.core.types import Message
file = MemoryFile.open(Path(sys.argv[1]))
for number in range(5):
    turn = (Message("user", f"question {number}"), Message("assistant", f"answer {number}"))
    file.add(TurnRecord(str(number), "default", 1_700_000_000.0, "text", "stop", turn))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_written_survives_a_kill(tmp_path: Path, clock: Clock) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    with opened(tmp_path, clock) as store:
        assert store.conversation().messages()[-2:] == numbered(4)
        assert store.problem is None


def test_every_turn_is_synced_to_the_disk(tmp_path: Path) -> None:
    with closing(MemoryFile.open(tmp_path)) as file:
        (level,) = file._connection.execute("PRAGMA synchronous").fetchone()
    assert level == 2  # FULL


def test_a_truncated_log_costs_only_the_last_turns(tmp_path: Path, clock: Clock) -> None:
    file = MemoryFile.open(tmp_path)
    for number in range(10):
        file.add(stored(number, NOW_S))
    log = (tmp_path / f"{FILE_NAME}-wal").read_bytes()
    main = (tmp_path / FILE_NAME).read_bytes()
    file.close()
    seen = set()
    for length in range(0, len(log), 1500):
        folder = tmp_path / str(length)
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(main)
        (folder / f"{FILE_NAME}-wal").write_bytes(log[:length])
        with opened(folder, clock) as store:
            assert store.problem is None
            store.conversation().keep(numbered(99))
        kept = [turn.id for turn in all_turns(folder)][1:]
        assert kept == [str(number) for number in reversed(range(len(kept)))]
        seen.add(len(kept))
    assert {0, 9} <= seen


@pytest.mark.parametrize(
    "content",
    [b"not a database" * 100, b"\0" * 5000, b"SQLite format 3\0" + b"x" * 5000, None],
    ids=["text", "zeros", "header", "torn"],
)
def test_a_damaged_file_is_set_aside_and_a_new_one_created(tmp_path: Path, clock: Clock, content: bytes | None) -> None:
    with opened(tmp_path, clock) as store:
        for number in range(200):
            store.conversation().keep(numbered(number))
    path = tmp_path / FILE_NAME
    if content is None:
        whole = path.read_bytes()
        content = whole[:8192] + os.urandom(len(whole) - 8192)
    path.write_bytes(content)
    with opened(tmp_path, clock) as store:
        assert store.problem is not None
        assert "was damaged" in store.problem.message
        store.conversation().keep(numbered(1))
        assert store.conversation().messages() == numbered(1)
    [kept] = tmp_path.glob(f"{FILE_NAME}.damaged-*")
    assert kept.read_bytes() == content
    assert [turn.messages for turn in all_turns(tmp_path)] == [numbered(1)]
    with opened(tmp_path, clock) as store:
        assert store.problem is None


def test_a_foreign_database_is_set_aside(tmp_path: Path, clock: Clock) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("CREATE TABLE turns (x)")
    connection.commit()
    connection.close()
    with opened(tmp_path, clock) as store:
        assert store.problem is not None
        assert len(list(tmp_path.glob(f"{FILE_NAME}.damaged-*"))) == 1


def test_a_corrupt_byte_anywhere_crashes_nothing(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        for number in range(20):
            store.conversation().keep(numbered(number))
    whole = (tmp_path / FILE_NAME).read_bytes()
    for number, position in enumerate(range(0, len(whole), 397)):
        folder = tmp_path / str(number)
        folder.mkdir()
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        (folder / FILE_NAME).write_bytes(damaged)
        with opened(folder, clock) as store:
            conversation = store.conversation()
            conversation.messages()
            conversation.keep(numbered(99))
            assert conversation.messages()[-2:] == numbered(99)


def test_an_unreadable_turn_is_skipped(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        for number in range(3):
            store.conversation().keep(numbered(number), turn_id=str(number))
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("UPDATE turns SET messages = '[{\"role' WHERE id = '1'")
    connection.commit()
    connection.close()
    with opened(tmp_path, clock) as store:
        assert store.conversation().messages() == (*numbered(0), *numbered(2))


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path, clock: Clock) -> None:
    opened(tmp_path, clock).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with opened(tmp_path, clock) as store:
        assert store.problem is not None
        assert "newer version" in store.problem.message
        store.conversation().keep(TURN)
        assert store.conversation().messages() == TURN
    assert (tmp_path / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("folder", ["/proc/edgevox", "/dev/null/edgevox"])
def test_a_folder_that_cannot_be_written_is_reported_and_the_conversation_works(folder: str, clock: Clock) -> None:
    with opened(Path(folder), clock) as store:
        store.conversation().keep(TURN)
        assert store.conversation().messages() == TURN
        assert store.problem is not None
        assert "EDGEVOX_STATE_DIR" in store.problem.hint


def test_a_write_that_fails_is_reported_until_the_next_succeeds(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        other.execute("CREATE TRIGGER full BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'full'); END")
        conversation = store.conversation()
        conversation.keep(numbered(1), turn_id="1")
        conversation.keep(numbered(2), turn_id="2")
        store.flush()
        first = store.problem
        other.execute("DROP TRIGGER full")
        other.close()
        conversation.keep(numbered(3), turn_id="3")
        assert conversation.messages() == (*numbered(1), *numbered(2), *numbered(3))
    assert "full" in str(first)
    assert store.problem is None
    assert "3" in [turn.id for turn in all_turns(tmp_path)]


def test_a_deleted_file_is_created_again_and_the_conversation_continues(tmp_path: Path, clock: Clock) -> None:
    changes: list[StateError | None] = []
    folder = tmp_path / "state"
    with ConversationStore.open(folder, MemorySettings(), clock=clock, on_change=changes.append) as store:
        conversation = store.conversation()
        conversation.keep(numbered(1), turn_id="1")
        store.flush()
        shutil.rmtree(folder)
        conversation.keep(numbered(2), turn_id="2")
        store.flush()
        assert store.problem is None
        conversation.keep(numbered(3), turn_id="3")
        assert conversation.messages() == (*numbered(1), *numbered(2), *numbered(3))
    assert [change and "was deleted" in change.message for change in changes] == [True, None]
    assert [turn.id for turn in all_turns(folder)] == ["3", "2"]


def test_turns_deleted_from_the_new_file_leave_the_prompt(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "state"
    with opened(folder, clock) as store:
        conversation = store.conversation()
        conversation.keep(numbered(1), turn_id="1")
        store.flush()
        shutil.rmtree(folder)
        conversation.keep(numbered(2), turn_id="2")
        store.flush()
        with closing(MemoryFile.open(folder)) as file:
            file.delete()
        assert conversation.messages() == ()


def test_retry_notices_free_space_without_a_turn(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path, clock) as store:
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        other.execute("CREATE TRIGGER full BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'full'); END")
        store.conversation().keep(numbered(1))
        store.flush()
        assert store.problem is not None
        other.execute("DROP TRIGGER full")
        other.close()
        store.retry()
        store.flush()
        assert store.problem is None


def test_only_the_spoken_part_of_an_interrupted_reply_is_stored(tmp_path: Path, clock: Clock) -> None:
    with ConversationStore.open(tmp_path, MemorySettings(), clock=clock) as store:
        conversation = store.conversation()
        conversation.keep(TURN, turn_id="lit")
        conversation.keep(numbered(1))
        conversation.amend_reply("lit", "Es ist…", finish_reason="interrupted")
    wanted = (*TURN[:-1], Message("assistant", "Es ist…"), *numbered(1))
    with ConversationStore.open(tmp_path, MemorySettings(), clock=clock) as store:
        assert store.conversation().messages() == wanted
    file = MemoryFile.open_to_read(tmp_path)
    assert file is not None
    with closing(file):
        assert [turn.finish_reason for turn in file.turns()] == ["stop", "interrupted"]


def test_amending_does_not_restore_a_deleted_turn(tmp_path: Path) -> None:
    with closing(MemoryFile.open(tmp_path)) as file:
        file.add(stored(1, NOW_S))
        file.delete()
        file.amend(stored(1, NOW_S))
        assert file.count() == 0
