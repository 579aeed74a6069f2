"""A language model on a remote server, with the protocol of the local one, and its API key."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any, Self

import aiohttp
from pydantic import ValidationError

from edgevox.config import LlmSettings
from edgevox.config.secrets import Secret, read_secret
from edgevox.config.sections import checked_url
from edgevox.config.settings import RemoteKind
from edgevox.core.errors import ConfigError, ContextOverflow, ModelError
from edgevox.core.files import parse_json
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Busy, ChatDelta, ChatDone, ChatReply, ChatRequest
from edgevox.engines.base import EngineLimits, limited_replies
from edgevox.llm.prompt.fitting import turn_starts, without_oldest_turns
from edgevox.llm.prompt.render import fit_request
from edgevox.llm.prompt.templates import TemplateCapabilities
from edgevox.llm.remote.anthropic import ANTHROPIC
from edgevox.llm.remote.openai import OPENAI
from edgevox.llm.remote.wire import Answer, BadResponse, ModelList, Refusal, RemoteErrors, Wire, server_events
from edgevox.llm.tool_parsers import parse_reply

_log = logging.getLogger(__name__)

_WIRES: dict[RemoteKind, Wire] = {"openai": OPENAI, "anthropic": ANTHROPIC}
_CONNECT_S = 10.0
_LIST_S = 15.0
_ATTEMPTS = 3
_MAX_BYTES = 8_000_000
_MAX_REFUSAL_BYTES = 65_536
NOT_FORCED = "the server does not enforce a required call"


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
        raise ConfigError(
            "invalid key for the remote model: it contains characters that no key has",
            hint="llm.remote_key_file must contain the key in one line and nothing else",
        )
    return key


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
        self._wire = _WIRES[kind]
        self._headers = self._wire.headers(key)
        self._extra = dict(extra or {})
        self._limits = limits or EngineLimits()
        self._errors = RemoteErrors(self.url, key)
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
            self._session = aiohttp.ClientSession(
                timeout=timeout, headers=self._headers, cookie_jar=aiohttp.DummyCookieJar()
            )
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
        replies: AsyncGenerator[ChatReply, None] = limited_replies(
            self._stream_answer(request), cancel, self._limits, name=self.url
        )
        async with aclosing(replies):
            async for reply in replies:
                is_done = isinstance(reply, ChatDone)
                yield reply
        if not is_done:
            yield ChatDone("cancelled", 0, 0, 0)

    # --- one response

    async def _stream_answer(self, request: ChatRequest) -> AsyncGenerator[ChatReply | Busy, None]:
        """Yield the answer, dropping old turns until the conversation fits: each time twice as many, not one by one."""
        whole, dropped = request.messages, 0
        while True:
            answer = self._wire.reader(request)
            text = ""
            try:
                with self._errors_explained():
                    async with aclosing(self._read(request, answer)) as pieces:
                        async for piece in pieces:
                            text += piece.text if isinstance(piece, ChatDelta) else ""
                            yield piece
                    rest, done = answer.finish()
                break
            except ContextOverflow:
                most = len(turn_starts(whole)) - 1
                if dropped >= most:
                    raise
                dropped = min(most, dropped * 2 + 1)
                request = dataclasses.replace(request, messages=without_oldest_turns(whole, dropped))
        warnings = done.warnings
        if rest:
            yield ChatDelta(rest)
        elif _lacks_call(request, text):
            self._warn_not_enforced()
            warnings = (NOT_FORCED,)
        yield dataclasses.replace(done, dropped_turns=dropped, warnings=warnings)

    async def _read(self, request: ChatRequest, answer: Answer) -> AsyncGenerator[ChatDelta | Busy, None]:
        async with await self._post(request) as response:
            try:
                if response.content_type != "text/event-stream":
                    for piece in answer.feed_whole(await _read_body(response)):
                        yield piece
                    return
                async with aclosing(_bounded(response)) as body, aclosing(server_events(body)) as events:
                    async for event in events:
                        if isinstance(event, Busy):
                            yield event
                            continue
                        for piece in answer.feed(event):
                            yield piece
                        if answer.is_over:
                            return
            except (aiohttp.ClientError, OSError):
                raise self._errors.disconnected() from None
            if not answer.is_complete:
                raise self._errors.disconnected()

    async def _post(self, request: ChatRequest) -> aiohttp.ClientResponse:
        """Return the response if its status is a success. Raises Refusal."""
        assert self._session is not None, "start() first"
        url = self._wire.base_url(self.url) + self._wire.chat_path
        last: Exception = aiohttp.ServerDisconnectedError()
        for _attempt in range(_ATTEMPTS):
            try:
                response = await self._session.post(url, json=self._body(request), allow_redirects=False)
            except aiohttp.ServerDisconnectedError as error:
                # The server may have closed a kept-alive connection.
                last = error
                continue
            except (aiohttp.ClientError, OSError) as error:
                last = error
                break
            self.is_up = True
            if response.status == 200:
                return response
            refusal = await _refusal(response)
            if not (refusal.is_about_choice and _is_required(request)):
                raise refusal
            self._warn_not_enforced()
            request = dataclasses.replace(request, tool_choice="auto")
        self.is_up = False
        raise self._errors.unreachable(last) from None

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        if self._known.is_edgevox:
            request = dataclasses.replace(request, tools_as="template")  # it writes them as its own preset wants
        fitted = fit_request(request, TemplateCapabilities())  # the server adapts the rest to its own template
        body = self._wire.body(self.model, fitted)
        if self._known.is_edgevox and not fitted.tools:
            body["tool_choice"] = self._wire.no_tools  # or it would use its own tools
        return body | self._extra

    def _warn_not_enforced(self) -> None:
        if self.forces_calls:
            _log.warning("%s: %s", self.url, NOT_FORCED)
        self.forces_calls = False

    async def _listed(self, session: aiohttp.ClientSession) -> ModelList:
        url = f"{self._wire.base_url(self.url)}/models"
        timeout = aiohttp.ClientTimeout(total=_LIST_S, sock_connect=_CONNECT_S)
        try:
            with self._errors_explained():
                async with session.get(url, allow_redirects=False, timeout=timeout) as response:
                    self.is_up = True
                    if response.status in (404, 405, 501):  # not every server lists its models
                        return ModelList()
                    if response.status != 200:
                        raise await _refusal(response)
                    return ModelList.read(await _read_body(response))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.is_up = False
            raise self._errors.unreachable(error) from None

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except (BadResponse, ValidationError) as error:
            raise self._errors.invalid(error) from None
        except Refusal as refusal:
            raise self._errors.refused(refusal, self.model, self._known) from None


def _is_required(request: ChatRequest) -> bool:
    return bool(request.tools) and request.tool_choice not in ("auto", "none")


def _lacks_call(request: ChatRequest, text: str) -> bool:
    """Whether a required call is missing, also in the text."""
    if not _is_required(request):
        return False
    parsers = (request.wire_format,) if request.wire_format else ()
    return not parse_reply(text, preset_parsers=parsers, tools=[dict(tool) for tool in request.tools]).calls


async def _bounded(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Yield the body in pieces. Raises BadResponse if it is too long."""
    total = 0
    async for piece in response.content.iter_any():
        total += len(piece)
        if total > _MAX_BYTES:
            raise BadResponse(f"it is longer than {_MAX_BYTES:,} bytes")
        yield piece


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    return b"".join([piece async for piece in _bounded(response)])


async def _refusal(response: aiohttp.ClientResponse) -> Refusal:
    async with response:
        text = (await response.content.read(_MAX_REFUSAL_BYTES)).decode(errors="replace")
    try:
        content = parse_json(text)
    except ValueError:
        content = text
    return Refusal(content, response.status, response.headers.get("Retry-After", ""))
