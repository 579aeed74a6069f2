from __future__ import annotations

import asyncio

import pytest

from edgevox.core.errors import EngineFailed, ModelError
from edgevox.core.turn import CancelFlag
from edgevox.engines import LocalEngine
from tests.engines.engines import Echo, Unloadable


async def test_the_same_engine_runs_in_this_process() -> None:
    engine = LocalEngine[str, str](Echo())
    await engine.start()
    assert [word async for word in engine.stream("one two", CancelFlag())] == ["one", "two"]


async def test_a_cancel_stops_it() -> None:
    engine = LocalEngine[str, str](Echo())
    await engine.start()
    cancel = CancelFlag()
    async with asyncio.timeout(30):
        async for _word in engine.stream("forever", cancel):
            cancel.set()


async def test_its_errors_arrive_as_they_were_raised() -> None:
    engine = LocalEngine[str, str](Echo())
    await engine.start()
    with pytest.raises(ModelError, match="too long"):
        await anext(engine.stream("refuse", CancelFlag()))
    with pytest.raises(ModelError, match="not a model"):
        await LocalEngine[str, str](Unloadable()).start()


async def test_a_bug_in_the_engine_ends_its_reply() -> None:
    engine = LocalEngine[str, str](Echo())
    await engine.start()
    async with asyncio.timeout(30):
        with pytest.raises(EngineFailed, match="ValueError: a bug in the engine"):
            await anext(engine.stream("raise", CancelFlag()))
