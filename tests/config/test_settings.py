"""Settings: precedence of the layers, the source of each value, and the message for every kind of mistake."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.config import DEFAULT_PRESET, Settings, Source, load_settings, variable_name
from edgevox.config.editing import commented_file, write_initial_config
from edgevox.config.schema import catalogue
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.core.languages import LANGUAGES
from edgevox.core.types import Sampling


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(config=tmp_path / "config", state=tmp_path / "state", models=tmp_path / "models")


def write_config(folders: Folders, text: str) -> Path:
    folders.config.mkdir(exist_ok=True)
    folders.config_file.write_text(text, encoding="utf-8")
    return folders.config_file


def write_preset(folders: Folders, name: str, text: str) -> Path:
    path = folders.config / "presets" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def message_of(folders: Folders, **layers: dict[str, object]) -> str:
    environ = {name: str(value) for name, value in layers.get("environ", {}).items()}
    with pytest.raises(ConfigError) as caught:
        load_settings(folders, environ=environ, flags=layers.get("flags", {}))
    assert caught.value.hint
    return caught.value.message


# --- which source wins


def test_without_other_layers_values_are_the_defaults_or_the_presets(folders: Folders) -> None:
    settings = load_settings(folders, environ={})
    assert settings.preset == DEFAULT_PRESET
    assert settings.stt.model == "whisper-base"
    assert {source.layer for source in settings.sources.values()} == {"default", "preset"}
    assert settings.sources["llm.context_tokens"] == Source("preset", DEFAULT_PRESET)


def test_each_layer_overrides_the_one_below(folders: Folders) -> None:
    write_preset(folders, "mine", "[llm]\ntemperature = 0.1\ntop_p = 0.1\ntop_k = 1\nmin_p = 0.1\n")
    path = write_config(folders, 'preset = "mine"\n[llm]\ntop_p = 0.2\ntop_k = 2\nmin_p = 0.2\n')
    environ = {"EDGEVOX_LLM__TOP_K": "3", "EDGEVOX_LLM__MIN_P": "0.3"}
    settings = load_settings(folders, environ=environ, flags={"llm.min_p": 0.4})

    llm = settings.llm
    assert (llm.repeat_penalty, llm.temperature, llm.top_p, llm.top_k, llm.min_p) == (1.0, 0.1, 0.2, 3, 0.4)
    names = ("repeat_penalty", "temperature", "top_p", "top_k", "min_p")
    assert [settings.sources[f"llm.{name}"] for name in names] == [
        Source("default"),
        Source("preset", "mine"),
        Source("file", str(path)),
        Source("environment", "EDGEVOX_LLM__TOP_K"),
        Source("flag"),
    ]


def test_every_setting_has_a_source(folders: Folders) -> None:
    assert set(load_settings(folders, environ={}).sources) == set(catalogue())


@pytest.mark.parametrize(
    ("config", "environ", "flags", "preset"),
    [
        ('preset = "qwen3"', {}, {}, "qwen3"),
        ('preset = "qwen3"', {"EDGEVOX_PRESET": "phi-4-mini"}, {}, "phi-4-mini"),
        ('preset = "qwen3"', {"EDGEVOX_PRESET": "phi-4-mini"}, {"preset": "lfm2-350m"}, "lfm2-350m"),
    ],
)
def test_the_preset_is_itself_chosen_by_layers(
    folders: Folders, config: str, environ: dict[str, str], flags: dict[str, object], preset: str
) -> None:
    write_config(folders, config)
    settings = load_settings(folders, environ=environ, flags=flags)
    assert settings.preset == preset
    assert settings.sources["llm.temperature"] == Source("preset", preset)


def test_a_model_file_gets_the_generic_preset(folders: Folders) -> None:
    write_config(folders, 'preset = "qwen3"')
    settings = load_settings(folders, environ={}, flags={"llm.model": "/models/own.gguf"})
    assert (settings.preset, settings.llm.model) == ("generic", Path("/models/own.gguf"))
    assert settings.sources["preset"] == Source("flag")


def test_a_model_file_and_a_preset_can_be_combined(folders: Folders) -> None:
    write_config(folders, 'preset = "qwen3"\n[llm]\nmodel = "/models/own.gguf"')
    settings = load_settings(folders, environ={})
    assert (settings.preset, settings.llm.model) == ("qwen3", Path("/models/own.gguf"))


def test_a_preset_of_a_stronger_layer_overrides_a_model_file(folders: Folders) -> None:
    write_config(folders, '[llm]\nmodel = "/models/own.gguf"')
    settings = load_settings(folders, environ={}, flags={"preset": "qwen3"})
    assert (settings.preset, settings.llm.model) == ("qwen3", None)
    assert settings.sources["llm.model"] == Source("default")


def test_a_user_preset_may_name_its_model_file(folders: Folders) -> None:
    write_preset(folders, "mine", '[llm]\nmodel = "/models/own.gguf"\n')
    settings = load_settings(folders, environ={}, flags={"preset": "mine"})
    assert (settings.preset, settings.llm.model) == ("mine", Path("/models/own.gguf"))


# --- what a value may be


def test_environment_variables_are_read_as_the_type_of_their_setting(folders: Folders) -> None:
    settings = load_settings(
        folders,
        environ={
            "EDGEVOX_LLM__THREADS": "2",
            "EDGEVOX_STT__THREADS": "auto",
            "EDGEVOX_STT__NAMES": "Hall lamp, Mara ,",
            "EDGEVOX_TTS__ENABLED": "false",
            "EDGEVOX_TTS__SPEED": "1.5",
            "EDGEVOX_AUDIO__SPEAKER": "7",
            "EDGEVOX_RECORDS__MAX_BYTES": "",
        },
    )
    assert settings.llm.threads == 2
    assert settings.stt.threads == "auto"
    assert settings.stt.names == ("Hall lamp", "Mara")
    assert settings.tts.enabled is False
    assert settings.tts.speed == 1.5
    assert settings.audio.speaker == "7"
    assert settings.sources["records.max_bytes"] == Source("default")


def test_variables_without_a_section_are_ignored(folders: Folders) -> None:
    load_settings(
        folders,
        environ={"EDGEVOX_CONFIG_DIR": "/x", "EDGEVOX_TEST_MODELS": "/x", "EDGEVOX_WHATEVER": "1", "LLM__THREADS": "x"},
    )


def test_a_home_folder_in_a_path_is_expanded(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/mara")
    write_config(folders, '[llm]\nmodel = "~/own.gguf"')
    assert load_settings(folders, environ={}).llm.model == Path("/home/mara/own.gguf")


def test_sampling_follows_the_settings(folders: Folders) -> None:
    flags = {"preset": "smollm2-135m", "llm.temperature": 0.5, "llm.seed": 7, "llm.top_k": 9, "llm.max_tokens": 10}
    sampling = load_settings(folders, environ={}, flags=flags).llm.sampling
    assert sampling == Sampling(
        temperature=0.5, top_p=0.9, top_k=9, min_p=0.0, repeat_penalty=1.0, max_tokens=10, seed=7
    )


def test_settings_are_immutable(folders: Folders) -> None:
    settings = load_settings(folders, environ={})
    with pytest.raises(ValueError, match="frozen"):
        settings.llm.threads = 3


# --- what is said about mistakes


@pytest.mark.parametrize(
    ("config", "line", "problem"),
    [
        ("[llm]\nthread = 2", 2, "unknown setting llm.thread: did you mean llm.threads?"),
        ("llm.thread = 2", 1, "unknown setting llm.thread: did you mean llm.threads?"),
        ("\nthreads = 2", 2, "unknown setting threads: did you mean llm.threads or stt.threads or tts.threads?"),
        ('[audio]\nlanguage = "de"', 2, "unknown setting audio.language: did you mean stt.language?"),
        ("[records]\nzzz = 1", 2, "unknown setting records.zzz: [records] has max_bytes, keep_text"),
        (
            "[zzz]\nyyy = 1",
            2,
            "unknown setting zzz.yyy: the sections are llm, stt, tts, audio, sounds, wake, people, engines,"
            " records, memory, home, mqtt, calendar, media, ring, tools, mcp, server, plugins",
        ),
        ("[zzz]", 1, "unknown setting zzz: the top level has preset"),
        ("llm = 3", 1, "llm is a section: write [llm], with its settings below"),
        ("[preset]\nname = 1", 1, 'preset must be a text that is not empty, not {"name": 1}'),
        ('[llm]\nthreads = "2"', 2, 'llm.threads must be a whole number from 1 to 256 or "auto", not "2"'),
        ("[llm]\nthreads = true", 2, 'llm.threads must be a whole number from 1 to 256 or "auto", not true'),
        ("[llm]\ntop_p = nan", 2, "llm.top_p must be a number above 0 and up to 1, not NaN"),
        ("[llm]\nmax_tokens = 0", 2, "llm.max_tokens must be a whole number of at least 1, not 0"),
        ('[stt]\nnames = "Mara"', 2, 'stt.names must be a list of texts, not "Mara"'),
        ("[tts]\nspeed = 2025-01-01", 2, 'tts.speed must be a number from 0.25 to 4, not "2025-01-01"'),
        (
            "[wake]\nthreshold = 2",
            2,
            'wake.threshold must be "strict" or "normal" or "eager" or a number above 0 and up to 1, not 2',
        ),
        ("[llm]\nmodel = 3", 2, "llm.model must be the path of a file, not 3"),
        ('[tts]\nenabled = "yes"', 2, 'tts.enabled must be true or false, not "yes"'),
        (
            '[stt]\nlanguage = "deu"',
            2,
            'stt.language: "deu" is not a language code that Whisper knows: did you mean de (German)?',
        ),
        (
            '[tts.voices]\ngerman = "piper-de_DE-thorsten-medium"',
            1,
            'tts.voices: "german" is not a language code that Whisper knows: did you mean de (German)?',
        ),
        (
            '[tts]\nvoices = {de = ""}',
            2,
            'tts.voices must be a table with a text that is not empty for each name, not {"de": ""}',
        ),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_line(
    folders: Folders, config: str, line: int, problem: str
) -> None:
    path = write_config(folders, config)
    assert message_of(folders) == f"{path}, line {line}: {problem}"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        (
            "EDGEVOX_LLM__THREADS",
            "x",
            'EDGEVOX_LLM__THREADS: llm.threads must be a whole number from 1 to 256 or "auto"',
        ),
        ("EDGEVOX_LLM__THREAD", "2", "unknown variable EDGEVOX_LLM__THREAD: did you mean EDGEVOX_LLM__THREADS?"),
        ("EDGEVOX_LLM_THREADS", "2", "unknown variable EDGEVOX_LLM_THREADS: did you mean EDGEVOX_LLM__THREADS?"),
        ("EDGEVOX_AUDIO__ZZZ", "2", "EDGEVOX_AUDIO__ZZZ: unknown setting audio.zzz"),
        ("EDGEVOX_PRESET", "qwen4", "EDGEVOX_PRESET: there is no preset qwen4: did you mean qwen3"),
    ],
)
def test_a_mistake_in_the_environment_is_reported_with_its_variable(
    folders: Folders, variable: str, value: str, message: str
) -> None:
    assert message in message_of(folders, environ={variable: value})


def test_a_flag_out_of_range_is_reported(folders: Folders) -> None:
    assert message_of(folders, flags={"llm.temperature": 9}) == (
        "command line: llm.temperature must be a number from 0 to 5, not 9"
    )


def test_all_mistakes_are_reported_at_once_even_overridden_ones(folders: Folders) -> None:
    write_config(folders, 'preset = "none-such"\n[llm]\nthreads = 0\ntopp = 1')
    message = message_of(folders, environ={"EDGEVOX_TTS__SPEED": "fast"}, flags={"llm.threads": 2})
    assert message.startswith("4 settings cannot be used:\n")
    assert [name in message for name in ("llm.threads", "llm.topp", "tts.speed", "none-such")] == [True] * 4


def test_a_mistake_in_a_preset_is_reported_with_its_file(folders: Folders) -> None:
    path = write_preset(folders, "mine", 'summary = "x"\n\n[llm]\ntemprature = 1')
    assert message_of(folders, flags={"preset": "mine"}) == (
        f"{path}, line 4: unknown setting llm.temprature: did you mean llm.temperature?"
    )


def test_invalid_toml_is_reported_with_its_line(folders: Folders) -> None:
    path = write_config(folders, "[llm]\nthreads = two\n")
    message = message_of(folders)
    assert str(path) in message
    assert "line 2" in message


def test_a_file_that_is_not_utf8_is_reported(folders: Folders) -> None:
    write_config(folders, "")
    folders.config_file.write_bytes(b"\xff\xfe\x00")
    assert message_of(folders) == f"{folders.config_file} is not valid UTF-8"


def test_a_folder_in_place_of_the_file_is_reported(folders: Folders) -> None:
    folders.config_file.mkdir(parents=True)
    assert message_of(folders) == f"{folders.config_file} cannot be read: Is a directory"


# --- the first file


def test_the_initial_file_changes_nothing(folders: Folders) -> None:
    before = load_settings(folders, environ={})
    write_initial_config(folders)
    assert load_settings(folders, environ={}) == before


def test_the_initial_file_shows_every_setting_in_toml_syntax(folders: Folders) -> None:
    path = write_initial_config(folders)
    before = load_settings(folders, environ={})
    active = re.sub(r"^#(?=[a-z_]+ = )", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    # A file of one's own is the one setting that changes another: it brings its own preset.
    write_config(folders, re.sub(r"^model = .*gguf.*$", "", active, flags=re.MULTILINE))
    after = load_settings(folders, environ={})

    written = {name for name, source in after.sources.items() if source.layer == "file"}
    assert written == set(catalogue()) - {"llm.model"}
    unset = {name for name, setting in catalogue().items() if setting.default is None}
    for name in written - unset:
        assert attrgetter(name)(after) == attrgetter(name)(before)


def test_the_initial_file_is_owner_only_and_leaves_no_partial(folders: Folders) -> None:
    path = write_initial_config(folders)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(folders.config.iterdir()) == [path]


def test_the_initial_file_never_replaces_an_existing_one(folders: Folders) -> None:
    path = write_config(folders, "broken =")
    with pytest.raises(ConfigError, match="exists already"):
        write_initial_config(folders)
    assert path.read_text(encoding="utf-8") == "broken ="


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(tmp_path / "nowhere")
    folders = Folders(config=tmp_path / "config", state=tmp_path, models=tmp_path)
    with pytest.raises(ConfigError, match="cannot be written: File exists"):
        write_initial_config(folders)


@given(instructions=st.text(st.characters(codec="utf-8"), max_size=200), names=st.lists(st.text(max_size=20)))
def test_any_text_survives_a_round_trip_through_the_file(
    tmp_path_factory: pytest.TempPathFactory, instructions: str, names: list[str]
) -> None:
    root = tmp_path_factory.mktemp("settings")
    folders = Folders(config=root, state=root, models=root)
    flags: dict[str, object] = {"llm.instructions": instructions, "stt.names": names}
    settings = load_settings(folders, environ={}, flags=flags)
    text = commented_file(settings)
    write_config(folders, re.sub(r"^#(?=(instructions|names) = )", "", text, flags=re.MULTILINE))
    again = load_settings(folders, environ={})
    assert (again.llm.instructions, again.stt.names) == (instructions, tuple(names))


# --- tables


def test_a_table_may_be_written_as_one_or_on_one_line(folders: Folders) -> None:
    write_config(folders, '[tools.confirm_domains]\nlock = "screen"\n"cover.garage" = "never"\n')
    expected = {"lock": "screen", "cover.garage": "never"}
    assert load_settings(folders, environ={}).tools.confirm_domains == expected
    write_config(folders, '[tools]\nconfirm_domains = { lock = "screen", "cover.garage" = "never" }\n')
    assert load_settings(folders, environ={}).tools.confirm_domains == expected


def test_a_table_in_a_variable_is_separated_by_commas(folders: Folders) -> None:
    environ = {
        "EDGEVOX_TOOLS__CONFIRM_TOOLS": "broadcast=voice, turn_on = never",
        "EDGEVOX_TOOLS__TIMEOUTS_S": "search_corpus=60",
    }
    tools = load_settings(folders, environ=environ).tools
    assert tools.confirm_tools == {"broadcast": "voice", "turn_on": "never"}
    assert tools.timeouts_s == {"search_corpus": 60.0}


def test_a_wrong_value_in_a_table_is_reported_with_its_line(folders: Folders) -> None:
    path = write_config(folders, '[tools.confirm_tools]\nbroadcast = "maybe"\n')
    assert message_of(folders) == (
        f'{path}, line 1: tools.confirm_tools must be a table with "never" or "voice" or "screen" for each'
        ' name, not {"broadcast": "maybe"}'
    )


def test_the_initial_file_can_show_a_table(folders: Folders) -> None:
    flags: dict[str, object] = {"tools.confirm_domains": {"cover.garage": "voice"}}
    text = commented_file(load_settings(folders, environ={}, flags=flags))
    write_config(folders, text.replace("#confirm_domains", "confirm_domains"))
    assert load_settings(folders, environ={}).tools.confirm_domains == {"cover.garage": "voice"}


def test_a_plugin_gets_its_whole_table(folders: Folders) -> None:
    path = write_config(folders, '[plugins.weather]\ncity = "Bonn"\n[plugins.weather.units]\nwind = "km/h"\n')
    settings = load_settings(folders, environ={})
    assert settings.plugins.table("weather") == {"city": "Bonn", "units": {"wind": "km/h"}}
    assert settings.plugins.table("other") == {}
    assert settings.plugins.names() == ("weather",)
    assert settings.sources["plugins.weather"] == Source("file", str(path))


def test_a_plugin_is_enabled_by_default(folders: Folders) -> None:
    write_config(folders, "[plugins.weather]\nenabled = false\n[plugins.news]\n")
    plugins = load_settings(folders, environ={}).plugins
    assert [plugins.is_enabled(name) for name in ("weather", "news", "other")] == [False, True, True]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("[plugins]\nweather = 3", "line 2: plugins.weather belongs to a plugin: set it in the settings file"),
        ('[plugins.weather]\nenabled = "no"', "line 1: plugins.weather.enabled must be true or false, not 'no'"),
    ],
)
def test_a_mistake_in_a_plugin_table_is_reported(folders: Folders, config: str, problem: str) -> None:
    write_config(folders, config)
    assert problem in message_of(folders)


def test_a_plugin_cannot_be_set_by_a_variable(folders: Folders) -> None:
    assert "in a table [plugins.NAME]" in message_of(folders, environ={"EDGEVOX_PLUGINS__WEATHER__CITY": "Bonn"})


# --- what the commands and the guide are made from


def test_every_setting_is_described() -> None:
    assert [name for name, setting in catalogue().items() if not setting.description] == []


def test_every_default_is_a_valid_value() -> None:
    for setting in catalogue().values():
        assert setting.from_flag(setting.default) == setting.default
        if setting.default is None:
            assert setting.from_toml(setting.example) is not None


def test_a_setting_can_be_set_by_its_variable(folders: Folders) -> None:
    assert variable_name("engines.stt_timeout_s") == "EDGEVOX_ENGINES__STT_TIMEOUT_S"
    settings = load_settings(folders, environ={variable_name("engines.stt_timeout_s"): "5"})
    assert settings.engines.stt_timeout_s == 5.0


def test_the_model_refuses_unknown_keys() -> None:
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        Settings.model_validate({"llm": {"thread": 2}})


# --- languages


@pytest.mark.parametrize("language", [*LANGUAGES, "auto"])
def test_every_language_of_whisper_can_be_set(folders: Folders, language: str) -> None:
    environ = {"EDGEVOX_STT__LANGUAGE": language}
    assert load_settings(folders, environ=environ).stt.language == language


def test_voices_are_set_by_language(folders: Folders) -> None:
    write_config(folders, '[tts.voices]\nde = "thorsten"\nfr = "siwis"\n')
    assert load_settings(folders, environ={}).tts.voices == {"de": "thorsten", "fr": "siwis"}
    environ = {"EDGEVOX_TTS__VOICES": "it=paola, pt=faber"}
    assert load_settings(folders, environ=environ).tts.voices == {"it": "paola", "pt": "faber"}


def test_an_english_only_recogniser_rejects_another_language(folders: Folders) -> None:
    path = write_config(folders, '[stt]\nmodel = "whisper-tiny.en"\n')
    with pytest.raises(ConfigError) as caught:
        load_settings(folders, environ={"EDGEVOX_STT__LANGUAGE": "de"})
    assert caught.value.message == (
        "environment EDGEVOX_STT__LANGUAGE: whisper-tiny.en knows English only, and stt.language is de (German)"
    )
    assert "whisper-base" in caught.value.hint
    write_config(folders, '[stt]\nmodel = "whisper-tiny.en"\nlanguage = "fr"\n')
    assert message_of(folders).startswith(f"file {path}: whisper-tiny.en knows English only")


@pytest.mark.parametrize("language", ["en", "auto"])
def test_an_english_only_recogniser_accepts_english(folders: Folders, language: str) -> None:
    flags: dict[str, object] = {"stt.model": "whisper-tiny.en", "stt.language": language}
    assert load_settings(folders, environ={}, flags=flags).stt.language == language


# --- engines on other machines


def test_a_remote_url_gets_the_remote_preset(folders: Folders) -> None:
    write_config(folders, 'preset = "qwen3"')
    settings = load_settings(folders, environ={}, flags={"llm.remote_url": "http://big:8080/v1/"})
    assert (settings.preset, settings.llm.remote_url) == ("remote", "http://big:8080/v1")


def test_a_preset_can_accompany_a_remote_url_and_a_stronger_one_overrides_both(folders: Folders) -> None:
    write_config(folders, 'preset = "qwen3"\n[llm]\nremote_url = "http://big/v1"')
    settings = load_settings(folders, environ={})
    assert (settings.preset, settings.llm.remote_url) == ("qwen3", "http://big/v1")
    settings = load_settings(folders, environ={}, flags={"preset": "home"})
    assert (settings.preset, settings.llm.remote_url) == ("home", None)


def test_a_user_preset_may_name_its_remote_url(folders: Folders) -> None:
    write_preset(folders, "mine", '[llm]\nremote_url = "http://big/v1"\n')
    settings = load_settings(folders, environ={}, flags={"preset": "mine"})
    assert (settings.preset, settings.llm.remote_url) == ("mine", "http://big/v1")


def test_of_a_model_file_and_a_remote_url_the_stronger_layer_wins(folders: Folders) -> None:
    write_config(folders, '[llm]\nremote_url = "http://big/v1"')
    settings = load_settings(folders, environ={}, flags={"llm.model": "/models/own.gguf"})
    assert (settings.preset, settings.llm.remote_url) == ("generic", None)
    write_config(folders, '[llm]\nremote_url = "http://big/v1"\nmodel = "/models/own.gguf"')
    with pytest.raises(ConfigError, match="remove one"):
        load_settings(folders, environ={})


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ('[llm]\nremote_url = "big:8080"', "is not a valid URL"),
        ('[llm]\nremote_url = "http://me:secret@big/v1"', "a URL must not contain a key"),
        ('[llm]\nremote_extra = "[1]"', "not a JSON object"),
        ('[llm]\nremote_extra = "{"', "invalid JSON"),
        ('[stt]\nremote = "big"', "is not a valid address such as tcp://"),
        ("[tts]\nremote_languages = []", "tts.remote_languages"),
        ('[server]\nwyoming_peers = ["big"]', "is not an IP address or network"),
    ],
)
def test_a_mistake_in_a_remote_setting_is_reported(folders: Folders, config: str, problem: str) -> None:
    write_config(folders, config)
    with pytest.raises(ConfigError, match=problem) as caught:
        load_settings(folders, environ={})
    assert "secret" not in caught.value.message


def test_the_address_of_a_wyoming_server_may_be_abbreviated(folders: Folders) -> None:
    settings = load_settings(folders, environ={"EDGEVOX_STT__REMOTE": "big:10300"})
    assert settings.stt.remote == "tcp://big:10300"
