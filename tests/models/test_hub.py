"""The hub's client against a hub on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import constants

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed
from edgevox.models import BytesReceived, HubSource, Manifest, ModelEntry, ModelFile, ModelStore, PullEvent, PullMessage
from edgevox.models.hub import Hub
from tests.hub_server import HubServer
from tests.models.conftest import CONTENT, NAME, REPO, sha256

OpenStore = Callable[..., ModelStore]
CUT = 100_000


def unfinished(store: ModelStore) -> list[Path]:
    return list((store.folder / ".work").rglob("*.partial"))


def test_a_file_is_fetched_and_its_digest_recorded(hub_store: ModelStore, hub_server: HubServer) -> None:
    path = hub_store.pull("tiny")
    assert path == hub_store.folder / "tiny" / NAME
    assert path.read_bytes() == CONTENT
    assert not path.is_symlink()
    record = json.loads((hub_store.folder / "lock.json").read_text())["models"]["tiny"][NAME]
    assert record == {
        "bytes": len(CONTENT),
        "sha256": sha256(CONTENT),
        "source": f"hub ({REPO})",
        "revision": hub_server.commit,
    }
    assert not (hub_store.folder / ".work" / "tiny").exists()


def test_progress_ends_with_all_bytes_and_the_end(hub_store: ModelStore) -> None:
    events: list[PullEvent] = []
    hub_store.pull("tiny", events.append)
    received = [event for event in events if isinstance(event, BytesReceived)]
    assert (received[0].bytes_done, received[0].bytes_total) == (0, len(CONTENT))
    assert received[-1].bytes_done == len(CONTENT)
    assert events[-1] == PullMessage("tiny", "complete")


def test_a_cut_download_resumes(hub_store: ModelStore, hub_server: HubServer) -> None:
    hub_server.cut_after = [CUT]
    assert hub_store.pull("tiny").read_bytes() == CONTENT
    assert [request.first_byte for request in hub_server.downloads] == [0, CUT]


def test_a_failed_pull_is_continued_by_the_next(open_hub_store: OpenStore, hub_server: HubServer) -> None:
    hub_server.cut_after = [CUT, 0]
    store = open_hub_store(retries=1)
    with pytest.raises(ModelDownloadFailed, match="cannot be reached"):
        store.pull("tiny")
    assert not (store.folder / "tiny").exists()
    assert [path.stat().st_size for path in unfinished(store)] == [CUT]
    assert open_hub_store().pull("tiny").read_bytes() == CONTENT
    assert hub_server.downloads[-1].first_byte == CUT


def test_progress_of_a_continued_download_begins_where_it_was_left(
    open_hub_store: OpenStore, hub_server: HubServer
) -> None:
    hub_server.cut_after = [CUT]
    with pytest.raises(ModelDownloadFailed):
        open_hub_store(retries=0).pull("tiny")
    events: list[PullEvent] = []
    open_hub_store().pull("tiny", events.append)
    assert next(event for event in events if isinstance(event, BytesReceived)).bytes_done == CUT


def test_a_part_of_another_content_is_not_continued(open_hub_store: OpenStore, hub_server: HubServer) -> None:
    hub_server.cut_after = [CUT]
    with pytest.raises(ModelDownloadFailed):
        open_hub_store(retries=0).pull("tiny")
    changed = CONTENT[::-1]
    hub_server.files[f"{REPO}/{NAME}"] = changed
    assert open_hub_store().pull("tiny").read_bytes() == changed
    assert hub_server.downloads[-1].first_byte == 0


def test_a_server_without_ranges_starts_over(open_hub_store: OpenStore, hub_server: HubServer) -> None:
    hub_server.cut_after = [CUT]
    hub_server.without_ranges = True
    assert open_hub_store().pull("tiny").read_bytes() == CONTENT


def test_a_silent_connection_is_given_up_and_continued(
    open_hub_store: OpenStore, hub_server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.3)
    hub_server.hold_after = CUT
    assert open_hub_store().pull("tiny").read_bytes() == CONTENT
    assert hub_server.downloads[-1].first_byte == CUT


def test_bytes_that_are_not_of_the_digest_are_thrown_away(open_hub_store: OpenStore, hub_server: HubServer) -> None:
    hub_server.spoilt = True
    store = open_hub_store()
    with pytest.raises(ChecksumMismatch, match=REPO) as caught:
        store.pull("tiny")
    assert "models pull tiny" in caught.value.hint
    assert not (store.folder / "tiny").exists()
    assert unfinished(store) == []
    hub_server.spoilt = False
    assert store.pull("tiny").read_bytes() == CONTENT


def test_a_file_other_than_the_manifest_says_is_not_even_downloaded(
    open_hub_store: OpenStore, hub_server: HubServer
) -> None:
    source = HubSource(kind="hub", repo=REPO, file=NAME)
    file = ModelFile(name=NAME, bytes=len(CONTENT), sha256="0" * 64, sources=(source,))
    manifest = Manifest(models=(ModelEntry(id="tiny", kind="llm", licence="MIT", files=(file,)),))
    with pytest.raises(ChecksumMismatch):
        open_hub_store(manifest).pull("tiny")
    assert hub_server.downloads == []


def test_a_later_download_must_match_the_first(open_hub_store: OpenStore, hub_server: HubServer) -> None:
    store = open_hub_store()
    store.pull("tiny")
    store.remove("tiny")
    hub_server.files[f"{REPO}/{NAME}"] = CONTENT[::-1]
    with pytest.raises(ChecksumMismatch):
        open_hub_store().pull("tiny")
    store.forget("tiny")
    assert open_hub_store().pull("tiny").read_bytes() == CONTENT[::-1]


def test_a_later_download_asks_for_the_commit_of_the_first(hub_store: ModelStore, hub_server: HubServer) -> None:
    hub_store.pull("tiny")
    hub_store.remove("tiny")
    hub_server.requests.clear()
    hub_store.pull("tiny")
    assert hub_server.requests[0].path == f"/{REPO}/resolve/{hub_server.commit}/{NAME}"


def test_a_small_file_without_a_digest_of_its_own_is_recorded(hub_store: ModelStore, hub_server: HubServer) -> None:
    hub_server.small.add(f"{REPO}/{NAME}")
    assert hub_store.pull("tiny").read_bytes() == CONTENT
    hub_store.verify("tiny")
    hub_store.remove("tiny")
    hub_server.files[f"{REPO}/{NAME}"] = CONTENT[::-1]
    with pytest.raises(ChecksumMismatch):
        hub_store.pull("tiny")
    assert not (hub_store.folder / "tiny").exists()


@pytest.mark.parametrize(
    ("status", "error_code", "message", "hint"),
    [
        (403, "GatedRepo", "licence", "HF_TOKEN"),
        (401, None, "denies access", "HF_TOKEN"),
        (403, None, "denies access", "HF_TOKEN"),
        (404, "RepoNotFound", "no public", "HF_TOKEN"),
        (404, "EntryNotFound", rf"{NAME} .* not found", "renamed"),
        (404, "RevisionNotFound", rf"{NAME} .* not found", "renamed"),
        (429, None, "429", "try again"),
        (500, None, "500", "try again"),
    ],
)
def test_a_refusal_has_a_hint(
    hub_store: ModelStore, hub_server: HubServer, status: int, error_code: str | None, message: str, hint: str
) -> None:
    hub_server.status, hub_server.error_code = status, error_code
    with pytest.raises(ModelDownloadFailed, match=message) as caught:
        hub_store.pull("tiny")
    assert hint in caught.value.hint
    assert not (hub_store.folder / "tiny").exists()


def test_a_storage_error_of_the_hub_is_reported(hub_store: ModelStore, hub_server: HubServer) -> None:
    hub_server.storage_status = 503
    with pytest.raises(ModelDownloadFailed, match="503") as caught:
        hub_store.pull("tiny")
    assert "try again" in caught.value.hint
    assert len(hub_server.downloads) == 3


def test_an_unreachable_hub_is_named(hub_manifest: Manifest, tmp_path: Path) -> None:
    with HubServer({}) as gone:
        endpoint = gone.endpoint
    with pytest.raises(ModelDownloadFailed, match=endpoint) as caught:
        ModelStore(tmp_path, hub_manifest, hub=Hub(endpoint)).pull("tiny")
    assert "HTTPS_PROXY" in caught.value.hint
    assert f"put {NAME}, downloaded elsewhere, into {tmp_path / 'tiny'}" in caught.value.hint


def test_a_server_that_is_not_a_hub_is_detected(hub_store: ModelStore, hub_server: HubServer) -> None:
    hub_server.is_no_hub = True
    with pytest.raises(ModelDownloadFailed, match="not a model hub") as caught:
        hub_store.pull("tiny")
    assert "HF_ENDPOINT" in caught.value.hint


def test_the_offline_switch_is_named(
    hub_store: ModelStore, hub_server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelDownloadFailed, match="HF_HUB_OFFLINE"):
        hub_store.pull("tiny")
    assert hub_server.requests == []


def test_the_token_goes_to_the_hub_and_not_to_its_storage(
    hub_store: ModelStore, hub_server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub_store.pull("tiny")
    asked = [request for request in hub_server.requests if not request.path.startswith("/cdn/")]
    assert {request.authorization for request in asked} == {"Bearer hf_secret"}
    assert {request.authorization for request in hub_server.downloads} == {None}
