from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

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


async def test_it_runs_once_at_a_time_also_when_its_replies_were_closed() -> None:
    class Slow:
        def __init__(self) -> None:
            self.go_on = threading.Event()
            self.log: list[str] = []

        def load(self) -> None:
            pass

        def run(self, request: str, cancel: CancelFlag) -> Iterator[str]:
            self.log.append(f"{request} begins")
            yield request
            self.go_on.wait(30)
            self.log.append(f"{request} is {'cancelled' if cancel.is_set() else 'whole'}")

    slow = Slow()
    engine = LocalEngine[str, str](slow)
    async with asyncio.timeout(30):
        first = engine.stream("first", CancelFlag())
        assert await anext(first) == "first"
        await first.aclose()
        asyncio.get_running_loop().call_later(0.1, slow.go_on.set)
        assert [reply async for reply in engine.stream("second", CancelFlag())] == ["second"]
    assert slow.log == ["first begins", "first is cancelled", "second begins", "second is whole"]


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
