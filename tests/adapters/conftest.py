"""A framework's tests are for the environment that has it, one of those that script/frameworks makes.

In others they are not collected: a skip would say that something was left out.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgevox.testing.serve import edgevox_serve
from tests.cli.command import environment

collect_ignore = [
    f"test_{name}.py"
    for name, package in (("langchain", "langchain"), ("llamaindex", "llama_index"), ("crewai", "crewai"))
    if importlib.util.find_spec(package) is None
]
# CrewAI reads them when it is imported; tests send no telemetry.
os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def served_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `edgevox serve` with the default model, from the environment that has the engine.

    Without tools of its own: it need not get their prompt ready.
    """
    env = environment(
        tmp_path_factory.mktemp("served"), EDGEVOX_PRESET="home", EDGEVOX_TOOLS__ENABLED="false", PYTHONPATH=str(_ROOT)
    )
    with edgevox_serve(env, "--no-audio", python=_ROOT / ".venv" / "bin" / "python") as server:
        yield f"{server.address}/v1"
