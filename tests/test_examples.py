"""The programs in examples/, run as a reader would run them."""

from __future__ import annotations

import asyncio
import doctest
import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import edgevox
from edgevox.audio.files import write_wav
from edgevox.core.files import Folders
from edgevox.core.types import Audio
from tests.cli.command import environment, home_environment
from tests.dialogue.sounds import silent, voiced
from tests.server.harness import model, served, talking, written
from tests.server.websocket.harness import GUEST, LIGHT_ON, voice_server

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
BOUND_S = 240.0


async def run(*words: str | Path, env: dict[str, str]) -> str:
    """Standard output of a Python program that must succeed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *map(str, words),
        env=env | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), BOUND_S)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, out.decode() + err.decode()
    return out.decode()


def test_the_plugin_passes_its_own_tests(tmp_path: Path) -> None:
    for name in ("bin_day.py", "test_bin_day.py"):
        # A plugin that other users can write to is refused, and a checkout may be.
        copy = tmp_path / name
        copy.write_bytes((EXAMPLES / "plugin" / name).read_bytes())
        copy.chmod(0o600)
    content = runpy.run_path(str(tmp_path / "test_bin_day.py"))
    tests = [content[name] for name in content if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


async def test_the_remote_model_writes_the_call_and_the_tool_runs_here(tmp_path: Path) -> None:
    remote = model([written("turn_on", '{"name": "kitchen light"}')])
    async with served(talking(remote)) as url:
        env = environment(tmp_path, EDGEVOX_PRESET="", EDGEVOX_LLM__REMOTE_URL=f"{url}/v1")
        script = EXAMPLES / "remote_model" / "ask.py"
        reply = await run(script, "Turn on the kitchen light.", env=env)
    assert "kitchen light is on" in reply.casefold()


async def test_the_satellite_speaks_and_records_the_answer(folders: Folders, tmp_path: Path) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    write_wav(question, [Audio(np.concatenate((silent(0.3), voiced(0.8), silent(0.2))), 16_000)])
    async with voice_server(folders, [LIGHT_ON]) as house:
        url = f"{house.url.replace('http', 'ws', 1)}/v1/voice"
        env = dict(os.environ) | {"EDGEVOX_TOKEN": GUEST}
        shown = await run(EXAMPLES / "satellite" / "satellite.py", url, question, answer, env=env)
        assert house.state("light.kitchen") == "on"
    assert "heard: turn on the kitchen light" in shown
    assert "tool call: turn_on" in shown
    assert answer.stat().st_size > 1_000


def test_the_readme_shows_the_five_lines_of_the_example() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```python\n{(EXAMPLES / 'five_lines.py').read_text(encoding='utf-8')}```" in readme


def test_the_stable_names_exist_and_the_example_of_the_package_works() -> None:
    assert not [name for name in edgevox.__all__ if not hasattr(edgevox, name)]
    assert doctest.testmod(edgevox) == (0, 4)


@pytest.mark.engine
@pytest.mark.usefixtures("smollm2_path")
async def test_five_lines_run_the_home_with_the_default_model(tmp_path: Path) -> None:
    first, second = (await run(EXAMPLES / "five_lines.py", env=home_environment(tmp_path))).splitlines()
    assert "kitchen light" in first
    assert "kitchen light is on" in second
