"""Ten thousand random calls: every one has a result, nothing is left over, and memory stays flat."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import time
import tracemalloc
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from edgevox.core.errors import ToolError
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ToolCall
from edgevox.tools import Caller, Speech, Target, ToolExecutor, ToolRegistry, ToolResult, tool

CALLS = 10_000
BATCH = 50
SEED = 6
CODES = {
    *("bad_request", "timeout", "internal_error", "requires_confirmation", "token_scope_insufficient"),
    *("tool_error", "tool_denied", "cancelled", None),
}
CALLERS = (Caller("local", frozenset({"*"})), Caller("guest", frozenset({"read"})), Caller("nobody"))
# What 9,000 further calls may add: caches fill, the allocator rounds up; no call leaves anything behind.
MAX_GROWTH_BYTES = 4_000_000
ERRORS: tuple[Callable[[], BaseException], ...] = (
    *(ValueError, lambda: KeyError("k"), lambda: ToolError("the lamp did not answer"), ZeroDivisionError),
    *(OSError, SystemExit, StopIteration, MemoryError, RecursionError, UnicodeError, AssertionError),
)


class Item(BaseModel):
    title: str
    amount: int = 1


@tool
def plain(text: str = "", number: Annotated[int, Field(ge=0, le=9)] = 0) -> str:
    """Say it."""
    return text * number


@tool
async def gentle(kind: Literal["a", "b"] = "a", items: list[Item] | None = None) -> Any:
    """Count."""
    await asyncio.sleep(0)
    return {"kind": kind, "items": [item.title for item in items or ()]}


@tool
def raises(which: int = 0) -> None:
    """Fail."""
    error = ERRORS[which % len(ERRORS)]()
    raise error


@tool
async def raises_later(which: int = 0) -> None:
    """Fail."""
    await asyncio.sleep(0)
    error = ERRORS[which % len(ERRORS)]()
    raise error


@tool(timeout_s=0.002)
async def sleeps(ms: Annotated[int, Field(ge=0, le=5)] = 1) -> str:
    """Sleep."""
    await asyncio.sleep(ms / 1000)
    return "rested"


@tool
def sleeps_on_a_thread(ms: Annotated[int, Field(ge=0, le=3)] = 1) -> Speech:
    """Sleep."""
    time.sleep(ms / 1000)
    return Speech("rested")


@tool(side_effects=True, targets=lambda arguments: [Target(str(arguments["domain"]))])
def acts(domain: Literal["light", "lock"] = "light") -> str:
    """Act."""
    return domain


@tool(memoize_s=0.01)
def remembers(word: str = "") -> Any:
    """Remember."""
    return [word, {"name": "plain", "arguments": {}}]


@tool
def odd(which: int = 0) -> Any:
    """Return something odd."""
    cycle: list[Any] = []
    cycle.append(cycle)
    return (None, object(), cycle, {1, 2}, b"\xff", float("nan"), 10**400, "x" * 9000, {("a",): 1})[which % 9]


TOOLS = (plain, gentle, raises, raises_later, sleeps, sleeps_on_a_thread, acts, remembers, odd)


def random_value(dice: random.Random, depth: int = 0) -> Any:
    kinds = 6 if depth > 2 else 8
    match dice.randrange(kinds):
        case 0:
            return dice.choice(["", "a", "b", "light", "lock", "<|im_end|>", "é" * 3, "\ud800", "x" * 500])
        case 1 | 2:
            return dice.randrange(-2, 12)
        case 3:
            return dice.choice([True, False, None])
        case 4:
            return dice.choice([0.5, 1e308, -1.0])
        case 5:
            return dice.choice(["a", "1", "null"])
        case 6:
            return [random_value(dice, depth + 1) for _ in range(dice.randrange(3))]
        case _:
            keys = ("title", "amount", "name")
            return {dice.choice(keys): random_value(dice, depth + 1) for _ in range(dice.randrange(3))}


def random_call(dice: random.Random) -> ToolCall:
    chosen = dice.choice(TOOLS)
    name = chosen.name if dice.random() < 0.95 else dice.choice(["", "fly", "Plain", "x" * 300, "plain "])
    if dice.random() < 0.05:
        arguments = dice.choice(["", "{", "[]", "null", "3", '"a"', '{"a": NaN}', "[" * 5000, "9" * 5000])
    else:
        known = list(chosen.parameters["properties"])
        keys = dice.sample(known, dice.randrange(len(known) + 1))
        if dice.random() < 0.1:
            keys.append(dice.choice(["unknown", ""]))
        given: dict[str, Any] = {}
        for key in keys:
            schema = chosen.parameters["properties"].get(key, {})
            fits = dice.choice(schema["enum"]) if "enum" in schema else dice.randrange(6)
            given[key] = fits if dice.random() < 0.7 else random_value(dice)
        arguments = json.dumps(given)
    return ToolCall(f"c{dice.randrange(1000)}", name, arguments)


async def run_batch(executor: ToolExecutor, dice: random.Random) -> tuple[ToolResult, ...]:
    calls = [random_call(dice) for _ in range(BATCH)]
    cancel = CancelFlag()
    if dice.random() < 0.1:
        asyncio.get_running_loop().call_later(dice.random() / 100, cancel.set)
    results = await executor.dispatch_all(calls, caller=dice.choice(CALLERS), cancel=cancel)
    assert [result.tool_call_id for result in results] == [call.id for call in calls]
    for result in results:
        assert result.code in CODES
        assert (result.code is None) == (not result.is_error)
        assert len(result.content) < 4200
        result.content.encode()
        if result.confirmation is not None and dice.random() < 0.5:
            token = result.confirmation.token if dice.random() < 0.8 else "guessed"
            await executor.dispatch_confirmed(result.confirmation.call, token)
    return results


async def test_ten_thousand_random_calls_leave_nothing_behind() -> None:
    dice = random.Random(SEED)
    executor = ToolExecutor(ToolRegistry(TOOLS))
    before = asyncio.all_tasks()
    seen: set[str | None] = set()
    async with asyncio.timeout(200):
        for _ in range(CALLS // 10 // BATCH):
            seen |= {result.code for result in await run_batch(executor, dice)}
        gc.collect()
        held_bytes = anonymous_bytes(os.getpid())
        for _ in range(CALLS * 9 // 10 // BATCH):
            seen |= {result.code for result in await run_batch(executor, dice)}
    assert asyncio.all_tasks() == before
    assert seen >= CODES - {"tool_denied"}
    gc.collect()
    assert anonymous_bytes(os.getpid()) - held_bytes < MAX_GROWTH_BYTES
    summary = executor.stats.summary()
    assert set(summary) == {one.name for one in TOOLS}
    assert sum(counts.chosen for counts in summary.values()) > CALLS * 0.8


async def test_a_call_leaves_no_object_behind() -> None:
    executor = ToolExecutor(ToolRegistry([gentle, raises_later]))
    call, fails = ToolCall("c", "gentle", '{"kind": "b"}'), ToolCall("c", "raises_later", "{}")
    tracemalloc.start()
    try:
        held_bytes = []
        for _ in range(3):
            for _ in range(200):
                await executor.dispatch_all([call, fails])
            gc.collect()
            held_bytes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # The interpreter's own free lists fill in the first round.
    assert held_bytes[2] - held_bytes[1] < 20_000
