"""A model hub on loopback: the part of its protocol that a download uses, and faults on request.

with HubServer({"unsloth/Qwen3-1.7B-GGUF/Qwen3-1.7B-Q4_K_M.gguf": Path("small.gguf")}) as hub:
    environment = {**os.environ, "HF_ENDPOINT": hub.endpoint}
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

HOLD_LIMIT_S = 60.0
_SEND_BYTES = 1 << 16
_RESOLVE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came; `first_byte` is where its range began, or None without one."""

    method: str
    path: str
    first_byte: int | None
    authorization: str | None


class HubServer:
    """Serves `files` (`owner/repo/path` to content); as the real one does, it keeps the bytes elsewhere.

    The attributes below may be changed at any time, and hold from the next request on.
    """

    def __init__(self, files: Mapping[str, bytes | Path]) -> None:
        self.files = dict(files)
        self.commit = "a" * 40
        self.requests: list[Request] = []
        self.small: set[str] = set()  # files that the hub itself serves, with a git digest, as it does small ones
        # faults
        self.status: int | None = None  # answer everything with this status ...
        self.error_code: str | None = None  # ... and this X-Error-Code
        self.storage_status: int | None = None  # answer only requests for bytes with this status
        self.cut_after: list[int] = []  # each download takes one: so many bytes, and the connection ends
        self.hold_after: int | None = None  # so many bytes, and then nothing until `go_on` is set
        self.holding = threading.Event()
        self.go_on = threading.Event()
        self.spoilt = False  # the bytes are not those of the digest
        self.without_ranges = False
        self.is_no_hub = False  # answers, but without a hub's headers

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def downloads(self) -> list[Request]:
        """The requests for bytes."""
        return [r for r in self.requests if r.method == "GET" and r.path.startswith("/cdn/")]

    def content(self, name: str) -> bytes | None:
        content = self.files.get(name)
        return content.read_bytes() if isinstance(content, Path) else content


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, hub: HubServer, *args: Any) -> None:
        self._hub = hub
        super().__init__(*args)

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent."""

    def _answer(self) -> None:
        hub, path = self._hub, unquote(self.path)
        ranged = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first_byte = int(ranged[1]) if ranged else None
        hub.requests.append(Request(self.command, path, first_byte, self.headers.get("Authorization")))
        if hub.status is not None:
            self._refuse(hub.status, hub.error_code)
        elif path.startswith("/cdn/"):
            self._send_bytes(path.removeprefix("/cdn/"), first_byte or 0)
        elif match := _RESOLVE.fullmatch(path):
            self._resolve(f"{match['repo']}/{match['file']}", match["revision"])
        else:
            self._refuse(404, "RepoNotFound")

    def _resolve(self, name: str, revision: str) -> None:
        hub, content = self._hub, self._hub.content(name)
        if revision not in ("main", hub.commit):
            self._refuse(404, "RevisionNotFound")
        elif content is None:
            owner, repo, _ = name.split("/", 2)
            known = any(file.startswith(f"{owner}/{repo}/") for file in hub.files)
            self._refuse(404, "EntryNotFound" if known else "RepoNotFound")
        elif name in hub.small:
            self.send_response(200)
            self.send_header("X-Repo-Commit", hub.commit)
            self.send_header("ETag", f'W/"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self._send_body(content)
        else:
            self.send_response(302)
            # Another host name, as the real hub's storage has: the token must not go there.
            self.send_header("Location", f"http://localhost:{hub.port}/cdn/{name}")
            if not hub.is_no_hub:
                self.send_header("X-Repo-Commit", hub.commit)
                self.send_header("X-Linked-Etag", f'"{hashlib.sha256(content).hexdigest()}"')
                self.send_header("X-Linked-Size", str(len(content)))
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _send_bytes(self, name: str, first_byte: int) -> None:
        hub, content = self._hub, self._hub.content(name)
        if content is None or hub.storage_status is not None:
            self._refuse(hub.storage_status or 404, None)
            return
        if hub.spoilt:
            content = bytes(byte ^ 0xFF for byte in content)
        is_ranged = "Range" in self.headers and not hub.without_ranges
        body = content[first_byte:] if is_ranged else content
        self.send_response(206 if is_ranged else 200)
        if is_ranged:
            self.send_header("Content-Range", f"bytes {first_byte}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self._send_body(body)

    def _send_body(self, body: bytes) -> None:
        hub = self._hub
        if hub.cut_after:
            body = body[: hub.cut_after.pop(0)]
        held_at, hub.hold_after = hub.hold_after, None
        if held_at is not None:
            self._write(body[:held_at])
            hub.holding.set()
            hub.go_on.wait(HOLD_LIMIT_S)
            body = body[held_at:]
        self._write(body)

    def _write(self, body: bytes) -> None:
        try:
            for begin in range(0, len(body), _SEND_BYTES):
                self.wfile.write(body[begin : begin + _SEND_BYTES])
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has gone, as a test may want

    def _refuse(self, status: int, error_code: str | None) -> None:
        self.send_response(status)
        if error_code is not None:
            self.send_header("X-Error-Code", error_code)
        self.send_header("Content-Length", "0")
        self.end_headers()
