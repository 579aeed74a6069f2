"""The models folder: present and missing models, and disk errors."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed, ModelError, ModelMissing
from edgevox.models import BytesReceived, HubSource, Manifest, ModelEntry, ModelFile, ModelStore, Progress
from edgevox.models.background import DownloadStopped, ModelDownloads
from tests.hub_server import HubServer
from tests.models.conftest import CONTENT, MANIFEST_TEXT, NAME, REPO, sha256

OpenStore = Callable[..., ModelStore]

PULL = """
import sys
from pathlib import Path
from edgevox.core.errors import EdgevoxError
from edgevox.models import ModelStore, read_manifest
store = ModelStore(Path(sys.argv[1]), read_manifest(Path(sys.argv[2])))
try:
    store.pull("tiny", lambda event: print(event, flush=True))
except EdgevoxError as error:
    print(f"{type(error).__name__}: {error.message}", flush=True)
"""
ANSWER_LIMIT_S = 60


class Endless:
    """A store whose download has no end but the one that `progress` makes."""

    def __init__(self) -> None:
        self.has_begun, self.has_ended = threading.Event(), threading.Event()

    def pull(self, model_id: str, progress: Progress) -> None:
        try:
            for number in range(1_000):
                progress(BytesReceived(model_id, NAME, number, None))
                self.has_begun.set()
                time.sleep(0.01)
        except DownloadStopped:
            self.has_ended.set()
            raise


def test_a_download_in_the_background_ends_with_the_program() -> None:
    store = Endless()

    async def serve() -> None:
        ModelDownloads().start(cast("ModelStore", store), "tiny")
        await asyncio.to_thread(store.has_begun.wait)

    asyncio.run(serve())
    assert store.has_ended.is_set()


class Puller:
    """Another process that pulls `tiny` into the same folder."""

    def __init__(self, folder: Path, server: HubServer, before: Callable[[], None] | None = None) -> None:
        manifest = folder.parent / "manifest.toml"
        manifest.write_text(MANIFEST_TEXT)
        self._process = subprocess.Popen(
            [sys.executable, "-c", PULL, str(folder), str(manifest)],
            env={**os.environ, "HF_ENDPOINT": server.endpoint},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,
        )

    def wait_for(self, word: str) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if word in line:
                return
        raise AssertionError(f"{word} never came: {self._process.communicate(timeout=ANSWER_LIMIT_S)}")

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def result(self) -> str:
        output, _ = self._process.communicate(timeout=ANSWER_LIMIT_S)
        return output


def test_a_missing_model_is_reported_with_a_hint(hub_store: ModelStore) -> None:
    assert not hub_store.has("tiny")
    assert hub_store.installed() == ()
    with pytest.raises(ModelMissing) as caught:
        hub_store.path("tiny")
    assert caught.value.hint == "edgevox models pull tiny"


def test_lookup_creates_no_folder(hub_store: ModelStore) -> None:
    hub_store.has("tiny")
    assert not hub_store.folder.exists()


def test_a_downloaded_model_is_not_requested_again(hub_store: ModelStore, hub_server: HubServer) -> None:
    hub_store.ensure(["tiny"])
    hub_server.requests.clear()
    hub_store.ensure(["tiny"])
    assert hub_server.requests == []
    assert hub_store.installed() == ("tiny",)


def test_a_recogniser_is_a_folder_and_a_voice_its_first_file(tmp_path: Path) -> None:
    source = HubSource(kind="hub", repo=REPO, file=NAME)
    files = tuple(ModelFile(name=name, bytes=1, sources=(source,)) for name in ("a.onnx", "a.onnx.json"))
    manifest = Manifest(
        models=(
            ModelEntry(id="ear", kind="stt", licence="MIT", files=files),
            ModelEntry(id="mouth", kind="tts", licence="MIT", files=files),
        )
    )
    store = ModelStore(tmp_path, manifest)
    for model_id in ("ear", "mouth"):
        (tmp_path / model_id).mkdir()
        for file in files:
            (tmp_path / model_id / file.name).write_bytes(b"x")
    assert store.path("ear") == tmp_path / "ear"
    assert store.path("mouth") == tmp_path / "mouth" / "a.onnx"


def test_a_file_of_the_wrong_size_is_not_there_and_is_fetched_again(hub_store: ModelStore) -> None:
    path = hub_store.pull("tiny")
    path.write_bytes(CONTENT[:-1])
    assert not hub_store.has("tiny")
    assert hub_store.pull("tiny").read_bytes() == CONTENT


def test_a_changed_file_is_found_by_verify(hub_store: ModelStore) -> None:
    path = hub_store.pull("tiny")
    hub_store.verify("tiny")
    path.write_bytes(CONTENT[::-1])
    with pytest.raises(ChecksumMismatch, match=sha256(CONTENT)) as caught:
        hub_store.verify("tiny")
    assert "models remove tiny" in caught.value.hint


def test_a_file_put_there_by_hand_cannot_be_verified(hub_store: ModelStore) -> None:
    (hub_store.folder / "tiny").mkdir(parents=True)
    (hub_store.folder / "tiny" / NAME).write_bytes(CONTENT)
    assert hub_store.has("tiny")
    with pytest.raises(ModelError, match="not downloaded by EdgeVox"):
        hub_store.verify("tiny")


def test_a_removed_model_is_gone(hub_store: ModelStore) -> None:
    hub_store.pull("tiny")
    hub_store.remove("tiny")
    assert not hub_store.has("tiny")
    assert not (hub_store.folder / "tiny").exists()
    with pytest.raises(ModelMissing):
        hub_store.remove("tiny")


def test_remove_deletes_incomplete_downloads(open_hub_store: OpenStore, hub_server: HubServer) -> None:
    hub_server.cut_after = [1000]
    store = open_hub_store(retries=0)
    with pytest.raises(ModelDownloadFailed):
        store.pull("tiny")
    store.remove("tiny")
    assert not (store.folder / ".work" / "tiny").exists()


def test_a_model_that_cannot_fit_is_refused_before_it_is_fetched(
    open_hub_store: OpenStore, hub_server: HubServer
) -> None:
    source = HubSource(kind="hub", repo=REPO, file=NAME)
    file = ModelFile(name=NAME, bytes_about=10**18, sources=(source,))
    manifest = Manifest(models=(ModelEntry(id="huge", kind="llm", licence="MIT", files=(file,)),))
    with pytest.raises(ModelDownloadFailed, match="1000000000000000000 bytes") as caught:
        open_hub_store(manifest).pull("huge")
    assert "EDGEVOX_MODELS_DIR" in caught.value.hint
    assert hub_server.requests == []


def test_a_full_disk_is_reported_and_its_space_freed(hub_server: HubServer, tmp_path: Path) -> None:
    def small_files_only() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    folder = tmp_path / "models"
    output = Puller(folder, hub_server, before=small_files_only).result()
    assert "the disk of" in output
    assert "is full" in output
    assert not (folder / "tiny").exists()
    assert not (folder / ".work" / "tiny").exists()


def test_a_folder_that_cannot_be_written_is_named(hub_manifest: Manifest, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = ModelStore(tmp_path / "file" / "models", hub_manifest)
    with pytest.raises(ModelDownloadFailed, match="cannot use the folder") as caught:
        store.pull("tiny")
    assert "EDGEVOX_MODELS_DIR" in caught.value.hint


def test_an_unreadable_folder_is_named(hub_manifest: Manifest, tmp_path: Path) -> None:
    store = ModelStore(tmp_path / ("long" * 100), hub_manifest)
    with pytest.raises(ModelError, match="cannot use the folder"):
        store.has("tiny")


@pytest.mark.parametrize("damage", [b"", b'{"models": ', b"[" * 10_000, b"\xff\x00", b'{"models": []}'])
def test_a_damaged_lock_file_is_set_aside_and_rebuilt_from_the_files(
    hub_store: ModelStore, caplog: pytest.LogCaptureFixture, damage: bytes
) -> None:
    hub_store.pull("tiny")
    digest = hub_store.sha256("tiny")
    lock = hub_store.folder / "lock.json"
    lock.write_bytes(damage)
    assert hub_store.path("tiny").exists()
    hub_store.verify("tiny")
    assert hub_store.sha256("tiny") == digest
    [kept] = hub_store.folder.glob("lock.json.damaged-*")
    assert kept.read_bytes() == damage
    assert len([record for record in caplog.records if "is damaged" in record.message]) == 1


def test_the_second_of_two_pulls_waits_and_finds_it_done(hub_server: HubServer, tmp_path: Path) -> None:
    hub_server.hold_after = 1000
    first = Puller(tmp_path / "models", hub_server)
    assert hub_server.holding.wait(ANSWER_LIMIT_S)
    second = Puller(tmp_path / "models", hub_server)
    second.wait_for("waiting for another process")
    hub_server.go_on.set()
    assert "complete" in first.result()
    assert second.result() == ""
    assert (tmp_path / "models" / "tiny" / NAME).read_bytes() == CONTENT
    assert len(hub_server.downloads) == 1


def test_a_killed_pull_does_no_harm(open_hub_store: OpenStore, hub_server: HubServer, tmp_path: Path) -> None:
    hub_server.hold_after = 500_000
    killed = Puller(tmp_path / "models", hub_server)
    assert hub_server.holding.wait(ANSWER_LIMIT_S)
    killed.wait_for("BytesReceived")
    killed.send(signal.SIGKILL)
    killed.result()
    hub_server.go_on.set()
    assert not (tmp_path / "models" / "tiny").exists()
    assert open_hub_store().pull("tiny").read_bytes() == CONTENT
