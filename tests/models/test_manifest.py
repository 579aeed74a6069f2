"""The shipped manifest, and errors of invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.models import DEFAULT_MODELS, PackageSource, load_manifest, read_manifest
from edgevox.models.manifest import HubSource, ShippedSource

PRESET_MODELS = (
    *("qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b"),
    *("llama-3.2-1b", "llama-3.2-3b", "ministral-8b", "mistral-nemo", "xlam-2-1b", "xlam-2-3b"),
    *("hammer-2.1-0.5b", "granite-4.0-350m", "granite-4.0-1b", "gemma-3-270m", "gemma-3-1b"),
    *("functiongemma-270m", "gemma-4-e2b", "smollm2-135m-instruct", "smollm2-360m", "smollm2-1.7b"),
    *("smollm3-3b", "phi-4-mini", "hermes-3-3b", "lfm2-350m", "lfm2-1.2b"),
)
ENTRY = """
[[models]]
id = "tiny"
kind = "llm"
licence = "MIT"
[[models.files]]
name = "tiny.gguf"
bytes = 10
sources = [{ kind = "hub", repo = "someone/Tiny", file = "tiny.gguf" }]
"""


def manifest_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "models.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("model_id", PRESET_MODELS)
def test_every_family_has_its_language_model(model_id: str) -> None:
    assert load_manifest().entry(model_id).kind == "llm"


def test_the_default_models_need_no_hub() -> None:
    manifest = load_manifest()
    for model_id in (*DEFAULT_MODELS, "whisper-tiny.en"):
        for file in manifest.entry(model_id).files:
            assert isinstance(file.sources[0], PackageSource | ShippedSource)
            assert file.sha256 is not None
            assert file.bytes is not None


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv"])
def test_there_is_a_voice_for(language: str) -> None:
    voices = [entry for entry in load_manifest().models if entry.language == language and entry.engine is None]
    for voice in voices:
        assert voice.kind == "tts"
        assert voice.licence.startswith("MIT, voice data CC")
        model, config = voice.files
        assert config.name == f"{model.name}.json"
        for file in voice.files:
            hub = file.sources[-1]
            assert isinstance(hub, HubSource)
            locale, name, quality = model.name.removesuffix(".onnx").split("-")
            assert hub.file == f"{language}/{locale}/{name}/{quality}/{file.name}"
    assert voices


def test_a_voice_that_does_not_say_so_speaks_english(tmp_path: Path) -> None:
    manifest = read_manifest(manifest_file(tmp_path, ENTRY.replace('"llm"', '"tts"')))
    assert manifest.entry("tiny").spoken_language == "en"


@pytest.mark.parametrize("model_id", ["xlam-2-1b", "xlam-2-3b", "hammer-2.1-0.5b", "ministral-8b", "qwen2.5-3b"])
def test_a_non_commercial_licence_is_noted(model_id: str) -> None:
    assert load_manifest().entry(model_id).note == "non-commercial use only"


def test_a_wrong_id_gets_the_nearest_ones() -> None:
    with pytest.raises(ModelMissing, match="unknown model") as caught:
        load_manifest().entry("qwen3-1.7")
    assert "qwen3-1.7b" in caught.value.hint


def test_a_user_file_adds_and_replaces(tmp_path: Path) -> None:
    text = ENTRY + ENTRY.replace('"tiny"', '"whisper-base"')
    manifest = load_manifest(manifest_file(tmp_path, text))
    assert manifest.entry("tiny").files[0].bytes == 10
    assert manifest.entry("whisper-base").kind == "llm"
    assert manifest.entry("whisper-tiny.en").kind == "stt"


def test_a_user_file_that_is_not_there_adds_nothing(tmp_path: Path) -> None:
    assert load_manifest(tmp_path / "models.toml") == load_manifest()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[models]\n", "cannot read"),
        (ENTRY.replace("licence", "license"), "license: unknown key"),
        (ENTRY.replace("bytes = 10", "bytes = 10\nbytes_about = 10"), "either bytes or bytes_about"),
        (ENTRY.replace("bytes = 10\n", ""), "either bytes or bytes_about"),
        (ENTRY.replace('name = "tiny.gguf"', 'name = "../tiny.gguf"'), "name"),
        (ENTRY.replace('id = "tiny"', 'id = ".work"'), "id"),
        (ENTRY.replace('kind = "hub"', 'kind = "web"'), "sources"),
        (ENTRY.replace('repo = "someone/Tiny"', 'repo = "someone"'), "repo"),
        (ENTRY + ENTRY, "duplicate id tiny"),
        (ENTRY.replace('"llm"', '"tts"\nlanguage = "deu"'), "did you mean de"),
        (ENTRY.replace('"llm"', '"llm"\nlanguage = "de"'), "only a voice can have language"),
    ],
)
def test_a_faulty_manifest_is_named_with_its_fault(tmp_path: Path, text: str, fault: str) -> None:
    path = manifest_file(tmp_path, text)
    with pytest.raises(ConfigError, match=fault) as caught:
        read_manifest(path)
    assert str(path) in caught.value.message


ADAPTER = """
[[models]]
id = "polite"
kind = "adapter"
base = "BASE"
licence = "MIT"
[[models.files]]
name = "polite.gguf"
bytes = 10
sources = [{ kind = "hub", repo = "someone/Polite", file = "polite.gguf" }]
"""


def test_an_adapter_belongs_to_a_language_model(tmp_path: Path) -> None:
    text = ADAPTER.replace("BASE", "smollm2-135m-instruct")
    entry = load_manifest(manifest_file(tmp_path, text)).entry("polite")
    assert (entry.kind, entry.base) == ("adapter", "smollm2-135m-instruct")


@pytest.mark.parametrize("base", ["piper-en_US-joe-medium", "no-such-model"])
def test_an_adapter_for_something_else_is_refused(tmp_path: Path, base: str) -> None:
    with pytest.raises(ConfigError, match=f"polite is for {base}, which is not a model that takes one"):
        load_manifest(manifest_file(tmp_path, ADAPTER.replace("BASE", base)))


@pytest.mark.parametrize("text", [ADAPTER.replace('base = "BASE"\n', ""), ADAPTER.replace('"adapter"', '"llm"')])
def test_only_an_adapter_has_a_base(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="only an adapter can have base"):
        read_manifest(manifest_file(tmp_path, text))
