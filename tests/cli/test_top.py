"""`edgevox top` on a terminal of its own, and without one."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from edgevox.app.control.client import request
from edgevox.app.control.protocol import Ask, SimpleRequest
from edgevox.app.service import AssistantService
from edgevox.core.events import EngineChanged, SoundChanged, ToolFinished, ToolStarted
from edgevox.core.files import Folders
from tests.app.harness import ScriptedSessionFactory, running_service
from tests.cli.command import BOUND_S, NO_NETWORK, edgevox, environment
from tests.cli.terminal import on_a_terminal

NOT_RUNNING = 7
INTERRUPTED = 130


@pytest.fixture
def factory(folders: Folders) -> ScriptedSessionFactory:
    return ScriptedSessionFactory(folders, ["Paris is the capital.", "Rome."])


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, TERM="xterm-256color", LINES="40", COLUMNS="100", **NO_NETWORK)


async def ask(factory: ScriptedSessionFactory) -> None:
    async with request(factory.folders.runtime, Ask(text="What is the capital of France?")) as asking:
        await asking.done()


def last_screen(shown: str) -> str:
    """What stood there in the end, without colours."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


async def test_a_person_sees_what_goes_on_and_leaves_with_q(
    factory: ScriptedSessionFactory, env: dict[str, str]
) -> None:
    async with running_service(factory, within_s=BOUND_S) as service:
        assert service.session is not None
        publish = service.session.runtime.bus.publish
        with on_a_terminal(env, "top") as terminal:
            await asyncio.to_thread(terminal.until, "listening")
            publish(EngineChanged(engine="llm", state="restarting", detail="it died"))
            publish(EngineChanged(engine="llm", state="ready"))
            publish(SoundChanged(device="microphone", is_there=True, name="desk"))
            publish(ToolStarted(turn_id="t", call_id="1", name="turn_on", arguments='{"name":"lamp"}'))
            publish(ToolFinished(turn_id="t", call_id="1", name="turn_on", code=None, elapsed_s=0.012))
            await ask(factory)
            for text in ("Paris is the capital.", "turn_on", "12 ms", "restarted 1 times", "desk", "total"):
                await asyncio.to_thread(terminal.until, text)
            terminal.type("q")
            assert await asyncio.to_thread(terminal.end) == 0
    shown = last_screen(terminal.shown)
    assert "you › What is the capital of France?" in shown
    assert "▯" in shown, "the level"
    assert terminal.shown.rstrip().endswith("\x1b[?25h\x1b[?1049l"), "the cursor and the screen are back"


async def test_it_goes_on_over_a_reload_and_ends_with_the_assistant(
    factory: ScriptedSessionFactory, env: dict[str, str]
) -> None:
    with ExitStack() as shown:
        async with running_service(factory, within_s=BOUND_S):
            terminal = shown.enter_context(on_a_terminal(env, "top"))
            await asyncio.to_thread(terminal.until, "listening")
            factory.folders.config.mkdir()
            factory.folders.config_file.write_text("[tts]\nspeed = 1.5\n")
            async with request(factory.folders.runtime, SimpleRequest(do="reload")) as reloading:
                assert (await reloading.done())["changed"] == ["tts.speed"]
            await asyncio.sleep(0.5)  # it looks for the new session ten times a second
            await ask(factory)
            await asyncio.to_thread(terminal.until, "Paris is the capital.")
        assert await asyncio.to_thread(terminal.end) == NOT_RUNNING
    assert "the assistant stopped" in terminal.shown


async def test_without_a_terminal_each_happening_is_a_line(
    factory: ScriptedSessionFactory, env: Mapping[str, str]
) -> None:
    async with running_service(factory, within_s=BOUND_S) as service:
        before = _listeners(service)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "edgevox", "top",
            env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async with asyncio.timeout(BOUND_S):
                while _listeners(service) == before:  # noqa: ASYNC110  (nothing tells)
                    await asyncio.sleep(0.02)
                await ask(factory)
                assert await process.stdout.readline() == b"you \xe2\x80\xba What is the capital of France?\n"
                assert await process.stdout.readline() == b"edgevox \xe2\x80\xba Paris is the capital.\n"
            process.send_signal(signal.SIGINT)
            _, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
    assert process.returncode == INTERRUPTED
    assert b"total" in err
    assert b"\x1b" not in err


def _listeners(service: AssistantService) -> int:
    assert service.session is not None
    return len(service.session.runtime.bus._listeners)


def test_where_none_runs_that_is_said(env: Mapping[str, str]) -> None:
    result = edgevox("top", env=env)
    assert result.returncode == NOT_RUNNING
    assert "not running" in result.stderr
