"""Replies: written and, where there is a mouth, spoken at the same time; and what was heard of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Literal, TypeAlias, TypeVar

from edgevox.agents import AgentResult, LLMAgent
from edgevox.events import Event, ReplyDelta, TurnSource
from edgevox.languages import ENGLISH
from edgevox.turn import Turn
from edgevox.voice.asking import Asking
from edgevox.voice.mouth import Mouth
from edgevox.voice.reply_languages import ReplyLanguages
from edgevox.voice.spoken_turn import SpokenTurn

T = TypeVar("T")
Publish: TypeAlias = Callable[[Event], None]
Write: TypeAlias = Callable[[str], None]


class Replies:
    """One at a time. Without a mouth a reply is text in the event stream only."""

    def __init__(
        self,
        agent: LLMAgent,
        mouth: Mouth | None,
        asking: Asking,
        languages: ReplyLanguages,
        publish: Publish,
    ) -> None:
        self._agent = agent
        self._mouth = mouth
        self._asking = asking
        self._languages = languages
        self._publish = publish
        self._speech: SpokenTurn | None = None
        self._interrupted: Turn | None = None

    @property
    def speech_to_come(self) -> SpokenTurn | None:
        """Where something can still be said in this turn."""
        return self._speech if self._speech and not self._speech.is_finished else None

    def interrupt(self, turn: Turn) -> bool:
        """End the turn under way, if it is speaking or about to; whether it was."""
        if self._speech is None or turn.cancel.is_set() or not self._speech.is_to_be_heard:
            return False
        self._interrupted = turn
        turn.cancel.set()
        return True

    def cut_by(self, turn: Turn) -> Literal["interrupted", "cancelled"]:
        """What ended a turn that did not end by itself."""
        return "interrupted" if turn is self._interrupted else "cancelled"

    async def by_agent(
        self, text: str, turn: Turn, source: TurnSource, spoken: str, *, is_doubted: bool = False
    ) -> AgentResult:
        """What the agent answers; `spoken` is the language of `text`, "" where that is not known.

        A text that `is_doubted` may have been misheard; where nobody can be asked aloud, it is taken as is.
        """
        answer_in = self._languages.to_be_told(spoken)
        is_doubted = is_doubted and self._mouth is not None
        result, speech = await self._aloud(
            turn,
            lambda write, foresee: self._write(
                self._agent.stream(
                    text,
                    turn,
                    source=source,
                    answer_in=answer_in,
                    foresee=foresee,
                    is_doubted=is_doubted,
                ),
                write,
            ),
            language=self._languages.reply_to(spoken),
            spoken=spoken,
        )
        heard = _heard(speech, result.reply) if turn.cancel.is_set() else None
        if heard is None or (heard and heard == result.reply):
            return result
        # Before the next prompt is made ready, which holds it.
        self._agent.was_heard(turn.id, heard, finish_reason=self.cut_by(turn))
        return replace(result, heard=heard)

    async def say(self, said: str, turn: Turn, language: str = ENGLISH) -> str | None:
        """Say this in the place of the agent; returns what was heard of it, None where it was not cut."""

        async def write(write: Write, _foresee: Write) -> None:
            self._publish(ReplyDelta(turn_id=turn.id, text=said))
            write(said)

        _, speech = await self._aloud(turn, write, language=language)
        return _heard(speech, said) if turn.cancel.is_set() else None

    async def _aloud(
        self,
        turn: Turn,
        write: Callable[[Write, Write], Awaitable[T]],
        *,
        language: str,
        spoken: str = ENGLISH,
    ) -> tuple[T, SpokenTurn | None]:
        """Have something written and, where there is a mouth, spoken at the same time, in `language`.

        Whoever is asked something meanwhile may answer in the language that was `spoken`.
        """
        if self._mouth is None:
            return await write(lambda _piece: None, lambda _text: None), None
        speech = SpokenTurn(self._mouth, turn, self._publish, language=language)

        async def written() -> T:
            result = await write(speech.write, speech.foresee)
            speech.finish()
            return result

        self._speech = speech
        try:
            with self._asking.speaking(speech.say, spoken):
                async with asyncio.TaskGroup() as group:
                    speech.start(group)
                    writing = group.create_task(written())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        finally:
            self._speech = None
        return writing.result(), speech

    async def _write(self, stream: AsyncGenerator[str | AgentResult, None], write: Write) -> AgentResult:
        result: AgentResult | None = None
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, AgentResult):
                    result = piece
                else:
                    write(piece)
        assert result is not None, "an agent's stream ends with its result"
        return result


def _heard(speech: SpokenTurn | None, reply: str) -> str | None:
    """What was heard of the reply; None where nothing is heard."""
    if speech is None:
        return None
    # More may have been said than the reply: words before a tool was called, or some that it was cut by.
    written = speech.written.strip()
    said_before = len(written) - len(reply) if written.endswith(reply) else 0
    return speech.heard_text()[said_before:].strip()[: len(reply)]
