"""Anthropic's own client, unmodified: tool conversations, whole and streamed, and its own exceptions."""

from __future__ import annotations

import errno
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import pytest
from anthropic.types import Message

from edgevox.core.errors import ContextOverflow, EdgevoxError, EngineFailed, StateError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, NamedTool
from edgevox.server.assistant import Assistant
from tests.server.harness import OWNER, TALKER, Lamp, acting, model, served, talking, written

USER = {"role": "user", "content": "What time is it?"}
CLOCK = {
    "name": "get_clock",
    "description": "The time in a place.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}
PARIS = written("get_clock", '{"place": "Paris"}')


@asynccontextmanager
async def client(assistant: Assistant, token: str = OWNER, **settings: Any) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with (
        served(assistant, **settings) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key=token, max_retries=0, timeout=20) as made,
    ):
        yield made


async def whole(chat: anthropic.AsyncAnthropic, *messages: Any, **more: Any) -> Message:
    reply: Message = await chat.messages.create(model="default", max_tokens=50, messages=list(messages), **more)
    return reply


async def streamed(chat: anthropic.AsyncAnthropic, *messages: Any, **more: Any) -> Message:
    """The message that the client itself puts together from the events."""
    async with chat.messages.stream(model="default", max_tokens=50, messages=list(messages), **more) as stream:
        return await stream.get_final_message()


def told(message: Message) -> tuple[Any, ...]:
    """A message without what differs from one request to the next."""
    blocks = [block.model_dump(exclude={"id"}, exclude_none=True) for block in message.content]
    kept = [{key: block[key] for key in ("type", "text", "name", "input") if key in block} for block in blocks]
    usage = message.usage
    return kept, message.stop_reason, usage.input_tokens, usage.output_tokens


async def both(lines: list[Any], *messages: Any, **more: Any) -> tuple[Any, ...]:
    async with client(talking(model([*lines, *lines]))) as chat:
        reply = told(await whole(chat, *messages, **more))
        assert told(await streamed(chat, *messages, **more)) == reply
    return reply


async def test_without_tools_what_the_model_writes_is_left_untouched() -> None:
    text = f" so: {PARIS}\n"
    blocks, reason, *_usage = await both([text], USER)
    assert (blocks, reason) == ([{"type": "text", "text": text}], "end_turn")


async def test_calls_are_handed_to_the_program() -> None:
    blocks, reason, *_usage = await both([f"One moment. {PARIS}"], USER, tools=[CLOCK])
    assert reason == "tool_use"
    assert blocks == [
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "name": "get_clock", "input": {"place": "Paris"}},
    ]


class Counting:
    """A model that knows the length of its prompt before the first word; the second reply is a call."""

    def __init__(self) -> None:
        self._texts = iter(("It is noon.", PARIS))

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        for piece in (next(self._texts), "\n"):
            yield ChatDelta(piece, 100, 60)
        yield ChatDone("stop", 100, 60, 5)


@pytest.mark.parametrize("assistant", [talking, lambda said: acting(said, Lamp())])
async def test_a_stream_begins_with_the_tokens_of_the_prompt(assistant: Any) -> None:
    messages: Any = [USER]
    more: list[Any] = [{}, {"tools": [CLOCK]}]
    async with client(assistant(Counting())) as chat:
        for tools in more:
            begun = None
            async with chat.messages.stream(model="default", max_tokens=50, messages=messages, **tools) as stream:
                async for event in stream:
                    begun = event.message.usage if event.type == "message_start" else begun
                usage = (await stream.get_final_message()).usage
            assert begun is not None
            assert (begun.input_tokens, begun.cache_read_input_tokens) == (40, 60)
            assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (40, 60, 5)


@pytest.mark.parametrize("ask", [whole, streamed])
async def test_a_tool_conversation_goes_on_with_the_results(ask: Any) -> None:
    said = model([PARIS, "It is noon in Paris."])
    async with client(talking(said)) as chat:
        first = await ask(chat, USER, tools=[CLOCK], system="Be brief.")
        use = next(block for block in first.content if block.type == "tool_use")
        result = {"type": "tool_result", "tool_use_id": use.id, "content": [{"type": "text", "text": "12:00"}]}
        answer = {"role": "assistant", "content": first.content}
        last = await ask(chat, USER, answer, {"role": "user", "content": [result]}, tools=[CLOCK])
    assert last.content[0].text == "It is noon in Paris."
    assert said.requests[0].messages[0].content == "Be brief."
    assert [one.role for one in said.requests[1].messages] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("choice", "expected", "parallel"),
    [
        ({"type": "auto"}, "auto", True),
        ({"type": "any", "disable_parallel_tool_use": True}, "required", False),
        ({"type": "tool", "name": "get_clock"}, NamedTool("get_clock"), True),
        ({"type": "none"}, "none", True),
    ],
)
async def test_the_choice_of_a_tool_reaches_the_model(choice: Any, expected: object, parallel: bool) -> None:
    said = model(["Hello."])
    async with client(talking(said)) as chat:
        await whole(
            chat,
            USER,
            tools=[CLOCK],
            tool_choice=choice,
            stop_sequences=["x"],
            extra_body={"temperature": 0.5, "top_k": 3},
        )
    (request,) = said.requests
    assert (request.tool_choice, request.parallel_calls, request.stop) == (expected, parallel, ("x",))
    assert (request.sampling.temperature, request.sampling.top_k, request.sampling.max_tokens) == (0.5, 3, 50)


