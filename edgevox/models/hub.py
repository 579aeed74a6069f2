"""Files from the Hugging Face hub, using its client, so HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE apply.

The client resolves and authorises; the bytes are received here, because `hf_hub_download` discards a partial file when
interrupted, and writes only every ten megabytes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from huggingface_hub import constants, get_hf_file_metadata, get_session, get_token, hf_hub_url
from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError: httpx's or httpx2's
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import HfFileMetadata

from edgevox.core.errors import ModelDownloadFailed
from edgevox.models.download import FetchedFile, FetchRequest, PartialFile, wrong_checksum
from edgevox.models.manifest import HubSource

_PARTIAL_CONTENT = 206
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Hub:
    """The hub of the environment, or `endpoint`; a lost connection is resumed after each of the waits."""

    def __init__(
        self, endpoint: str | None = None, *, retry_waits_s: Sequence[float] = (0.0, 1.0, 2.0, 4.0, 8.0)
    ) -> None:
        self._endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self._retry_waits_s = tuple(retry_waits_s)

    def fetch(self, wanted: FetchRequest, source: HubSource, revision: str) -> FetchedFile:
        """Download one file, resuming an earlier attempt. Raises ModelDownloadFailed or ChecksumMismatch."""
        metadata = self._metadata(source, revision)
        etag = metadata.etag or ""
        expected = wanted.sha256
        if _SHA256.fullmatch(etag):
            if expected is not None and etag != expected:
                raise wrong_checksum(wanted, source.label, etag, expected)
            expected = etag
        with PartialFile(_partial_path(wanted, etag)) as file:
            self._receive(wanted, source, metadata, file)
        fetched = FetchedFile(file.path, file.size_bytes, file.sha256, metadata.commit_hash)
        if expected is not None and fetched.sha256 != expected:
            fetched.path.unlink()
            raise wrong_checksum(wanted, source.label, fetched.sha256, expected)
        return fetched

    def _metadata(self, source: HubSource, revision: str) -> HfFileMetadata:
        url = hf_hub_url(source.repo, source.file, revision=revision, endpoint=self._endpoint)
        try:
            metadata = get_hf_file_metadata(url)
        except (HTTPError, OSError) as error:  # OSError: offline, or unreadable certificates
            raise self._failure(source, error) from error
        if metadata.commit_hash is None or metadata.etag is None:
            raise ModelDownloadFailed(
                f"the server at {self._endpoint} is not a model hub",
                hint="check HF_ENDPOINT, and whether a proxy requires a login",
            )
        return metadata

    def _receive(self, wanted: FetchRequest, source: HubSource, metadata: HfFileMetadata, file: PartialFile) -> None:
        # The commit, not the branch: every attempt must continue the same file.
        url = hf_hub_url(
            source.repo, source.file, revision=metadata.commit_hash or source.revision, endpoint=self._endpoint
        )
        report = partial(wanted.received, wanted.file.name, bytes_total=metadata.size)
        if metadata.size is not None and file.size_bytes > metadata.size:
            file.restart()
        waits_s = iter(self._retry_waits_s)
        while True:
            begun_at = file.size_bytes
            cause: Exception | None = None
            if begun_at != metadata.size:
                cause = self._stream(source, url, file, report)
            if cause is None and metadata.size in (None, file.size_bytes):
                return
            if file.size_bytes > begun_at:
                waits_s = iter(self._retry_waits_s)
            wait_s = next(waits_s, None)
            if wait_s is None:
                raise self._failure(source, cause) from cause
            time.sleep(wait_s)

    def _stream(
        self, source: HubSource, url: str, file: PartialFile, report: Callable[[int], None]
    ) -> Exception | None:
        """Receive the missing bytes. An error is returned, not raised, because the bytes before it count."""
        headers = {"Accept-Encoding": "identity", "Range": f"bytes={file.size_bytes}-"}
        if token := get_token():
            headers["Authorization"] = f"Bearer {token}"
        try:
            with get_session().stream(
                "GET", url, headers=headers, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT, follow_redirects=True
            ) as response:
                if response.is_error:
                    return _refusal(self._where(source), response.status_code)
                if response.status_code != _PARTIAL_CONTENT:
                    file.restart()
                report(file.size_bytes)
                for chunk in response.iter_bytes():
                    file.write(chunk)
                    report(file.size_bytes)
        except HTTPError as error:
            return error
        return None

    def _where(self, source: HubSource) -> str:
        return f"{source.repo} on {self._endpoint}"

    def _failure(self, source: HubSource, error: Exception | None) -> ModelDownloadFailed:
        where = self._where(source)
        match error:
            case ModelDownloadFailed():
                return error
            case OfflineModeIsEnabled():
                return ModelDownloadFailed("the hub is switched off by HF_HUB_OFFLINE", hint="unset HF_HUB_OFFLINE")
            case GatedRepoError():
                return ModelDownloadFailed(
                    f"{where} requires accepting its licence",
                    hint=f"accept it at {self._endpoint}/{source.repo} and set HF_TOKEN to your token",
                )
            case EntryNotFoundError() | RevisionNotFoundError():
                return ModelDownloadFailed(
                    f"{source.file} ({source.revision}) not found in {where}",
                    hint="it was moved or renamed: choose another model, or correct the manifest",
                )
            case RepositoryNotFoundError():
                return ModelDownloadFailed(f"no public repository {where}", hint="for a private one, set HF_TOKEN")
            case HfHubHTTPError():
                return _refusal(where, error.response.status_code)
        return ModelDownloadFailed(
            f"the hub at {self._endpoint} cannot be reached: {error or 'the connection was closed early'}",
            hint="check the network; HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror",
        )


def _refusal(where: str, status: int) -> ModelDownloadFailed:
    if status in (401, 403):
        return ModelDownloadFailed(
            f"the hub denies access to {where} ({status})", hint="set HF_TOKEN to a token with read access"
        )
    return ModelDownloadFailed(f"the hub cannot serve {where} at the moment ({status})", hint="try again later")


def _partial_path(wanted: FetchRequest, etag: str) -> Path:
    """Return the path, which names the content; parts of other contents are deleted."""
    safe_etag = re.sub(r"[^A-Za-z0-9]", "", etag)[:16]
    path = wanted.work / f"{wanted.file.name}.{safe_etag}.partial"
    for other in wanted.work.glob(f"{wanted.file.name}.*.partial"):
        if other != path:
            other.unlink()
    return path
