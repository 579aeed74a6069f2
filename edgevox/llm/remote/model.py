"""A language model on a remote server, with the protocol of the local one, and its API key."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self, assert_never

import aiohttp

from edgevox.config import LlmSettings
from edgevox.config.secrets import Secret, read_secret
from edgevox.config.sections import checked_url
from edgevox.config.settings import RemoteKind
from edgevox.core.errors import ConfigError, ContextOverflow, ModelError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Busy, ChatDelta, ChatDone, ChatReply, ChatRequest
from edgevox.engines.base import EngineLimits, limited_replies
from edgevox.llm.prompt.render import drop_oldest_turn, fit_messages
from edgevox.llm.prompt.templates import TemplateCapabilities
from edgevox.llm.remote.anthropic import AnthropicWire
from edgevox.llm.remote.openai import OpenAIWire
from edgevox.llm.remote.wire import (
    MAX_BYTES,
    AnswerReader,
    BadResponse,
    HttpRefusal,
    ModelList,
    RemoteErrors,
    ServerRefusal,
    Wire,
    server_events,
)
from edgevox.llm.tool_parsers import parse_reply


def read_key(llm: LlmSettings, environ: Mapping[str, str]) -> Secret | None:
    """Return the API key, or None if none is set. Raises ConfigError, which never contains the key."""
    if llm.remote_key_file is not None:
        key = read_secret(llm.remote_key_file)
        if key is None:
            raise ConfigError(
                f"no key in {llm.remote_key_file} (llm.remote_key_file)", hint="write the key into that file"
            )
    elif text := environ.get(llm.remote_key_variable, "").strip():
        key = Secret(text)
    else:
        return None
    if not key.reveal().isascii() or not key.reveal().isprintable():
        raise ConfigError("invalid key for the remote model: it contains characters that no key has", hint=_HINT)
    return key


_HINT = "llm.remote_key_file must contain the key in one line and nothing else"


_log = logging.getLogger(__name__)

_CONNECT_S = 10.0
_LIST_S = 15.0
_ATTEMPTS = 3
_MAX_REFUSAL_BYTES = 65_536
_EVENTS = "text/event-stream"
NOT_FORCED = "the server does not enforce a required call"

# The server handles what its own template does not support.
_ABILITIES = TemplateCapabilities(
    system_role=True,
    renders_tools=True,
    renders_tool_calls=True,
    renders_parallel_calls=True,
    renders_tool_results=True,
    takes_thinking=True,
    opened_tags=("", ""),
)


class RemoteModel:
    """A ChatModel. Use it with `async with`, or between `start` and `close`.

    `model` may be omitted if the server has only one; `extra` adds fields to each request. Raises ConfigError for an
    invalid URL.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        kind: RemoteKind = "openai",
        key: Secret | None = None,
        extra: Mapping[str, Any] | None = None,
        limits: EngineLimits | None = None,
    ) -> None:
        try:
            self.url = checked_url(url)
        except ValueError as error:
            raise ConfigError(str(error), hint="for example http://localhost:8080/v1") from None
        self.model = model or ""
        self.is_up = True
        """Whether the server answered the last request."""
        self.forces_calls = True
        """False once a required call was not made."""
        self._wire = _wire(kind)
        self._headers = self._wire.headers(key)
        self._extra = dict(extra or {})
        self._limits = limits or EngineLimits()
        self._failures = RemoteErrors(self.url, key)
        self._known = ModelList()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Connect and list the models. Raises EngineFailed, and ConfigError for a wrong key or URL."""
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S)
            self._session = aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())
        try:
            self._known = await self._listed(self._session)
            self.model = self.model or self._known.only_one(self.url)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        """Run one generation. Raises EngineFailed, ModelError and ConfigError.

        An interrupted reply cannot be continued.
        """
        if request.reply_prefix:
            raise ModelError(
                "a remote model cannot continue an interrupted reply", hint="send the request again from the start"
            )
        if request.prompt_only:  # the server manages its own cache
            yield ChatDone("stop", 0, 0, 0)
            return
        is_done = False
        given: AsyncGenerator[ChatReply, None] = limited_replies(
            self._stream_answer(request), cancel, self._limits, name=self.url
        )
        async with aclosing(given):
            async for reply in given:
                is_done = isinstance(reply, ChatDone)
                yield reply
        if not is_done:
            yield ChatDone("cancelled", 0, 0, 0)

    # --- one response

    async def _stream_answer(self, request: ChatRequest) -> AsyncGenerator[ChatReply | Busy, None]:
        """Yield the answer, dropping old turns until the conversation fits."""
        dropped = 0
        while True:
            try:
                async with aclosing(self._answer(request)) as answer:
                    async for reply in answer:
                        if isinstance(reply, ChatDone):
                            reply = dataclasses.replace(reply, dropped_turns=dropped)
                        yield reply
            except ContextOverflow:
                shorter = drop_oldest_turn(request.messages)
                if shorter == request.messages:
                    raise
                request = dataclasses.replace(request, messages=shorter)
                dropped += 1
            else:
                return

    async def _answer(self, request: ChatRequest) -> AsyncGenerator[ChatReply | Busy, None]:
        reader = self._wire.reader(request)
        text = ""
        try:
            async with aclosing(self._read(request, reader)) as pieces:
                async for piece in pieces:
                    text += piece.text if isinstance(piece, ChatDelta) else ""
                    yield piece
            rest, done = reader.finish()
        except BadResponse as error:
            raise self._failures.not_readable(error) from None
        except ServerRefusal as error:
            raise self._failures.refused_mid_stream(error) from None
        if rest:
            yield ChatDelta(rest)
        if not rest and _lacks_call(request, text):
            self._warn_not_enforced()
            done = dataclasses.replace(done, warnings=(NOT_FORCED,))
        yield done

    async def _read(self, request: ChatRequest, reader: AnswerReader) -> AsyncGenerator[ChatDelta | Busy, None]:
        async with await self._post(request) as response:
            try:
                if response.content_type != _EVENTS:
                    for piece in reader.feed_whole(await _body(response, MAX_BYTES)):
                        yield piece
                    return
                async with aclosing(server_events(response.content.iter_any())) as events:
                    async for event in events:
                        if isinstance(event, Busy):
                            yield event
                            continue
                        for piece in reader.feed(event):
                            yield piece
                        if reader.is_over:
                            return
            except (aiohttp.ClientError, OSError):
                raise self._failures.disconnected() from None
            if not reader.is_complete:
                raise self._failures.disconnected()

    async def _post(self, request: ChatRequest) -> aiohttp.ClientResponse:
        """Return the response if its status is a success."""
        assert self._session is not None, "start() first"
        body = self._body(request)
        last: Exception = aiohttp.ServerDisconnectedError()
        for _attempt in range(_ATTEMPTS):
            try:
                response = await self._session.post(
                    self._wire.chat_url(self.url), json=body, headers=self._headers, allow_redirects=False
                )
            except aiohttp.ServerDisconnectedError as error:
                # The server may have closed a kept-alive connection.
                last = error
                continue
            except (aiohttp.ClientError, OSError) as error:
                self.is_up = False
                raise self._failures.unreachable(error) from None
            self.is_up = True
            if response.status == 200:
                return response
            refused = await _refused(response)
            if refused.is_about_choice and _is_required(request):
                self._warn_not_enforced()
                request = dataclasses.replace(request, tool_choice="auto")
                body = self._body(request)
                continue
            raise self._failures.refused(refused, self.model, self._known.names)
        self.is_up = False
        raise self._failures.unreachable(last)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        fitted = fit_messages(request.messages, request.tools, _ABILITIES, request.wire_format, request.tools_as)
        asked = dataclasses.replace(request, messages=fitted.messages, tools=fitted.tools)
        body = self._wire.body(self.model, asked)
        if self._known.is_edgevox and not fitted.tools:
            body["tool_choice"] = self._wire.no_tools  # or it would use its own tools
        return body | self._extra

    def _warn_not_enforced(self) -> None:
        if self.forces_calls:
            _log.warning("%s: %s", self.url, NOT_FORCED)
        self.forces_calls = False

    async def _listed(self, session: aiohttp.ClientSession) -> ModelList:
        try:
            async with session.get(
                self._wire.models_url(self.url),
                headers=self._headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=_LIST_S, sock_connect=_CONNECT_S),
            ) as response:
                self.is_up = True
                if response.status in (404, 405, 501):  # not every server lists its models
                    return ModelList()
                if response.status != 200:
                    raise self._failures.refused(await _refused(response), self.model, ())
                return ModelList.read(await _body(response, MAX_BYTES))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.is_up = False
            raise self._failures.unreachable(error) from None
        except BadResponse as error:
            raise self._failures.not_readable(error) from None


def _wire(kind: RemoteKind) -> Wire:
    match kind:
        case "openai":
            return OpenAIWire()
        case "anthropic":
            return AnthropicWire()
        case _:
            assert_never(kind)


def _is_required(request: ChatRequest) -> bool:
    return bool(request.tools) and request.tool_choice not in ("auto", "none")


def _lacks_call(request: ChatRequest, text: str) -> bool:
    """Whether a required call is missing, also in the text."""
    if not _is_required(request):
        return False
    parsers = (request.wire_format,) if request.wire_format else ()
    return not parse_reply(text, preset_parsers=parsers, tools=[dict(tool) for tool in request.tools]).calls


async def _body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """Raises BadResponse if the body is longer."""
    body = b""
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > max_bytes:
            raise BadResponse(f"it is longer than {max_bytes:,} bytes")
    return body


async def _refused(response: aiohttp.ClientResponse) -> HttpRefusal:
    async with response:
        body = await response.content.read(_MAX_REFUSAL_BYTES)
    return HttpRefusal.read(response.status, body, response.headers.get("Retry-After", ""))
