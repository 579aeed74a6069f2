"""Files inside packages of an npm registry on loopback, and of packages that are installed here."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from threading import Thread

import pytest

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed
from edgevox.models import Manifest, ModelEntry, ModelFile, ModelStore, PackagePart, PackageSource, sha256_of
from edgevox.models.manifest import NpmSource
from tests.models.conftest import CONTENT, NAME, sha256
from tests.models.wheels import LETTERS, overwritten

PATH = "/@some/voices/-/voices-1.0.0.tgz"


@dataclass
class Registry:
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, registry: Registry, *args: object) -> None:
        self.registry = registry
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.registry.asked.append(self.path)
        content = self.registry.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_args: object) -> None:
        """Silent."""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    registry = Registry()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, registry)) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        yield registry
        server.shutdown()


def packed(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"package/{name}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def store_of(
    folder: Path, source: NpmSource | PackageSource, digest: str, size_bytes: int = len(CONTENT)
) -> ModelStore:
    file = ModelFile(name=NAME, bytes=size_bytes, sha256=digest, sources=(source,))
    return ModelStore(folder, Manifest(models=(ModelEntry(id="tiny", kind="llm", licence="MIT", files=(file,)),)))


def npm(path: str = f"voices/{NAME}") -> NpmSource:
    return NpmSource(kind="npm", package="@some/voices", version="1.0.0", path=path)


def test_a_file_is_taken_out_of_its_npm_package(registry: Registry, tmp_path: Path) -> None:
    registry.files[PATH] = packed(f"voices/{NAME}", CONTENT)
    assert store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny").read_bytes() == CONTENT
    assert registry.asked == [PATH]
    assert not (tmp_path / ".work" / "tiny").exists()


def test_a_file_that_another_model_has_is_not_downloaded_again(registry: Registry, tmp_path: Path) -> None:
    registry.files[PATH] = packed(f"voices/{NAME}", CONTENT)
    store = store_of(tmp_path, npm(), sha256(CONTENT))
    twin = store.manifest.models[0].model_copy(update={"id": "twin"})
    both = ModelStore(tmp_path, store.manifest.joined_with(Manifest(models=(twin,))))
    assert both.pull("tiny").samefile(both.pull("twin"))
    assert len(registry.asked) == 1
    both.verify("twin")
    both.remove("tiny")
    assert both.path("twin").read_bytes() == CONTENT


def test_a_missing_package_a_missing_file_and_a_damaged_package_are_told_apart(
    registry: Registry, tmp_path: Path
) -> None:
    with pytest.raises(ModelDownloadFailed, match=r"did not give @some/voices 1\.0\.0: .*404"):
        store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny")
    for damaged in (b"no archive", overwritten(packed(f"voices/{NAME}", LETTERS))):
        registry.files[PATH] = damaged
        with pytest.raises(ModelDownloadFailed, match="arrived damaged"):
            store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny")
    registry.files[PATH] = packed("other", CONTENT)
    with pytest.raises(ModelDownloadFailed, match=f"has no file voices/{NAME}"):
        store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny")


def test_the_registry_is_that_of_npm_and_without_one_the_hint_says_what_to_set(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.files[PATH] = packed(f"voices/{NAME}", CONTENT)
    address = os.environ["npm_config_registry"]  # noqa: SIM112  (npm's own name)
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelDownloadFailed, match="no npm registry") as failed:
        store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny")
    assert "npm_config_registry" in str(failed.value.hint)
    program = tmp_path / "npm"
    program.write_text(f"#!/bin/sh\necho {address}\n")
    program.chmod(0o755)
    assert store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny").read_bytes() == CONTENT


def test_a_file_with_another_digest_is_refused(registry: Registry, tmp_path: Path) -> None:
    registry.files[PATH] = packed(f"voices/{NAME}", CONTENT[::-1])
    with pytest.raises(ChecksumMismatch):
        store_of(tmp_path, npm(), sha256(CONTENT)).pull("tiny")
    assert not (tmp_path / "tiny" / NAME).exists()


def test_an_installed_package_of_the_same_version_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    version = metadata.version("hibari-tts")
    original = Path(str(metadata.distribution("hibari-tts").locate_file("hibari/assets/vocab.json")))
    part = PackagePart(package="hibari-tts", version=version, path="hibari/assets/vocab.json")
    source = PackageSource(kind="package", parts=(part,))
    content, digest = original.read_bytes(), sha256_of(original)
    assert store_of(tmp_path / "same", source, digest, len(content)).pull("tiny").read_bytes() == content
