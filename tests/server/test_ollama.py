"""Ollama's own client, unmodified, and the requests of Home Assistant's Ollama integration: some from a real one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import ollama
import pytest

from edgevox.core.errors import EdgevoxError, EngineFailed
from edgevox.server.assistant import Assistant
from edgevox.server.chat.ollama import OllamaChatReply
from tests.server.harness import OWNER, Lamp, acting, model, served, talking, written
from tests.server.openai_chat import CLOCK, USER
from tests.server.test_plain_text import Writing

RECORDING = Path(__file__).with_name("home_assistant_ollama.json")
PARIS = written("get_clock", '{"place": "Paris"}')


@asynccontextmanager
async def client(assistant: Assistant, token: str = "") -> AsyncIterator[ollama.AsyncClient]:
    headers = {"Authorization": f"Bearer {token}"} if token else None
    async with served(assistant) as url, ollama.AsyncClient(host=url, headers=headers, timeout=20) as made:
        yield made


async def streamed(chat: ollama.AsyncClient, *messages: Any, **more: Any) -> list[ollama.ChatResponse]:
    return [part async for part in await chat.chat("scripted", list(messages), stream=True, **more)]


@pytest.mark.parametrize("text", ["It is noon.", "It\u2028is\x85noon."])  # ends of lines for str.splitlines
async def test_a_chat_is_answered_whole_and_in_lines(text: str) -> None:
    async with client(talking(model([text] * 2))) as chat:
        whole = await chat.chat("scripted:latest", [USER])
        parts = await streamed(chat, USER)
    assert (whole.message.content, whole.done, whole.done_reason, whole.eval_count) == (text, True, "stop", 11)
    assert "".join(part.message.content or "" for part in parts) == text
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].eval_count == whole.eval_count


async def test_a_request_that_says_nothing_about_streams_gets_one() -> None:
    body = {"model": "scripted", "messages": [USER]}
    async with served(talking(model(["Yes."]))) as url, aiohttp.ClientSession() as session:
        async with session.post(f"{url}/api/chat", json=body) as response:
            lines = (await response.text()).splitlines()
        async with session.get(f"{url}/api/version") as version:
            assert (await version.json())["version"].count(".") == 2
    assert response.content_type == "application/x-ndjson"
    assert json.loads(lines[-1])["done"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/octet-stream"}, 200),
        ({"Content-Type": "application/octet-stream", "Origin": "http://127.0.0.1:8790"}, 415),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
async def test_a_program_need_not_name_the_media_type_as_a_page_must(headers: dict[str, str], status: int) -> None:
    body = json.dumps({"model": "scripted", "messages": [USER]}).encode()
    async with (
        served(talking(model(["Yes."])), allowed_origins=["http://127.0.0.1:8790"]) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/api/chat", data=body, headers=headers) as answer,
    ):
        assert answer.status == status


async def test_the_options_reach_the_model_and_those_of_loading_are_ignored() -> None:
    said = model(["{}"])
    options = {"temperature": 0.5, "top_k": 3, "seed": 7, "num_predict": 9, "stop": ["x"], "num_ctx": 8192}
    async with client(talking(said)) as chat:
        await chat.chat("scripted", [USER], options=options, format="json", keep_alive=-1, think=False)
    (request,) = said.requests
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_k, sampling.seed, sampling.max_tokens) == (0.5, 3, 7, 9)
    assert (request.stop, request.json_schema) == (("x",), {"type": "object"})


async def test_a_tool_conversation_goes_on_with_the_results() -> None:
    twice = f"{PARIS}\n{written('get_clock', json.dumps({'place': 'Rome'}))}"
    said = model([twice, "It is noon in both."])
    async with client(talking(said)) as chat:
        first = await chat.chat("scripted", [USER], tools=[CLOCK])
        calls = first.message.tool_calls or ()
        assert [call.function.arguments for call in calls] == [{"place": "Paris"}, {"place": "Rome"}]
        results = [{"role": "tool", "tool_name": "get_clock", "content": text} for text in ("12:00", "12:01")]
        last = await chat.chat("scripted", [USER, first.message, *results], tools=[CLOCK])
    assert last.message.content == "It is noon in both."
    _user, called, *answered = said.requests[1].messages
    assert [one.tool_call_id for one in answered] == [call.id for call in called.tool_calls]


async def test_the_requests_of_home_assistants_integration_are_answered() -> None:
    said = model([PARIS, "It is noon."])
    more: Any = {"tools": [CLOCK], "keep_alive": "-1s", "options": {"num_ctx": 8192.0}, "think": False, "format": None}
    # Its history is trimmed within a turn: a result and an answer come before the first question.
    history = [{"role": "tool", "content": '{"data": 1}'}, {"role": "assistant", "content": "Done."}]
    messages: list[Any] = [{"role": "system", "content": "You run a home."}, *history, USER]
    async with client(talking(said)) as chat:
        listed = await chat.list()
        assert {one["model"] for one in listed.get("models", [])} == {"scripted"}
        parts = await streamed(chat, *messages, **more)
        (calls,) = [part["message"]["tool_calls"] for part in parts if part["message"].get("tool_calls")]
        messages.append(ollama.Message(role="assistant", content="", tool_calls=calls))
        messages.append(ollama.Message(role="tool", content='{"data": "12:00", "error": null}'))
        last = await streamed(chat, *messages, **more)
    assert "".join(part["message"]["content"] for part in last) == "It is noon."
    assert [one.role for one in said.requests[1].messages] == ["system", "user", "assistant", "tool"]


async def test_a_recorded_conversation_of_home_assistant_is_answered_as_it_was() -> None:
    recorded = json.loads(RECORDING.read_text(encoding="utf-8"))
    said, messages, replies = model([written("turn_on", '{"name": "ceiling lights"}'), "Yes."]), [], []
    home_only = replace(talking(said), home_only=True)
    async with served(home_only) as url, aiohttp.ClientSession() as session:
        for added in recorded["turns"]:
            messages += added
            async with session.post(f"{url}/api/chat", json={**recorded["request"], "messages": messages}) as response:
                replies.append([json.loads(line)["message"] for line in (await response.text()).splitlines()])
    # Home Assistant sent each reply back with its next request.
    (call,) = [call for message in replies[0] for call in message.get("tool_calls", ())]
    called, _result = recorded["turns"][1]
    assert [call["function"]] == [one["function"] for one in called["tool_calls"]]
    assert ["".join(one["content"] for one in reply) for reply in replies[1:]] == ["Done.", "Yes."]
    assert recorded["turns"][2][0]["content"] == "Done."


async def test_with_a_token_the_assistant_uses_its_own_tools_and_without_one_it_talks() -> None:
    lamp = Lamp()
    said = model([written("get_time"), "It is noon.", "Hello."])
    async with client(acting(said, lamp), token=OWNER) as chat:
        assert (await chat.chat("scripted", [USER])).message.content == "It is noon."
    async with client(acting(said, lamp)) as chat:
        assert (await chat.chat("scripted", [USER])).message.content == "Hello."
    assert (lamp.log, said.requests[2].tools) == (["time"], ())


async def test_a_prompt_is_answered_in_plain_text_and_held_to_a_schema() -> None:
    said = model(["7", "It is noon."])
    async with client(acting(said, Lamp())) as chat:
        done = await chat.generate("scripted", "How many?", system="Be brief.", format={"type": "integer"})
        parts = [part.response async for part in await chat.generate("scripted", "The time?", stream=True)]
    assert (done.response, "".join(filter(None, parts))) == ("7", "It is noon.")
    assert [one.content for one in said.requests[0].messages] == ["Be brief.", "How many?"]
    assert said.requests[0].json_schema == {"type": "integer"}


async def test_a_request_without_a_question_loads_the_model() -> None:
    async with client(talking(model([]))) as chat:
        assert (await chat.generate("scripted", keep_alive="5m")).done_reason == "load"
        assert (await chat.chat("scripted", [], keep_alive=0)).done_reason == "unload"


async def test_the_model_is_listed_and_described() -> None:
    async with client(talking(model([]))) as chat:
        assert [one.model for one in (await chat.ps()).models] == ["scripted"]
        assert (await chat.show("scripted")).capabilities == ["completion", "tools"]


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"model": "gpt-99", "messages": [USER]}, 404, "unknown model gpt-99"),
        ({"messages": [{**USER, "images": ["aGVsbG8="]}]}, 400, "messages.0.images: this server does not support it"),
        ({"messages": [USER], "logprobs": True}, 400, "logprobs: this server does not support it"),
    ],
)
async def test_errors_are_of_the_clients_own_type(asked: dict[str, Any], status: int, words: str) -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(ollama.ResponseError, match=words) as caught:
            await chat.chat(**{"model": "scripted", **asked})
    assert caught.value.status_code == status


async def test_an_error_in_the_middle_of_a_stream_is_raised_by_the_client() -> None:
    lines: list[str | EdgevoxError] = ["One moment. " + written("get_time"), EngineFailed("it died")]
    async with client(acting(model(lines), Lamp()), token=OWNER) as chat:
        with pytest.raises(ollama.ResponseError, match="it died"):
            await streamed(chat, USER)


async def test_an_answer_that_is_cut_says_so_and_what_keeps_a_stream_alive_is_an_empty_piece() -> None:
    async with client(talking(Writing("It is", "length"))) as chat:
        assert (await chat.chat("default", [USER])).done_reason == "length"
    waiting = ollama.ChatResponse(**json.loads(OllamaChatReply("scripted").keep_alive))
    assert (waiting.message.content, waiting.done) == ("", False)
