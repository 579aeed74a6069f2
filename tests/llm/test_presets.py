"""Presets: every shipped file is valid, and an invalid one is rejected with a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.config import DEFAULT_PRESET, GENERIC_PRESET, REMOTE_PRESET, load_settings
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, data_path
from edgevox.llm.presets import ModelPreset, all_presets, resolve_preset
from edgevox.llm.tool_parsers import DETECTORS
from edgevox.models import DEFAULT_MODELS, load_manifest

SHIPPED = sorted(path.stem for path in data_path("presets").glob("*.toml"))
PARSERS = {
    ("qwen25", "hermes"): [*("qwen3-0.6b", "qwen3-1.7b", "qwen3-4b"), *("qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b")],
    ("llama32", "pythonic"): ["llama-3.2-1b", "llama-3.2-3b"],
    ("mistral", "hermes"): ["ministral-8b", "mistral-nemo"],
    ("xlam", "hermes"): ["xlam-2-1b", "xlam-2-3b", "hammer-2.1-0.5b"],
    ("granite", "hermes"): ["granite-4.0-350m", "granite-4.0-1b"],
    ("gemma",): ["gemma-3-270m", "gemma-3-1b", "gemma-4-e2b"],
    ("functiongemma", "gemma"): ["functiongemma-270m"],
    ("hermes", "qwen25"): ["smollm2-135m", "smollm2-360m", "smollm2-1.7b", "smollm3-3b", "hermes-3-3b"],
    ("phi_functools", "hermes"): ["phi-4-mini"],
    ("lfm2", "pythonic"): ["lfm2-350m", "lfm2-1.2b"],
    ("python_list",): ["home"],
}
MODELS = {name: parsers for parsers, names in PARSERS.items() for name in names}

MINE = """\
summary = "my own"
family = "mine"
model = "qwen3-0.6b"
tool_call_parsers = ["hermes"]
"""


def own_preset(folder: Path, text: str, name: str = "mine") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(name: str, folder: Path | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        resolve_preset(name, folder)
    assert caught.value.hint
    return caught.value


# --- the shipped ones


def test_every_model_has_its_preset() -> None:
    assert sorted(SHIPPED) == sorted([*MODELS, GENERIC_PRESET, REMOTE_PRESET])


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_preset_resolves_and_its_parsers_exist(name: str) -> None:
    preset = resolve_preset(name)
    assert preset.name == name
    assert set(preset.tool_call_parsers) <= set(DETECTORS)


@pytest.mark.parametrize("name", MODELS)
def test_a_shipped_presets_model_is_in_the_manifest_and_its_calls_are_parsed(name: str) -> None:
    preset = resolve_preset(name)
    assert preset.tool_call_parsers == MODELS[name]
    assert preset.model is not None
    assert preset.kv_bytes_per_token is not None
    assert load_manifest().entry(preset.model).kind == "llm"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_presets_settings_are_those_the_settings_take(name: str, tmp_path: Path) -> None:
    folders = Folders(config=tmp_path, state=tmp_path, models=tmp_path)
    llm = load_settings(folders, environ={}, flags={"preset": name}).llm
    preset = resolve_preset(name)
    own = preset.llm
    assert (llm.context_tokens, llm.sampling, llm.thinking) == (own.context_tokens, own.sampling, own.thinking)


def test_names_and_aliases_lead_to_one_preset_only() -> None:
    names = [name for preset in all_presets() for name in (preset.name, *preset.aliases)]
    assert len(names) == len(set(names))


def test_qwen3_is_the_preset_of_the_middle_size() -> None:
    assert resolve_preset("qwen3") == resolve_preset("qwen3-1.7b")


def test_the_default_preset_is_what_the_model_store_installs_by_default() -> None:
    preset = resolve_preset(DEFAULT_PRESET)
    assert {preset.model, preset.adapter} <= {*DEFAULT_MODELS}
    assert preset.tools_as == "lines"
    assert preset.tool_choice_policy == "required_first_hop"
    assert preset.llm.sampling.temperature == 0.0


@pytest.mark.parametrize(
    ("name", "languages"),
    [(DEFAULT_PRESET, ("en",)), ("smollm2-135m", ("en",)), ("qwen3", None), (GENERIC_PRESET, None)],
)
def test_a_preset_says_which_languages_it_speaks_where_they_are_few(
    name: str, languages: tuple[str, ...] | None
) -> None:
    assert resolve_preset(name).languages == languages


def test_an_unknown_language_is_rejected_with_the_nearest(tmp_path: Path) -> None:
    own_preset(tmp_path, MINE + 'languages = ["en", "deu"]\n')
    assert "did you mean de (German)?" in refusal("mine", tmp_path).message


def test_the_generic_preset_leaves_the_model_to_the_user() -> None:
    assert resolve_preset(GENERIC_PRESET).model is None


def test_memory_is_the_file_and_a_full_conversation_and_something_for_llama_cpp() -> None:
    preset = resolve_preset("smollm2-135m")
    conversation = 30 * 3 * 64 * 2 * 2 * preset.llm.context_tokens
    assert preset.memory_bytes(98_362_432) == 98_362_432 + conversation + 200_000_000


# --- the user's own


def test_a_user_preset_overrides_a_shipped_one(tmp_path: Path) -> None:
    own_preset(tmp_path, MINE + "\n[llm]\ncontext_tokens = 512\n", "mine")
    own_preset(tmp_path, MINE, "qwen3-1.7b")
    assert resolve_preset("mine", tmp_path).llm.context_tokens == 512
    assert resolve_preset("qwen3-1.7b", tmp_path).summary == "my own"
    assert "mine" in [preset.name for preset in all_presets(tmp_path)]


@pytest.mark.parametrize("written", ["{{ bos_token }}{{ messages }}", "own.jinja"])
def test_a_chat_template_is_text_or_a_file_beside_the_preset(tmp_path: Path, written: str) -> None:
    (tmp_path / "own.jinja").write_text("{{ bos_token }}{{ messages }}", encoding="utf-8")
    own_preset(tmp_path, f'{MINE}chat_template = "{written}"\n')
    assert resolve_preset("mine", tmp_path).chat_template == "{{ bos_token }}{{ messages }}"


def test_a_preset_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        resolve_preset(DEFAULT_PRESET).stop = ("x",)


# --- what is refused


@pytest.mark.parametrize(("typo", "meant"), [("qwen4", "qwen3"), ("Smollm2_135m", "smollm2-135m")])
def test_an_unknown_preset_is_refused_with_suggestions(typo: str, meant: str) -> None:
    error = refusal(typo)
    assert error.message.startswith(f"there is no preset {typo}: did you mean ")
    assert meant in error.message
    assert "edgevox presets list" in error.hint


@pytest.mark.parametrize("name", ["zzzzzzzz", "../presets/generic", ""])
def test_a_name_like_no_other_is_refused_without_a_guess(name: str) -> None:
    assert refusal(name).message.startswith(f"there is no preset {name}")


def test_an_unknown_parser_is_refused_with_the_nearest_and_its_line(tmp_path: Path) -> None:
    path = own_preset(tmp_path, MINE.replace("hermes", "hermes2"))
    error = refusal("mine", tmp_path)
    assert error.message == f"{path}, line 4: unknown parser hermes2: did you mean hermes?"
    assert "mistral" in error.hint


def test_the_known_parsers_can_be_named_by_the_caller() -> None:
    with pytest.raises(ConfigError, match="unknown parser hermes"):
        resolve_preset("smollm2-135m", known_parsers=["qwen25"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (MINE + "colour = 1\n", "colour: unknown key"),
        (MINE + 'tool_choice_policy = "sometimes"\n', "tool_choice_policy: Input should be 'auto'"),
        (MINE.replace('["hermes"]', "[]"), "tool_call_parsers"),
        (MINE.replace('summary = "my own"\n', ""), "summary: Field required"),
        (MINE + "[llm]\ntemprature = 1\n", "llm.temprature: unknown key"),
        (MINE + "[llm]\ntop_p = 7\n", "llm.top_p: Input should be less than or equal to 1"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_key(tmp_path: Path, text: str, fault: str) -> None:
    path = own_preset(tmp_path, text)
    message = refusal("mine", tmp_path).message
    assert message.startswith(f"{path} is not a valid preset: ")
    assert fault in message


def test_a_missing_template_file_is_refused(tmp_path: Path) -> None:
    own_preset(tmp_path, MINE + 'chat_template = "none.jinja"\n')
    assert "chat template none.jinja cannot be read" in refusal("mine", tmp_path).message


def test_the_model_itself_refuses_what_no_preset_has() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        ModelPreset.model_validate(
            {"name": "x", "summary": "x", "family": "x", "tool_call_parsers": ["hermes"], "parsers": []}
        )
