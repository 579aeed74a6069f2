"""A reply read while it is written, for programs that make the calls: text without markers, whole calls."""

from __future__ import annotations

import math
import secrets
import string

from edgevox.agents.acting import spoken_text
from edgevox.llm.tool_choice import RESPOND_NAME, HopPlan
from edgevox.llm.tool_parsers import ParseDelta, StreamingToolParser
from edgevox.server.parts import Called, Part, Said, Usage
from edgevox.server.question import Question
from edgevox.types import ChatDone, ToolCall

_ID_CHARS = string.ascii_letters + string.digits
_ID_LENGTH = 5


class Reading:
    """Feed it a reply; it gives the parts of it that are certain.

    Space at the ends of the text is held back, so that it is the same in pieces and as a whole. A call is
    given when it is whole: until then it may turn out to be none.
    """

    def __init__(self, parsers: tuple[str, ...], question: Question, plan: HopPlan) -> None:
        self._parser = StreamingToolParser(parsers, [dict(tool) for tool in plan.tools])
        own = {tool["function"]["name"] for tool in question.tools or ()}
        self._has_respond = RESPOND_NAME in own
        self._max_calls = math.inf if question.parallel_calls else 1
        if question.tool_choice == "none":
            self._max_calls = 0
        self._has_said = False
        self._space = ""
        self._problems = 0
        self.calls: list[ToolCall] = []
        self.usage = Usage()
        self.done = ChatDone("cancelled", 0, 0, 0)  # a model that is cancelled may just end

    def again(self, parsers: tuple[str, ...], question: Question, plan: HopPlan) -> Reading:
        """For a second reply that goes behind this one."""
        again = Reading(parsers, question, plan)
        again._has_said = self._has_said
        again._space = " " if self._has_said else ""
        again.usage = self.usage
        return again

    @property
    def is_garbled(self) -> bool:
        """Whether calls were meant, and none came of it."""
        return bool(self._problems) and not self.calls

    def feed(self, text: str) -> list[Part]:
        return self._parts(self._parser.feed(text))

    def finish(self, done: ChatDone) -> list[Part]:
        self.done = done
        self.usage = self.usage.plus_done(done)
        return self._parts(self._parser.finish())

    def _parts(self, delta: ParseDelta) -> list[Part]:
        parts: list[Part] = []
        texts = [delta.text]
        self._problems += len(delta.rejected)
        for item in delta.calls:
            call = ToolCall(_new_id(), item.name, item.arguments)
            if item.error is not None:
                self._problems += 1
            elif item.name == RESPOND_NAME and not self._has_respond:
                texts.append(spoken_text(call))  # plain talk, written as a call
            elif len(self.calls) < self._max_calls:
                self.calls.append(call)
                parts.append(Called(call))
        said = "".join(map(self._said, texts))
        return [Said(said), *parts] if said else parts

    def _said(self, text: str) -> str:
        text = self._space + text
        kept = text.rstrip()
        self._space = text[len(kept) :] if self._has_said or kept else ""
        if not self._has_said:
            kept = kept.lstrip()
        self._has_said = self._has_said or bool(kept)
        return kept


def _new_id() -> str:
    # Nine letters and digits: Mistral's templates take no other, and programs send ids back.
    return "call" + "".join(secrets.choice(_ID_CHARS) for _ in range(_ID_LENGTH))
