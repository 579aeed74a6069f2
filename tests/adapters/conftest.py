"""A framework's tests are for the environment that has it, one of those that script/frameworks makes.

In others they are not collected: a skip would say that something was left out.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import environment

collect_ignore = [
    f"test_{name}.py"
    for name, package in (("langchain", "langchain"), ("llamaindex", "llama_index"), ("crewai", "crewai"))
    if importlib.util.find_spec(package) is None
]
# CrewAI reads them when it is imported; tests tell nobody.
os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def served_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `edgevox serve` with the default model, from the environment that has the engine.

    Without tools of its own: it need not get their prompt ready.
    """
    home = tmp_path_factory.mktemp("served")
    process = subprocess.Popen(
        [_ROOT / ".venv" / "bin" / "python", "-m", "edgevox", "serve", "--no-audio", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(home, EDGEVOX_PRESET="home", EDGEVOX_TOOLS__ENABLED="false", PYTHONPATH=str(_ROOT)),
    )
    assert process.stderr is not None
    # Lines of its start, once of a download, too; the time-out of the test is the bound.
    for line in process.stderr:
        if line.startswith("serving "):
            break
    try:
        assert process.poll() is None, "edgevox serve ended at once"
        yield line.rpartition(" at ")[2].strip()
    finally:
        process.terminate()
        process.communicate(timeout=30)
