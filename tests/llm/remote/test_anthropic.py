"""The Anthropic API over real HTTP: events, blocks and errors."""

from __future__ import annotations

from typing import Any

import pytest

from edgevox.config.secrets import Secret
from edgevox.core.errors import ConfigError, EdgevoxError, EngineFailed, ModelMissing
from edgevox.core.types import ChatRequest, Message, NamedTool, Sampling, ToolCall
from edgevox.llm.remote import RemoteModel
from tests.llm.remote.scripted_server import Answer, events, raw, scripted, whole
from tests.llm.remote.test_model import ASKED, KEY, LAMP, offering, read, told

START = {"type": "message_start", "message": {"type": "message", "usage": {"input_tokens": 25}}}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}


def block(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **more}}


def added(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def ended(reason: str, sequence: str | None = None) -> dict[str, Any]:
    delta = {"stop_reason": reason, "stop_sequence": sequence}
    return {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}


TALK = events(
    START,
    PING,
    block(0, "text", text=""),
    added(0, "text_delta", text="Good "),
    added(0, "text_delta", text="morning."),
    {"type": "content_block_stop", "index": 0},
    {"type": "a_kind_of_next_year", "delta": {"type": "x"}},
    ended("end_turn"),
    STOP,
)
CALL = events(
    START,
    block(0, "thinking", thinking=""),
    added(0, "thinking_delta", thinking="Hm."),
    added(0, "signature_delta", signature="abc"),
    block(1, "tool_use", id="toolu_1", name="switch_lamp", input={}),
    added(1, "input_json_delta", partial_json=""),
    added(1, "input_json_delta", partial_json='{"on"'),
    added(1, "input_json_delta", partial_json=": true}"),
    ended("tool_use"),
    STOP,
)


async def test_an_answer_is_streamed_with_its_tokens_counted() -> None:
    async with scripted(TALK) as server, RemoteModel(server.url, kind="anthropic", key=Secret(KEY)) as model:
        text, done = await told(model, ASKED)
    assert (text, done.finish_reason) == ("Good morning.", "stop")
    assert (done.prompt_tokens, done.generated_tokens) == (25, 7)
    (body,) = server.bodies
    assert body["system"] == "Be brief."
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}]
    assert server.paths == ["/v1/messages"]
    assert [headers["x-api-key"] for headers in server.headers] == [KEY, KEY]
    assert all(headers["anthropic-version"] for headers in server.headers)


async def test_a_call_is_read_out_of_its_pieces() -> None:
    async with scripted(CALL) as server, RemoteModel(server.url, kind="anthropic") as model:
        text, done = await told(model, offering())
    assert (read(text), done.finish_reason) == ([("switch_lamp", {"on": True})], "tool_calls")
    body = server.bodies[0]
    assert body["tools"] == [
        {
            "name": "switch_lamp",
            "description": "Switch it.",
            "input_schema": LAMP["function"]["parameters"],  # type: ignore[index]
        }
    ]
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


async def test_a_whole_answer_is_read_as_well() -> None:
    blocks = [{"type": "text", "text": "Yes."}, {"type": "tool_use", "name": "switch_lamp", "input": {"on": True}}]
    answer = whole({"type": "message", "content": blocks, "stop_reason": "tool_use", "usage": {}})
    async with scripted(answer) as server, RemoteModel(server.url, kind="anthropic") as model:
        text, done = await told(model, offering())
    assert (text.startswith("Yes."), read(text.removeprefix("Yes."))) == (True, [("switch_lamp", {"on": True})])
    assert done.finish_reason == "tool_calls"


async def test_calls_and_results_are_blocks_and_neighbours_one_message() -> None:
    calls = (ToolCall("call00001", "switch_lamp", '{"on": true}'), ToolCall("call00002", "switch_lamp", "broken"))
    request = ChatRequest(
        (
            Message("user", "Lamp on."),
            Message("assistant", "", calls),
            Message("tool", "done", tool_call_id="call00001"),
            Message("tool", "failed", tool_call_id="call00002"),
            Message("user", "(hint)"),
        ),
        tools=(LAMP,),
        sampling=Sampling(temperature=1.5),
        stop=("END", "\n"),
    )
    async with scripted(TALK) as server, RemoteModel(server.url, kind="anthropic") as model:
        await told(model, request)
    body = server.bodies[0]
    _user, assistant, results = body["messages"]
    assert [one["input"] for one in assistant["content"]] == [{"on": True}, {}]
    assert [one["type"] for one in results["content"]] == ["tool_result", "tool_result", "text"]
    assert (body["temperature"], body["stop_sequences"]) == (1.0, ["END"])


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        (NamedTool("switch_lamp"), {"type": "tool", "name": "switch_lamp"}),
    ],
)
async def test_tool_choice_is_passed_on(choice: Any, written: object) -> None:
    async with scripted(CALL) as server, RemoteModel(server.url, kind="anthropic") as model:
        await told(model, offering(tool_choice=choice, parallel_calls=True))
    assert server.bodies[0]["tool_choice"] == written


async def test_a_forced_call_enforces_a_schema() -> None:
    answer = events(
        START,
        block(0, "tool_use", name="answer", input={}),
        added(0, "input_json_delta", partial_json='{"n": 1}'),
        ended("tool_use"),
        STOP,
    )
    schema = {"type": "object"}
    async with scripted(answer) as server, RemoteModel(server.url, kind="anthropic") as model:
        text, _done = await told(model, ChatRequest(ASKED.messages, json_schema=schema))
    assert text == '{"n": 1}'
    assert server.bodies[0]["tools"] == [{"name": "answer", "input_schema": schema}]


async def test_the_stop_string_is_reported() -> None:
    answer = events(START, added(0, "text_delta", text="a"), ended("stop_sequence", "END"), STOP)
    async with scripted(answer) as server, RemoteModel(server.url, kind="anthropic") as model:
        _text, done = await told(model, ASKED)
    assert (done.finish_reason, done.stopped_at) == ("stop", "END")


def problem(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (whole(problem("authentication_error"), 401), ConfigError, "rejected the key"),
        (whole(problem("not_found_error", "model: claude-0"), 404), ModelMissing, "has no model"),
        (whole(problem("overloaded_error"), 529), EngineFailed, "not ready"),
        (whole(problem("rate_limit_error"), 429), EngineFailed, "is overloaded"),
        (events(START, problem("overloaded_error", "busy")), EngineFailed, "busy (overloaded_error)"),
        (events(START, added(0, "text_delta", text="Half"), ended("end_turn")), EngineFailed, "closed the connection"),
        (events(START, added(3, "input_json_delta", partial_json="{")), EngineFailed, "invalid chat completion"),
        (events({"type": "content_block_delta"}), EngineFailed, "invalid chat completion"),
        (raw(b"<html>"), EngineFailed, "invalid chat completion"),
    ],
)
async def test_server_errors_are_reported(answer: Answer, kind: type[EdgevoxError], message: str) -> None:
    async with scripted(answer) as server, RemoteModel(server.url, kind="anthropic", key=Secret(KEY)) as model:
        with pytest.raises(kind) as caught:
            await told(model, ASKED)
    assert message in caught.value.message
    assert caught.value.hint
