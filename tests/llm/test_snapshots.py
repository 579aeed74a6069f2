"""A snapshot is loaded only if everything about it matches; otherwise it is ignored."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import llama_cpp
import pytest

from edgevox.llm.engine import LlamaEngine
from edgevox.llm.prefix_cache import SnapshotStore

KEY = "model"
TOKENS = [1, 5, 9]
STATE = bytes(range(256)) * 40
PLENTY = 10**9


def store(folder: Path, key: str = KEY, max_bytes: int = PLENTY) -> SnapshotStore:
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


def test_a_snapshot_with_another_key_is_ignored(tmp_path: Path) -> None:
    other = "another model"
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


def engine_on(folder: Path) -> LlamaEngine:
    for name in ("model", "adapter"):
        (folder / name).write_bytes(b"weights")
        os.utime(folder / name, ns=(1, 1))
    return LlamaEngine(folder / "model", adapter_path=folder / "adapter")


def write_again(path: Path | None) -> None:
    assert path is not None
    path.write_bytes(b"others!")
    os.utime(path, ns=(2, 2))


@pytest.mark.parametrize(
    "change",
    [
        lambda engine: write_again(engine.model_path),
        lambda engine: write_again(engine.adapter_path),
        lambda engine: setattr(engine, "model_path", engine.adapter_path),
        lambda engine: setattr(engine, "adapter_path", None),
        lambda engine: setattr(engine, "adapter_scale", 0.5),
        lambda engine: setattr(engine, "kv_type", "q8_0"),
    ],
    ids=["model changed", "adapter changed", "another model", "no adapter", "adapter scale", "KV type"],
)
def test_the_key_depends_on_everything_that_shapes_a_state(
    tmp_path: Path, change: Callable[[LlamaEngine], None]
) -> None:
    engine = engine_on(tmp_path)
    first = engine.snapshot_key("template")
    assert engine_on(tmp_path).snapshot_key("template") == first
    change(engine)
    assert engine.snapshot_key("template") != first


def test_the_key_depends_on_the_template(tmp_path: Path) -> None:
    engine = engine_on(tmp_path)
    assert engine.snapshot_key("template") != engine.snapshot_key("another")


def test_a_snapshot_of_another_llama_cpp_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path).save(TOKENS, STATE)
    monkeypatch.setattr(llama_cpp, "__version__", "another")
    assert store(tmp_path).load(TOKENS) is None
