"""Sharing one model: turns, a bounded queue, the person in the room, and clients that go away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import aiohttp
import openai
import pytest

from edgevox.agents.conversation import Conversation, summarise
from edgevox.core.events import SpeechDropped, SpeechStarted, TurnEnded, TurnStarted
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, Message
from edgevox.server.engine_queues import ModelQueue
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import kept_alive
from edgevox.server.scheduling import LocalSpeakerPriority, RoundRobinLock
from tests.server.harness import Lamp, acting, served, talking
from tests.server.openai_chat import USER, client, streamed, whole

BOUND_S = 10
REQUEST = ChatRequest((Message("user", "Hello"),))


class Typist:
    """A model that types a text letter by letter when it is let, and goes on from where it was stopped."""

    def __init__(self, text: str = "abcdefgh") -> None:
        self.text = text
        self.letters = asyncio.Semaphore(0)
        self.requests: list[ChatRequest] = []
        self.at_work = 0
        self.begun = asyncio.Event()
        self.typed = asyncio.Event()
        self.rested = asyncio.Event()

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.requests.append(request)
        assert self.at_work == 0, "one at a time"
        assert self.text.startswith(request.reply_prefix)
        self.at_work += 1
        self.begun.set()
        self.rested.clear()
        loop = asyncio.get_running_loop()
        cancelled = asyncio.Event()

        def stop() -> None:
            loop.call_soon_threadsafe(cancelled.set)

        cancel.add_listener(stop)
        try:
            for letter in self.text[len(request.reply_prefix) :]:
                waits = [asyncio.ensure_future(self.letters.acquire()), asyncio.ensure_future(cancelled.wait())]
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for wait in waits:
                        wait.cancel()
                if cancel.is_set():
                    yield ChatDone("cancelled", 0, 0, 0)
                    return
                self.typed.set()
                yield ChatDelta(letter)
            yield ChatDone("stop", 1, 0, len(self.text))
        finally:
            self.at_work -= 1
            self.rested.set()

    def let(self, letters: int) -> None:
        for _ in range(letters):
            self.letters.release()


async def text_of(queue: ModelQueue, who: str = "one") -> str:
    written = ""
    with queue.place():
        async with aclosing(queue.model_for(who).stream(REQUEST, CancelFlag())) as replies:
            async for reply in replies:
                written += reply.text if isinstance(reply, ChatDelta) else ""
    return written


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


# --- turns


async def test_heavy_clients_wait_behind_light_ones() -> None:
    turns, order = RoundRobinLock(), list[str]()

    async def work(who: str) -> None:
        async with turns.turn(who):
            order.append(who)
            await asyncio.sleep(0)

    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        for who in ("much", "much", "much", "little"):
            group.create_task(work(who))
    assert order == ["much", "much", "little", "much"]


@pytest.mark.parametrize("moment", ["waiting", "given"])
async def test_a_cancelled_request_frees_its_turn(moment: str) -> None:
    turns = RoundRobinLock()
    async with asyncio.timeout(BOUND_S):
        async with turns.turn("first"):
            impatient = asyncio.create_task(turns.turn("impatient").__aenter__())
            patient = asyncio.create_task(turns.turn("patient").__aenter__())
            await settle()
            if moment == "waiting":
                impatient.cancel()
                await settle()
                assert turns.waiting == 1
        impatient.cancel()
        await patient
    assert impatient.cancelled() or moment == "given"


async def test_a_place_is_not_granted_to_a_request_that_was_cancelled_in_the_same_moment() -> None:
    turns = RoundRobinLock()
    async with asyncio.timeout(BOUND_S):
        async with turns.turn("first"):
            impatient = asyncio.create_task(turns.turn("impatient").__aenter__())
            patient = asyncio.create_task(turns.turn("patient").__aenter__())
            await settle()
            impatient.cancel()  # and the first ends before the cancelled task runs again
        await patient
    assert turns.waiting == 0


async def test_nobody_begins_while_held_not_even_who_was_just_given_the_place() -> None:
    turns = RoundRobinLock()
    begun = asyncio.Event()

    async def work() -> None:
        async with turns.turn("one"):
            begun.set()

    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        async with turns.turn("first"):
            group.create_task(work())
            await settle()
        turns.hold()
        await settle()
        assert not begun.is_set()
        turns.release()
        await begun.wait()


# --- the room


async def test_the_room_is_busy_from_the_first_sound_to_the_end_of_the_answer() -> None:
    told: list[str] = []
    room = LocalSpeakerPriority(lambda: told.append("began"), lambda: told.append("ended"))
    room.on_event(SpeechStarted())
    room.on_event(TurnStarted(turn_id="a", source="voice", preset="home"))
    room.on_event(SpeechStarted())
    room.on_event(TurnEnded(turn_id="a", outcome="cancelled"))
    assert told == ["began"]
    room.on_event(SpeechDropped(reason="noise"))
    assert told == ["began", "ended"]
    room.on_event(TurnStarted(turn_id="b", source="api", preset="home"))
    assert told == ["began", "ended"]


async def test_speech_of_which_nothing_comes_does_not_hold_for_ever() -> None:
    ended = asyncio.Event()
    room = LocalSpeakerPriority(lambda: None, ended.set, speech_s=0.01)
    room.on_event(SpeechStarted())
    async with asyncio.timeout(BOUND_S):
        await ended.wait()


# --- the queue


async def test_a_reply_pauses_while_somebody_speaks_and_goes_on_where_it_was() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4)
    async with asyncio.timeout(BOUND_S):
        reading = asyncio.create_task(text_of(queue))
        typist.let(3)
        await settle()
        queue.on_event(SpeechStarted())
        await settle()
        assert typist.at_work == 0, "the model is free for the voice"
        typist.let(100)
        await settle()
        assert not reading.done()
        queue.on_event(TurnStarted(turn_id="a", source="voice", preset="home"))
        queue.on_event(TurnEnded(turn_id="a", outcome="answered"))
        assert await reading == typist.text
    assert [request.reply_prefix for request in typist.requests] == ["", "abc"]


async def test_what_the_room_prepares_behind_its_turn_goes_before_programs() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4)
    preparing = ChatRequest((Message("system", "The house."),), prompt_only=True)
    async with asyncio.timeout(BOUND_S):
        queue.on_event(TurnStarted(turn_id="a", source="voice", preset="home"))
        reading = asyncio.create_task(text_of(queue))
        await settle()
        typist.let(100)
        queue.on_event(TurnEnded(turn_id="a", outcome="answered"))
        async for _reply in typist.stream(preparing, CancelFlag()):
            pass
        assert await reading == typist.text
    assert [request.prompt_only for request in typist.requests] == [True, False]


async def test_what_was_interrupted_goes_on_before_another_begins() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4)
    async with asyncio.timeout(BOUND_S):
        first = asyncio.create_task(text_of(queue))
        typist.let(3)
        await settle()
        second = asyncio.create_task(text_of(queue))
        await settle()
        queue.on_event(SpeechStarted())
        await settle()
        typist.let(100)
        queue.on_event(SpeechDropped(reason="noise"))
        await asyncio.gather(first, second)
    assert [request.reply_prefix for request in typist.requests] == ["", "abc", ""]


async def test_the_own_microphone_interrupts_the_reply_of_a_room() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4)
    local = queue.model_for("local", is_first=True)
    async with asyncio.timeout(BOUND_S):
        kitchen, bedroom = (asyncio.create_task(text_of(queue, room)) for room in ("kitchen", "bedroom"))
        typist.let(3)
        await settle()
        typist.let(100)
        _ = [reply async for reply in local.stream(REQUEST, CancelFlag())]
        assert not kitchen.done()
        assert set(await asyncio.gather(kitchen, bedroom)) == {typist.text}
    assert [request.reply_prefix for request in typist.requests] == ["", "", "abc", ""]


async def test_idle_work_of_the_own_microphone_interrupts_no_reply_of_a_room() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4)
    local, conversation = queue.model_for("local", is_first=True), Conversation()
    conversation.keep((Message("user", "Hello"), Message("assistant", "Hello.")))
    conversation.forget_oldest(1)
    async with asyncio.timeout(BOUND_S):
        kitchen = asyncio.create_task(text_of(queue, "kitchen"))
        typist.let(3)
        await settle()
        summarising = asyncio.create_task(summarise(local, conversation, CancelFlag()))
        await settle()
        typist.let(100)
        assert await kitchen == typist.text
        assert await summarising
    assert [request.reply_prefix for request in typist.requests] == ["", ""]


async def test_a_reply_that_nobody_wants_any_more_ends_while_it_is_paused() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4)
    async with asyncio.timeout(BOUND_S):
        reading = asyncio.create_task(text_of(queue))
        await settle()
        queue.on_event(SpeechStarted())
        await settle()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert queue.admitted == 0
        queue.on_event(SpeechDropped(reason="noise"))
        typist.let(100)
        assert await text_of(queue) == typist.text


async def test_more_than_may_wait_are_sent_away_with_a_time() -> None:
    queue = ModelQueue(Typist(), max_waiting=1)
    with queue.place(), queue.place():
        with pytest.raises(ApiError) as caught, queue.place():
            pass
        assert (caught.value.status, int(caught.value.headers["Retry-After"]) > 0) == (429, True)
    with queue.place():
        assert queue.admitted == 1


# --- through the server


@pytest.mark.parametrize("stream", [False, True])
async def test_a_full_queue_is_a_rate_limit_for_the_client(stream: bool) -> None:
    typist = Typist()
    async with asyncio.timeout(BOUND_S), client(talking(typist), max_waiting=0) as chat:
        first = asyncio.create_task(whole(chat, USER))
        await typist.begun.wait()
        with pytest.raises(openai.RateLimitError) as caught:
            await (streamed if stream else whole)(chat, USER)
        assert int(caught.value.response.headers["retry-after"]) > 0
        typist.let(100)
        assert (await first)[0].text == typist.text


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("tools", ["own", "none"])
async def test_a_client_that_goes_away_frees_its_place(stream: bool, tools: str) -> None:
    typist = Typist()
    assistant = acting(typist, Lamp()) if tools == "own" else talking(typist)
    body = {"model": "default", "messages": [USER], "stream": stream}
    async with asyncio.timeout(BOUND_S), served(assistant, max_waiting=0) as url:
        headers = {"Authorization": "Bearer owner-token-for-tests"}
        async with aiohttp.ClientSession(headers=headers) as session:
            asking = asyncio.create_task(session.post(f"{url}/v1/chat/completions", json=body))
            await typist.begun.wait()
            typist.let(2)
            await typist.typed.wait()
            if stream:
                (await asking).close()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await typist.rested.wait()
        typist.let(100)
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="owner-token-for-tests", max_retries=0) as chat:
            assert (await whole(chat, USER))[0].text == typist.text


async def test_fifty_clients_at_once_get_fifty_answers() -> None:
    class Quick:
        async def stream(self, _request: ChatRequest, _cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
            await asyncio.sleep(0)
            yield ChatDelta("Yes.")
            yield ChatDone("stop", 1, 0, 1)

    async with asyncio.timeout(3 * BOUND_S), client(talking(Quick())) as chat:
        answers = await asyncio.gather(*(streamed(chat, USER) for _client in range(50)))
    assert [answer.text for answer in answers] == ["Yes."] * 50


async def test_a_stream_that_has_to_wait_is_kept_alive() -> None:
    may_go_on = asyncio.Event()

    async def pieces() -> AsyncGenerator[bytes, None]:
        await may_go_on.wait()
        yield b"one"
        yield b"two"

    async with asyncio.timeout(BOUND_S), aclosing(kept_alive(pieces(), every_s=0.01)) as alive:
        first, second = [await anext(alive) for _comment in range(2)]
        assert first == second
        assert first.startswith(b":")
        may_go_on.set()
        assert [piece async for piece in alive if not piece.startswith(b":")] == [b"one", b"two"]


async def test_a_stream_that_is_closed_while_it_waits_closes_its_source() -> None:
    is_closed = asyncio.Event()

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            await asyncio.Event().wait()
            yield b""
        finally:
            is_closed.set()

    async with asyncio.timeout(BOUND_S):
        alive = kept_alive(pieces(), every_s=0.01)
        await anext(alive)
        await alive.aclose()
    assert is_closed.is_set()


async def test_a_model_that_cannot_go_on_is_not_interrupted() -> None:
    typist = Typist()
    queue = ModelQueue(typist, max_waiting=4, resumes=False)
    async with asyncio.timeout(BOUND_S), aclosing(queue.stream("a", REQUEST, CancelFlag())) as replies:
        typist.letters.release()
        assert await anext(replies) == ChatDelta("a")
        queue.on_event(SpeechStarted())
        for _letter in typist.text:
            typist.letters.release()
        rest = [reply async for reply in replies]
    queue.on_event(SpeechDropped(reason="noise"))
    assert [reply.text for reply in rest if isinstance(reply, ChatDelta)] == list("bcdefgh")
    assert (len(typist.requests), queue.pauses) == (1, 0)
