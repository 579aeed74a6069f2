"""The thread pool: jobs start at once, idle threads are reused and end after a while."""

from __future__ import annotations

import threading

from edgevox.tools.runner import ThreadPool

WITHIN_S = 10.0


def run(workers: ThreadPool) -> threading.Thread:
    """Run one job to its end; the thread it ran on."""
    ran: list[threading.Thread] = []
    over = threading.Event()

    def job() -> None:
        ran.append(threading.current_thread())
        over.set()

    workers.start(job)
    assert over.wait(WITHIN_S)
    return ran[0]


def test_a_stuck_job_does_not_hold_up_the_next() -> None:
    workers = ThreadPool()
    gate, stuck = threading.Event(), threading.Semaphore(0)

    def hang() -> None:
        stuck.release()
        gate.wait(WITHIN_S)

    for _ in range(10):
        workers.start(hang)
    for _ in range(10):
        assert stuck.acquire(timeout=WITHIN_S)
    run(workers)
    gate.set()


def test_threads_end_when_there_is_no_work() -> None:
    workers = ThreadPool(keep_idle_s=0.01)
    thread = run(workers)
    assert thread.daemon
    thread.join(WITHIN_S)
    assert not thread.is_alive()
    assert run(workers) is not thread


def test_few_threads_serve_many_jobs() -> None:
    workers = ThreadPool()
    before = threading.active_count()
    for _ in range(200):
        run(workers)
    assert threading.active_count() - before < 20
