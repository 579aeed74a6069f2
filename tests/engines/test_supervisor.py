from __future__ import annotations

import asyncio
import errno
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from edgevox.core.errors import EngineFailed, ModelError
from edgevox.core.events import Bus, EngineChanged, Event, Subscription
from edgevox.core.platform import ProcessActivity, anonymous_bytes, kill_child, process_activity
from edgevox.core.turn import CancelFlag
from edgevox.engines import EngineLimits, SupervisedEngine, ipc
from edgevox.engines.ipc import Reply
from edgevox.engines.supervisor import EngineProcess
from tests.engines.engines import DiesLoading, Echo, Unloadable

LIMITS = EngineLimits(start_s=30, first_reply_s=30, next_reply_s=30)
FELT = EngineLimits(start_s=60, first_reply_s=60, next_reply_s=60, heartbeat_s=1.0)
IMPATIENT = EngineLimits(start_s=30, first_reply_s=0.5, next_reply_s=0.5)
BOUND_S = 30


@asynccontextmanager
async def echo(
    limits: EngineLimits = LIMITS, publish: Callable[[Event], None] = lambda _e: None
) -> AsyncIterator[SupervisedEngine[str, str]]:
    engine = SupervisedEngine[str, str]("echo", Echo(), limits=limits, publish=publish)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


async def take_until_ready(events: Subscription) -> AsyncIterator[EngineChanged]:
    async for event in events:
        if isinstance(event, EngineChanged):
            yield event
            if event.state == "ready":
                return


async def answer(engine: SupervisedEngine[str, str], text: str) -> list[str]:
    return [word async for word in engine.stream(text, CancelFlag())]


async def test_an_engine_answers_from_another_process() -> None:
    async with echo() as engine:
        assert await answer(engine, "one two") == ["one", "two"]
        (pid,) = await answer(engine, "pid")
        assert int(pid) == engine.pid != os.getpid()
        assert os.getsid(int(pid)) == int(pid)  # a scheduling group of its own


async def test_a_crash_ends_only_the_current_answer() -> None:
    states: list[Event] = []
    async with echo(publish=states.append) as engine:
        stream = engine.stream("hello die world", CancelFlag())
        assert await anext(stream) == "hello"
        with pytest.raises(EngineFailed, match="signal 9") as caught:
            await anext(stream)
        assert "restarting" in caught.value.hint
        assert await answer(engine, "back") == ["back"]
    names = [e.state for e in states if isinstance(e, EngineChanged)]
    assert names == ["starting", "ready", "restarting", "starting", "ready", "stopped"]


async def test_an_engine_is_replaced_also_if_the_request_is_cancelled_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bus, kill = Bus(), EngineProcess.kill

    async def cancel_and_kill(process: EngineProcess) -> None:
        asking.cancel()
        await kill(process)

    async with echo(publish=bus.publish) as engine:
        monkeypatch.setattr(EngineProcess, "kill", cancel_and_kill)
        with bus.subscription() as events:
            asking = asyncio.create_task(answer(engine, "die"))
            async with asyncio.timeout(BOUND_S):
                changes = [event async for event in take_until_ready(events)]
        assert [change.state for change in changes] == ["restarting", "starting", "ready"]
        with pytest.raises((asyncio.CancelledError, EngineFailed)):
            await asking


async def test_a_library_for_another_processor_is_named_as_the_cause() -> None:
    async with echo() as engine:
        with pytest.raises(EngineFailed, match="signal 4") as caught:
            await answer(engine, "compute")
        assert "compiled for another processor" in caught.value.hint


async def test_busy_replies_extend_the_time_limit() -> None:
    async with echo(IMPATIENT) as engine:
        assert await answer(engine, "work work work hello") == ["hello"]


async def test_an_engine_that_hangs_is_replaced() -> None:
    async with echo(IMPATIENT) as engine:
        first = engine.pid
        with pytest.raises(EngineFailed, match=r"stopped answering within 0\.5 s"):
            await answer(engine, "hang")
        assert await answer(engine, "back") == ["back"]
        assert engine.pid != first


async def test_an_engine_that_gets_no_processor_time_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = EngineLimits(start_s=30, first_reply_s=0.5, next_reply_s=0.5, heartbeat_s=0.5)
    async with echo(limits) as engine:
        first = engine.pid
        monkeypatch.setattr(ipc, "process_activity", lambda _pid: ProcessActivity(cpu_s=1.0, is_active=True))
        assert await answer(engine, "pause hello") == ["hello"]
        assert engine.pid == first


