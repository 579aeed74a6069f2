"""Figures about the server, in Prometheus' text form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgevox.server.assistant import Assistant
from edgevox.server.queues import Queues

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_OTHER = "other"


class Requests:
    """Counts answers by path and status; paths that are not ours are one."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self.answers: Counter[tuple[str, int]] = Counter()

    def count(self, path: str, status: int) -> None:
        self.answers[path if path in self._paths else _OTHER, status] += 1


class Counting:
    """Middleware that counts."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._requests.count(scope["path"], message["status"])
            await send(message)

        await self._app(scope, receive, counted)


def exposition(assistant: Assistant, queues: Queues, requests: Requests) -> str:
    """All figures as they are now."""
    return "\n".join((*_lines(assistant, queues, requests), ""))


def _lines(assistant: Assistant, queues: Queues, requests: Requests) -> Iterator[str]:
    yield "# HELP edgevox_requests_total Requests that were answered."
    yield "# TYPE edgevox_requests_total counter"
    for (path, status), count in sorted(requests.answers.items()):
        yield f'edgevox_requests_total{{path="{path}",status="{status}"}} {count}'
    named = {"model": queues.model, "hearing": queues.hearing, "speaking": queues.speaking}
    yield "# HELP edgevox_queue_requests Requests that are at work or wait."
    yield "# TYPE edgevox_queue_requests gauge"
    for name, queue in named.items():
        yield f'edgevox_queue_requests{{queue="{name}"}} {queue.admitted}'
    yield "# HELP edgevox_queue_refused_total Requests that were sent away because too many waited."
    yield "# TYPE edgevox_queue_refused_total counter"
    for name, queue in named.items():
        yield f'edgevox_queue_refused_total{{queue="{name}"}} {queue.refused}'
    yield "# HELP edgevox_pauses_total Replies that were interrupted because somebody spoke in the room."
    yield "# TYPE edgevox_pauses_total counter"
    yield f"edgevox_pauses_total {queues.model.pauses}"
    yield "# HELP edgevox_engine_up Whether an engine is ready."
    yield "# TYPE edgevox_engine_up gauge"
    for engine, state in assistant.states().items():
        yield f'edgevox_engine_up{{engine="{engine}"}} {int(state == "ready")}'
