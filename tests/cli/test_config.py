"""`edgevox config` as a user types it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from edgevox.cli.main import main
from edgevox.config.schema import catalogue


@pytest.fixture(autouse=True)
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGEVOX_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path / "config" / "config.toml"


def rows(output: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}


def test_path_is_printed_even_when_the_file_is_broken(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config_file.parent.mkdir()
    config_file.write_text("broken", encoding="utf-8")
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{config_file}\n"


def test_show_prints_every_value_with_where_it_came_from(
    config_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config_file.parent.mkdir()
    config_file.write_text("[tts]\nspeed = 1.25\n", encoding="utf-8")
    monkeypatch.setenv("EDGEVOX_LLM__THREADS", "2")
    assert main(["config", "show", "--preset", "qwen3"]) == 0
    shown = rows(capsys.readouterr().out)

    assert set(catalogue()) <= set(shown)
    assert shown["tts.speed"] == ["1.25", "file"]
    assert shown["llm.threads"] == ["2", "environment", "EDGEVOX_LLM__THREADS"]
    assert shown["llm.top_k"] == ["20", "preset", "qwen3"]
    assert shown["preset"] == ['"qwen3"', "flag"]
    assert shown["audio.speaker"] == ["not", "set", "default"]
    assert shown["file"] == [str(config_file)]


def test_show_says_when_there_is_no_file_yet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show"]) == 0
    assert "edgevox config init" in capsys.readouterr().out


def test_show_as_json_has_value_layer_and_detail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGEVOX_LLM__MODEL", "/models/own.gguf")
    monkeypatch.setenv("EDGEVOX_STT__NAMES", "Mara")
    assert main(["config", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)

    assert list(shown) == list(catalogue())
    assert shown["stt.names"] == {"value": ["Mara"], "layer": "environment", "detail": "EDGEVOX_STT__NAMES"}
    assert shown["llm.model"]["value"] == "/models/own.gguf"
    assert shown["preset"]["value"] == "generic"
    assert shown["audio.speaker"] == {"value": None, "layer": "default", "detail": ""}


def test_init_writes_a_file_that_changes_nothing(
    config_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["config", "show", "--json"])
    before = capsys.readouterr().out
    monkeypatch.setenv("EDGEVOX_TTS__SPEED", "3")
    assert main(["config", "init"]) == 0
    assert str(config_file) in capsys.readouterr().err.replace("\n", "")
    assert "#speed = 1.0\n" in config_file.read_text(encoding="utf-8")
    monkeypatch.delenv("EDGEVOX_TTS__SPEED")
    main(["config", "show", "--json"])
    assert capsys.readouterr().out == before


def test_init_a_second_time_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "init"]) == 0
    assert main(["config", "init"]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[llm]\nthread = 2", "did you mean llm.threads?"),
        ("[llm", "is not valid TOML"),
        ("a = " + "[" * 10_000, "nested more than"),
        (".".join("a" * 10_000) + " = 1", "nested more than"),
    ],
)
def test_a_broken_file_is_reported_with_what_to_do_and_without_a_traceback(
    config_file: Path, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    config_file.parent.mkdir()
    config_file.write_text(text, encoding="utf-8")
    assert main(["config", "show"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert str(config_file) in output.err
    assert complaint in output.err
    assert "→" in output.err
    assert "Traceback" not in output.err


def test_a_setting_is_written_and_read_by_name(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("tts.speed", "1.5"), ("preset", "qwen3"), ("stt.names", "Mara,Ole"), ("tts.speed", "0.9")):
        assert main(["config", "set", name, value]) == 0
    capsys.readouterr()
    for name in ("tts.speed", "preset", "stt.names"):
        assert main(["config", "get", name]) == 0
    assert capsys.readouterr().out == '0.9\nqwen3\n["Mara", "Ole"]\n'
    assert config_file.read_text(encoding="utf-8").splitlines()[0] == 'preset = "qwen3"'


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tts.speeed", "1", "did you mean tts.speed"),
        ("tts.speed", "fast", "must be"),
        ("llm", "1", "is a section"),
        ("preset", "qwen4", "did you mean qwen3"),
        ("tts.voice", "nobody", "nobody"),
        ("stt.model", "whisper-enormous", "whisper-enormous"),
        ("tts.voices", "de=thorsten", "is a table"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_right(
    name: str, value: str, message: str, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", name, value]) == 2
    assert message in capsys.readouterr().err
    assert not config_file.exists()


def test_a_setting_repairs_the_file_that_named_what_does_not_exist(config_file: Path) -> None:
    config_file.parent.mkdir()
    config_file.write_text('preset = "qwen4"\n', encoding="utf-8")
    assert main(["config", "set", "tts.speed", "1.5"]) == 2
    assert main(["config", "set", "preset", "qwen3"]) == 0
    assert main(["config", "set", "tts.speed", "1.5"]) == 0


def test_a_setting_is_removed_from_a_valid_file_and_from_one_that_is_not(config_file: Path) -> None:
    config_file.parent.mkdir()
    config_file.write_text('preset = "qwen4"\n[tts]\nspeed = 1.5\n', encoding="utf-8")
    assert main(["config", "unset", "preset"]) == 0
    assert main(["config", "unset", "tts.speed"]) == 0
    assert main(["config", "unset", "tts.speed"]) == 2, "it is not there any more"
    assert tomllib.loads(config_file.read_text(encoding="utf-8")) == {"tts": {}}