async def test_a_starved_engine_has_some_limits_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = EngineLimits(start_s=30, first_reply_s=0.2, next_reply_s=0.2)
    async with echo(limits) as engine:
        monkeypatch.setattr(ipc, "process_activity", lambda _pid: ProcessActivity(cpu_s=1.0, is_active=True))
        with pytest.raises(EngineFailed, match="stopped answering"):
            async with asyncio.timeout(BOUND_S):
                await answer(engine, "hang")


@pytest.mark.skipif(sys.platform != "linux", reason="the activity is read from /proc")
def test_a_stopped_process_is_not_starved() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
        try:
            os.kill(spinning.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, spinning.pid, os.WSTOPPED)
            assert not ipc.ProcessorShare(spinning.pid).is_starved()
        finally:
            spinning.kill()
    mine = process_activity(os.getpid())
    assert mine is not None
    assert mine.is_active


def test_an_engine_that_waits_for_a_disk_has_not_hung() -> None:
    # The state of a process that waits for its vfork is that of one that waits for a disk.
    waits = "import ctypes; libc = ctypes.CDLL(None); print(flush=True); libc.vfork() or libc.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", waits], stdout=subprocess.PIPE, start_new_session=True) as waiting:
        assert waiting.stdout is not None
        waiting.stdout.readline()
        try:
            time.sleep(0.5)
            share = ipc.ProcessorShare(waiting.pid)
            time.sleep(0.5)
            assert share.is_starved()
        finally:
            os.killpg(waiting.pid, signal.SIGKILL)


async def test_a_stopped_process_counts_as_hung() -> None:
    async with echo(IMPATIENT) as engine:
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGSTOP)
        with pytest.raises(EngineFailed):
            await answer(engine, "hello")
        assert await answer(engine, "back") == ["back"]


@pytest.mark.parametrize("how", ["hang", "stop"])
async def test_an_engine_without_a_heartbeat_is_replaced_long_before_its_limits(how: str) -> None:
    async with echo(FELT) as engine:
        assert engine.pid is not None
        if how == "stop":
            os.kill(engine.pid, signal.SIGSTOP)
        with pytest.raises(EngineFailed, match="hung"):
            await answer(engine, "hang")
        assert await answer(engine, "back") == ["back"]


async def test_a_long_running_engine_has_a_heartbeat() -> None:
    async with echo(FELT) as engine:
        first = engine.pid
        assert await answer(engine, "spin hello") == ["hello"]
        assert engine.pid == first


async def test_a_stopped_idle_engine_is_restarted() -> None:
    bus = Bus()
    async with echo(FELT, publish=bus.publish) as engine:
        assert engine.pid is not None
        with bus.subscription() as events:
            os.kill(engine.pid, signal.SIGSTOP)
            async with asyncio.timeout(BOUND_S):
                changes = [event async for event in take_until_ready(events)]
        assert [change.state for change in changes] == ["restarting", "starting", "ready"]
        assert "hung" in changes[0].detail
        assert await answer(engine, "back") == ["back"]


async def test_an_engine_without_enough_memory_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.engines.supervisor._RETRY_S", (0.05,))
    spawn = asyncio.create_subprocess_exec
    refusals = [OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))] * 2

    async def spawn_later(*args: Any, **how: Any) -> Any:
        if refusals:
            raise refusals.pop()
        return await spawn(*args, **how)

    bus = Bus()
    async with echo(publish=bus.publish) as engine:
        assert engine.pid is not None
        monkeypatch.setattr(asyncio, "create_subprocess_exec", spawn_later)
        with bus.subscription() as events:
            os.kill(engine.pid, signal.SIGKILL)
            async with asyncio.timeout(BOUND_S):
                changes = [event async for event in take_until_ready(events)]
        assert [change.state for change in changes].count("failed") == 2
        assert "Cannot allocate memory" in changes[2].detail
        assert await answer(engine, "back") == ["back"]


