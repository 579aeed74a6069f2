"""Keeps control tokens in messages, tools and results as plain text.

A tokenizer that parses control tokens cannot tell the template's `<|im_end|>` from one in a web page. So the first
character of each one in the content is replaced by a character that occurs nowhere else, and restored after rendering.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from edgevox.core.types import JsonObject, Message, ToolCall

# Private-use planes. Characters that occur in the conversation are skipped.
_STAND_INS = range(0xF0000, 0x10FFFE)
_NOTHING = "(?!)"


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """A part of a prompt; it is searched for control tokens only if `special`."""

    text: str
    special: bool


class ControlTokenMask:
    """One conversation with its control tokens masked; `pieces` removes the masks."""

    def __init__(
        self,
        control_tokens: tuple[str, ...],
        messages: tuple[Message, ...],
        tools: tuple[JsonObject, ...],
        template_source: str,
    ) -> None:
        self._tokens = _TokenSet(control_tokens)
        texts = [template_source, *_texts(messages), *_texts(tools)]
        self._stand_ins = _pick_stand_ins(self._tokens.first_characters, texts)
        self.messages = tuple(map(self._message, messages))
        self.tools = tuple(map(self._masked, tools))

    def pieces(self, rendered: str) -> tuple[PromptPiece, ...]:
        """Restore the masked characters, splitting the prompt where content contained a control token."""
        if not self._stand_ins:
            return (PromptPiece(rendered, True),)
        originals = {stand_in: character for character, stand_in in self._stand_ins.items()}
        # `tojson` may have escaped the character.
        originals |= {_escaped(stand_in): character for stand_in, character in originals.items()}
        parts = re.split(f"({'|'.join(map(re.escape, originals))})", rendered)
        text = "".join(originals.get(part, part) for part in parts)
        kinds = bytearray(b"s") * len(text)  # of each character: s for special, p for plain
        starts = itertools.accumulate(len(originals.get(part, part)) for part in parts[:-1])
        for start in itertools.islice(starts, 0, None, 2):
            length = self._tokens.match_length(text, start) or 1
            kinds[start : start + length] = b"p" * length
        runs = re.finditer(b"s+|p+", kinds)
        return tuple(PromptPiece(text[run.start() : run.end()], run[0].startswith(b"s")) for run in runs)

    def _message(self, message: Message) -> Message:
        calls = tuple(
            ToolCall(self._text(call.id), self._text(call.name), self._json_text(call.arguments))
            for call in message.tool_calls
        )
        return Message(message.role, self._text(message.content), calls, self._masked(message.tool_call_id))

    def _json_text(self, written: str) -> str:
        masked = self._text(written)
        if "\\" not in written:
            return masked
        # An escape may hide a control token, and the template sees it decoded.
        try:
            hidden = self._masked(json.loads(written))
            return masked if hidden == json.loads(masked) else json.dumps(hidden, ensure_ascii=False)
        except ValueError:
            return masked

    def _masked(self, value: Any) -> Any:  # noqa: ANN401
        match value:
            case str():
                return self._text(value)
            case Mapping():
                return {self._masked(key): self._masked(item) for key, item in value.items()}
            case list() | tuple():
                return [self._masked(item) for item in value]
            case _:
                return value

    def _text(self, text: str) -> str:
        characters: list[str] | None = None
        for position in self._tokens.starts(text):
            characters = characters or list(text)
            characters[position] = self._stand_ins[text[position]]
        return "".join(characters) if characters else text


@functools.lru_cache(maxsize=8)
class _TokenSet:
    """The texts of the control tokens with fast lookup: a vocabulary may have thousands."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._sorted = sorted(set(filter(None, tokens)))
        self._tokens = frozenset(self._sorted)
        self._lengths = sorted({len(token) for token in self._sorted}, reverse=True)
        self.first_characters = frozenset(token[0] for token in self._sorted)
        self._first = re.compile("|".join(map(re.escape, self.first_characters)) or _NOTHING)

    def starts(self, text: str) -> Iterator[int]:
        """Yield where a control token begins or may begin: the text may end inside one that the next text completes."""
        end = len(text.rstrip())  # templates trim
        for found in self._first.finditer(text):
            start = found.start()
            if self.match_length(text, start) or self._begins_token(text[start:end]):
                yield start

    def match_length(self, text: str, start: int) -> int:
        """Return the length of the control token at `start`, or 0 if there is none."""
        return next((n for n in self._lengths if text[start : start + n] in self._tokens), 0)

    def _begins_token(self, rest: str) -> bool:
        if len(rest) >= self._lengths[0]:
            return False
        index = bisect.bisect_left(self._sorted, rest)
        return index < len(self._sorted) and self._sorted[index].startswith(rest)


def _pick_stand_ins(characters: Iterable[str], texts: list[str]) -> dict[str, str]:
    """Choose a character for each, such that neither it nor its JSON escape occurs in the texts."""
    everything = "\0".join(texts)
    taken = set(everything)
    free = (
        stand_in for stand_in in map(chr, _STAND_INS) if stand_in not in taken and _escaped(stand_in) not in everything
    )
    return dict(zip(sorted(characters), free, strict=False))


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Message() | ToolCall():
            for field in dataclasses.fields(value):
                yield from _texts(getattr(value, field.name))
        case Mapping():
            for pair in value.items():
                yield from _texts(pair)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
