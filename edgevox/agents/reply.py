"""One generation, read while it is written: text that may be spoken, and the calls in it."""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import TypeAlias, assert_never

from edgevox.agents.foresight import Foresight
from edgevox.hooks import ModelReply
from edgevox.llm.hooks_slm import speakable_chars
from edgevox.llm.tool_parsers import ArgumentsDelta, ParseDelta, StreamingToolParser, ToolCallItem
from edgevox.turn import CancelFlag
from edgevox.types import ChatDelta, ChatDone, ChatModel, ChatRequest, ToolCall

Foresee: TypeAlias = Callable[[str], None]


class Reply:
    """Iterate `spoken` to its end, then read the rest. One generation each."""

    def __init__(self, model: ChatModel, parsers: tuple[str, ...], ids: Iterator[int]) -> None:
        self._model = model
        self._parsers = parsers
        self._ids = ids
        self.text = ""
        self.said = ""
        self.calls: list[ToolCall] = []
        self.problems: list[str] = []
        self.done = ChatDone("cancelled", 0, 0, 0)  # a model that is cancelled may just end
        self._call_ids: dict[str, str] = {}
        """Ours, by the parser's."""

    async def spoken(
        self,
        request: ChatRequest,
        cancel: CancelFlag,
        foresee: Foresee = lambda _text: None,
        on_call: Callable[[ArgumentsDelta], None] = lambda _delta: None,
    ) -> AsyncGenerator[str, None]:
        """The text, piece by piece, without reasoning and markers. Raises EngineFailed and ModelError.

        `foresee` is told what the reply will probably begin with, where that is known before it may be said,
        and `on_call` of calls while they are written.
        """
        foresight = Foresight()
        parser = StreamingToolParser(self._parsers, [dict(tool) for tool in request.tools])
        async with aclosing(self._model.stream(request, cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta():
                        if foreseen := foresight.feed(reply.text):
                            foresee(foreseen)
                        delta = parser.feed(reply.text)
                    case ChatDone():
                        self.done = reply
                        delta = parser.finish()
                    case _:
                        assert_never(reply)
                for written in delta.deltas:
                    on_call(replace(written, id=self._call_id(written.id)))
                piece = self._take(delta)
                if piece:
                    yield piece

    def read(self) -> ModelReply:
        """The whole of it, for hooks and for the conversation."""
        text = self.text.strip()
        return ModelReply(text, tuple(self.calls), tuple(self.problems), self.done.finish_reason)

    def _take(self, delta: ParseDelta) -> str:
        """Keep what was found; the text of it that may be spoken now."""
        if delta.retracts:  # it was reasoning; what was said of it is not part of the answer
            self.text = self.said = ""
        self.text += delta.text
        for item in delta.calls:
            if item.error is None:
                self.calls.append(self._numbered(item))
        self.problems += [f"{item.name}: {item.error}" for item in delta.calls if item.error is not None]
        self.problems += [f"{rejected.name}: {rejected.reason}" for rejected in delta.rejected]
        # Templates put white space in front of an answer; nobody can say it. What may be data that the model
        # reads aloud waits until the hooks have seen all of it.
        text = self.text.lstrip()
        piece = text[len(self.said) : speakable_chars(text)]
        self.said += piece
        return piece

    def _numbered(self, item: ToolCallItem) -> ToolCall:
        call_id = self._call_id(item.id)
        if any(call.id == call_id for call in self.calls):  # a model may give one id twice
            call_id = self._next_id()
        return ToolCall(call_id, item.name, item.arguments)

    def _call_id(self, own: str) -> str:
        """The ids of a reply are its own; a turn has several replies."""
        if own not in self._call_ids:
            self._call_ids[own] = own if _MISTRAL_ID.fullmatch(own) else self._next_id()
        return self._call_ids[own]

    def _next_id(self) -> str:
        return f"call{next(self._ids):05}"


# Mistral's templates demand ids of nine letters and digits, and the model writes them itself.
_MISTRAL_ID = re.compile("[A-Za-z0-9]{9}")


def call_numbers(after: int = 0) -> Iterator[int]:
    """Numbers for the calls of one turn that has made `after` of them already."""
    return itertools.count(after + 1)
