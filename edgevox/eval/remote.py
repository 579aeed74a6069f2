"""A model behind an OpenAI-compatible endpoint, as a chat model: to see how another one does."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from edgevox.errors import ConfigError, EngineFailed
from edgevox.llm.tool_parsers import DETECTORS
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatReply, ChatRequest, Message, NamedTool, ToolCall

WIRE_FORMAT = "hermes"
"""The form in which the calls of the answer are handed on."""

KEY_VARIABLE = "EDGEVOX_REMOTE_KEY"
TIMEOUT_S = 300.0


class RemoteModel:
    """Asks `url`/chat/completions, one whole answer at a time. `key` is sent where there is one.

    Raises ConfigError for an address that is none.
    """

    def __init__(self, url: str, model: str, key: str = "", *, timeout_s: float = TIMEOUT_S) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"{url} is no address", hint="such as http://localhost:8080/v1")
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._model = model
        self._key = key
        self._timeout_s = timeout_s

    async def stream(self, request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        """The answer in one piece. Raises EngineFailed when there is none that can be read."""
        answer = await self._answer(_body(self._model, request))
        message, usage = answer.choices[0].message, answer.usage
        calls = tuple(
            ToolCall(str(number), call.function.name, call.function.arguments or "{}")
            for number, call in enumerate(message.tool_calls or ())
        )
        written = DETECTORS[WIRE_FORMAT]().render(calls) if calls else ""
        yield ChatDelta("\n".join(filter(None, (message.content, written))))
        yield ChatDone(
            "tool_calls" if calls else "stop",
            prompt_tokens=usage.prompt_tokens,
            cached_tokens=0,
            generated_tokens=usage.completion_tokens,
        )

    async def _answer(self, body: dict[str, Any]) -> _Answer:
        # On a daemon thread: whoever gives up waiting must not wait for it.
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[_Answer] = loop.create_future()

        def work() -> None:
            try:
                done = partial(_settle, answered, self._ask(body))
            except EngineFailed as error:
                done = partial(_settle, answered, error)
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(done)

        threading.Thread(target=work, name="remote model", daemon=True).start()
        return await answered

    def _ask(self, body: dict[str, Any]) -> _Answer:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)  # noqa: S310 - checked
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as response:  # noqa: S310 - checked
                return _Answer.model_validate_json(response.read())
        except urllib.error.HTTPError as error:
            said = error.read()[:300].decode(errors="replace")
            raise EngineFailed(f"{self._url} answered {error.code}: {said}", hint="see its log") from error
        except (OSError, http.client.HTTPException) as error:
            raise EngineFailed(f"{self._url} does not answer: {error}", hint="is it running?") from error
        except ValidationError as error:
            raise EngineFailed(
                f"{self._url} gave no chat completion", hint="the address should end in /v1"
            ) from error


def _settle(answered: asyncio.Future[_Answer], outcome: _Answer | EngineFailed) -> None:
    if answered.done():  # given up
        return
    if isinstance(outcome, EngineFailed):
        answered.set_exception(outcome)
    else:
        answered.set_result(outcome)


def _body(model: str, request: ChatRequest) -> dict[str, Any]:
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools:
        body["tools"] = list(request.tools)
        match request.tool_choice:
            case NamedTool(name):
                body["tool_choice"] = {"type": "function", "function": {"name": name}}
            case choice:
                body["tool_choice"] = choice
    return body


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written


class _Function(BaseModel):
    name: str
    arguments: str | None = None


class _Call(BaseModel):
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Answer(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage = _Usage()
