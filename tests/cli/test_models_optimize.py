"""`edgevox models optimize` and the first use of a model, as a user meets them, with the default model."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import BOUND_S, NO_NETWORK, edgevox, environment
from tests.models.lora_files import write_adapter

pytestmark = pytest.mark.engine

ID = "smollm2-135m-instruct"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
COPY = "SmolLM2-135M-Instruct.Q4_1.optimised-{}.gguf"
PATIENCE_S = 280.0  # thirty seconds on an idle machine
QUESTION = "What is the capital of France?"


@pytest.fixture
def env(tmp_path: Path, smollm2_path: Path) -> dict[str, str]:
    """A user who has just downloaded the model, and has one thread for it."""
    folder = tmp_path / "models"
    (folder / ID).mkdir(parents=True)
    shutil.copy(smollm2_path, folder / ID / NAME)
    return environment(tmp_path, EDGEVOX_MODELS_DIR=str(folder), EDGEVOX_LLM__THREADS="1", **NO_NETWORK)


def models(env: dict[str, str]) -> Path:
    return Path(env["EDGEVOX_MODELS_DIR"])


def copies(env: dict[str, str]) -> list[dict[str, str]]:
    listed = json.loads(edgevox("models", "list", "--json", env=env).stdout)
    found: list[dict[str, str]] = next(model for model in listed if model["id"] == ID)["optimised"]
    return found


def ask_until_measured(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The measurement is bounded: on a busy machine it is given up, and the next start tries again."""
    for _ in range(3):
        answer = edgevox("ask", QUESTION, env=env)
        if copies(env):
            break
    return answer


@pytest.mark.long
def test_the_first_question_measures_and_makes_a_faster_copy_once(env: dict[str, str]) -> None:
    first = ask_until_measured(env)
    assert (first.returncode, bool(first.stdout.strip())) == (0, True)
    assert "measuring once which weight type is fastest on this processor" in first.stderr
    assert "making a faster copy, once" in first.stderr
    (copy,) = copies(env)
    assert copy["path"] == str(models(env) / ID / COPY.format(copy["type"]))
    assert edgevox("models", "path", ID, env=env).stdout == f"{copy['path']}\n"
    assert edgevox("models", "path", "--original", ID, env=env).stdout == f"{models(env) / ID / NAME}\n"
    second = edgevox("ask", QUESTION, env=env)
    assert (second.returncode, second.stderr) == (0, "")
    assert edgevox("models", "verify", ID, env=env).returncode == 0


def test_switched_off_it_makes_none_and_uses_none(env: dict[str, str]) -> None:
    off = env | {"EDGEVOX_LLM__OPTIMIZE": "false"}
    answer = edgevox("ask", QUESTION, env=off)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert [path.name for path in (models(env) / ID).iterdir()] == [NAME]
    (models(env) / ID / COPY.format("Q8_0")).write_bytes(b"")
    assert edgevox("models", "path", ID, env=off).stdout == f"{models(env) / ID / NAME}\n"


def test_a_copy_that_cannot_be_written_is_a_warning_and_the_answer_comes(env: dict[str, str]) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "edgevox", "ask", QUESTION],
        env=env,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, 20_000_000)),
    )
    assert answer.returncode == 0
    assert answer.stdout.strip()
    assert "could not be converted to" in answer.stderr
    assert "continuing with the downloaded model" in answer.stderr
    assert [path.name for path in (models(env) / ID).iterdir()] == [NAME]
    assert not list(models(env).rglob("*optimised*"))


@pytest.mark.long
def test_optimize_shows_each_type_and_what_the_copy_gained(env: dict[str, str]) -> None:
    result = edgevox("models", "optimize", ID, env=env, bound_s=PATIENCE_S)
    assert result.returncode == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    (copy,) = copies(env)
    kind = copy["type"]
    assert {"Q4_1", "Q5_0", "Q5_1", "Q8_0", "F16"} <= {line[0] for line in lines if line}
    assert [kind, "(used", "for", "copies)"] in [line[:4] for line in lines]
    before, after = (next(line for line in lines if line[:1] == [word]) for word in ("before", "after"))
    assert before[:4] == ["before", "Q4_1", "98", "MB"]
    assert after[1] == kind
    assert float(after[4]) > 1.2 * float(before[4])  # 2 to 3 times on an idle machine
    assert (models(env) / ID / NAME).stat().st_size == 98_362_432


@pytest.mark.long
def test_an_adapter_is_merged_into_a_copy_of_its_own(env: dict[str, str], tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "polite.gguf")
    words = ("models", "optimize", ID, "--adapter", adapter, "--scale", "0.5", "--no-measure")
    result = edgevox(*words, env=env)
    assert result.returncode == 0
    (copy,) = copies(env)
    merged = models(env) / ID / f"SmolLM2-135M-Instruct.Q4_1.polite-0.5-{copy['type']}.gguf"
    assert f"edgevox run --model {merged}" in result.stdout
    assert merged.is_file()
    assert edgevox("models", "path", ID, env=env).stdout == f"{models(env) / ID / NAME}\n"


def test_what_is_no_adapter_and_what_is_no_model_is_said(env: dict[str, str], tmp_path: Path) -> None:
    wrong = write_adapter(tmp_path / "wrong.gguf", {"blk.0.attn_q.weight": (576, 960)})
    for adapter, reason in ((wrong, "does not fit"), (tmp_path / "none", "neither a file nor an adapter")):
        result = edgevox("models", "optimize", ID, "--adapter", adapter, env=env)
        assert result.returncode == 3
        assert reason in result.stderr
    assert edgevox("models", "optimize", "whisper-base", env=env).returncode == 2
    assert [path.name for path in (models(env) / ID).iterdir()] == [NAME]
