"""A preset with an adapter: both are downloaded, and a user's own file uses neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.llm.presets import resolve_preset
from edgevox.models import ModelStore, load_manifest

PRESET = """
summary = "a polite one"
family = "smollm"
model = "smollm2-135m-instruct"
adapter = "polite"
adapter_scale = 0.5
tool_call_parsers = ["hermes"]
"""


@pytest.fixture
def preset_folder(folders: Folders) -> Path:
    folder = folders.config / "presets"
    folder.mkdir(parents=True)
    (folder / "polite.toml").write_text(PRESET)
    return folder


def needed(folders: Folders, flags: dict[str, object]) -> tuple[str, ...]:
    settings = load_settings(folders, flags=flags, environ={})
    store = ModelStore(folders.models, load_manifest())
    return AssistantRuntime(settings, folders, store, ["llm"]).models.needed()


def test_a_preset_names_an_adapter_and_how_strongly_it_acts(preset_folder: Path) -> None:
    preset = resolve_preset("polite", preset_folder)
    assert (preset.adapter, preset.adapter_scale) == ("polite", 0.5)
    default = resolve_preset("smollm2-135m")
    assert (default.adapter, default.adapter_scale) == (None, 1.0)


@pytest.mark.usefixtures("preset_folder")
def test_the_adapter_is_pulled_with_the_model_and_left_out_for_a_file_of_your_own(folders: Folders) -> None:
    assert needed(folders, {"preset": "polite"}) == ("smollm2-135m-instruct", "polite")
    assert needed(folders, {"preset": "polite", "llm.model": "mine.gguf"}) == ()
