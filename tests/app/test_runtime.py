"""The real language model in its process, killed or stopped in mid-turn, and in this process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.errors import EngineFailed
from edgevox.core.events import EngineName, Event, ModelStarted, ReplyDelta, TurnEnded
from edgevox.core.files import Folders
from edgevox.core.turn import Turn
from edgevox.models import ModelStore

pytestmark = pytest.mark.engine

STORY = "Tell me a long story about a ship, a storm and an island."
BOUND_S = 120
# A stopped process is noticed after this long; real work on a busy machine stays well below it.
IMPATIENT = {
    "preset": "smollm2-135m",  # it tells stories; the default runs the home
    "engines.first_token_timeout_s": 12.0,
    "engines.token_timeout_s": 6.0,
}

Blow = signal.Signals
Build: TypeAlias = Callable[..., AssistantRuntime]


@pytest.fixture
def build(folders: Folders, store: ModelStore, smollm2_path: Path) -> Build:
    """Makes a daemon with the engines that are named."""
    settings = load_settings(folders, flags=IMPATIENT, environ={})
    return lambda *engines: AssistantRuntime(settings, folders, store, engines)


def strike(runtime: AssistantRuntime, engine: EngineName, blow: Blow) -> None:
    pid = runtime.engines.pid(engine)
    assert pid is not None
    os.kill(pid, blow)


def when(kind: type[Event], act: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that acts on the first event of a kind."""
    waiting = [act]

    def listen(event: Event) -> None:
        if isinstance(event, kind) and waiting:
            waiting.pop()()

    return listen


@pytest.mark.parametrize(
    ("blow", "moment"),
    [
        pytest.param(signal.SIGSTOP, ModelStarted, id="hung while it reads"),
        pytest.param(signal.SIGKILL, ReplyDelta, id="killed while it writes"),
    ],
)
async def test_a_language_model_that_fails_in_mid_turn_costs_that_turn_only(
    build: Build, blow: Blow, moment: type[Event]
) -> None:
    runtime = build("llm")
    events: list[Event] = []
    async with asyncio.timeout(BOUND_S), runtime:
        talk = runtime.pipeline()
        with (
            runtime.bus.listening(events.append),
            runtime.bus.listening(when(moment, lambda: strike(runtime, "llm", blow))),
            pytest.raises(EngineFailed) as caught,
        ):
            await talk.answer(STORY, Turn())
        assert "restarting" in caught.value.hint
        assert [event.outcome for event in events if isinstance(event, TurnEnded)] == ["failed"]
        assert runtime.records.last is not None
        assert runtime.records.last.error_code == "engine_failed"
        result = await talk.answer("What is the capital of France?", Turn())
        assert result.reply
        assert runtime.records.last.outcome == "answered"


async def test_engines_in_this_process_do_the_same_work(
    folders: Folders, store: ModelStore, smollm2_path: Path
) -> None:
    flags = {"engines.in_process": True, "preset": IMPATIENT["preset"]}
    settings = load_settings(folders, flags=flags, environ={})
    async with asyncio.timeout(BOUND_S), AssistantRuntime(settings, folders, store, ["llm"]) as runtime:
        assert runtime.engines.pid("llm") is None
        assert (await runtime.pipeline().answer("Say hello.", Turn())).reply


@pytest.mark.parametrize(
    ("flags", "has_help"),
    [
        pytest.param({}, True, id="default"),
        pytest.param({"preset": "smollm2-135m"}, True, id="the same model without its adapter"),
        pytest.param({"preset": "qwen3-0.6b"}, False, id="another model"),
        pytest.param({"llm.remote_url": "http://localhost:1/v1"}, False, id="a model elsewhere"),
    ],
)
def test_the_recogniser_is_helped_by_the_default_language_model_where_it_is_used(
    folders: Folders, store: ModelStore, smollm2_copy_path: Path, flags: dict[str, object], has_help: bool
) -> None:
    settings = load_settings(folders, flags=flags, environ={})
    runtime = AssistantRuntime(settings, folders, store, ("llm", "stt"))
    if has_help:
        store.ensure(runtime.models.needed())
        runtime.models.prepare(lambda _text: None)
    assert (runtime.models.text_scorer() is not None) is has_help
