"""The commands that speak to an assistant that runs: a real socket, and engines that follow a script."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from edgevox.app.control.protocol import TEXT_CHARS
from edgevox.audio.files import read_audio
from edgevox.cli.commands.ask import say_on_running_assistant
from edgevox.cli.context import Context
from edgevox.core.files import Folders
from tests.app.harness import ScriptedSessionFactory, running_service
from tests.cli.command import BOUND_S, NO_NETWORK, edgevox, environment

NOT_RUNNING = 7


@pytest.fixture
def factory(folders: Folders) -> ScriptedSessionFactory:
    return ScriptedSessionFactory(folders, ["Paris is the capital.", "Rome."])


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    """Without models of its own: what is answered was answered by the assistant that runs."""
    env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"), **NO_NETWORK)
    del env["EDGEVOX_PRESET"]
    return env


async def command(*words: str | Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(edgevox, *words, env=env)


async def test_ask_uses_the_model_that_is_loaded(factory: ScriptedSessionFactory, env: Mapping[str, str]) -> None:
    async with running_service(factory, within_s=BOUND_S):
        plain = await command("ask", "What is the capital of France?", env=env)
        machine = await command("ask", "--json", "And of Italy?", env=env)
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "Paris is the capital.\n", "")
    answer = json.loads(machine.stdout)
    assert answer.keys() == {
        "turn_id", "preset", "reply", "tool_calls", "finish_reason", "error", "timings_ms",
    }  # fmt: skip
    assert (answer["reply"], answer["error"]) == ("Rome.", None)


async def test_ask_with_settings_of_its_own_loads_a_model_of_its_own(
    factory: ScriptedSessionFactory, env: Mapping[str, str]
) -> None:
    async with running_service(factory, within_s=BOUND_S):
        result = await command("ask", "--max-tokens", "7", "Hello", env=env)
    assert result.returncode == 3  # it has none, and there is no network
    assert factory.model is not None
    assert factory.model.requests == []


async def test_a_text_that_is_too_long_for_the_socket_is_left_to_a_voice_of_its_own() -> None:
    assert await say_on_running_assistant(Context(), "a" * (TEXT_CHARS + 1), return_audio=True) is None


async def test_say_uses_the_voice_that_is_loaded(
    factory: ScriptedSessionFactory, env: Mapping[str, str], tmp_path: Path
) -> None:
    wav = tmp_path / "dinner.wav"
    async with running_service(factory, within_s=BOUND_S):
        written = await command("say", "Dinner is ready.", "-o", wav, env=env)
        assert written.returncode == 0
        assert not factory.room.played
        spoken = await command("say", "Dinner is ready.", env=env)
        assert spoken.returncode == 0
        assert factory.room.played
    assert read_audio(wav).duration_s == pytest.approx(0.16, abs=0.05)


async def test_status_is_for_people_and_for_programs(factory: ScriptedSessionFactory, env: Mapping[str, str]) -> None:
    async with running_service(factory, within_s=BOUND_S):
        await command("mute", env=env)
        plain = await command("status", env=env)
        machine = json.loads((await command("status", "--json", env=env)).stdout)
        await command("unmute", env=env)
    assert "listening, muted" in plain.stdout
    assert (machine["state"], machine["attention"], machine["preset"]) == ("listening", "muted", "home")
    assert not factory.room.is_muted


async def test_stop_and_reload_say_what_they_did(factory: ScriptedSessionFactory, env: Mapping[str, str]) -> None:
    async with running_service(factory, within_s=BOUND_S):
        assert "nothing to stop" in (await command("stop", env=env)).stderr
        assert "nothing changed" in (await command("reload", env=env)).stderr
        factory.folders.config.mkdir()
        factory.folders.config_file.write_text("[tts]\nspeed = 1.5\n")
        assert "tts.speed" in (await command("reload", env=env)).stderr


@pytest.mark.parametrize("name", ["status", "mute", "unmute", "talk", "stop", "reload"])
def test_where_none_runs_that_is_said(env: Mapping[str, str], name: str) -> None:
    result = edgevox(name, env=env)
    assert result.returncode == NOT_RUNNING
    assert "not running" in result.stderr
    assert "edgevox run" in result.stderr


def test_the_service_shows_its_unit_and_has_no_log_yet(env: Mapping[str, str]) -> None:
    unit = edgevox("service", "install", "--print", env=env)
    assert "Type=notify" in unit.stdout
    assert str(env["EDGEVOX_STATE_DIR"]) in unit.stdout
    assert "no log yet" in edgevox("service", "logs", env=env).stderr
