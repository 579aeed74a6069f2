"""`edgevox voices` as a user types it."""

from __future__ import annotations

import json
import tomllib
import wave
from pathlib import Path

import pytest

from edgevox.cli.main import main
from tests.cli import command

HEART, JOE, GERMAN = "hibari-en_US-heart", "piper-en_US-joe-medium", "piper-de_DE-thorsten-medium"


@pytest.fixture(autouse=True)
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGEVOX_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path / "config" / "config.toml"


def test_the_list_says_which_voice_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["voices", "list", "--json"]) == 0
    voices = {voice["id"]: voice for voice in json.loads(capsys.readouterr().out)}
    assert (voices[HEART]["engine"], voices[JOE]["engine"]) == ("hibari", "piper")
    assert [voice for voice, facts in voices.items() if facts["is_used"]] == [HEART]
    assert main(["voices", "list", "--language", "de"]) == 0
    shown = capsys.readouterr().out
    assert GERMAN in shown
    assert HEART not in shown


def test_a_voice_is_chosen_for_its_language(
    config_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("edgevox.models.ModelStore.pull", lambda *_args: Path("voice.onnx"))
    assert main(["voices", "use", JOE]) == 0
    assert main(["voices", "use", GERMAN]) == 0
    assert tomllib.loads(config_file.read_text()) == {"tts": {"voice": JOE, "voices": {"de": GERMAN}}}
    assert main(["voices", "use", "whisper-base"]) != 0
    assert "is no voice" in capsys.readouterr().err
    assert main(["voices", "use", "hibari-heart"]) != 0
    refused = capsys.readouterr().err
    assert "unknown voice hibari-heart" in refused
    assert f"did you mean {HEART}" in refused


@pytest.mark.engine
def test_a_voice_can_be_heard_without_being_chosen(tmp_path: Path) -> None:
    wav = tmp_path / "sample.wav"
    env = command.environment(tmp_path, EDGEVOX_TTS__REMOTE="tcp://localhost:1")
    done = command.edgevox("voices", "try", HEART, "The kettle is on.", "--out", wav, env=env)
    assert done.returncode == 0, done.stderr
    with wave.open(str(wav)) as file:
        assert file.getframerate() == 24_000
        assert file.getnframes() > 12_000
    assert not (tmp_path / "config" / "config.toml").exists()
