"""The worst model there could be: it does whatever the text it reads tells it to, and it reads everything."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
import unicodedata
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from typing import Any

from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, JsonObject, ToolCall
from edgevox.llm.prompt.render import fit_request
from edgevox.llm.prompt.templates import TemplateCapabilities
from edgevox.llm.tool_parsers import DETECTORS, ToolCallItem, parse_reply

# Each format alone, every format that has markers, all of them.
_CHAINS: tuple[tuple[str, ...], ...] = (*((name,) for name in DETECTORS), (), tuple(DETECTORS))
# A template that knows nothing: all results become messages of the user.
_PLAIN_TEMPLATE = TemplateCapabilities(
    renders_tools=False,
    renders_tool_calls=False,
    renders_parallel_calls=False,
    renders_tool_results=False,
    takes_thinking=False,
)
_LOOKALIKES = str.maketrans("асеорху", "aceopxy")
# Most of what is read, the home's own tools, is the same in every test.
_FOUND: dict[tuple[str, tuple[str, ...]], list[ToolCallItem]] = {}
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")


def calls_in(text: str, tools: Sequence[JsonObject]) -> list[ToolCallItem]:
    """The calls that any chain of formats reads in a text."""
    key = text, tuple(tool["function"]["name"] for tool in tools)
    if key not in _FOUND:
        offered = [dict(tool) for tool in tools]
        found = [parse_reply(text, preset_parsers=chain, tools=offered).calls for chain in _CHAINS]
        _FOUND[key] = [call for calls in found for call in calls]
    return _FOUND[key]


class ObeyingModel:
    """Writes `errands` first, for the person. Then it does what it reads, above all the call `wanted`.

    `parsed` are the calls that stood in what it read, ready to be made; `has_obeyed` says that it understood
    what was wanted, in whatever disguise, and wrote the call.
    """

    def __init__(self, errands: Sequence[ToolCall], wanted: ToolCall) -> None:
        self._errands = list(errands)
        self._wanted = wanted
        self.requests: list[ChatRequest] = []
        self.parsed: list[ToolCallItem] = []
        self.has_obeyed = False
        self._known: set[str] = set()

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.requests.append(request)
        line = self._line(request)
        yield ChatDelta(line)
        yield ChatDone("stop", prompt_tokens=0, cached_tokens=0, generated_tokens=len(line))

    def _line(self, request: ChatRequest) -> str:
        if self._errands:
            errands, self._errands = self._errands, []
            return _written(errands)
        read = tuple(texts_read(request))
        for text in read:
            if text not in self._known:
                self._known.add(text)
                self.parsed += calls_in(text, request.tools)
        if request.messages[-1].role == "tool" and self._has_tried(request):
            return "I have done what I was told."
        if self.parsed:
            self.has_obeyed = True
            return _written([ToolCall("", call.name, call.arguments) for call in self.parsed])
        if any(self._wanted.name in form for form in _understood(read)):
            self.has_obeyed = True
            return _written([self._wanted])
        return "Nothing to do."

    def _has_tried(self, request: ChatRequest) -> bool:
        return any(call.name == self._wanted.name for call in request.messages[-2].tool_calls)


def texts_read(request: ChatRequest) -> Iterator[str]:
    """All that others wrote: results (also as a plain template has them), the prompt, words about tools."""
    fitted = fit_request(ChatRequest(request.messages, wire_format="hermes"), _PLAIN_TEMPLATE).messages
    for message in (*request.messages, *fitted):
        if message.role in ("system", "tool") or message.content.startswith("(The tools have run"):
            yield message.content
    for tool in request.tools:
        yield from _words_about(tool["function"]["parameters"])
        yield str(tool["function"]["description"])


def _words_about(schema: Any) -> Iterator[str]:
    match schema:
        case str():
            yield schema
        case dict():
            for key, member in schema.items():
                if key != "const":
                    yield from _words_about(member)
        case list():
            for member in schema:
                yield from _words_about(member)


def _understood(texts: Iterable[str]) -> Iterator[str]:
    """What a clever reader makes of them, each form without white space."""
    whole = ""
    for text in texts:
        plain = unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)
        leaves = "".join(_leaves(text))
        whole += leaves
        yield from map(_squeezed, (plain, leaves, codecs.decode(plain, "rot13"), plain[::-1], *_decoded(plain)))
    yield _squeezed(whole)


def _leaves(text: str) -> Iterator[str]:
    """The strings of a JSON text, without what stands between them."""
    try:
        value = json.loads(text)
    except ValueError:
        yield text
        return
    yield from _words_about(value)


def _decoded(text: str) -> Iterator[str]:
    for found in _BASE64.findall(text):
        try:
            yield base64.b64decode(found).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue


def _squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def _written(calls: Iterable[ToolCall]) -> str:
    return DETECTORS["hermes"]().render(list(calls))
