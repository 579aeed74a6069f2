"""The talking commands with the real engines and the real default models."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import BOUND_S, edgevox, environment
from tests.hub_server import HubServer

pytestmark = pytest.mark.engine

QUESTION = "What is the capital of France?"


@pytest.fixture(autouse=True)
def _models(smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path) -> None:
    """The default models are there."""


def test_ask_answers_and_last_shows_where_the_time_went(tmp_path: Path) -> None:
    env = environment(tmp_path)
    answer = edgevox("ask", QUESTION, env=env)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.strip()
    last = edgevox("last", env=env)
    assert last.returncode == 0
    for part in (QUESTION, "first token", "generate", "total", "█"):
        assert part in last.stdout


def test_ask_json_has_every_field(tmp_path: Path) -> None:
    result = edgevox("ask", "--json", QUESTION, env=environment(tmp_path))
    answer = json.loads(result.stdout)
    assert result.returncode == 0
    assert answer.keys() == {
        "turn_id", "preset", "reply", "tool_calls", "finish_reason", "error", "timings_ms",
    }  # fmt: skip
    assert answer["preset"] == "smollm2-135m"
    assert answer["reply"]
    assert answer["tool_calls"] == []
    assert answer["error"] is None
    assert 0 < answer["timings_ms"]["first_token"] <= answer["timings_ms"]["total"]


def test_run_answers_every_line_until_the_end(tmp_path: Path) -> None:
    result = edgevox("run", "--no-speech", env=environment(tmp_path), stdin=f"{QUESTION}\n\nAnd of Italy?\n")
    assert result.returncode == 0
    assert len(result.stdout.split("\n")) >= 2
    turns = (tmp_path / "state" / "turns.jsonl").read_text().splitlines()
    assert [json.loads(turn)["heard"] for turn in turns] == [QUESTION, "And of Italy?"]
    assert json.loads(turns[1])["cached_tokens"] > 0


def test_an_answer_is_given_when_the_state_folder_cannot_be_written(tmp_path: Path) -> None:
    result = edgevox("ask", QUESTION, env=environment(tmp_path, EDGEVOX_STATE_DIR="/proc/edgevox"))
    assert result.returncode == 6
    assert result.stdout.strip()
    assert "EDGEVOX_STATE_DIR" in result.stderr


def test_what_say_speaks_transcribe_writes_down(tmp_path: Path) -> None:
    env = environment(tmp_path)
    wav = tmp_path / "speech.wav"
    said = edgevox("say", "Please turn on the light in the kitchen.", "-o", wav, env=env)
    assert said.returncode == 0
    heard = edgevox("transcribe", "--json", wav, env=env)
    result = json.loads(heard.stdout)
    assert result.keys() == {"text", "language", "duration_s", "ms"}
    assert {"light", "kitchen"} <= set(result["text"].lower().rstrip(".").split())
    assert 1 < result["duration_s"] < 10


def test_transcribe_of_silence_writes_nothing(tmp_path: Path) -> None:
    import wave

    path = tmp_path / "silence.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(2 * 16_000 * 3))
    result = edgevox("transcribe", path, env=environment(tmp_path))
    assert (result.returncode, result.stdout) == (0, "")
    assert "no speech" in result.stderr


def test_doctor_tries_every_engine(tmp_path: Path) -> None:
    result = edgevox("doctor", env=environment(tmp_path))
    for part in ("tts", "stt", "llm", "memory"):
        assert f"✓ {part}" in result.stdout
    assert ("everything works" in result.stdout) == (result.returncode == 0)


@pytest.mark.long
def test_qwen3_is_pulled_from_the_hub_with_progress_and_answers(tmp_path: Path, smollm2_path: Path) -> None:
    with HubServer({"unsloth/Qwen3-1.7B-GGUF/Qwen3-1.7B-Q4_K_M.gguf": smollm2_path}) as hub:
        env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"), HF_ENDPOINT=hub.endpoint)
        first = edgevox("run", "--preset", "qwen3", "--no-speech", env=env, stdin=QUESTION)
        assert first.returncode == 0, first.stderr
        assert first.stdout.strip()
        assert "qwen3-1.7b" in first.stderr
        assert "MB" in first.stderr
        downloads = len(hub.requests)
        second = edgevox("run", "--preset", "qwen3", "--no-speech", env=env, stdin=QUESTION)
        assert second.returncode == 0
        assert len(hub.requests) == downloads


def test_qwen3_without_a_hub_says_what_to_do(tmp_path: Path) -> None:
    env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"), HF_ENDPOINT="http://127.0.0.1:9")
    result = edgevox("run", "--preset", "qwen3", "--no-speech", env=env, stdin=QUESTION)
    assert result.returncode == 3
    assert "→" in result.stderr
    assert not list((tmp_path / "models").glob("qwen3*/*.gguf"))


# While it imports, while a model loads, while it answers.
@pytest.mark.parametrize("delay_s", [0.5, 1.0, 2.5])
def test_ctrl_c_ends_cleanly_at_any_moment(tmp_path: Path, delay_s: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "edgevox", "run", "--text"],
        env=environment(tmp_path, EDGEVOX_LLM__TEMPERATURE="1.0"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # However soon the story ends, the program then waits for another line: it cannot end by itself.
    assert process.stdin is not None
    process.stdin.write("Tell me a very long story.\n")
    process.stdin.flush()
    with process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=delay_s)
        process.send_signal(signal.SIGINT)
        interrupted_s = time.monotonic()
        _, stderr = process.communicate(timeout=BOUND_S)
        elapsed_s = time.monotonic() - interrupted_s
    # Before the program can answer for itself, the signal ends it; a shell calls both 130.
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in stderr
    assert elapsed_s < 10  # the figure is one second; the story would take longer
