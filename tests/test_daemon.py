"""The real engines in their processes: killed or stopped in the middle of their work, and what follows."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from edgevox.daemon import Daemon
from edgevox.errors import EngineFailed
from edgevox.events import EngineName, Event, ModelStarted, ReplyDelta, TurnEnded
from edgevox.folders import Folders
from edgevox.modelstore import ModelStore
from edgevox.settings import load_settings
from edgevox.turn import CancelFlag, Turn

pytestmark = pytest.mark.engine

STORY = "Tell me a long story about a ship, a storm and an island."
SENTENCE = "Please turn on the light in the kitchen, and then tell me what the weather will be like tomorrow."
BOUND_S = 120
# A stopped process is noticed after this long; real work on a busy machine stays well below it.
IMPATIENT = {
    "preset": "smollm2-135m",  # it tells stories; the default runs the home
    "engines.first_token_timeout_s": 12.0,
    "engines.token_timeout_s": 6.0,
    "engines.tts_timeout_s": 10.0,
    "engines.stt_timeout_s": 15.0,
}

Blow = signal.Signals
BLOWS = [pytest.param(signal.SIGKILL, id="killed"), pytest.param(signal.SIGSTOP, id="hung")]


Build: TypeAlias = Callable[..., Daemon]


@pytest.fixture
def build(
    folders: Folders, store: ModelStore, smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path
) -> Build:
    """Makes a daemon with the engines that are named."""
    settings = load_settings(folders, flags=IMPATIENT, environ={})
    return lambda *engines: Daemon(settings, folders, store, engines)


def strike(daemon: Daemon, engine: EngineName, blow: Blow) -> None:
    pid = daemon.engines.pid(engine)
    assert pid is not None
    os.kill(pid, blow)


def when(kind: type[Event], act: Callable[[], None]) -> Callable[[Event], None]:
    """A listener that acts on the first event of a kind."""
    waiting = [act]

    def listen(event: Event) -> None:
        if isinstance(event, kind) and waiting:
            waiting.pop()()

    return listen


@pytest.mark.parametrize("blow", BLOWS)
@pytest.mark.parametrize("moment", [ModelStarted, ReplyDelta])
async def test_a_language_model_that_fails_in_mid_turn_costs_that_turn_only(
    build: Build, blow: Blow, moment: type[Event]
) -> None:
    daemon = build("llama")
    events: list[Event] = []
    async with asyncio.timeout(BOUND_S), daemon:
        talk = daemon.pipeline()
        with (
            daemon.bus.listening(events.append),
            daemon.bus.listening(when(moment, lambda: strike(daemon, "llama", blow))),
            pytest.raises(EngineFailed) as caught,
        ):
            await talk.answer(STORY, Turn())
        assert "restarted" in caught.value.hint
        assert [event.outcome for event in events if isinstance(event, TurnEnded)] == ["failed"]
        assert daemon.records.last is not None
        assert daemon.records.last.error_code == "engine_failed"
        result = await talk.answer("What is the capital of France?", Turn())
        assert result.reply
        assert daemon.records.last.outcome == "answered"


@pytest.mark.parametrize("blow", BLOWS)
async def test_a_voice_that_fails_comes_back(build: Build, blow: Blow) -> None:
    daemon = build("piper")
    async with asyncio.timeout(BOUND_S), daemon:
        strike(daemon, "piper", blow)
        with pytest.raises(EngineFailed):
            await daemon.voice().sound_of(SENTENCE)
        assert (await daemon.voice().sound_of(SENTENCE)).duration_s > 1


@pytest.mark.parametrize("blow", BLOWS)
async def test_a_recogniser_that_fails_comes_back(build: Build, blow: Blow) -> None:
    daemon = build("piper", "whisper")
    async with asyncio.timeout(BOUND_S), daemon:
        audio = await daemon.voice().sound_of(SENTENCE)
        hearing = asyncio.create_task(daemon.hearing().transcribe(audio, CancelFlag()))
        await asyncio.sleep(0)  # the request is on its way
        strike(daemon, "whisper", blow)
        with pytest.raises(EngineFailed):
            await hearing
        assert "kitchen" in (await daemon.hearing().transcribe(audio, CancelFlag())).text.lower()


async def test_engines_in_this_process_do_the_same_work(
    folders: Folders, store: ModelStore, smollm2_path: Path
) -> None:
    settings = load_settings(folders, flags={"engines.in_process": True}, environ={})
    async with asyncio.timeout(BOUND_S), Daemon(settings, folders, store, ["llama"]) as daemon:
        assert daemon.engines.pid("llama") is None
        assert (await daemon.pipeline().answer("Say hello.", Turn())).reply
