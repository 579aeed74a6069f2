"""Requests over the socket: answered, streamed, refused, and dropped with the client that made them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from edgevox.app.control import protocol
from edgevox.app.control.client import request
from edgevox.app.control.protocol import LINE_BYTES, SOCKET_NAME, Ask, Request, SimpleRequest
from edgevox.app.control.server import (
    CONNECTIONS,
    ControlConnection,
    Handle,
    control_server,
    persistent_server,
    single_instance,
)
from edgevox.core.errors import AlreadyRunning, ControlError, EngineFailed, NotRunning
from edgevox.core.types import JsonObject

BOUND_S = 10.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@asynccontextmanager
async def serving(folder: Path, handle: Handle, *, uid: int | None = None) -> AsyncIterator[None]:
    wanted_uid = os.getuid() if uid is None else uid
    async with asyncio.timeout(BOUND_S):
        with single_instance(folder) as listening:
            async with control_server(listening, handle, uid_of=lambda _connection: wanted_uid):
                yield


async def echo(wanted: Request, dialogue: ControlConnection) -> JsonObject:
    return {"did": wanted.do}


async def raw(folder: Path, line: bytes) -> JsonObject:
    """What is answered to a line that no client of ours would send."""
    reader, writer = await asyncio.open_unix_connection(folder / SOCKET_NAME, limit=LINE_BYTES)
    writer.write(line)
    answer: JsonObject = json.loads(await reader.readline())
    writer.close()
    return answer


async def test_a_request_is_answered(folder: Path) -> None:
    async with serving(folder, echo), request(folder, SimpleRequest(do="mute")) as muting:
        assert await muting.done() == {"kind": "done", "did": "mute"}


async def test_an_answer_comes_piece_by_piece(folder: Path) -> None:
    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        for word in ("one", "two"):
            await dialogue.send("delta", text=word)
        return {}

    async with serving(folder, handle), request(folder, Ask(text="count")) as asking:
        kinds = [(note["kind"], note.get("text")) async for note in asking.notes()]
    assert kinds == [("delta", "one"), ("delta", "two"), ("done", None)]


async def test_a_question_back_can_be_answered(folder: Path) -> None:
    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        await dialogue.send("question", text="Really?")
        return {"answer": await dialogue.answers.get()}

    async with serving(folder, handle), request(folder, Ask(text="open it", can_answer=True)) as asking:
        async for note in asking.notes():
            if note["kind"] == "question":
                asking.answer(granted=True)
            else:
                assert note["answer"] == {"granted": True}


async def test_an_error_arrives_as_the_error_it_was(folder: Path) -> None:
    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        raise EngineFailed("llm died", hint="it is being restarted")

    async with serving(folder, handle), request(folder, SimpleRequest(do="status")) as asking:
        with pytest.raises(EngineFailed) as caught:
            await asking.done()
    assert (caught.value.message, caught.value.hint) == ("llm died", "it is being restarted")


async def test_what_a_client_asked_for_ends_when_it_goes(folder: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    async with serving(folder, handle):
        async with request(folder, Ask(text="a long story")):
            await begun.wait()
        await ended.wait()


async def test_a_client_that_closes_its_own_direction_gets_its_answer(folder: Path) -> None:
    is_closed = asyncio.Event()

    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        assert await dialogue.answers.get() is None
        is_closed.set()
        return {}

    async with serving(folder, handle):
        reader, writer = await asyncio.open_unix_connection(folder / SOCKET_NAME)
        writer.write(protocol.line_of(SimpleRequest(do="status").model_dump()))
        writer.write_eof()
        assert json.loads(await reader.readline())["kind"] == "done"
        writer.close()
    assert is_closed.is_set()


async def test_another_user_is_refused(folder: Path) -> None:
    async with serving(folder, echo, uid=os.getuid() + 1), request(folder, SimpleRequest(do="status")) as asking:
        with pytest.raises(ControlError, match="another user"):
            await asking.done()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"hello\n", "not JSON"),
        (b'{"v":1,"do":"dance"}\n', "invalid request"),
        (b'{"v":2,"do":"status"}\n', "version 1"),
        (b'{"v":1,"do":"ask"}\n', "text"),
        (b'{"v":1,"do":"ask","text":"' + b"a" * (2 * LINE_BYTES) + b'"}\n', "too long"),
        (b"[]\n", "not a JSON object"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"v":1,"do":"ask","text":"a","overrides":' + b'{"a":' * 100 + b"1" + b"}" * 101 + b"\n", "not JSON"),
    ],
)
async def test_what_is_no_request_is_refused(folder: Path, line: bytes, complaint: str) -> None:
    async with serving(folder, echo):
        answer = await raw(folder, line)
        assert (answer["kind"], answer["code"]) == ("error", "control_error")
        assert complaint in answer["message"]
        async with request(folder, SimpleRequest(do="status")) as asking:  # and the next one is answered
            await asking.done()


async def test_there_can_be_only_so_many_at_once(folder: Path) -> None:
    release = asyncio.Event()
    begun = asyncio.Semaphore(0)

    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        begun.release()
        await release.wait()
        return {}

    async def ask() -> JsonObject:
        async with request(folder, SimpleRequest(do="status")) as asking:
            return await asking.done()

    async with serving(folder, handle), asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(ask())
        for _ in range(CONNECTIONS):
            await begun.acquire()
        with pytest.raises(ControlError, match="too many"):
            await ask()
        release.set()


async def test_nobody_answers_where_nothing_runs(folder: Path) -> None:
    with pytest.raises(NotRunning):
        async with request(folder, SimpleRequest(do="status")):
            pass


@pytest.fixture
def abandoned(tmp_path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / SOCKET_NAME))
    return tmp_path


async def test_nobody_answers_at_a_socket_that_was_left_behind(abandoned: Path) -> None:
    with pytest.raises(NotRunning):
        async with request(abandoned, SimpleRequest(do="status")):
            pass


async def test_an_assistant_that_ends_says_no_more_and_reports_no_error(folder: Path) -> None:
    begun = asyncio.Event()
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reported.append(context))

    async def handle(wanted: Request, dialogue: ControlConnection) -> JsonObject:
        begun.set()
        await asyncio.Event().wait()
        return {}

    with single_instance(folder) as listening:
        server = control_server(listening, handle)
        await server.__aenter__()
        async with asyncio.timeout(BOUND_S), request(folder, SimpleRequest(do="status")) as asking:
            await begun.wait()
            await server.__aexit__(None, None, None)
            with pytest.raises(ControlError, match="stopped"):
                await asking.done()
    assert not reported


async def test_a_folder_that_is_deleted_is_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.app.control.server._POLL_S", 0.01)
    with single_instance(folder) as listening:
        async with asyncio.timeout(BOUND_S), persistent_server(folder, listening, echo):
            await asyncio.to_thread(shutil.rmtree, folder)
            while True:
                try:
                    async with request(folder, SimpleRequest(do="status")) as asking:
                        await asking.done()
                        break
                except NotRunning:
                    await asyncio.sleep(0.01)
            with pytest.raises(AlreadyRunning), single_instance(folder):
                pass
