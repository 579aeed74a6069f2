"""Conversations over Wyoming: earlier turns, the room of the satellite, a yes as an answer, and what rings later.

Home Assistant opens a connection for every sentence and names the conversation and the device in its context. A turn
that needs a yes ends its request with the question and waits; the next sentence of the conversation answers it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from cachetools import LRUCache

from edgevox.agents.tool_loop import Agreement
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Event, RingStarted
from edgevox.core.turn import Turn, cancel_tasks
from edgevox.core.types import API_CONVERSATION, Message
from edgevox.home.alarms.scheduled_commands import ScheduledCommands
from edgevox.home.entities import ConnectedHome, HomeError
from edgevox.server.chat.input import ChatInput, ReplyText
from edgevox.server.chat.service import ChatService, ConversationOrigin
from edgevox.server.http.errors import ApiError
from edgevox.tools.policy import CONFIRM, Caller, PendingConfirmation
from edgevox.tools.yes_no import decide_yes_no

MAX_CONVERSATIONS = 64
_MAX_ID_CHARS = 100
_MAX_MESSAGES = 12
_FORGET_AFTER_S = 300.0
_ANSWER_WITHIN_S = 30.0
_log = logging.getLogger(__name__)
_NO_ANSWER = "no answer came in time"
_NO_SCOPE = 'a yes counts here once server.wyoming_scopes has "confirm"'


@dataclass(frozen=True, slots=True)
class _Question:
    text: str


@dataclass(frozen=True, slots=True)
class _End:
    error: ApiError | EdgevoxError | None = None


class WyomingRings:
    """Timers, alarms and reminders over Wyoming: its satellites cannot ring, so the home announces them.

    Where `rings_here`, this machine rings, and only what was set over Wyoming is announced too.
    """

    def __init__(self, home: ConnectedHome, scheduled: ScheduledCommands, *, rings_here: bool) -> None:
        self._home = home
        self._scheduled = scheduled
        self._rings_here = rings_here
        self._set_over_wyoming: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def ids(self) -> frozenset[str]:
        """The ids of all that is set."""
        return frozenset(entry.id for entry in await asyncio.to_thread(self._scheduled.entries))

    async def note_new(self, before: frozenset[str]) -> str:
        """Note what was set since `before`; returns the sentence to say if it could not be heard, or only here."""
        if not (new := await self.ids() - before):
            return ""
        self._set_over_wyoming |= new
        problem = await self._home.announce_problem()
        return problem and ("It will ring only where I run." if self._rings_here else f"But it cannot ring: {problem}")

    def on_event(self, event: Event) -> None:
        """Announce what rings."""
        if isinstance(event, RingStarted) and (not self._rings_here or event.ring_id in self._set_over_wyoming):
            task = asyncio.create_task(self._announce(event.text))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        await cancel_tasks(*self._tasks)

    async def _announce(self, text: str) -> None:
        try:
            await self._home.announce(text)
        except HomeError as error:
            _log.warning("what rings cannot be announced: %s", error.message)


class WyomingConversation:
    """The recent turns of one satellite or chat, and the turn that waits for a yes."""

    def __init__(
        self,
        client: str,
        chat: ChatService,
        caller: Caller,
        language: str,
        rings: WyomingRings | None,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._language = language
        self._chat = chat
        self._caller = caller
        self._rings = rings
        self._clock = clock
        self._messages: list[Message] = []
        self._last_s = clock()
        self._turn: asyncio.Task[None] | None = None
        self._answer: asyncio.Future[Agreement] | None = None
        self._output: asyncio.Queue[str | _Question | _End] = asyncio.Queue()
        self._busy = asyncio.Lock()

    async def reply(self, text: str, room: str) -> AsyncGenerator[str, None]:
        """The pieces of the answer to a sentence, or of the question that it leads to.

        Closing it stops the turn. Raises ApiError, EngineFailed and ModelError.
        """
        async with self._busy:
            if self._clock() - self._last_s > _FORGET_AFTER_S:
                self._messages.clear()
            if not await self._answers_question(text):
                self._output = asyncio.Queue()
                self._turn = asyncio.create_task(self._run(text, room))
            try:
                async with aclosing(self._pieces()) as pieces:
                    async for piece in pieces:
                        yield piece
            finally:
                self._last_s = self._clock()
                if self._answer is None:
                    await self.close()

    async def close(self) -> None:
        """Stop a turn that waits for an answer."""
        if self._turn is not None:
            await cancel_tasks(self._turn)
        self._turn = self._answer = None

    async def _answers_question(self, text: str) -> bool:
        """Whether the sentence answers an open question; any other sentence denies it."""
        if (waiting := self._answer) is None:
            return False
        self._answer = None
        answer = decide_yes_no(text, self._language)
        if waiting.done() or answer == "unclear":
            await self.close()
            return False
        waiting.set_result(Agreement(granted=answer == "yes", by=self._caller))
        return True

    async def _pieces(self) -> AsyncGenerator[str, None]:
        while True:
            match await self._output.get():
                case _Question(text):
                    yield text
                    return
                case _End(error):
                    if error is not None:
                        raise error
                    return
                case str() as piece:
                    yield piece

    async def _run(self, text: str, room: str) -> None:
        """One turn: it goes on after the request that asked for a yes has ended."""
        question = ChatInput((*self._messages, Message("user", text)))
        origin = ConversationOrigin(self._client, room, self._confirm)
        reply = ""
        error: ApiError | EdgevoxError | None = None
        try:
            were_set = await self._rings.ids() if self._rings else frozenset()
            async with aclosing(self._chat.parts(question, self._caller, origin=origin)) as parts:
                async for part in parts:
                    if isinstance(part, ReplyText):
                        reply += part.text
                        self._output.put_nowait(part.text)
            if self._rings and (problem := await self._rings.note_new(were_set)):
                reply += f" {problem}"
                self._output.put_nowait(f" {problem}")
            if reply:
                self._messages += [Message("user", text), Message("assistant", reply)]
                del self._messages[:-_MAX_MESSAGES]
        except (ApiError, EdgevoxError) as raised:
            error = raised
        finally:
            self._output.put_nowait(_End(error))

    async def _confirm(self, pending: PendingConfirmation, _turn: Turn) -> Agreement:
        if not self._caller.may(CONFIRM):
            return Agreement(granted=False, why=_NO_SCOPE)
        if pending.level == "screen":
            return Agreement(granted=False, why="this needs more than a spoken yes")
        answer: asyncio.Future[Agreement] = asyncio.get_running_loop().create_future()
        self._answer = answer
        self._output.put_nowait(_Question(pending.question))
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                return await answer
        except TimeoutError:
            return Agreement(granted=False, why=_NO_ANSWER)


class WyomingConversations:
    """The conversations of all clients; the least recent ones are forgotten."""

    def __init__(
        self,
        chat: ChatService,
        caller: Caller,
        language: str,
        rings: WyomingRings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chat = chat
        self._language = language
        self._caller = caller
        self._rings = rings
        self._clock = clock
        self._by_key: LRUCache[str, WyomingConversation] = LRUCache(MAX_CONVERSATIONS)

    def find(self, context: object, connection_key: str) -> WyomingConversation:
        """The conversation that a context names; without one, that of the connection."""
        known = context if isinstance(context, dict) else {}
        named = (known.get(key) for key in ("satellite_id", "device_id", "conversation_id"))
        key = next((one[:_MAX_ID_CHARS] for one in named if isinstance(one, str) and one), connection_key)
        if key not in self._by_key:
            client = f"{API_CONVERSATION}{key}"
            self._by_key[key] = WyomingConversation(
                client, self._chat, self._caller, self._language, self._rings, self._clock
            )
        return self._by_key[key]

    async def close(self) -> None:
        for conversation in self._by_key.values():
            await conversation.close()
