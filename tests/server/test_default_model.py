"""The default model behind the server: tool conversations with each client. No test knows its words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import ollama
import openai
import pytest
from rich.console import Console

from edgevox.app.http_server import run_http_server
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.models import ModelStore
from edgevox.server.http.tokens import page_token, token_file
from tests.kept_prompts import share_prompts
from tests.server import test_anthropic as by_anthropic
from tests.server import test_home_assistant_tools as by_home_assistant
from tests.server.openai_chat import CLOCK, streamed, whole

pytestmark = [pytest.mark.engine]

BOUND_S = 200
ASKED = {"role": "user", "content": "What time is it in Paris?"}
COMMAND = {"role": "user", "content": "Turn on the kitchen light."}
REQUIRED: dict[str, Any] = {"tools": [CLOCK], "tool_choice": "required", "seed": 1, "max_tokens": 60}


@pytest.fixture
async def url(folders: Folders, store: ModelStore) -> AsyncIterator[str]:
    share_prompts(folders.state)
    settings = load_settings(folders, flags={"server.port": 0}, environ={})
    runtime = AssistantRuntime(settings, folders, store, ["llm"])
    store.ensure(runtime.models.needed(), lambda _progress: None)
    async with asyncio.timeout(BOUND_S), runtime, run_http_server(runtime, Console(stderr=True)) as address:
        yield address


def token(folders: Folders) -> str:
    return page_token(token_file(folders))


async def test_openais_client_holds_a_tool_conversation(url: str, folders: Folders) -> None:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token(folders), max_retries=0) as chat:
        first, message = await whole(chat, ASKED, **REQUIRED)
        assert [name for name, _arguments in first.calls] == ["get_clock"]
        assert isinstance(json.loads(first.calls[0][1])["place"], str)
        again = await streamed(chat, ASKED, **REQUIRED)
        assert (again.calls, again.finish_reason) == (first.calls, "tool_calls")
        assert message.tool_calls is not None
        result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "12:00"}
        last, _message = await whole(chat, ASKED, message, result, tools=[CLOCK], max_tokens=60)
        assert last.text or last.calls
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
        held, _message = await whole(chat, ASKED, response_format=form, max_tokens=60)
        assert isinstance(json.loads(held.text)["n"], int)


async def test_the_assistants_own_tools_act_for_openais_client(url: str, folders: Folders) -> None:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token(folders), max_retries=0) as chat:
        reply, _message = await whole(chat, COMMAND)
        again = await streamed(chat, COMMAND)
    for one in (reply, again):
        assert (bool(one.text), one.calls, one.finish_reason) == (True, (), "stop")
        assert one.tokens


async def test_anthropics_client_holds_a_tool_conversation(url: str, folders: Folders) -> None:
    more: dict[str, Any] = {"tools": [by_anthropic.CLOCK], "tool_choice": {"type": "any"}}
    async with anthropic.AsyncAnthropic(base_url=url, api_key=token(folders), max_retries=0) as chat:
        first = await by_anthropic.whole(chat, ASKED, **more)
        again = await by_anthropic.streamed(chat, ASKED, **more)
        assert by_anthropic.told(first)[:2] == by_anthropic.told(again)[:2]
        use = next(block for block in first.content if block.type == "tool_use")
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "12:00"}
        answer = {"role": "assistant", "content": first.content}
        last = await by_anthropic.streamed(
            chat, ASKED, answer, {"role": "user", "content": [result]}, tools=[by_anthropic.CLOCK]
        )
        assert last.content
        own = await by_anthropic.whole(chat, COMMAND)
        assert (own.content[0].type, own.stop_reason) == ("text", "end_turn")


async def test_openais_client_continues_an_earlier_response(url: str, folders: Folders) -> None:
    function: Any = {"type": "function", **CLOCK["function"]}  # type: ignore[dict-item]
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token(folders), max_retries=0) as chat:
        first = await chat.responses.create(
            model="default", input=ASKED["content"], tools=[function], tool_choice="required"
        )
        (call,) = first.output
        assert call.type == "function_call"
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "12:00"}
        asked: Any = {"model": "default", "input": [result], "tools": [function], "previous_response_id": first.id}
        async with chat.responses.stream(**asked) as stream:
            last = await stream.get_final_response()
        assert last.output
        own = await chat.responses.create(model="default", input=COMMAND["content"])
        assert (bool(own.output_text), own.status) == (True, "completed")


async def test_ollamas_client_holds_a_tool_conversation(url: str, folders: Folders) -> None:
    headers = {"Authorization": f"Bearer {token(folders)}"}
    async with ollama.AsyncClient(host=url, headers=headers, timeout=BOUND_S) as chat:
        (name,) = [one.model for one in (await chat.list()).models]
        first = await chat.chat(name, [ASKED], tools=[CLOCK])
        assert [call.function.name for call in first.message.tool_calls or ()] == ["get_clock"]
        result = {"role": "tool", "tool_name": "get_clock", "content": "12:00"}
        parts = await chat.chat(name, [ASKED, first.message, result], tools=[CLOCK], stream=True)
        assert [part async for part in parts][-1].done
        own = await chat.chat(name, [COMMAND])
        assert own.message.content


@pytest.mark.long
async def test_tools_of_home_assistant_are_called_rightly(url: str) -> None:
    wanted = {
        "Turn off the bed light.": ("HassTurnOff", {"name": "bed light"}),
        "Set the night lamp to 40 percent.": ("HassLightSet", {"name": "night lamp", "brightness": 40}),
        "Add milk to the shopping list.": ("HassListAddItem", by_home_assistant.MILK),
        "Is the garage door open?": ("GetLiveContext", {}),
    }
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="EMPTY", max_retries=0) as chat:
        for text, call in wanted.items():
            asked = {"role": "user", "content": text}
            reply, _message = await whole(chat, by_home_assistant.SYSTEM, asked, tools=by_home_assistant.TOOLS)
            assert [(name, json.loads(arguments)) for name, arguments in reply.calls] == [call], text


async def test_a_message_is_continued_within_its_limit(url: str) -> None:
    begun = {"role": "assistant", "content": "The capital of France"}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="EMPTY", max_retries=0) as chat:
        reply, _message = await whole(chat, ASKED, begun, max_tokens=5)
    assert reply.text
    assert not reply.text.startswith("The capital")
