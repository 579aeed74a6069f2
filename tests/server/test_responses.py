"""OpenAI's own client and its Responses API: whole, streamed, with functions, schemas and earlier responses."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from pydantic import BaseModel

from edgevox.core.errors import EdgevoxError, EngineFailed
from edgevox.core.types import Message
from edgevox.server.chat.responses import ResponseStore, StoredResponse
from tests.server.harness import OWNER, TALKER, Lamp, acting, model, served, talking, written
from tests.server.openai_chat import client
from tests.server.test_plain_text import Writing

PARIS = written("get_clock", '{"place": "Paris"}')
CLOCK: Any = {
    "type": "function",
    "name": "get_clock",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    "strict": False,
}


async def test_a_response_has_the_text_and_the_instructions_reach_the_model() -> None:
    said = model(["It is noon."])
    async with client(talking(said)) as chat:
        done = await chat.responses.create(
            model="default", input="What time is it?", instructions="Be brief.", max_output_tokens=7, temperature=0.5
        )
    assert (done.output_text, done.status, done.usage and done.usage.output_tokens) == ("It is noon.", "completed", 11)
    (request,) = said.requests
    assert [one.content for one in request.messages] == ["Be brief.", "What time is it?"]
    assert (request.sampling.max_tokens, request.sampling.temperature) == (7, 0.5)


async def test_a_stream_has_the_official_sequence_of_events() -> None:
    async with client(talking(model([f"One moment. {PARIS}"]))) as chat:
        stream = await chat.responses.create(model="default", input="What time is it?", tools=[CLOCK], stream=True)
        events = [event async for event in stream]
    names = [event.type.removeprefix("response.") for event in events]
    assert [name for index, name in enumerate(names) if name != names[index - 1]] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    final = events[-1]
    assert final.type == "response.completed"
    text, call = final.response.output
    assert (text.type, call.type, final.response.output_text) == ("message", "function_call", "One moment.")


async def test_what_the_client_puts_together_from_a_stream_is_the_whole_response() -> None:
    async with client(talking(model([f"One moment. {PARIS}"] * 2))) as chat:
        whole = await chat.responses.create(model="default", input="What time is it?", tools=[CLOCK])
        async with chat.responses.stream(model="default", input="What time is it?", tools=[CLOCK]) as stream:
            streamed = await stream.get_final_response()
    assert [_told(item) for item in streamed.output] == [_told(item) for item in whole.output]
    assert streamed.usage == whole.usage


def _told(item: Any) -> tuple[Any, ...]:
    if item.type == "message":
        return (item.content[0].text,)
    return item.name, item.arguments


async def test_a_function_result_continues_the_earlier_response() -> None:
    said = model([PARIS, "It is noon in Paris."])
    async with client(talking(said)) as chat:
        first = await chat.responses.create(model="default", input="What time is it?", tools=[CLOCK])
        (call,) = first.output
        assert call.type == "function_call"
        last = await chat.responses.create(
            model="default",
            previous_response_id=first.id,
            input=[{"type": "function_call_output", "call_id": call.call_id, "output": "12:00"}],
            tools=[CLOCK],
        )
    assert (last.output_text, last.previous_response_id) == ("It is noon in Paris.", first.id)
    assert [one.role for one in said.requests[1].messages] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("written_reply", [f"{PARIS}\n{PARIS}", f"{PARIS} One moment. {PARIS}"])
async def test_without_a_store_the_client_sends_the_items_back(written_reply: str) -> None:
    said = model([written_reply, "It is noon."])
    async with client(talking(said)) as chat:
        first = await chat.responses.create(model="default", input="The time?", tools=[CLOCK], store=False)
        items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "The time?"}]}]
        items += [item.model_dump() for item in first.output]
        items += [
            {"type": "function_call_output", "call_id": item.call_id, "output": "12:00"}
            for item in first.output
            if item.type == "function_call"
        ]
        last = await chat.responses.create(model="default", input=items, tools=[CLOCK], store=False)
        with pytest.raises(openai.BadRequestError) as caught:
            await chat.responses.create(model="default", input="?", previous_response_id=first.id)
    assert (last.output_text, caught.value.code) == ("It is noon.", "previous_response_not_found")
    assert [len(one.tool_calls) for one in said.requests[1].messages] == [0, 2, 0, 0]


async def test_an_earlier_response_belongs_to_its_token() -> None:
    async with served(talking(model(["Yes."]))) as url:
        owner, other = (
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0) for token in (OWNER, TALKER)
        )
        async with owner, other:
            done = await owner.responses.create(model="default", input="?")
            assert (await owner.responses.retrieve(done.id)).output_text == "Yes."
            with pytest.raises(openai.NotFoundError):
                await other.responses.retrieve(done.id)
            with pytest.raises(openai.BadRequestError):
                await other.responses.create(model="default", input="?", previous_response_id=done.id)
            await owner.responses.delete(done.id)
            with pytest.raises(openai.NotFoundError):
                await owner.responses.retrieve(done.id)


def test_the_store_drops_the_oldest_beyond_its_count_and_its_bytes() -> None:
    def stored(number: int, chars: int = 1) -> StoredResponse:
        return StoredResponse({"id": str(number), "tools": []}, (Message("user", "x" * chars),))

    few = ResponseStore(max_count=2)
    for number in range(3):
        few.add("owner", stored(number))
    assert [few.get("owner", str(number)) is not None for number in range(3)] == [False, True, True]
    small = ResponseStore(max_bytes=20_000)
    small.add("owner", stored(0, chars=3000))
    small.add("owner", stored(1, chars=3000))
    assert [small.get("owner", str(number)) is not None for number in range(2)] == [False, True]
    small.add("owner", stored(2, chars=50_000))
    assert small.get("owner", "2") is None


class Answer(BaseModel):
    hour: int


async def test_an_answer_is_held_to_the_schema_of_a_class() -> None:
    said = model(['{"hour": 12}'])
    async with client(acting(said, Lamp()), token=TALKER) as chat:
        done = await chat.responses.parse(model="default", input="The time?", text_format=Answer)
    assert done.output_parsed == Answer(hour=12)
    assert said.requests[0].json_schema is not None


async def test_the_assistants_own_tools_act_and_the_client_sees_text() -> None:
    lamp = Lamp()
    async with client(acting(model(["One moment. " + written("get_time"), "It is noon."]), lamp)) as chat:
        done = await chat.responses.create(model="default", input="The time?")
    assert (done.output_text, len(done.output), lamp.log) == ("One moment. It is noon.", 1, ["time"])


async def test_an_answer_that_is_cut_is_incomplete() -> None:
    async with client(talking(Writing("It is", "length"))) as chat:
        done = await chat.responses.create(model="default", input="?", max_output_tokens=2)
    assert (done.status, done.incomplete_details and done.incomplete_details.reason) == (
        "incomplete",
        "max_output_tokens",
    )


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input"),
    ],
)
async def test_what_is_not_supported_is_refused_by_name(more: dict[str, Any], param: str) -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(openai.BadRequestError, match="support") as caught:
            await chat.responses.create(model="default", **{"input": "?", **more})
    assert (caught.value.param or "").startswith(param)


async def test_an_error_in_the_middle_of_a_stream_is_raised_by_the_client() -> None:
    lines: list[str | EdgevoxError] = ["One moment. " + written("get_time"), EngineFailed("it died")]
    async with client(acting(model(lines), Lamp())) as chat:
        stream = await chat.responses.create(model="default", input="?", stream=True)
        with pytest.raises(openai.APIError, match="it died"):
            [event async for event in stream]
