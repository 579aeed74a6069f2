"""Words that the home model copied with a slip: what the person said stands in their place.

The home model is trained to give names as they were said. A rare word may lose a letter on the way
("hamock"), and a device, a list item or a plugin's argument would then not be found.
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from edgevox.hooks import Hook, Run
from edgevox.llm.hooks_slm.notes import kept
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.llm.tool_parsers.offered import OfferedTools
from edgevox.types import ChatRequest, ToolCall

# Other models put names right on purpose, and the form of calls tells who was trained to copy.
COPYING_FORMAT = "python_list"
_WORD = re.compile(r"[\w'’&.+-]*\w")
# Below it, words differ by more than a slip.
_NEAR = 0.7
_SHORTEST_CHARS = 3
# "What is the boiler's pressure" asks the boiler.
_POSSESSIVE = re.compile(r"['’]s\b")
# "Did anybody unlock it" asks whether it is unlocked: a form of the word, and no slip.
_ENDINGS = ("ed", "d", "ing")


@dataclass(slots=True)
class _Offer:
    copies: bool = False
    offered: OfferedTools = field(default_factory=lambda: OfferedTools(()))


class CopiedWords(Hook):
    """Puts the words of the request in the place of texts that differ from them by a letter or two."""

    name = "slm.copied_words"
    priority = -50

    async def before_llm(self, run: Run, request: ChatRequest) -> None:
        offer = kept(run, self, _Offer)
        offer.copies = request.wire_format == COPYING_FORMAT
        offer.offered = OfferedTools(request.tools)

    async def before_tool(self, run: Run, call: ToolCall) -> ToolCall | None:
        offer = kept(run, self, _Offer)
        if not offer.copies or call.name == RESPOND_NAME:  # that one is the model's own words
            return None
        schema = offer.offered.schema(call.name) or {}
        arguments = json.loads(call.arguments)
        mended = {name: _mended(value, _slot(schema, name), run.text) for name, value in arguments.items()}
        if mended == arguments:
            return None
        return replace(call, arguments=json.dumps(mended, ensure_ascii=False))


def as_said(text: str, said: str) -> str:
    """`text`, or the words of `said` that it is a slip of."""
    wanted, heard = (" ".join(_WORD.findall(words)).casefold() for words in (text, said))
    if len(wanted) < _SHORTEST_CHARS or any(
        f" {wanted} " in f" {words} " for words in (heard, _POSSESSIVE.sub("", heard))
    ):
        return text
    if any(wanted == word + ending for word in heard.split() for ending in _ENDINGS):
        return text
    nearest, likeness = text, _NEAR
    for span in _spans(said, len(wanted.split())):
        ratio = difflib.SequenceMatcher(None, span.casefold(), wanted, autojunk=False).ratio()
        if ratio > likeness:
            nearest, likeness = span, ratio
    return nearest


def _mended(value: Any, slot: Mapping[str, Any], said: str) -> Any:  # noqa: ANN401 - any JSON value
    is_free_text = isinstance(value, str) and slot.get("type", "string") == "string" and "enum" not in slot
    return as_said(value, said) if is_free_text else value


def _slot(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    slot = schema.get("properties", {}).get(name, {})
    return slot if isinstance(slot, Mapping) else {}


def _spans(said: str, words: int) -> Iterator[str]:
    found = _WORD.findall(said)
    for length, start in itertools.product((words, words - 1, words + 1), range(len(found))):
        if 0 < length <= len(found) - start:
            yield " ".join(found[start : start + length])
