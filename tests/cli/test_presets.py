"""`edgevox presets` as a user types it, on a machine where nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgevox.cli.commands import config
from edgevox.cli.main import main
from edgevox.models import load_manifest


@pytest.fixture(autouse=True)
def models_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGEVOX_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("EDGEVOX_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "models"


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    assert main(["presets", "list", "--json"]) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_the_list_works_before_anything_is_downloaded_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["presets", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("* home ") for line in lines)
    assert any("qwen3-1.7b (qwen3)" in line and "1.1 GB" in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_what_fits_this_machine_is_marked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "total_memory_bytes", lambda: 2_000_000_000)
    rows = listed(capsys)
    assert rows["smollm2-135m"]["fits"] is True
    assert rows["qwen3-4b"]["fits"] is False
    assert rows["generic"]["fits"] is None


def test_the_list_goes_by_family_and_then_by_size(capsys: pytest.CaptureFixture[str]) -> None:
    names = list(listed(capsys))
    assert [name for name in names if name.startswith("qwen3-")] == ["qwen3-0.6b", "qwen3-1.7b", "qwen3-4b"]
    assert names.index("lfm2-1.2b") < names.index("llama-3.2-1b") < names.index("qwen2.5-0.5b")


def test_a_downloaded_model_is_marked(models_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys)["smollm2-135m"]["downloaded"] is False
    entry = load_manifest().entry("smollm2-135m-instruct")
    folder = models_folder / entry.id
    folder.mkdir(parents=True)
    for file in entry.files:
        with (folder / file.name).open("wb") as sparse:
            sparse.truncate(file.size_bytes)
    rows = listed(capsys)
    assert [name for name, row in rows.items() if row["downloaded"]] == ["home", "smollm2-135m"]


def test_exactly_one_preset_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert [name for name, row in listed(capsys).items() if row["default"]] == ["home"]


def test_show_prints_all_of_a_preset_with_its_licences_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "show", "xlam-2-1b"]) == 0
    shown = capsys.readouterr().out
    for part in ("CC-BY-NC-4.0 (non-commercial use only)", "xlam, hermes", "llm.context_tokens", "986 MB"):
        assert part in shown


def test_show_as_json_takes_an_alias(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "show", "qwen3", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["name"] == "qwen3-1.7b"
    assert shown["tool_call_parsers"] == ["qwen25", "hermes"]
    assert shown["llm.temperature"] == 0.7


def test_an_unknown_preset_is_refused_with_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "show", "qwen4"]) == 2
    assert "did you mean qwen3" in capsys.readouterr().err


def test_a_preset_whose_model_is_unknown_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "config" / "presets"
    folder.mkdir(parents=True)
    text = 'summary = "x"\nfamily = "x"\nmodel = "qwen3-0.6"\ntool_call_parsers = ["hermes"]\n'
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    assert main(["presets", "list"]) == 2
    message = capsys.readouterr().err
    assert "preset mine: unknown model qwen3-0.6" in message
    assert "qwen3-0.6b" in message
