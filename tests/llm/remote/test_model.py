"""A model on an OpenAI-compatible server: answers, calls, cancellation and failures."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing
from typing import Any

import pytest

from edgevox import tool
from edgevox.agents import LLMAgent
from edgevox.config.secrets import Secret
from edgevox.core.errors import ConfigError, ContextOverflow, EdgevoxError, EngineFailed, ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatRequest, Message, NamedTool, Sampling, ToolCall
from edgevox.engines.base import EngineLimits
from edgevox.llm.remote import RemoteModel
from edgevox.llm.remote.model import NOT_FORCED
from edgevox.llm.tool_parsers import parse_reply
from tests.llm.remote.scripted_server import (
    DONE,
    USAGE,
    Answer,
    ScriptedServer,
    call,
    called,
    ended,
    events,
    listed,
    raw,
    said,
    scripted,
    talk,
    whole,
)

BOUND_S = 20.0
KEY = "sk-a-secret-that-nobody-may-read"
LAMP = {
    "type": "function",
    "function": {
        "name": "switch_lamp",
        "description": "Switch it.",
        "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
        "examples": ["lamp on"],
    },
}
ASKED = ChatRequest((Message("system", "Be brief."), Message("user", "Hello.")))


def offering(**more: Any) -> ChatRequest:
    return ChatRequest((Message("user", "Lamp on."),), tools=(LAMP,), **more)


async def told(model: RemoteModel, request: ChatRequest) -> tuple[str, ChatDone]:
    text = ""
    async with asyncio.timeout(BOUND_S), aclosing(model.stream(request, CancelFlag())) as replies:
        async for reply in replies:
            match reply:
                case ChatDelta(piece):
                    text += piece
                case ChatDone():
                    return text, reply
    pytest.fail("it has no end")


async def answered(*answers: Answer, request: ChatRequest = ASKED, **more: Any) -> tuple[str, ChatDone, ScriptedServer]:
    async with scripted(*answers) as server, RemoteModel(server.url, "big", **more) as model:
        text, done = await told(model, request)
        return text, done, server


async def refusal(*answers: Answer, request: ChatRequest = ASKED, **more: Any) -> EdgevoxError:
    with pytest.raises(EdgevoxError) as caught:
        await answered(*answers, request=request, **more)
    assert caught.value.hint
    assert KEY not in caught.value.message + caught.value.hint
    return caught.value


# --- answers


async def test_an_answer_is_streamed_with_its_tokens_counted() -> None:
    text, done, server = await answered(talk("Good |morning|."))
    assert text == "Good morning."
    assert done == ChatDone("stop", 30, 20, 4)
    (body,) = server.bodies
    assert body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]
    assert (body["model"], body["stream"], "tools" in body) == ("big", True, False)


async def test_an_answer_that_is_not_streamed_is_read_as_well() -> None:
    message = {"role": "assistant", "content": "Hi."}
    text, done, _server = await answered(
        whole({"choices": [{"message": message, "finish_reason": "length"}], "usage": {"prompt_tokens": 3}})
    )
    assert (text, done.finish_reason, done.prompt_tokens) == ("Hi.", "length", 3)


async def test_sampling_stop_and_more_fields_are_handed_on() -> None:
    request = ChatRequest(ASKED.messages, sampling=Sampling(temperature=0.5, max_tokens=9, seed=3), stop=("END",))
    _text, _done, server = await answered(talk("x"), request=request, extra={"top_k": 5, "top_p": 0.1})
    wanted = {"temperature": 0.5, "max_tokens": 9, "seed": 3, "stop": ["END"], "top_k": 5, "top_p": 0.1}
    assert wanted.items() <= server.bodies[0].items()


async def test_a_schema_becomes_a_response_format() -> None:
    schema = {"type": "object"}
    _text, _done, server = await answered(talk("{}"), request=ChatRequest(ASKED.messages, json_schema=schema))
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize(("thinking", "text"), [(True, "<think>Hm.</think>\nYes."), (False, "Yes.")])
async def test_reasoning_is_yielded_only_if_enabled(thinking: bool, text: str) -> None:
    thought = {"choices": [{"delta": {"reasoning_content": "Hm."}}]}
    got, _done, _server = await answered(
        events(thought, said("Yes."), ended(), DONE), request=ChatRequest(ASKED.messages, thinking=thinking)
    )
    assert got == text


async def test_comments_and_line_ends_of_every_kind_are_understood() -> None:
    text, _done, _server = await answered(
        events(": ping\n\n", f"event: x\r\ndata: {json.dumps(said('Hi'))}\r\n\r\n", ended(), "data: [DONE]")
    )
    assert text == "Hi"


async def test_prompt_only_sends_no_request() -> None:
    _text, done, server = await answered(talk("x"), request=ChatRequest(ASKED.messages, prompt_only=True))
    assert (done.finish_reason, server.bodies) == ("stop", [])


async def test_an_interrupted_reply_is_not_continued() -> None:
    with pytest.raises(ModelError, match="interrupted"):
        await answered(talk("x"), request=ChatRequest(ASKED.messages, reply_prefix="Good"))


# --- calls


def read(text: str, wire_format: str = "hermes") -> list[tuple[str, Any]]:
    parsed = parse_reply(text, preset_parsers=(wire_format,), tools=[LAMP])
    assert (parsed.text.strip(), parsed.rejected) == ("", ())
    return [(item.name, json.loads(item.arguments)) for item in parsed.calls]


@pytest.mark.parametrize("wire_format", ["hermes", "mistral", "python_list", "pythonic", "llama32"])
async def test_calls_that_the_server_has_read_are_written_in_the_form_that_was_asked_for(wire_format: str) -> None:
    answer = events(
        called(0, "switch_lamp", '{"on"'),
        called(0, None, ": true}"),
        called(1, "switch_lamp", '{"on": false}'),
        ended("tool_calls"),
        USAGE,
        DONE,
    )
    request = offering(wire_format=wire_format, parallel_calls=True)
    text, done, server = await answered(answer, request=request)
    assert read(text, wire_format) == [("switch_lamp", {"on": True}), ("switch_lamp", {"on": False})]
    assert done.finish_reason == "tool_calls"
    body = server.bodies[0]
    assert (body["tool_choice"], body["parallel_tool_calls"]) == ("auto", True)
    assert "examples" not in body["tools"][0]["function"]


@pytest.mark.parametrize(
    "chunks",
    [
        (called(None, "switch_lamp", '{"on": true}'),),
        (called(None, "switch_lamp", '{"on"'), called(None, None, ": true}")),
        ({"choices": [{"delta": {"tool_calls": [{"function": {"name": "switch_lamp", "arguments": {"on": True}}}]}}]},),
    ],
    ids=["whole", "without-index", "as-an-object"],
)
async def test_calls_are_read_in_the_forms_that_servers_give_them(chunks: tuple[object, ...]) -> None:
    text, done, _server = await answered(events(*chunks, ended("stop"), DONE), request=offering())
    assert (read(text), done.finish_reason) == ([("switch_lamp", {"on": True})], "tool_calls")


async def test_a_call_without_arguments_has_none() -> None:
    text, _done, _server = await answered(
        events(called(0, "switch_lamp", None), ended("tool_calls"), DONE), request=offering()
    )
    assert text.strip() == '<tool_call>\n{"name": "switch_lamp", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("none", "none"),
        ("required", "required"),
        (NamedTool("switch_lamp"), {"type": "function", "function": {"name": "switch_lamp"}}),
    ],
)
async def test_tool_choice_is_passed_on(choice: Any, written: object) -> None:
    _text, _done, server = await answered(call("switch_lamp", on=True), request=offering(tool_choice=choice))
    assert server.bodies[0]["tool_choice"] == written


async def test_calls_and_results_of_before_go_back_in_the_servers_form() -> None:
    made = ToolCall("call00001", "switch_lamp", '{"on": true}')
    request = ChatRequest(
        (Message("user", "Lamp on."), Message("assistant", "", (made,)), Message("tool", "done", tool_call_id=made.id)),
        tools=(LAMP,),
        wire_format="hermes",
    )
    _text, _done, server = await answered(talk("It is on."), request=request)
    _user, assistant, result = server.bodies[0]["messages"]
    assert assistant["tool_calls"] == [
        {"id": "call00001", "type": "function", "function": {"name": made.name, "arguments": made.arguments}}
    ]
    assert result == {"role": "tool", "content": "done", "tool_call_id": "call00001"}


async def test_tools_can_be_written_as_text_for_a_server_without_tools() -> None:
    request = offering(tools_as="lines", wire_format="hermes")
    text, _done, server = await answered(
        talk('<tool_call>{"name": "switch_lamp", "arguments": {"on": true}}</tool_call>'), request=request
    )
    assert read(text) == [("switch_lamp", {"on": True})]
    body = server.bodies[0]
    assert "tools" not in body
    assert "switch_lamp(on: bool)" in body["messages"][0]["content"]


@pytest.mark.parametrize(
    "answer",
    [
        call("switch_lamp", on=True),
        talk('On it.|<tool_call>{"name": "switch_lamp", "arguments": {"on": true}}</tool_call>'),
    ],
    ids=["structured", "in-the-text"],
)
async def test_an_agent_uses_its_tools_with_a_remote_model(answer: Answer) -> None:
    log: list[bool] = []

    @tool(side_effects=True)
    def switch_lamp(on: bool) -> str:
        """Switch it."""
        log.append(on)
        return "done"

    async with scripted(answer, talk("The lamp |is on.")) as server, RemoteModel(server.url) as model:
        agent = LLMAgent("test", tools=[switch_lamp], model=model, parsers=("hermes",))
        async with asyncio.timeout(BOUND_S):
            result = await agent.run("Lamp on.")
    assert (log, result.reply.endswith("The lamp is on.")) == ([True], True)
    assert [message["role"] for message in server.bodies[1]["messages"]] == ["user", "assistant", "tool"]


# --- a call that is required


async def test_a_call_that_was_required_and_not_made_is_noticed_once(caplog: pytest.LogCaptureFixture) -> None:
    async with scripted(talk("No.")) as server, RemoteModel(server.url) as model:
        for _time in range(2):
            _text, done = await told(model, offering(tool_choice="required"))
            assert done.warnings == (NOT_FORCED,)
        assert not model.forces_calls
    assert [record.message for record in caplog.records if NOT_FORCED in record.message] == [
        f"{server.url}: {NOT_FORCED}"
    ]


async def test_a_server_that_cannot_require_a_call_is_asked_without(caplog: pytest.LogCaptureFixture) -> None:
    no = whole({"error": {"message": "tool_choice required is not supported"}}, 400)
    text, _done, server = await answered(no, call("switch_lamp", on=True), request=offering(tool_choice="required"))
    assert read(text) == [("switch_lamp", {"on": True})]
    assert [body["tool_choice"] for body in server.bodies] == ["required", "auto"]
    assert NOT_FORCED in caplog.text


async def test_a_server_that_refuses_every_choice_is_not_asked_for_ever() -> None:
    no = whole({"error": {"message": "tool_choice is not supported"}}, 400)
    error = await refusal(no, request=offering(tool_choice="required"))
    assert "tool_choice is not supported" in error.message


async def test_adjacent_user_messages_are_merged() -> None:
    request = ChatRequest((Message("user", "Hello."), Message("user", "(Be brief.)")))
    _text, _done, server = await answered(talk("x"), request=request)
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "Hello.\n\n(Be brief.)"}]


async def test_a_call_in_the_text_is_a_call_too() -> None:
    written = '<tool_call>{"name": "switch_lamp", "arguments": {"on": true}}</tool_call>'
    _text, done, _server = await answered(talk(written), request=offering(tool_choice="required"))
    assert done.warnings == ()


# --- cancellation


async def test_a_cancel_ends_the_reply_and_closes_the_connection() -> None:
    cancel = CancelFlag()
    async with scripted(events(said("Once"), then="silence")) as server, RemoteModel(server.url) as model:
        async with asyncio.timeout(BOUND_S):
            given = []
            async for reply in model.stream(ASKED, cancel):
                given.append(reply)
                cancel.set()
            await server.gone.wait()
    assert given == [ChatDelta("Once"), ChatDone("cancelled", 0, 0, 0)]


async def test_closing_the_replies_closes_the_connection() -> None:
    async with scripted(events(said("Once"), then="silence")) as server, RemoteModel(server.url) as model:
        async with asyncio.timeout(BOUND_S):
            async with aclosing(model.stream(ASKED, CancelFlag())) as replies:
                assert await anext(replies) == ChatDelta("Once")
            await server.gone.wait()


async def test_a_request_cancelled_before_it_starts_yields_nothing() -> None:
    cancel = CancelFlag()
    cancel.set()
    async with scripted(talk("Hello.")) as server, RemoteModel(server.url) as model:
        assert [reply async for reply in model.stream(ASKED, cancel)] == [ChatDone("cancelled", 0, 0, 0)]


# --- what goes wrong


async def test_an_unreachable_server_is_reported_with_a_hint() -> None:
    async with scripted(talk("x")) as server:
        url = server.url
    with pytest.raises(EngineFailed, match="does not answer") as caught:
        await RemoteModel(url).start()
    assert "running" in caught.value.hint


async def test_a_server_that_goes_away_is_marked_as_down() -> None:
    async with scripted(talk("x")) as server:
        model = RemoteModel(server.url)
        await model.start()
    with pytest.raises(EngineFailed, match="does not answer"):
        await told(model, ASKED)
    assert not model.is_up
    await model.close()


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (whole({"error": {"message": f"wrong key {KEY}"}}, 401), ConfigError, "rejected the key"),
        (whole({"error": {"message": "no"}}, 403), ConfigError, "rejected the key"),
        (
            whole({"error": {"message": 'model "big" not found, try pulling it first'}}, 404),
            ModelMissing,
            "has no model big",
        ),
        (raw(b"404 page not found", status=404), ConfigError, "has no chat API"),
        (whole({"error": "slow down"}, 429, **{"Retry-After": "7"}), EngineFailed, "is overloaded"),
        (whole({"error": {"message": "Loading model"}}, 503), EngineFailed, "Loading model"),
        (raw(b"oh", status=500), EngineFailed, "answered 500: oh"),
        (raw(b"", status=308), ConfigError, "redirects"),
        (raw(b"<html>hello</html>"), EngineFailed, "invalid chat completion"),
        (whole({"hello": 1}), EngineFailed, "invalid chat completion"),
        (events("data: {nonsense\n\n"), EngineFailed, "invalid chat completion"),
        (events(said("Half"), then="cut"), EngineFailed, "closed the connection"),
        (events(said("Half")), EngineFailed, "closed the connection"),
        (events(said("Half"), {"error": {"message": "GPU on fire"}}), EngineFailed, "GPU on fire"),
        (raw(b"data: \xff\xfe\n\n", "text/event-stream"), EngineFailed, "UTF-8"),
    ],
)
async def test_server_errors_are_reported_with_a_hint(answer: Answer, kind: type[EdgevoxError], message: str) -> None:
    error = await refusal(answer, key=Secret(KEY))
    assert isinstance(error, kind)
    assert message in error.message


async def test_retry_after_is_in_the_hint() -> None:
    error = await refusal(whole({"error": "slow down"}, 429, **{"Retry-After": "7"}))
    assert "in 7 s" in error.hint


async def test_a_key_that_is_missing_is_asked_for() -> None:
    error = await refusal(whole({"error": {"message": "unauthorized"}}, 401))
    assert "requires a key" in error.message
    assert "remote_key_file" in error.hint


async def test_an_unknown_model_is_reported_with_the_known_ones() -> None:
    error = await refusal(whole({"error": {"code": "model_not_found", "message": "The model?"}}, 404))
    assert "big" in error.hint


async def test_a_silent_server_times_out() -> None:
    limits = EngineLimits(first_reply_s=BOUND_S, next_reply_s=0.05)
    error = await refusal(events(said("Once"), then="silence"), limits=limits)
    assert isinstance(error, EngineFailed)
    assert "was silent" in error.message


async def test_a_conversation_that_is_too_long_loses_its_oldest_turns() -> None:
    too_long = whole({"error": {"code": "context_length_exceeded", "message": "too long"}}, 400)
    messages = (Message("system", "s"), *(Message("user" if n % 2 == 0 else "assistant", str(n)) for n in range(5)))
    _text, done, server = await answered(too_long, too_long, talk("x"), request=ChatRequest(messages))
    assert done.dropped_turns == 2
    assert [message["content"] for message in server.bodies[-1]["messages"]] == ["s", "4"]
    error = await refusal(too_long)
    assert isinstance(error, ContextOverflow)


async def test_a_stale_connection_is_reopened() -> None:
    async def hang_up(request: Any, _server: ScriptedServer) -> Any:
        request.transport.abort()
        await asyncio.sleep(0)
        return None

    text, _done, server = await answered(hang_up, talk("Hello."))
    assert (text, len(server.bodies)) == ("Hello.", 2)


# --- keys and models


async def test_the_key_goes_to_the_server_and_into_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    _text, _done, server = await answered(talk("x"), key=Secret(KEY))
    assert [headers["Authorization"] for headers in server.headers] == [f"Bearer {KEY}"] * 2
    assert KEY not in caplog.text
    _text, _done, server = await answered(talk("x"))
    assert all("Authorization" not in headers for headers in server.headers)


@pytest.mark.parametrize(
    ("models", "name"), [(listed("llama"), "llama"), (listed("home", "whisper-base", owned_by="edgevox"), "home")]
)
async def test_the_only_model_need_not_be_named(models: Answer, name: str) -> None:
    async with scripted(talk("x"), models=models) as server, RemoteModel(server.url) as model:
        await told(model, ASKED)
        assert server.bodies[0]["model"] == name


@pytest.mark.parametrize("models", [listed("one", "two"), listed(), raw(b"", status=404)])
async def test_with_several_models_one_must_be_named(models: Answer) -> None:
    async with scripted(talk("x"), models=models) as server:
        with pytest.raises(ConfigError) as caught:
            await RemoteModel(server.url).start()
        assert "llm.remote_model" in caught.value.hint
        async with RemoteModel(server.url, "two") as model:
            assert (await told(model, ASKED))[0] == "x"


async def test_another_edgevox_is_kept_from_using_its_own_tools() -> None:
    models = listed("home", owned_by="edgevox")
    async with scripted(talk("x"), models=models) as server, RemoteModel(server.url) as model:
        await told(model, ASKED)
        await told(model, offering())
    assert [body["tool_choice"] for body in server.bodies] == ["none", "auto"]


async def test_another_edgevox_gets_tools_as_tools_whatever_the_preset_writes() -> None:
    models = listed("home", owned_by="edgevox")
    async with scripted(talk("x"), models=models) as server, RemoteModel(server.url) as model:
        await told(model, offering(tools_as="lines"))
    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["switch_lamp"]


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x/v1", "http://", "http://h:x/v1", "http://h/v1?key=1"])
def test_an_invalid_url_is_rejected(url: str) -> None:
    with pytest.raises(ConfigError):
        RemoteModel(url)


def test_a_key_in_a_url_is_rejected_and_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        RemoteModel(f"http://me:{KEY}@host/v1")
    assert KEY not in caught.value.message
