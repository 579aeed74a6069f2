"""A snapshot is loaded only if everything about it matches; otherwise it is ignored."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from edgevox.llm.prefix_cache import SnapshotKey, SnapshotStore

KEY = SnapshotKey("model", "", 1.0, "template", "f16", "llama.cpp 1")
TOKENS = [1, 5, 9]
STATE = bytes(range(256)) * 40
PLENTY = 10**9


def store(folder: Path, key: SnapshotKey = KEY, max_bytes: int = PLENTY) -> SnapshotStore:
    return SnapshotStore(folder / "prefixes", key, max_bytes=max_bytes)


def only_file(folder: Path) -> Path:
    (file,) = (folder / "prefixes").iterdir()
    return file


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    store(tmp_path).save(TOKENS, STATE)
    assert store(tmp_path).load(TOKENS) == STATE


def test_other_tokens_have_no_snapshot(tmp_path: Path) -> None:
    store(tmp_path).save(TOKENS, STATE)
    for tokens in ([], [1, 5], [1, 5, 8], [1, 5, 9, 2]):
        assert store(tmp_path).load(tokens) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, model_sha256="other"),
        replace(KEY, adapter_sha256="one"),
        replace(KEY, adapter_scale=0.5),
        replace(KEY, template_sha256="other"),
        replace(KEY, kv_type="q8_0"),
        replace(KEY, llama_build="llama.cpp 2"),
    ],
    ids=lambda key: next(name for name in SnapshotKey.__slots__ if getattr(key, name) != getattr(KEY, name)),
)
def test_a_snapshot_with_another_key_is_ignored(tmp_path: Path, other: SnapshotKey) -> None:
    store(tmp_path).save(TOKENS, STATE)
    assert store(tmp_path, other).load(TOKENS) is None
    # Not even when it lies under the right name.
    foreign = only_file(tmp_path).read_bytes()
    only_file(tmp_path).unlink()
    store(tmp_path, other).save(TOKENS, STATE)
    only_file(tmp_path).write_bytes(foreign)
    assert store(tmp_path, other).load(TOKENS) is None


def test_a_file_cut_anywhere_is_ignored(tmp_path: Path) -> None:
    store(tmp_path).save(TOKENS, STATE)
    whole = only_file(tmp_path).read_bytes()
    for length in range(0, len(whole), 97):
        only_file(tmp_path).write_bytes(whole[:length])
        assert store(tmp_path).load(TOKENS) is None
    only_file(tmp_path).write_bytes(whole + b"more")
    assert store(tmp_path).load(TOKENS) is None


def test_a_byte_that_changed_anywhere_is_noticed(tmp_path: Path) -> None:
    store(tmp_path).save(TOKENS, STATE)
    whole = only_file(tmp_path).read_bytes()
    for place in range(0, len(whole), 61):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        only_file(tmp_path).write_bytes(damaged)
        assert store(tmp_path).load(TOKENS) is None


def test_the_least_recently_used_snapshot_is_deleted(tmp_path: Path) -> None:
    small = store(tmp_path, max_bytes=len(STATE) * 5 // 2)
    small.save([1], STATE)
    small.save([2], STATE)
    for file in (tmp_path / "prefixes").iterdir():
        os.utime(file, (1000, 1000))
    assert small.load([1]) == STATE
    small.save([3], STATE)
    assert [small.load([token]) is not None for token in (1, 2, 3)] == [True, False, True]


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_snapshot(tmp_path: Path) -> None:
    (tmp_path / "prefixes").write_text("in the way")
    store(tmp_path).save(TOKENS, STATE)
    assert store(tmp_path).load(TOKENS) is None
