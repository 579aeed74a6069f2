from __future__ import annotations

import asyncio
import ctypes

from edgevox.core.turn import CancelFlag, Gate, Turn


def test_a_flag_stays_set() -> None:
    flag = CancelFlag()
    assert not flag.is_set()
    flag.set()
    flag.set()
    assert flag.is_set()


def test_native_code_sees_the_flag_as_a_c_string() -> None:
    flag = CancelFlag()
    strlen = ctypes.CDLL(None).strlen
    strlen.argtypes = [ctypes.c_void_p]
    assert strlen(flag.address) == 0
    flag.set()
    assert strlen(flag.address) == 1


def test_listeners_are_called_once_and_not_after_removal() -> None:
    flag = CancelFlag()
    heard: list[str] = []

    def stays() -> None:
        heard.append("stays")

    def leaves() -> None:
        heard.append("leaves")

    flag.add_listener(stays)
    flag.add_listener(leaves)
    flag.remove_listener(leaves)
    flag.set()
    assert heard == ["stays"]


def test_a_late_listener_is_called_at_once() -> None:
    flag = CancelFlag()
    flag.set()
    heard: list[bool] = []
    flag.add_listener(lambda: heard.append(True))
    assert heard == [True]


def test_turns_have_different_ids() -> None:
    assert len({Turn().id for _ in range(1000)}) == 1000


async def test_a_gate_is_open_by_default() -> None:
    done: list[str] = []
    turn = Turn()
    turn.gate.when_open(lambda: done.append("at once"))
    assert await turn.gate.passed(turn.cancel)
    assert done == ["at once"]
    assert not turn.gate.is_waited_at


async def test_held_actions_run_in_order_when_the_gate_opens() -> None:
    done: list[str] = []
    gate = Gate(is_open=False)
    gate.when_open(lambda: done.append("first"))
    gate.when_open(lambda: done.append("second"))
    assert done == []
    gate.open()
    gate.open()
    assert done == ["first", "second"]


async def test_a_waiter_continues_when_the_gate_opens() -> None:
    gate, cancel = Gate(is_open=False), CancelFlag()
    waiting = asyncio.create_task(gate.passed(cancel))
    await asyncio.sleep(0)
    assert gate.is_waited_at
    assert not waiting.done()
    gate.open()
    async with asyncio.timeout(5):
        assert await waiting


async def test_a_cancel_from_any_thread_releases_a_waiter() -> None:
    done: list[str] = []
    gate, cancel = Gate(is_open=False), CancelFlag()
    gate.when_open(lambda: done.append("never"))
    waiting = asyncio.create_task(gate.passed(cancel))
    await asyncio.sleep(0)
    await asyncio.to_thread(cancel.set)
    async with asyncio.timeout(5):
        assert not await waiting
    assert not await gate.passed(cancel)
    assert done == []
