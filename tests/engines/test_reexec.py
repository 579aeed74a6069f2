"""Engines that keep running when the daemon re-executes, with real processes."""

from __future__ import annotations

import asyncio

import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.events import EngineChanged, Event
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.engines import EngineLimits, SupervisedEngine
from edgevox.models import ModelStore, load_manifest
from tests.engines.engines import Echo, Unloadable

BOUND_S = 60


@pytest.fixture
def daemons(folders: Folders) -> tuple[AssistantRuntime, AssistantRuntime]:
    """Two, each with an engine that echoes where the language model is, and nothing else."""
    settings = load_settings(folders, flags={"tools.enabled": False}, environ={})
    store = ModelStore(folders.models, load_manifest())
    both = (AssistantRuntime(settings, folders, store, ["llm"]), AssistantRuntime(settings, folders, store, ["llm"]))
    for runtime in both:
        vars(runtime.engines)["llm"] = echo(runtime)
    return both


def echo(runtime: AssistantRuntime) -> SupervisedEngine[str, str]:
    return SupervisedEngine("llm", Echo(), publish=runtime.bus.publish)


def test_engines_with_equal_settings_are_equivalent() -> None:
    engine = SupervisedEngine[str, str]("a", Echo())
    assert engine.is_equivalent_to(SupervisedEngine("a", Echo()))
    assert not engine.is_equivalent_to(SupervisedEngine("a", Unloadable()))
    assert not engine.is_equivalent_to(SupervisedEngine("a", Echo(), limits=EngineLimits(start_s=1)))


async def test_an_equivalent_engine_keeps_running(daemons: tuple[AssistantRuntime, AssistantRuntime]) -> None:
    before, after = daemons
    events: list[Event] = []
    async with asyncio.timeout(BOUND_S):
        async with before:
            pid = before.engines.pid("llm")
            assert pid is not None
            after.engines.take_over(before.engines)
            assert before.engines.pid("llm") == pid, "its last requests start no other one"
        with after.bus.listening(events.append):
            async with after:
                assert after.engines.pid("llm") == pid
                engine = vars(after.engines)["llm"]
                assert [reply async for reply in engine.stream("hello", CancelFlag())]
    assert [event.state for event in events if isinstance(event, EngineChanged)] == ["stopped"]


async def test_a_changed_engine_is_reloaded(daemons: tuple[AssistantRuntime, AssistantRuntime]) -> None:
    before, after = daemons
    vars(after.engines)["llm"] = SupervisedEngine[str, str]("llm", Echo(), limits=EngineLimits(start_s=30))
    async with asyncio.timeout(BOUND_S):
        async with before:
            pid = before.engines.pid("llm")
            after.engines.take_over(before.engines)
        async with after:
            assert after.engines.pid("llm") not in (None, pid)
