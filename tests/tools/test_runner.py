"""Sync tools run on daemon threads of their own, which end with them."""

from __future__ import annotations

import asyncio
import threading

from edgevox.tools.runner import Returned, Runner, Stopped

WITHIN_S = 10.0


async def run(runner: Runner) -> threading.Thread:
    """Run one job to its end; the thread it ran on."""
    outcome = await runner.run("job", threading.current_thread, is_async=False, timeout_s=WITHIN_S, cancel=None)
    assert isinstance(outcome, Returned)
    thread = outcome.value
    assert isinstance(thread, threading.Thread)
    return thread


async def test_a_stuck_job_does_not_hold_up_the_next() -> None:
    runner, gate = Runner(), threading.Event()
    for _ in range(10):
        outcome = await runner.run("stuck", lambda: gate.wait(WITHIN_S), is_async=False, timeout_s=0.001, cancel=None)
        assert outcome == Stopped("timeout", abandoned=True)
    assert runner.abandoned("stuck") == 10
    await run(runner)
    gate.set()
    async with asyncio.timeout(WITHIN_S):
        while runner.abandoned("stuck"):  # noqa: ASYNC110 - a count has no event
            await asyncio.sleep(0)


async def test_a_thread_is_a_daemon_and_ends_with_its_job() -> None:
    thread = await run(Runner())
    assert thread.daemon
    thread.join(WITHIN_S)
    assert not thread.is_alive()


async def test_many_jobs_leave_no_threads() -> None:
    runner, before = Runner(), threading.active_count()
    for _ in range(200):
        await run(runner)
    assert threading.active_count() - before < 20
