"""Models bundled with EdgeVox: no network, the same checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed
from edgevox.core.files import data_path
from edgevox.models import Manifest, ModelStore
from tests.models.conftest import sha256

SHIPPED = "models/manifest.toml"


def store(folder: Path, *, path: str = SHIPPED, digest: str | None = None) -> ModelStore:
    content = data_path("models", "manifest.toml").read_bytes()
    file = {
        "name": "adapter.gguf",
        "bytes_about": len(content),
        "sha256": digest or sha256(content),
        "sources": [{"kind": "shipped", "path": path}],
    }
    entry = {"id": "ours", "kind": "llm", "licence": "Apache-2.0", "files": [file]}
    return ModelStore(folder, Manifest.model_validate({"models": [entry]}))


def test_a_shipped_file_is_pulled_without_a_network(tmp_path: Path) -> None:
    ours = store(tmp_path)
    assert ours.pull("ours").read_bytes() == data_path("models", "manifest.toml").read_bytes()
    ours.verify("ours")


def test_an_installation_without_the_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelDownloadFailed, match="missing from this installation"):
        store(tmp_path, path="models/gone.gguf").pull("ours")


def test_a_file_that_is_not_the_one_in_the_manifest_is_not_kept(tmp_path: Path) -> None:
    ours = store(tmp_path, digest="0" * 64)
    with pytest.raises(ChecksumMismatch):
        ours.pull("ours")
    assert not ours.has("ours")


def test_a_newer_installation_brings_its_own_file(tmp_path: Path) -> None:
    store(tmp_path).pull("ours")
    newer = store(tmp_path, path="presets/generic.toml", digest=sha256(_generic()))
    assert not newer.has("ours")
    assert newer.pull("ours").read_bytes() == _generic()


def _generic() -> bytes:
    return data_path("presets", "generic.toml").read_bytes()
