"""No reply shows call syntax: not of a model that writes calls only, and not where it is cut."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import anthropic
import pytest

from edgevox.agents.model_profile import ModelProfile
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, FinishReason, Sampling
from edgevox.server.assistant import Assistant
from tests.server.harness import OWNER, Lamp, acting, served
from tests.server.openai_chat import CLOCK, USER, client, streamed, whole


class Writing:
    """A model that writes the same text for every request, and ends in the same way."""

    def __init__(self, text: str, finish: FinishReason = "stop") -> None:
        self.text = text
        self.finish: FinishReason = finish
        self.requests: list[ChatRequest] = []

    async def stream(self, request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.requests.append(request)
        replies: list[ChatReply] = [ChatDelta(char) for char in self.text]
        for reply in (*replies, ChatDone(self.finish, 10, 0, len(self.text))):
            yield reply


def home(writing: Writing) -> Assistant:
    """The default preset: its model was trained to write calls only."""
    profile = ModelProfile(writing, ("python_list",), "required_first_hop", "lines", Sampling(temperature=0.0))
    return Assistant("home", profile)


PLAIN: list[dict[str, Any]] = [{"tool_choice": "none"}, {"extra_body": {"tools": []}}, {}]


@pytest.mark.parametrize("more", [*PLAIN, {"tools": [CLOCK], "tool_choice": "none"}])
async def test_a_model_that_writes_calls_only_answers_in_plain_text(more: dict[str, Any]) -> None:
    writing = Writing('[respond(text="Hello!")]')
    async with client(home(writing)) as chat:
        for ask in (whole, streamed):
            answered = await ask(chat, USER, **more)
            reply = answered[0] if isinstance(answered, tuple) else answered
            assert (reply.text, reply.calls, reply.finish_reason) == ("Hello!", (), "stop")
    assert [request.tool_choice for request in writing.requests] == ["required", "required"]


async def test_a_plain_answer_that_is_cut_is_the_beginning_of_its_text() -> None:
    async with client(home(Writing('[respond(text="Hello th', "length"))) as chat:
        reply, _message = await whole(chat, USER, max_tokens=3)
    assert (reply.text, reply.finish_reason) == ("Hello th", "length")


async def test_a_plain_answer_ends_at_a_stop_string() -> None:
    async with client(home(Writing('[respond(text="One. Two. Three.")]'))) as chat:
        reply, _message = await whole(chat, USER, stop=["Two"])
    assert (reply.text, reply.finish_reason) == ("One.", "stop")


async def test_a_model_that_writes_calls_only_continues_a_message_within_the_call() -> None:
    writing = Writing('morning!")]')
    async with client(home(writing)) as chat:
        reply, _message = await whole(chat, USER, {"role": "assistant", "content": "Good "})
    assert (reply.text, writing.requests[0].reply_prefix) == ("morning!", '[respond(text="Good ')


async def test_anthropics_none_gives_plain_text() -> None:
    async with (
        served(home(Writing('[respond(text="Hello!")]'))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key=OWNER, max_retries=0, timeout=20) as chat,
    ):
        message = await chat.messages.create(
            model="default",
            max_tokens=20,
            messages=[{"role": "user", "content": "Say hello."}],
            extra_body={"tool_choice": {"type": "none"}},
        )
    assert [block.type == "text" and block.text for block in message.content] == ["Hello!"]


@pytest.mark.parametrize("cut", ["<tool", '<tool_call>\n{"name": "swi'])
async def test_a_call_that_is_cut_is_not_text(cut: str) -> None:
    for assistant, more in (
        (acting(Writing(f"Yes. {cut}", "length"), Lamp()), {}),
        (home_of_hermes(Writing(f"Yes. {cut}", "length")), {"tools": [CLOCK]}),
    ):
        async with client(assistant) as chat:
            reply, _message = await whole(chat, USER, **more)
        assert reply.text.startswith("Yes.")
        assert "<" not in reply.text


@pytest.mark.parametrize("cut", ["[turn_", '[get_clock(place="Par'])
async def test_a_list_of_calls_that_is_cut_is_not_text_in_any_api(cut: str) -> None:
    writing = Writing(cut, "length")
    home_with_tools = dataclasses.replace(acting(writing, Lamp(), ("python_list",)), profile=home(writing).profile)
    asked = {"messages": [USER], "max_tokens": 3}
    function: Any = CLOCK["function"]
    clock = {"type": "function", **function}
    requests: dict[str, list[dict[str, Any]]] = {
        "/v1/chat/completions": [asked, {**asked, "tools": [CLOCK]}, {**asked, "tool_choice": "none"}],
        "/v1/responses": [{"input": "?"}, {"input": "?", "tools": [clock]}],
        "/v1/messages": [asked, {**asked, "tool_choice": {"type": "none"}}],
        "/api/chat": [{"messages": [USER]}, {"messages": [USER], "tools": [CLOCK]}],
        "/api/generate": [{"prompt": "?"}],
    }
    headers = {"Authorization": f"Bearer {OWNER}"}
    async with served(home_with_tools) as url, aiohttp.ClientSession(url, headers=headers) as http:
        for path, bodies in requests.items():
            for body, is_streamed in itertools.product(bodies, (False, True)):
                async with http.post(path, json={**body, "stream": is_streamed}) as answer:
                    told = await answer.text()
                assert answer.status == 200, (path, body, told)
                assert "[" not in "".join(re.findall(r'"(?:text|content|response|delta)":"([^"]*)', told)), (path, told)


def home_of_hermes(writing: Writing) -> Assistant:
    return Assistant("hermes", ModelProfile(writing, ("hermes",), sampling=Sampling(temperature=0.0)))