async def test_without_tools_in_the_request_the_assistant_uses_its_own() -> None:
    lines = ["One moment. " + written("get_time"), "It is noon."]
    lamp = Lamp()
    async with client(acting(model([*lines, *lines]), lamp)) as chat:
        reply = told(await whole(chat, USER))
        assert told(await streamed(chat, USER)) == reply
    assert reply[:2] == ([{"type": "text", "text": "One moment. It is noon."}], "end_turn")
    assert lamp.log == ["time", "time"]


@pytest.mark.parametrize(
    ("token", "kind"), [("EMPTY", anthropic.AuthenticationError), (TALKER, anthropic.PermissionDeniedError)]
)
async def test_its_own_tools_need_a_token_that_is_good_for_it(token: str, kind: type[anthropic.APIStatusError]) -> None:
    async with client(acting(model([]), Lamp()), token=token) as chat:
        with pytest.raises(kind) as caught:
            await whole(chat, USER)
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["type"] == "error"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "assistant", "content": "Hello."}],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "noon"}]}],
    ],
)
async def test_a_request_that_cannot_be_answered_is_a_bad_request(messages: list[Any]) -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(anthropic.BadRequestError):
            await whole(chat, *messages)


async def test_an_image_is_refused_in_words() -> None:
    async with client(talking(model([]))) as chat:
        with pytest.raises(anthropic.BadRequestError, match="images are not supported: the model reads text only"):
            await whole(chat, {"role": "user", "content": [{"type": "image", "source": {}}]})


async def test_a_reply_continues_the_last_message_of_the_assistant() -> None:
    said = model([" noon."])
    async with client(talking(said)) as chat:
        message = await whole(chat, USER, {"role": "assistant", "content": "It is"})
    assert (message.content[0].text, said.requests[0].reply_prefix) == (" noon.", "It is")  # type: ignore[union-attr]


async def test_an_answer_can_be_held_to_a_schema() -> None:
    form = {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "integer"}}}
    said = model(["7"])
    async with client(talking(said)) as chat:
        await whole(chat, USER, extra_body={"output_config": form})
        with pytest.raises(anthropic.BadRequestError, match="mcp_servers: this server does not support it"):
            await whole(chat, USER, extra_body={"mcp_servers": [{"type": "url"}]})
    assert said.requests[0].json_schema == {"type": "integer"}


async def test_the_tokens_of_a_prompt_are_counted_without_an_answer() -> None:
    said = model([""])
    async with client(acting(said, Lamp()), token=TALKER) as chat:
        messages: Any = [USER]
        counted = await chat.messages.count_tokens(model="default", messages=messages, system="Be brief.")
    assert (counted.input_tokens, said.requests[0].sampling.max_tokens) == (0, 0)
    assert [one.role for one in said.requests[0].messages] == ["system", "user"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ContextOverflow("too long"), anthropic.BadRequestError),
        (EngineFailed("it died"), anthropic.InternalServerError),
    ],
)
@pytest.mark.parametrize("ask", [whole, streamed])
async def test_what_the_model_raises_is_told_before_the_first_word(
    error: EdgevoxError, kind: type[anthropic.APIStatusError], ask: Any
) -> None:
    async with client(talking(model([error]))) as chat:
        with pytest.raises(kind):
            await ask(chat, USER)


class Faulty:
    """A model on a machine that has a problem, at once or after a word."""

    def __init__(self, error: Exception, *, begins: bool = False) -> None:
        self._error = error
        self._begins = begins

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if self._begins:
            yield ChatDelta("Well, ")
        raise self._error


@pytest.mark.parametrize(
    ("error", "ask", "begins"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), whole, False),
        (TimeoutError(), streamed, False),
        (StateError("/home/x is full"), streamed, True),
    ],
)
async def test_a_fault_of_the_machine_is_an_error_that_clients_retry_and_is_logged_once(
    error: Exception, ask: Any, begins: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with client(talking(Faulty(error, begins=begins))) as chat:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await ask(chat, USER)
    assert caught.value.body["error"]["type"] == "overloaded_error"  # type: ignore[index]
    assert caught.value.status_code == (200 if begins else 503)
    assert "/home" not in str(caught.value)
    logged = [record for record in caplog.records if record.name == "edgevox.server.http.errors"]
    assert [record.levelname for record in logged] == ["ERROR"]
    assert not any(record.exc_info for record in caplog.records)


async def test_a_model_that_ends_without_an_end_is_an_error_that_clients_retry() -> None:
    class Ended:
        async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
            yield ChatDelta("Well, ")

    async with client(talking(Ended())) as chat:
        with pytest.raises(anthropic.InternalServerError, match="before its reply was complete"):
            await whole(chat, USER)
        with pytest.raises(anthropic.APIStatusError, match="before its reply was complete"):
            await streamed(chat, USER)
        with pytest.raises(anthropic.InternalServerError, match="before its reply was complete"):
            await chat.messages.count_tokens(model="default", messages=[{"role": "user", "content": "?"}])


async def test_what_happens_in_the_middle_of_a_stream_is_an_error_of_the_stream() -> None:
    lines: list[str | EdgevoxError] = ["One moment. " + written("get_time"), EngineFailed("it died")]
    async with client(acting(model(lines), Lamp())) as chat:
        with pytest.raises(anthropic.APIError, match="it died"):
            await streamed(chat, USER)


async def test_other_refusals_are_of_the_clients_own_types() -> None:
    async with client(talking(model([])), max_body_bytes=1000) as chat:
        with pytest.raises(anthropic.NotFoundError):
            await chat.messages.create(model="claude-99", max_tokens=5, messages=[{"role": "user", "content": "?"}])
        with pytest.raises(anthropic.APIStatusError) as caught:
            await whole(chat, {"role": "user", "content": "x" * 2000})
        assert caught.value.status_code == 413
        assert [one.id async for one in chat.models.list()] == ["scripted"]
