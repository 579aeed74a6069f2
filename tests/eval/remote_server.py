"""A small OpenAI-compatible endpoint on loopback that answers with what a script says."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


class RemoteServer:
    """`answer` makes the assistant's message of a request's body; what was asked is in `bodies`."""

    def __init__(self, answer: Callable[[dict[str, Any]], Message | int]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append(body)
                server.keys.append(self.headers["Authorization"])
                message = answer(body)
                status, content = (message, {}) if isinstance(message, int) else (200, _completion(message))
                self.send_response(status)
                self.end_headers()
                with contextlib.suppress(OSError):  # the client may have gone
                    self.wfile.write(json.dumps(content).encode())

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @contextlib.contextmanager
    def running(self) -> Iterator[RemoteServer]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join(10)


def _completion(message: Message) -> dict[str, Any]:
    return {"choices": [{"message": message}], "usage": {"prompt_tokens": 700, "completion_tokens": 12}}


def call(name: str, /, **arguments: Any) -> Message:
    """A message that makes one call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "x", "type": "function", "function": function}]}
