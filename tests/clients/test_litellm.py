"""LiteLLM, unmodified, through each API that it can speak with this server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import litellm
import pytest

from edgevox.core.errors import EdgevoxError
from tests.server.harness import OWNER, model, served, talking, written
from tests.server.openai_chat import CLOCK, USER

PARIS = written("get_clock", '{"place": "Paris"}')
# The path that LiteLLM expects after the address, by provider.
PROVIDERS = {"openai/scripted": "/v1", "anthropic/scripted": "", "ollama_chat/scripted": ""}


async def completion(**asked: Any) -> Any:
    """In a thread: for Ollama, its asynchronous calls ask about the model with a blocking request."""
    return await asyncio.to_thread(lambda: _collected(litellm.completion(**asked), is_stream="stream" in asked))


def _collected(reply: Any, *, is_stream: bool) -> Any:
    return list(reply) if is_stream else reply


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_tool_conversation_whole_and_streamed(name: str) -> None:
    said = model([PARIS, "It is noon.", "It is noon."])
    async with served(talking(said)) as url:
        asked: dict[str, Any] = {"model": name, "api_base": url + PROVIDERS[name], "api_key": OWNER, "tools": [CLOCK]}
        first = (await completion(messages=[USER], **asked)).choices[0]
        (call,) = first.message.tool_calls
        assert (first.finish_reason, call.function.name) == ("tool_calls", "get_clock")
        assert json.loads(call.function.arguments) == {"place": "Paris"}
        result = {"role": "tool", "tool_call_id": call.id, "name": "get_clock", "content": "12:00"}
        messages = [USER, first.message.model_dump(exclude_none=True), result]
        last = await completion(messages=messages, **asked)
        assert last.choices[0].message.content == "It is noon."
        assert last.usage.completion_tokens
        chunks = await completion(messages=messages, stream=True, **asked)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "It is noon."
    assert [one.role for one in said.requests[1].messages] == ["user", "assistant", "tool"]


async def test_the_responses_api_is_used_too() -> None:
    async with served(talking(model(["It is noon."]))) as url:
        done = await litellm.aresponses(
            model="openai/scripted", input="What time is it?", api_base=f"{url}/v1", api_key=OWNER
        )
    assert done.output[0].content[0].text == "It is noon."


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"api_key": "wrong-token-for-tests"}, litellm.AuthenticationError),
        ({"model": "openai/gpt-99"}, litellm.NotFoundError),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]},
         litellm.BadRequestError),
    ],
)  # fmt: skip
async def test_errors_are_of_its_own_types(asked: dict[str, Any], kind: type[Exception]) -> None:
    lines: list[str | EdgevoxError] = []
    async with served(talking(model(lines))) as url:
        usual = {"model": "openai/scripted", "messages": [USER], "api_base": f"{url}/v1", "api_key": OWNER}
        with pytest.raises(kind):
            await completion(**{**usual, "max_retries": 0, **asked})
