"""OpenAI's own client, unmodified: three modes, whole and streamed, and errors of the client's own types."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import aiohttp
import openai
import pytest

from edgevox.core.errors import ContextOverflow, EdgevoxError, EngineFailed, ModelError
from edgevox.core.types import NamedTool
from edgevox.llm.tool_choice import RESPOND_NAME
from tests.server.harness import READER, TALKER, Lamp, acting, model, served, talking, written
from tests.server.openai_chat import CLOCK, USER, Reply, client, streamed, whole

PARIS = written("get_clock", '{"place": "Paris"}')
CALLED = ("get_clock", '{"place": "Paris"}')


async def both(lines: list[Any], *messages: Any, **more: Any) -> Reply:
    """The answer of an assistant without tools, which is the same whole and streamed."""
    async with client(talking(model([*lines, *lines]))) as chat:
        reply, _message = await whole(chat, *messages, **more)
        assert await streamed(chat, *messages, **more) == reply
    return reply


# --- neither side has tools


@pytest.mark.parametrize("text", ["It is noon.", f" so: {PARIS}\n", "<think>hm</think> no", ""])
async def test_without_tools_what_the_model_writes_is_left_untouched(text: str) -> None:
    reply = await both([text], USER)
    assert (reply.text, reply.calls, reply.finish_reason) == (text, (), "stop")


async def test_the_wishes_of_the_request_reach_the_model() -> None:
    said = model(["yes"])
    async with client(talking(said)) as chat:
        await whole(chat, USER, temperature=0.5, top_p=0, max_tokens=7, seed=3, stop=["x"])
        (request,) = said.requests
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.seed) == (0.5, 0, 7, 3)
    assert (request.stop, request.tools, request.client[:4]) == (("x",), (), "api:")


@pytest.mark.parametrize(
    "form",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "integer"}}}},
        {"extra_body": {"guided_json_schema": {"type": "integer"}}},
    ],
)
async def test_an_answer_can_be_held_to_a_schema(form: dict[str, Any]) -> None:
    said = model(["7"])
    async with client(acting(said, Lamp()), token=TALKER) as chat:
        reply, _message = await whole(chat, USER, **form)
    assert (reply.text, said.requests[0].json_schema) == ("7", {"type": "integer"})


# --- the program has tools


async def test_calls_are_handed_to_the_program() -> None:
    reply = await both([f"One moment. {PARIS}"], USER, tools=[CLOCK])
    assert (reply.text, reply.calls, reply.finish_reason) == ("One moment.", (CALLED,), "tool_calls")


async def test_a_tool_conversation_goes_on_with_the_results() -> None:
    said = model([PARIS, "It is noon in Paris."])
    async with client(talking(said)) as chat:
        first, message = await whole(chat, USER, tools=[CLOCK])
        assert first.calls == (CALLED,)
        assert message.tool_calls is not None
        (call,) = message.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": '{"time": "12:00"}'}
        last, _message = await whole(chat, USER, message, result, tools=[CLOCK])
    assert (last.text, last.finish_reason) == ("It is noon in Paris.", "stop")
    told = said.requests[1].messages
    assert [one.role for one in told] == ["user", "assistant", "tool"]
    assert told[1].tool_calls[0].id == told[2].tool_call_id == "call00001"


async def test_several_calls_are_several_and_with_parallel_calls_off_one() -> None:
    twice = f"{PARIS}\n{written('get_clock', json.dumps({'place': 'Rome'}))}"
    assert len((await both([twice], USER, tools=[CLOCK])).calls) == 2
    assert (await both([twice], USER, tools=[CLOCK], parallel_tool_calls=False)).calls == (CALLED,)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "function": {"name": "get_clock"}}, NamedTool("get_clock")),
    ],
)
async def test_the_choice_of_a_tool_reaches_the_model(choice: Any, expected: object) -> None:
    said = model([PARIS])
    async with client(talking(said)) as chat:
        reply, _message = await whole(chat, USER, tools=[CLOCK], tool_choice=choice)
    assert said.requests[0].tool_choice == expected
    assert [tool["function"]["name"] for tool in said.requests[0].tools] == ["get_clock"]
    assert bool(reply.calls) == (choice != "none")


async def test_a_garbled_call_is_written_again_under_the_grammar() -> None:
    said = model(["<tool_call>{nonsense</tool_call>", PARIS])
    async with client(talking(said)) as chat:
        reply, _message = await whole(chat, USER, tools=[CLOCK])
    assert (reply.calls, said.requests[1].tool_choice) == ((CALLED,), "required")


async def test_talk_that_is_written_as_a_call_is_talk() -> None:
    garbled = "<tool_call>{nonsense</tool_call>"
    reply = await both([garbled, written(RESPOND_NAME, '{"text": "I cannot."}')], USER, tools=[CLOCK])
    assert (reply.text, reply.calls, reply.finish_reason) == ("I cannot.", (), "stop")


async def test_the_older_functions_are_understood() -> None:
    said = model([PARIS, "Noon."])
    async with client(talking(said)) as chat:
        functions: Any = [CLOCK["function"]]
        asked: Any = [USER]
        done = await chat.chat.completions.create(model="default", messages=asked, functions=functions)
        message = done.choices[0].message
        assert (done.choices[0].finish_reason, message.tool_calls) == ("function_call", None)
        assert message.function_call is not None
        assert (message.function_call.name, message.function_call.arguments) == CALLED
        result = {"role": "function", "name": "get_clock", "content": "noon"}
        asked += [message, result]
        last = await chat.chat.completions.create(model="default", messages=asked, functions=functions)
    assert last.choices[0].message.content == "Noon."


FORM = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "integer"}}}


async def test_beside_a_schema_tools_can_still_be_called() -> None:
    reply = await both([f"One moment. {PARIS}"], USER, tools=[CLOCK], response_format=FORM)
    assert (reply.text, reply.calls, reply.finish_reason) == ("", (CALLED,), "tool_calls")


async def test_beside_tools_an_answer_is_held_to_the_schema() -> None:
    lines = ["It is noon.", "12"]
    said = model([*lines, *lines])
    async with client(talking(said)) as chat:
        reply, _message = await whole(chat, USER, tools=[CLOCK], response_format=FORM)
        assert await streamed(chat, USER, tools=[CLOCK], response_format=FORM) == reply
    assert (reply.text, reply.calls, reply.finish_reason) == ("12", (), "stop")
    assert [request.json_schema for request in said.requests[:2]] == [None, {"type": "integer"}]


# --- the beginning of the reply, instructions alone, the older API


async def test_a_reply_continues_the_last_message_of_the_assistant() -> None:
    said = model([" noon."])
    async with client(acting(said, Lamp()), token=TALKER) as chat:
        reply, _message = await whole(chat, USER, {"role": "assistant", "content": "It is"})
    (request,) = said.requests
    assert (reply.text, request.reply_prefix, request.prefill) == (" noon.", "It is", "It is")
    assert [one.role for one in request.messages] == ["user"]


async def test_instructions_alone_are_answered() -> None:
    said = model(["Noon."])
    async with client(talking(said)) as chat:
        reply, _message = await whole(chat, {"role": "system", "content": "Say the time."})
    assert reply.text == "Noon."
    assert [(one.role, one.content) for one in said.requests[0].messages] == [("user", "Say the time.")]


async def test_a_prompt_of_the_older_api_is_answered_in_plain_text() -> None:
    said = model(["It is noon.", "It is noon."])
    async with client(acting(said, Lamp()), token=TALKER) as chat:
        done = await chat.completions.create(model="default", prompt="The time?", max_tokens=9)
        pieces = await chat.completions.create(model="default", prompt=["The time?"], stream=True)
        text = "".join([piece.choices[0].text async for piece in pieces])
        with pytest.raises(openai.BadRequestError, match="echo"):
            await chat.completions.create(model="default", prompt="?", echo=True)
    assert (done.choices[0].text, done.choices[0].finish_reason, text) == ("It is noon.", "stop", "It is noon.")
    assert (said.requests[0].messages[0].content, said.requests[0].sampling.max_tokens) == ("The time?", 9)


# --- the assistant has tools


async def test_without_tools_in_the_request_the_assistant_uses_its_own() -> None:
    lines = ["One moment. " + written("get_time"), "It is noon."]
    lamp = Lamp()
    async with client(acting(model([*lines, *lines]), lamp)) as chat:
        reply, _message = await whole(chat, USER)
        assert await streamed(chat, USER) == reply
    assert (reply.text, reply.calls, reply.finish_reason) == ("One moment. It is noon.", (), "stop")
    assert lamp.log == ["time", "time"]


async def test_with_tools_in_the_request_its_own_are_left_alone() -> None:
    lamp, said = Lamp(), model([PARIS])
    async with client(acting(said, lamp)) as chat:
        reply, _message = await whole(chat, USER, tools=[CLOCK])
    assert (reply.calls, lamp.log) == ((CALLED,), [])
    assert [tool["function"]["name"] for tool in said.requests[0].tools] == ["get_clock"]


async def test_the_instructions_of_the_program_follow_those_of_the_house() -> None:
    said = model(["Yes."])
    async with client(acting(said, Lamp())) as chat:
        await whole(chat, {"role": "developer", "content": "Rhyme."}, USER)
    assert said.requests[0].messages[0].content == "You run a home.\n\nRhyme."


async def test_its_own_tools_need_a_token_on_this_machine_too() -> None:
    lamp = Lamp()
    async with client(acting(model(["Hello."]), lamp), token="EMPTY") as chat:
        with pytest.raises(openai.AuthenticationError, match="tool_choice"):
            await whole(chat, USER)
        assert (await whole(chat, USER, tool_choice="none"))[0].text == "Hello."
    async with client(acting(model([]), lamp), token=TALKER) as chat:
        with pytest.raises(openai.PermissionDeniedError):
            await whole(chat, USER)
    assert lamp.log == []


async def test_a_token_that_may_only_read_cannot_act_through_the_model() -> None:
    lamp = Lamp()
    lines = [written("switch_lamp", '{"on": true}')]
    async with client(acting(model(lines), lamp), token=READER) as chat:
        reply, _message = await whole(chat, USER)
    assert (reply.text, lamp.log) == ("I may not do that for reader: its token lacks the scope act.", [])


# --- what goes wrong

ASSISTANT = {"role": "assistant", "content": "Hello."}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "noon"}
CALLING = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_clock", "arguments": "{}"}}],
}


@pytest.mark.parametrize(
    ("messages", "more", "param"),
    [
        ([], {}, "messages"),
        ([ASSISTANT], {}, "messages"),
        ([USER, RESULT], {}, "messages"),
        ([USER, CALLING], {"tools": [CLOCK]}, "messages"),
        ([USER, CALLING, USER], {"tools": [CLOCK]}, "messages"),
        ([USER], {"temperature": 9}, "temperature"),
        ([USER], {"tool_choice": "required"}, "tool_choice"),
        ([USER], {"tools": [CLOCK, CLOCK]}, "tools"),
        ([USER], {"tools": [CLOCK], "tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
        ([USER, ASSISTANT], {"response_format": {"type": "json_object"}}, "messages"),
        ([USER, ASSISTANT], {"tools": [CLOCK], "tool_choice": "required"}, "messages"),
        ([USER], {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": 5}}}]}, "tools"),
        ([USER], {"extra_body": {"guided_json_schema": {"properties": 7}}}, "response_format"),
        ([USER] * 1001, {}, "messages"),
    ],
)
async def test_a_request_that_cannot_be_answered_is_a_bad_request(
    messages: list[Any], more: dict[str, Any], param: str | None
) -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(openai.BadRequestError) as caught:
            await whole(chat, *messages, **more)
    assert param is None or caught.value.param == param


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("n", 2),
        ("logprobs", True),
        ("top_logprobs", 3),
        ("logit_bias", {"50256": -100}),
        ("modalities", ["text", "audio"]),
        ("frequency_penalty", 0.5),
        ("web_search_options", {}),
    ],
)
async def test_an_option_that_is_not_supported_is_refused_by_name(option: str, value: object) -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(openai.BadRequestError, match=f"{option}: this server does not support it") as caught:
            await whole(chat, USER, extra_body={option: value})
    assert caught.value.param == option


async def test_options_whose_value_changes_nothing_are_accepted() -> None:
    nothing: Any = {"n": 1, "logprobs": False, "logit_bias": {}, "modalities": ["text"], "presence_penalty": 0.0}
    async with client(talking(model(["Yes."]))) as chat:
        reply, _message = await whole(chat, USER, extra_body=nothing)
    assert reply.text == "Yes."


async def test_an_image_is_refused_in_words() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}
    async with client(talking(model([]))) as chat:
        with pytest.raises(openai.BadRequestError, match="images are not supported: the model reads text only"):
            await whole(chat, picture)


async def test_a_schema_that_costs_too_much_is_refused_before_the_model_is_asked() -> None:
    hostile = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(3000)}}
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": hostile}}
    tool = {"type": "function", "function": {"name": "a", "parameters": hostile}}
    scripted = model([])
    async with client(talking(scripted)) as chat:
        for more in ({"response_format": form}, {"tools": [tool]}, {"extra_body": {"guided_json_schema": hostile}}):
            with pytest.raises(openai.BadRequestError, match="256 properties") as caught:
                await whole(chat, USER, **more)
            assert caught.value.code == "schema_too_large"
    assert not scripted.requests


async def test_calls_in_one_message_count_as_messages() -> None:
    call = {"type": "function", "function": {"name": "get_clock", "arguments": "{}"}}
    calls = [{**call, "id": str(number)} for number in range(600)]
    async with client(talking(model([]))) as chat:
        with pytest.raises(openai.BadRequestError) as caught:
            await whole(chat, USER, {"role": "assistant", "tool_calls": calls})
    assert caught.value.code == "too_many_messages"


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (ContextOverflow("too long"), openai.BadRequestError, "context_length_exceeded"),
        (EngineFailed("it died"), openai.InternalServerError, "engine_failed"),
        (ModelError("/home/mara/model.gguf is damaged"), openai.InternalServerError, "model_error"),
    ],
)
async def test_what_the_model_raises_is_told_before_the_first_word(
    error: EdgevoxError, kind: type[openai.APIStatusError], code: str
) -> None:
    async with client(talking(model([error, error]))) as chat:
        for ask in (whole, streamed):
            with pytest.raises(kind) as caught:
                await ask(chat, USER)
            assert caught.value.code == code
            assert "mara" not in caught.value.message


async def test_what_happens_in_the_middle_of_a_stream_is_an_error_of_the_stream() -> None:
    lines: list[str | EdgevoxError] = ["One moment. " + written("get_time"), EngineFailed("it died")]
    async with client(acting(model(lines), Lamp())) as chat:
        with pytest.raises(openai.APIError, match="it died"):
            await streamed(chat, USER)


async def test_another_model_than_the_one_that_is_served_is_not_found() -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(openai.NotFoundError):
            await chat.chat.completions.create(model="gpt-99", messages=[{"role": "user", "content": "?"}])
        assert [one.id async for one in chat.models.list()] == ["scripted"]
        assert (await chat.models.retrieve("scripted")).id == "scripted"


async def test_every_name_of_the_preset_is_listed_and_works() -> None:
    named = dataclasses.replace(talking(model(["Yes.", "Yes."])), aliases=("short",))
    async with client(named) as chat:
        names = [one.id async for one in chat.models.list()]
        for name in names:
            await chat.chat.completions.create(model=name, messages=[{"role": "user", "content": "?"}])
    assert names == ["scripted", "short"]


async def test_a_base_url_without_a_version_and_a_request_without_a_model_are_understood() -> None:
    async with served(talking(model(["Noon."]))) as url, aiohttp.ClientSession() as session:
        async with session.post(f"{url}/chat/completions", json={"messages": [USER]}) as answer:
            assert (await answer.json())["choices"][0]["message"]["content"] == "Noon."
        async with session.get(f"{url}/models") as answer:
            assert (await answer.json())["data"][0]["id"] == "scripted"
        async with session.get(f"{url}/health") as answer:
            assert answer.status == 200
        asked = {"messages": [USER], "add_generation_prompt": True, "continue_final_message": True}
        async with session.post(f"{url}/completions/chat", json=asked) as answer:
            assert answer.status == 404
        async with session.post(f"{url}/v1/chat/completions", json=asked) as answer:
            assert (await answer.json())["error"]["param"] == "continue_final_message"
