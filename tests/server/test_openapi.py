"""schemathesis reads the document and asks what it allows and what it does not: no fault, no other answer."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest
from edgevox.server.routes import api_routes, document
from edgevox.testing import ToneSynthesizer
from tests.server.harness import OWNER, Lamp, acting, served
from tests.server.test_audio import Stenographer, with_sound

BOUND_S = 60
schemathesis = importlib.import_module("schemathesis")
checks = importlib.import_module("schemathesis.specs.openapi.checks")
CHECKS = [
    importlib.import_module("schemathesis.checks").not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
schema = schemathesis.openapi.from_dict(dict(document(api_routes())))
modes = schemathesis.GenerationMode
schema.config.generation.update(modes=[modes.POSITIVE, modes.NEGATIVE])


@schema.hook  # type: ignore[untyped-decorator]  # schemathesis is looked for when this runs
def map_body(_context: object, body: Any) -> Any:
    """Mean the model that there is, and end with a question: else almost every answer would be the same."""
    match body:
        case {"model": str(), "messages": [*messages]}:
            kept = messages if len(messages) > 1 else []
            return {**body, "model": "default", "messages": [*kept, {"role": "user", "content": "?"}]}
        case {"model": str()}:
            return {**body, "model": "default"}
    return body


class Echo:
    """A model that says that it has heard something."""

    async def stream(self, request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        yield ChatDelta("heard")
        yield ChatDone("stop", len(request.messages), 0, 1)


@contextmanager
def running() -> Iterator[str]:
    """A server on a thread of its own: the requests come from this one."""
    address: list[str] = []
    is_up, is_over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with served(with_sound(acting(Echo(), Lamp()), Stenographer(), ToneSynthesizer())) as url:
            address.append(url)
            is_up.set()
            await asyncio.to_thread(is_over.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    try:
        assert is_up.wait(BOUND_S)
        yield address[0]
    finally:
        is_over.set()
        thread.join(BOUND_S)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running() as address:
        yield address


@schema.parametrize()  # type: ignore[untyped-decorator]  # likewise
@settings(
    max_examples=10,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_document_names(case: Any, url: str) -> None:
    headers = {"Authorization": f"Bearer {OWNER}"}
    response = case.call(base_url=url, headers=headers, timeout=BOUND_S)
    case.validate_response(response, checks=CHECKS)
