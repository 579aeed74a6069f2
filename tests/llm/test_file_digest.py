"""A file's digest is computed once, and again after the file has changed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from edgevox.llm.prefix_cache import DigestCache


def test_the_digest_is_the_files_own(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"weights")
    assert DigestCache(tmp_path).sha256(tmp_path / "model") == hashlib.sha256(b"weights").hexdigest()


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").write_bytes(b"weights")
    first = DigestCache(tmp_path).sha256(tmp_path / "model")
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert DigestCache(tmp_path).sha256(tmp_path / "model") == first


def test_a_file_that_changed_has_another_digest(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"weights")
    first = DigestCache(tmp_path).sha256(path)
    path.write_bytes(b"others!")
    os.utime(path, ns=(1, 1))
    assert DigestCache(tmp_path).sha256(path) != first


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"%s": 3}'])
def test_a_damaged_cache_is_ignored(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"weights")
    (tmp_path / "digests.json").write_text(broken.replace("%s", str(path)))
    assert DigestCache(tmp_path).sha256(path) == hashlib.sha256(b"weights").hexdigest()
