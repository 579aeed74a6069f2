"""How a language model is prompted (formats, tool policy, sampling), and how its streamed reply is read.

A reply preview is a guess from an incomplete call to `respond`. Use it only to prepare speech.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from edgevox.core.hooks import ModelReply
from edgevox.core.turn import CancelFlag
from edgevox.core.types import (
    ChatDelta,
    ChatDone,
    ChatModel,
    ChatRequest,
    Message,
    Sampling,
    ToolCall,
    ToolChoice,
    ToolsAs,
)
from edgevox.llm.hooks_slm import speakable_chars
from edgevox.llm.tool_choice import RESPOND_NAME, HopPlan, ToolChoicePolicy, plan_hop
from edgevox.llm.tool_parsers import ArgumentsDelta, ParseDelta, StreamingToolParser
from edgevox.tools import ToolRegistry

# In every notation the string follows the names of the tool and of its single argument.
_OPENING = re.compile(
    rf"\b{RESPOND_NAME}\b\W{{1,12}}(?:(?:arguments|parameters)\W{{1,8}})?(?:message|text)[\"']?\s*[:=]\s*([\"'])"
)
# After other calls, it is not the first thing spoken.
_LATEST_OPENING = 80


class ReplyPreview:
    """Extracts the text of an incomplete `respond` call while it streams."""

    def __init__(self) -> None:
        self._written = ""
        self._quote = ""
        self._is_over = False

    def feed(self, text: str) -> str:
        """Return the reply text so far, or "" if it is unknown or already complete."""
        if self._is_over:
            return ""
        self._written += text
        if not self._quote:
            opening = _OPENING.search(self._written)
            if opening is None or opening.start() > _LATEST_OPENING:
                self._is_over = len(self._written) > _LATEST_OPENING
                return ""
            self._quote = opening.group(1)
            self._written = self._written[opening.end() :]
        # A quote or an escaped character: the preview ends here.
        end = re.search(rf"[{self._quote}\\]", self._written)
        self._is_over = end is not None
        return self._written[: end.start()] if end else self._written


OnPreview: TypeAlias = Callable[[str], None]


class Reply:
    """One streamed generation. Iterate `stream` to its end, then read the other attributes."""

    def __init__(self, profile: ModelProfile, numbers: Iterator[int]) -> None:
        """`numbers` counts the calls of a turn, for their ids."""
        self._profile = profile
        self._numbers = numbers
        self.text = ""
        self.spoken_text = ""
        self.calls: list[ToolCall] = []
        self.problems: list[str] = []
        self.done = ChatDone("cancelled", 0, 0, 0)  # a cancelled model may end without ChatDone
        self._call_ids: dict[str, str] = {}
        """Maps the parser's call ids to ours."""

    async def stream(
        self,
        request: ChatRequest,
        cancel: CancelFlag,
        preview: OnPreview = lambda _text: None,
        on_call: Callable[[ArgumentsDelta], None] = lambda _delta: None,
    ) -> AsyncGenerator[str, None]:
        """Yield the text without reasoning and markers. Raises EngineFailed and ModelError.

        `preview` receives the probable beginning of the reply before it may be spoken, and `on_call` the calls while
        they are written.
        """
        reply_preview = ReplyPreview()
        parser = StreamingToolParser(self._profile.parsers, [dict(tool) for tool in request.tools])
        async with aclosing(self._profile.model.stream(request, cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta():
                        if probable := reply_preview.feed(reply.text):
                            preview(probable)
                        delta = parser.feed(reply.text)
                    case ChatDone():
                        self.done = reply
                        delta = parser.finish(is_cut=reply.finish_reason == "length")
                    case _:
                        assert_never(reply)
                for written in delta.deltas:
                    on_call(replace(written, id=self._call_id(written.id)))
                if piece := self._take(delta):
                    yield piece

    def read(self) -> ModelReply:
        """Return the complete reply for hooks and the conversation."""
        text = self.text.strip()
        return ModelReply(text, tuple(self.calls), tuple(self.problems), self.done.finish_reason)

    def _take(self, delta: ParseDelta) -> str:
        """Store the parsed parts; return the text that may be spoken now."""
        if delta.retracts:  # the text so far was reasoning and is not part of the answer
            self.text = self.spoken_text = ""
        self.text += delta.text
        for item in delta.calls:
            if item.error is not None:
                self.problems.append(f"{item.name}: {item.error}")
                continue
            call_id = self._call_id(item.id)
            if any(call.id == call_id for call in self.calls):  # a model may repeat an id
                call_id = self._next_id()
            self.calls.append(ToolCall(call_id, item.name, item.arguments))
        self.problems += [f"{rejected.name}: {rejected.reason}" for rejected in delta.rejected]
        # Templates put white space before an answer. Text that may be tool data read aloud waits until the hooks have
        # seen all of it.
        text = self.text.lstrip()
        piece = text[len(self.spoken_text) : speakable_chars(text)]
        self.spoken_text += piece
        return piece

    def _call_id(self, own: str) -> str:
        """Return an id that is unique in the turn: a turn has several replies."""
        if own not in self._call_ids:
            self._call_ids[own] = own if _MISTRAL_ID.fullmatch(own) else self._next_id()
        return self._call_ids[own]

    def _next_id(self) -> str:
        return f"call{next(self._numbers):05}"


# Mistral's templates demand ids of nine letters and digits, which the model writes itself.
_MISTRAL_ID = re.compile("[A-Za-z0-9]{9}")


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The preset of a model. Calls are constrained to the format of the first of `parsers`.

    `languages` are those that it knows, None for all.
    """

    model: ChatModel
    parsers: tuple[str, ...] = ()
    policy: ToolChoicePolicy = "auto"
    tools_as: ToolsAs = "template"
    sampling: Sampling = field(default_factory=Sampling)
    stop: tuple[str, ...] = ()
    thinking: bool = False
    languages: Collection[str] | None = None

    def request(
        self,
        messages: Sequence[Message],
        tools: ToolRegistry,
        *,
        hop: int = 0,
        choice: ToolChoice = "auto",
        offered: Sequence[str] | None = None,
        default_tools: Sequence[str] | None = None,
        client: str = "",
    ) -> ChatRequest:
        """Build the request for generation number `hop` of a turn, with all tools or those of `offered`.

        `default_tools` names the tools offered by default, if `offered` differs.
        """

        def planned(names: Sequence[str] | None) -> HopPlan:
            schemas = tools.openai_schemas(names, with_examples=self.tools_as == "lines")
            return plan_hop(schemas, policy=self.policy, hop=hop, choice=choice)

        plan = planned(offered)
        return ChatRequest(
            tuple(messages),
            tools=plan.tools,
            sampling=self.sampling,
            stop=self.stop,
            thinking=self.thinking,
            tool_choice=plan.tool_choice,
            wire_format=self.parsers[0] if self.parsers else None,
            tools_as=self.tools_as,
            parallel_calls=True,
            client=client,
            default_tools=None if default_tools is None else planned(default_tools).tools,
        )
