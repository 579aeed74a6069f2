"""Serves the static files of the web page with security headers.

The files contain no secrets and need no token, because a browser cannot send one when it opens a URL.
The data comes over the voice socket and /v1, with the user's token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
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
}
START = "index.html"

# No foreign sources, no inline code, no framing, no form targets.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=(), display-capture=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Cached, but revalidated each time: the page must not be older than its server.
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page with its headers."""

    body: bytes
    content_type: str
    etag: str


def page_files() -> Mapping[str, PageFile]:
    """Return the files of the page by name; unknown file types are skipped."""
    folder = files(__package__).joinpath("files")
    return {
        entry.name: _read(entry.read_bytes(), _TYPES[kind])
        for entry in folder.iterdir()
        if (kind := entry.name.rpartition(".")[2]) in _TYPES
    }


def page_routes() -> list[Route]:
    """Return the routes: the page at `/`, its files at `/page/NAME`."""
    known = page_files()

    async def start(request: Request) -> Response:
        return _response(request, known[START])

    async def part(request: Request) -> Response:
        file = known.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        return _response(request, file)

    return [
        Route("/", start, methods=["GET"], include_in_schema=False),
        Route("/page/{name}", part, methods=["GET"], include_in_schema=False),
    ]


def _read(body: bytes, content_type: str) -> PageFile:
    return PageFile(body, content_type, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _response(request: Request, file: PageFile) -> Response:
    headers = {**HEADERS, "ETag": file.etag}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers={**headers, "Content-Type": file.content_type})
