"""Atomic writes: a file is complete or unchanged, and readable by its owner only."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.core.files import Folders, leftover_partials, make_private, write_atomic

ENDED_WHILE_IT_WRITES = """
import os, signal, sys
from pathlib import Path
from edgevox.core.files import write_atomic
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_atomic(Path(sys.argv[1]), "half")
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_parts_are_concatenated_and_missing_folders_created(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomic(path, "grün ", b"\x00\xff", " end\n")
    assert path.read_bytes() == "grün ".encode() + b"\x00\xff end\n"


def test_a_failed_write_keeps_the_old_file_and_leaves_no_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fails(handle: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="full"):
        write_atomic(path, "new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "old")]


def test_existing_files_and_the_folders_above_them_become_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file"
    before = os.umask(0o022)
    try:
        write_atomic(path, "1")
        assert [mode_of(found) for found in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]
        path.chmod(0o644)
        write_atomic(path, "2")
    finally:
        os.umask(before)
    assert mode_of(path) == 0o600


def test_what_an_earlier_version_left_readable_is_tightened_at_the_start(tmp_path: Path, folders: Folders) -> None:
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    outside.chmod(0o644)
    inside = folders.state / "deep" / "turns.jsonl"
    for path in (inside, folders.config_file):
        path.parent.mkdir(parents=True)
        path.write_text("what was said")
        path.chmod(0o644)
    (folders.state / "link").symlink_to(outside)
    before = os.umask(0o022)
    try:
        make_private(folders)
    finally:
        os.umask(before)
    assert [mode_of(path) for path in (inside, inside.parent, folders.state)] == [0o600, 0o700, 0o700]
    assert [mode_of(path) for path in (folders.config_file, folders.config)] == [0o600, 0o700]
    assert mode_of(outside) == 0o644


def test_a_symlink_stays_a_symlink(tmp_path: Path) -> None:
    kept, link = tmp_path / "dotfiles" / "file", tmp_path / "file"
    kept.parent.mkdir()
    link.symlink_to(kept)
    write_atomic(link, "through the link")
    assert link.is_symlink()
    assert kept.read_text() == "through the link"


def test_leftover_partials_of_a_killed_process_are_found(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, "old")
    write_atomic(tmp_path / "other", "of no concern")
    ended = subprocess.run([sys.executable, "-c", ENDED_WHILE_IT_WRITES, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert [left.read_text() for left in leftover_partials(path)] == ["half"]


def test_a_write_is_synced_before_and_after_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    sync, rename = os.fsync, os.replace

    def synced(handle: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")
        sync(handle)

    def renamed(source: str, target: str) -> None:
        steps.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    write_atomic(tmp_path / "file", "new")
    assert steps == ["sync file", "rename", "sync folder"]


def test_a_new_folder_is_synced_in_the_one_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    write_atomic(tmp_path / "new" / "deep" / "file", "1")
    assert synced[:2] == [tmp_path.stat().st_ino, (tmp_path / "new").stat().st_ino]