async def test_a_crashed_idle_engine_is_restarted() -> None:
    bus = Bus()
    async with echo(publish=bus.publish) as engine:
        assert engine.pid is not None
        with bus.subscription() as events:
            os.kill(engine.pid, signal.SIGKILL)
            async with asyncio.timeout(BOUND_S):
                states = [event.state async for event in take_until_ready(events)]
        assert states == ["restarting", "starting", "ready"]
        assert await answer(engine, "back") == ["back"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc holds on to freed memory")
async def test_an_idle_engine_returns_the_memory_of_its_last_answers() -> None:
    async with echo() as engine:
        assert engine.pid is not None
        before = anonymous_bytes(engine.pid)
        assert await answer(engine, "allocate done") == ["done"]
        async with asyncio.timeout(BOUND_S):
            while anonymous_bytes(engine.pid) > before + 10_000_000:  # noqa: ASYNC110  (memory sends no event)
                await asyncio.sleep(0.05)
        assert await answer(engine, "back") == ["back"]


async def test_killing_a_child_that_has_just_died_keeps_its_exit_status() -> None:
    for _ in range(20):
        child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "import time; time.sleep(60)")
        os.kill(child.pid, signal.SIGKILL)
        for _ in range(200):  # one of them hits the moment between its death and asyncio's notice
            kill_child(child)
        async with asyncio.timeout(BOUND_S):
            assert await child.wait() == -signal.SIGKILL


async def test_an_engine_may_write_lines_of_any_length() -> None:
    async with echo() as engine:
        assert await answer(engine, "shout next") == ["next"]
        with pytest.raises(EngineFailed):
            await answer(engine, "shout die")
        assert await answer(engine, "back") == ["back"]


async def test_a_cancelled_answer_ends_at_once_and_the_next_is_clean() -> None:
    async with echo() as engine:
        cancel = CancelFlag()
        heard = 0
        async for _word in engine.stream("forever", cancel):
            heard += 1
            if heard == 3:
                cancel.set()
        assert await answer(engine, "flag next") == ["False", "next"]


async def test_a_cancel_from_another_thread_reaches_an_engine_that_says_nothing() -> None:
    async with echo() as engine:
        cancel = CancelFlag()
        asyncio.get_running_loop().call_later(0.1, cancel.set)
        async with asyncio.timeout(BOUND_S):
            assert [w async for w in engine.stream("hang", cancel)] == []


async def test_closing_the_replies_stops_the_engine() -> None:
    async with echo() as engine:
        stream = engine.stream("forever", CancelFlag())
        assert await anext(stream) == "again"
        await stream.aclose()
        assert await answer(engine, "next") == ["next"]


async def test_an_error_of_the_model_arrives_as_it_was_raised_and_costs_no_restart() -> None:
    async with echo() as engine:
        pid = engine.pid
        with pytest.raises(ModelError, match="too long") as caught:
            await answer(engine, "refuse")
        assert caught.value.hint == "say less"
        with pytest.raises(EngineFailed, match="a bug in the engine"):
            await answer(engine, "raise")
        assert engine.pid == pid


@pytest.mark.parametrize(
    ("broken", "error", "words"), [(Unloadable(), ModelError, "not a model"), (DiesLoading(), EngineFailed, "signal 6")]
)
async def test_a_load_error_reaches_the_caller(broken: Any, error: type[Exception], words: str) -> None:
    engine = SupervisedEngine[str, str]("broken", broken, limits=LIMITS)
    with pytest.raises(error, match=words):
        await engine.start()
    assert engine.pid is None
    await engine.close()


async def test_a_request_that_waited_when_the_engine_was_closed_starts_no_other_child() -> None:
    async with asyncio.timeout(BOUND_S), echo() as engine:
        running = engine.stream("forever", CancelFlag())
        assert await anext(running) == "again"
        waiting = asyncio.create_task(answer(engine, "next"))
        await asyncio.sleep(0)
        await engine.close()
        await running.aclose()
        with pytest.raises(EngineFailed, match="closed"):
            await waiting
        assert engine.pid is None


async def test_a_child_ends_when_its_parent_is_gone() -> None:
    engine = SupervisedEngine[str, str]("echo", Echo(), limits=LIMITS)
    await engine.start()
    process = engine._process
    assert process is not None
    process._writer.close()  # what the kernel does when a parent dies
    async with asyncio.timeout(BOUND_S):
        await process._process.wait()
    await engine.close()


async def test_a_cancel_that_arrives_with_a_reply_is_not_lost() -> None:
    async with echo() as engine:
        process = engine._process
        assert process is not None
        receiving = asyncio.create_task(process._receive(BOUND_S, "stopped answering"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        process._inbox.put_nowait(Reply(0, "late"))
        receiving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await receiving
