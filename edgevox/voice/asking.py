"""Asking a person in the room for a yes: aloud, on the keyboard and through the API, whoever answers first.

The model has no part in it. Only a plain yes is one; everything else, silence included, is a no.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from edgevox.agents.confirm import Agreement
from edgevox.errors import ToolDenied
from edgevox.events import AnswerHeard, Event
from edgevox.languages import ENGLISH
from edgevox.tools.answers import Answer, decide_yes_no
from edgevox.tools.confirmation import Channel, PendingConfirmation
from edgevox.tools.scopes import CONFIRM
from edgevox.turn import Turn

Publish: TypeAlias = Callable[[Event], None]
Say: TypeAlias = Callable[[str], Awaitable[None]]
"""Says something aloud; returns when its last sample was played."""

NO_ANSWER = "no answer came in time"
_NOBODY = "nobody could be asked"
_CANCELLED = "the turn was cancelled"
_UNCLEAR = "the answer was not a clear yes"
_NOT_BY_VOICE = "this needs more than a spoken yes"

_AGAIN = "Please say yes or no."
_ON_SCREEN = "I need your answer on the screen for that."
_LEFT_ALONE = "A spoken yes is not enough for that, so I leave it."


class Listening:
    """The question has been heard to its end: what is said from now on answers it."""

    def __init__(self) -> None:
        self._heard: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def hear(self, text: str) -> None:
        """This was said; "" when somebody spoke and was not understood."""
        self._end(text)

    def hear_nothing(self) -> None:
        """Nobody has said anything for too long."""
        self._end(None)

    async def heard(self) -> str | None:
        return await self._heard

    def _end(self, heard: str | None) -> None:
        if not self._heard.done():
            self._heard.set_result(heard)


class OpenQuestion:
    """One question that waits. The first answer counts."""

    def __init__(self, pending: PendingConfirmation) -> None:
        self.pending = pending
        self.listening: Listening | None = None
        """While a spoken answer is waited for."""
        self._agreement: asyncio.Future[Agreement] = asyncio.get_running_loop().create_future()

    def answer(self, agreement: Agreement) -> bool:
        """Answer it; False when somebody else was first. Raises ToolDenied for whom it is not to answer."""
        pending, by = self.pending, agreement.by
        is_origin = by.name == pending.origin.name
        if not by.may(CONFIRM) and (agreement.granted or not is_origin):
            raise ToolDenied(f"{by.name} may not confirm calls")
        if agreement.granted and agreement.channel == "api" and is_origin:
            raise ToolDenied("whoever made a call cannot confirm it")
        if agreement.granted and agreement.channel == "voice" and pending.level == "screen":
            raise ToolDenied(_NOT_BY_VOICE)
        if self._agreement.done():
            return False
        self._agreement.set_result(agreement)
        return True

    async def answered(self) -> Agreement:
        return await self._agreement

    async def listen(self) -> str | None:
        """What is said next; None when nothing is."""
        self.listening = Listening()
        try:
            return await self.listening.heard()
        finally:
            self.listening = None


class Asking:
    """The `confirm` of an agent whose person is in the room. One question at a time.

    `ways` are the channels on which an answer can come now; without any the answer is no at once.
    """

    def __init__(
        self, publish: Publish = lambda _event: None, *, ways: frozenset[Channel] = frozenset()
    ) -> None:
        self.open: OpenQuestion | None = None
        self._publish = publish
        self._ways = set(ways)
        self._say: Say | None = None
        self._language = ENGLISH
        self._listens = asyncio.Event()

    @property
    def listening(self) -> Listening | None:
        """While a spoken answer is waited for."""
        return self.open.listening if self.open else None

    async def until_listening(self) -> None:
        """Returns when a spoken answer is waited for."""
        await self._listens.wait()

    @contextmanager
    def answerable(self, way: Channel) -> Iterator[None]:
        """Answers can come on this channel while the block runs."""
        self._ways.add(way)
        try:
            yield
        finally:
            self._ways.discard(way)

    @contextmanager
    def speaking(self, say: Say, language: str = ENGLISH) -> Iterator[None]:
        """Questions are asked aloud while the block runs, of somebody who speaks that language."""
        self._say, self._language = say, language
        try:
            yield
        finally:
            self._say = None

    async def __call__(self, pending: PendingConfirmation, turn: Turn) -> Agreement:
        """Ask, and wait for the first answer until the question expires."""
        if not self._ways:
            return _no(_NOBODY)
        loop = asyncio.get_running_loop()
        question = OpenQuestion(pending)

        def cancelled() -> None:  # from any thread
            loop.call_soon_threadsafe(question.answer, _no(_CANCELLED))

        self.open = question
        turn.cancel.add_listener(cancelled)
        try:
            async with asyncio.timeout(pending.expires_s - time.monotonic()), asyncio.TaskGroup() as group:
                asking = group.create_task(self._ask(question))
                agreement = await question.answered()
                asking.cancel()
        except TimeoutError:
            return _no(NO_ANSWER)
        else:
            return agreement
        finally:
            turn.cancel.remove_listener(cancelled)
            self.open = None

    async def _ask(self, question: OpenQuestion) -> None:
        """Ask aloud and listen; returns without an answer where only somebody else can give it."""
        asked = question.pending.question
        on_screen = question.pending.level == "screen"
        if on_screen and self._ways == {"voice"}:
            await self._aloud(f"{asked} {_LEFT_ALONE}")
            question.answer(_no(_NOT_BY_VOICE))
            return
        await self._aloud(f"{asked} {_ON_SCREEN}" if on_screen else asked)
        if "voice" not in self._ways:
            return
        match await self._spoken_answer(question):
            case "no":
                question.answer(Agreement(granted=False))
            case _ if on_screen:
                pass  # the answer comes from elsewhere, or in time from nowhere
            case "yes":
                question.answer(Agreement(granted=True, why="the user said yes"))
            case "unclear":
                question.answer(_no(_UNCLEAR))
            case None:
                question.answer(_no(NO_ANSWER))

    async def _spoken_answer(self, question: OpenQuestion) -> Answer | None:
        """What the person says; what is doubtful, or not enough, is asked for once more."""
        answer = await self._hear(question)
        if answer == "unclear":
            await self._aloud(f"{_AGAIN} {question.pending.question}")
        elif answer == "yes" and question.pending.level == "screen":
            await self._aloud(_ON_SCREEN)
        else:
            return answer
        return await self._hear(question)

    async def _hear(self, question: OpenQuestion) -> Answer | None:
        """One answer; None when nobody says anything."""
        self._listens.set()
        try:
            text = await question.listen()
        finally:
            self._listens.clear()
        if text is None:
            return None
        answer = decide_yes_no(text, self._language)
        pending = question.pending
        self._publish(AnswerHeard(turn_id=pending.turn_id, token=pending.token, text=text, answer=answer))
        return answer

    async def _aloud(self, text: str) -> None:
        if self._say is not None:
            await self._say(text)


def _no(why: str) -> Agreement:
    return Agreement(granted=False, why=why)
