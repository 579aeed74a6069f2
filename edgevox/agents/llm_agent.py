"""The agent: one question in, a stream of speakable text out, the conversation kept consistent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from edgevox.agents.conversation import Conversation
from edgevox.events import Event, ModelFinished, ModelStarted, ReplyDelta
from edgevox.llm.tool_parsers import ParseDelta, StreamingToolParser
from edgevox.turn import Turn
from edgevox.types import ChatDelta, ChatDone, ChatModel, ChatRequest, FinishReason, Sampling, ToolCall

Publish: TypeAlias = Callable[[Event], None]

# Spoken when a model says nothing that can be said: the user always gets a sentence.
NOTHING_TO_SAY = "Sorry, I have no answer to that."


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What came of one question."""

    reply: str
    calls: tuple[ToolCall, ...]
    finish_reason: FinishReason


class LLMAgent:
    """A language model with instructions and a memory. One turn at a time."""

    def __init__(
        self,
        name: str,
        *,
        model: ChatModel,
        instructions: str = "",
        parsers: tuple[str, ...] = (),
        sampling: Sampling | None = None,
        stop: tuple[str, ...] = (),
        thinking: bool = False,
        publish: Publish = lambda _event: None,
    ) -> None:
        self.name = name
        self._model = model
        self._conversation = Conversation(instructions)
        self._parsers = parsers
        self._sampling = sampling or Sampling()
        self._stop = stop
        self._thinking = thinking
        self._publish = publish

    async def run(self, text: str, turn: Turn | None = None) -> AgentResult:
        """Answer `text` and return the whole reply. Raises EngineFailed and ModelError."""
        result: AgentResult | None = None
        async for piece in self.stream(text, turn or Turn()):
            if isinstance(piece, AgentResult):
                result = piece
        assert result is not None
        return result

    async def stream(self, text: str, turn: Turn) -> AsyncGenerator[str | AgentResult, None]:
        """Answer `text` piece by piece; the last item is the whole result.

        A cancelled turn keeps what was said so far, a failed one leaves no trace in the conversation.
        """
        reply = ""
        finish: FinishReason = "cancelled"
        async with aclosing(self._speakable(text, turn)) as pieces:
            async for piece in pieces:
                match piece:
                    case ParseDelta():
                        if piece.retracts:  # it was reasoning; what was said of it is not part of the answer
                            reply = ""
                        # Templates put white space in front of an answer; nobody can say it.
                        if said := piece.text if reply else piece.text.lstrip():
                            reply += said
                            self._publish(ReplyDelta(turn_id=turn.id, text=said))
                            yield said
                    case ChatDone():
                        finish = piece.finish_reason
                        self._conversation.forget_oldest(piece.dropped_turns)
                    case _:
                        assert_never(piece)
        reply = reply.rstrip()
        if not reply and not turn.cancel.is_set():
            reply = NOTHING_TO_SAY
            self._publish(ReplyDelta(turn_id=turn.id, text=reply))
            yield reply
        if reply:
            self._conversation.keep(text, reply)
        yield AgentResult(reply, (), finish)

    async def _speakable(self, text: str, turn: Turn) -> AsyncGenerator[ParseDelta | ChatDone, None]:
        """One generation, its text free of reasoning and markers."""
        parser = StreamingToolParser(self._parsers, ())
        request = ChatRequest(
            self._conversation.asking(text),
            sampling=self._sampling,
            stop=self._stop,
            thinking=self._thinking,
        )
        self._publish(ModelStarted(turn_id=turn.id))
        async with aclosing(self._model.stream(request, turn.cancel)) as replies:
            async for reply in replies:
                match reply:
                    case ChatDelta():
                        yield parser.feed(reply.text)
                    case ChatDone():
                        yield parser.finish()
                        self._publish(
                            ModelFinished(
                                turn_id=turn.id,
                                finish_reason=reply.finish_reason,
                                prompt_tokens=reply.prompt_tokens,
                                cached_tokens=reply.cached_tokens,
                                generated_tokens=reply.generated_tokens,
                            )
                        )
                        yield reply
                    case _:
                        assert_never(reply)
