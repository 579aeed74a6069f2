"""An address with a secret for a browser: the words of a command can be read by every user of the machine.

So the browser is started with an address that is good once and for a moment, and is led on from there.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

_WITHIN_S = 20.0
_LOOK_EVERY_S = 0.2


def handed_over(url: str, open_browser: Callable[[str], bool], *, within_s: float = _WITHIN_S) -> bool:
    """Have a browser open `url`; False when none came for it. `open_browser` may last as long as it does."""
    path = f"/{secrets.token_urlsafe(24)}"
    with _Once(path, url) as server:
        has_failed = threading.Event()

        def start() -> None:
            if not open_browser(f"http://127.0.0.1:{server.server_port}{path}"):
                has_failed.set()

        threading.Thread(target=start, daemon=True).start()
        until_s = time.monotonic() + within_s
        while not server.is_done and not has_failed.is_set() and time.monotonic() < until_s:
            server.handle_request()
        return server.is_done


class _Once(HTTPServer):
    timeout = _LOOK_EVERY_S

    def __init__(self, path: str, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.path = path
        self.url = url
        self.is_done = False


class _Handler(BaseHTTPRequestHandler):
    timeout = 2.0  # a browser opens connections that it never uses

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _Once)
        if server.is_done or not secrets.compare_digest(self.path, server.path):
            self.send_error(404)
            return
        server.is_done = True
        self.send_response(303)
        self.send_header("Location", server.url)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        """Its paths are nobody's business."""
