"""Serves the static files of the web page with security headers.

The files contain no secrets and need no token, because a browser cannot send one when it opens a URL.
The data comes over the voice socket and /v1, with the user's token.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
START = "index.html"

# No foreign sources, no inline code, no framing, no form targets.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=(), display-capture=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # The service worker is one of the files, and serves the page at the root.
    "Service-Worker-Allowed": "/",
    # Cached, but revalidated each time: the page must not be older than its server.
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}


def page_files() -> Mapping[str, bytes]:
    """Return the files of the page by name; unknown file types are skipped."""
    folder = files(__package__).joinpath("files")
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if _kind(entry.name) in _TYPES}


def page_routes() -> list[Route]:
    """Return the routes: the page at `/`, its files at `/page/NAME`."""
    known = {name: (_plain(name, body), _compressed(name, body)) for name, body in page_files().items()}

    async def serve(request: Request) -> Response:
        file = known.get(request.path_params.get("name", START))
        if file is None:
            raise HTTPException(404)
        plain, compressed = file
        response = compressed if "gzip" in request.headers.get("accept-encoding", "") else plain
        if request.headers.get("if-none-match") == (etag := response.headers["ETag"]):
            return Response(status_code=304, headers={**HEADERS, "ETag": etag})
        return response

    return [Route(path, serve, methods=["GET"], include_in_schema=False) for path in ("/", "/page/{name}")]


def _plain(name: str, body: bytes) -> Response:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return Response(body, headers={**HEADERS, "ETag": etag, "Content-Type": _TYPES[_kind(name)]})


def _compressed(name: str, body: bytes) -> Response:
    """Compressed once, when the server starts: the files do not change while it runs."""
    response = _plain(name, gzip.compress(body, mtime=0))
    response.headers["Content-Encoding"] = "gzip"
    return response


def _kind(name: str) -> str:
    return name.rpartition(".")[2]
