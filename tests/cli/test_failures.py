"""Every command where something is missing or broken: a message that says what to do, no traceback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.cli.context import Context
from edgevox.core.metrics import StageSpan, TurnLog, TurnMetrics
from tests.cli.command import BOUND_S, NO_NETWORK, edgevox, environment

TALKING = (
    ("ask", "hello"),
    ("run",),
    ("say", "--voice", "piper-en_US-joe-medium", "hello", "-o", "out.wav"),
    ("transcribe", "in.wav"),
)
READING_SETTINGS = (*TALKING, ("config", "show"), ("last",), ("say", "hello"))


@pytest.fixture
def sound_file(tmp_path: Path) -> Path:
    """A tenth of a second of silence, which is enough to be read."""
    import wave

    path = tmp_path / "in.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(3200))
    return path


def words(command: tuple[str, ...], sound_file: Path, folder: Path) -> list[str]:
    places = {"in.wav": str(sound_file), "out.wav": str(folder / "out.wav")}
    return [places.get(word, word) for word in command]


@pytest.mark.parametrize("command", READING_SETTINGS, ids=" ".join)
def test_a_broken_config_is_named_with_its_line(command: tuple[str, ...], tmp_path: Path, sound_file: Path) -> None:
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text("[llm]\nthreads = \n")
    result = edgevox(*words(command, sound_file, tmp_path), env=environment(tmp_path))
    assert result.returncode == 2
    assert str(config) in result.stderr
    assert "line 2" in result.stderr


def test_an_unknown_setting_gets_the_nearest_right_one(tmp_path: Path) -> None:
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text("[llm]\nthread = 2\n")
    result = edgevox("ask", "hello", env=environment(tmp_path))
    assert result.returncode == 2
    assert "llm.threads" in result.stderr


@pytest.mark.parametrize("command", TALKING, ids=" ".join)
def test_without_models_and_network_the_message_says_what_to_do(
    command: tuple[str, ...], tmp_path: Path, sound_file: Path
) -> None:
    env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"), **NO_NETWORK)
    result = edgevox(*words(command, sound_file, tmp_path), env=env, stdin="hello\n")
    assert result.returncode == 3
    assert "→" in result.stderr


def test_ask_json_is_one_object_even_when_it_fails(tmp_path: Path) -> None:
    env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"), **NO_NETWORK)
    result = edgevox("ask", "--json", "hello", env=env)
    answer = json.loads(result.stdout)
    assert result.returncode == 3
    assert answer["reply"] == ""
    assert answer["error"]["code"].startswith("model")
    assert answer["error"]["hint"]


def without_portaudio(home: Path) -> dict[str, str]:
    """What `import sounddevice` does on a machine that lacks the library."""
    stand_in = home / "site" / "sounddevice.py"
    stand_in.parent.mkdir(exist_ok=True)
    stand_in.write_text("raise OSError('PortAudio library not found')\n")
    return environment(home, PYTHONPATH=str(stand_in.parent))


def test_say_without_portaudio_says_what_to_install(tmp_path: Path) -> None:
    result = edgevox("say", "hello", env=without_portaudio(tmp_path))
    assert result.returncode == 4
    assert "apt-get install libportaudio2" in result.stderr


def test_doctor_without_portaudio_says_what_to_install(tmp_path: Path) -> None:
    result = edgevox("doctor", "--quick", env=without_portaudio(tmp_path))
    assert result.returncode == 1
    assert "apt-get install libportaudio2" in result.stdout


def test_doctor_without_models_says_how_to_get_each(tmp_path: Path) -> None:
    env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"), **NO_NETWORK)
    result = edgevox("doctor", env=env)
    assert result.returncode == 1
    for model in ("smollm2-135m-instruct", "whisper-base", "hibari-en_US-heart"):
        assert f"edgevox models pull {model}" in result.stdout


def test_doctor_says_what_is_answered_in_another_language_and_which_voice_is_missing(tmp_path: Path) -> None:
    voice = "piper-pl_PL-darkman-medium"
    env = environment(
        tmp_path,
        EDGEVOX_MODELS_DIR=str(tmp_path / "models"),
        EDGEVOX_STT__LANGUAGE="pl",
        EDGEVOX_TTS__VOICES=f"pl={voice}",
    )
    result = edgevox("doctor", "--quick", env=env)
    assert "understands Polish, replies in English" in result.stdout
    assert f"edgevox models pull {voice}" in result.stdout
    result = edgevox("doctor", "--quick", env={**env, "EDGEVOX_PRESET": "qwen3"})
    assert "understands Polish, replies in Polish" in result.stdout


def test_doctor_knows_whether_the_servers_port_is_free_and_its_tokens_are_secret(tmp_path: Path) -> None:
    tokens = tmp_path / "config" / "server_tokens.toml"
    tokens.parent.mkdir()
    tokens.write_text('[owner]\ntoken = "edgevox-sixteen-characters"\nscopes = ["*"]\n')
    tokens.chmod(0o644)
    env = environment(tmp_path, EDGEVOX_MODELS_DIR=str(tmp_path / "models"))
    assert f"chmod 600 {tokens}" in edgevox("doctor", "--quick", env=env).stdout
    tokens.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        busy = edgevox("doctor", "--quick", env={**env, "EDGEVOX_SERVER__PORT": str(port)}).stdout
    assert f"port {port} is in use" in busy
    free = edgevox("doctor", "--quick", env={**env, "EDGEVOX_SERVER__PORT": str(port)}).stdout
    assert f"port {port} is free; tokens in {tokens}" in free
    assert "sixteen" not in busy + free


def test_doctor_reads_a_broken_config_and_goes_on(tmp_path: Path) -> None:
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text("preset = 3\n")
    result = edgevox("doctor", env=environment(tmp_path))
    assert result.returncode == 1
    assert "preset must be" in result.stdout
    assert "state folder" in result.stdout


@pytest.mark.parametrize("folder", ["/proc/edgevox", "/dev/null/edgevox"])
def test_doctor_names_a_state_folder_that_cannot_be_written(tmp_path: Path, folder: str) -> None:
    result = edgevox("doctor", "--quick", env=environment(tmp_path, EDGEVOX_STATE_DIR=folder))
    assert result.returncode == 1
    assert folder in result.stdout
    assert "EDGEVOX_STATE_DIR" in result.stdout


def test_last_without_a_turn_says_how_to_have_one(tmp_path: Path) -> None:
    result = edgevox("last", env=environment(tmp_path))
    assert result.returncode == 6
    assert "edgevox ask" in result.stderr


def test_transcribe_of_what_is_no_sound_file(tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.wav"
    nonsense.write_bytes(b"this is not sound")
    for path in (nonsense, tmp_path / "missing.wav", tmp_path):
        result = edgevox("transcribe", path, env=environment(tmp_path))
        assert result.returncode == 4
        assert str(path) in result.stderr


@pytest.mark.parametrize("wrong", [("ask",), ("ask", "--preset"), ("models", "frobnicate")])
def test_a_wrong_command_line_shows_how_it_is_written(wrong: tuple[str, ...], tmp_path: Path) -> None:
    result = edgevox(*wrong, env=environment(tmp_path))
    assert result.returncode == 2
    assert "usage:" in result.stderr


@pytest.mark.parametrize("command", [("config", "show", "--json"), ("presets", "list")], ids=" ".join)
def test_a_reader_that_closes_the_pipe_ends_the_command_quietly(command: tuple[str, ...], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "edgevox", *command],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == ""
    assert process.wait(BOUND_S) == 141


@pytest.mark.parametrize(
    ("command", "code"), [(("presets", "show", "nonsense"), 2), (("last",), 0)], ids=["arrow of a hint", "bars"]
)
def test_a_terminal_without_unicode_gets_replacements(command: tuple[str, ...], code: int, tmp_path: Path) -> None:
    stages = (StageSpan("generate", 0.0, 500.0),)
    turn = TurnMetrics(
        "t", "2026-11-18T08:00:00", "text", "home", "hello", "Hi.", "answered", None, 500.0, stages=stages
    )
    TurnLog(tmp_path / "state", max_bytes=10_000).append(turn)
    result = edgevox(*command, env=environment(tmp_path, PYTHONIOENCODING="ascii"))
    assert result.returncode == code
    assert "?" in result.stdout + result.stderr


def test_an_unknown_preset_gets_suggestions(tmp_path: Path) -> None:
    result = edgevox("ask", "--preset", "qwen-3", "hello", env=environment(tmp_path))
    assert result.returncode == 2
    assert "qwen3" in result.stderr


def test_a_model_file_that_is_no_model(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    result = edgevox("ask", "--model", file, "hello", env=environment(tmp_path))
    assert result.returncode == 3
    assert "model.gguf" in result.stderr


def test_a_fault_of_our_own_is_kept_in_a_file_and_not_shown(tmp_path: Path) -> None:
    broken = tmp_path / "site" / "rich" / "__init__.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("raise ZeroDivisionError('broken installation')\n")
    env = environment(tmp_path, PYTHONPATH=str(tmp_path / "site"), TMPDIR=str(tmp_path))
    result = edgevox("ask", "hello", env=env)
    assert result.returncode == 1
    assert "broken installation" in result.stderr
    (kept,) = tmp_path.glob("edgevox-*.traceback")
    assert "ZeroDivisionError" in kept.read_text()


# soxr's binding complains at the end of Python of a resampler that something still holds.
_INTERRUPTED = """
import ctypes, soxr
import edgevox.__main__ as program

def interrupted():
    stream = soxr.ResampleStream(44_100, 16_000, 1)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(stream))
    return 130

program.run_command = interrupted
print(program.main())
"""


def test_an_interrupted_command_ends_without_messages_of_libraries() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_a_message_that_a_full_disk_does_not_take_is_no_error_but_a_result_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w") as messages, Path("/dev/full").open("w") as results:
        monkeypatch.setattr(sys, "stderr", messages)
        monkeypatch.setattr(sys, "stdout", results)
        context = Context()
        context.err.print("serving")
        with pytest.raises(OSError, match="No space left"):
            context.out.print("the answer")
        for file in (messages, results):
            os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())  # what is left to write goes there
