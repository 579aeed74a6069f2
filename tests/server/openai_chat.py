"""A conversation through OpenAI's own client, whole or streamed, and what came of it in one form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import openai
from openai.types.chat import ChatCompletionMessage

from edgevox.server.assistant import Assistant
from tests.server.harness import OWNER, served

USER = {"role": "user", "content": "What time is it?"}
CLOCK = {
    "type": "function",
    "function": {
        "name": "get_clock",
        "description": "The time in a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, without what differs from one request to the next."""

    text: str
    calls: tuple[tuple[str, str], ...]
    finish_reason: str | None
    tokens: int | None


@asynccontextmanager
async def client(assistant: Assistant, token: str = OWNER, **settings: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        served(assistant, **settings) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0, timeout=20) as made,
    ):
        yield made


async def whole(chat: openai.AsyncOpenAI, *messages: Any, **more: Any) -> tuple[Reply, ChatCompletionMessage]:
    done = await chat.chat.completions.create(model="default", messages=list(messages), **more)
    (choice,) = done.choices
    calls = tuple((call.function.name, call.function.arguments) for call in choice.message.tool_calls or ())
    assert done.usage is not None
    return Reply(choice.message.content or "", calls, choice.finish_reason, done.usage.total_tokens), choice.message


async def streamed(chat: openai.AsyncOpenAI, *messages: Any, **more: Any) -> Reply:
    text = ""
    calls: dict[int, list[str]] = {}
    reason = tokens = None
    chunks = await chat.chat.completions.create(
        model="default", messages=list(messages), stream=True, stream_options={"include_usage": True}, **more
    )
    async for chunk in chunks:
        if chunk.usage is not None:
            tokens = chunk.usage.total_tokens
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                named = calls.setdefault(call.index, [call.function.name, ""])
                named[1] += call.function.arguments
            reason = choice.finish_reason or reason
    return Reply(text, tuple((name, arguments) for name, arguments in calls.values()), reason, tokens)
