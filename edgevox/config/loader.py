"""Loads settings in order of precedence (defaults, preset, file, environment, flags); finds presets.

All mistakes are reported together. A preset file describes a model (read by edgevox.llm.presets) and holds
settings for it under the keys of config.toml (read here). User presets override shipped ones of the same name.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgevox.config.schema import PLUGINS, RENAMED, catalogue, sections, suggestions, unknown
from edgevox.config.sections import AUTO
from edgevox.config.settings import DEFAULT_PRESET, GENERIC_PRESET, LAYERS, REMOTE_PRESET, Settings, Source, SttSettings
from edgevox.config.toml_file import TomlFile, read_toml
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, data_path
from edgevox.core.languages import ENGLISH, LANGUAGES

SETTINGS_TABLE = "llm"
"""The table of a preset file that holds settings."""


@dataclass(frozen=True, slots=True)
class PresetFile:
    """A preset file, unparsed; its name is the file name."""

    name: str
    content: TomlFile

    @property
    def aliases(self) -> tuple[str, ...]:
        aliases = self.content.table.get("aliases", [])
        return tuple(map(str, aliases)) if isinstance(aliases, list) else ()


def find_preset(name: str, user_folder: Path | None = None) -> PresetFile:
    """Find a preset by name or alias. Raises ConfigError, with suggestions."""
    paths = _paths(user_folder)
    if name in paths:
        return _read(paths[name])
    presets = preset_files(user_folder)
    for preset in presets:
        if name in preset.aliases:
            return preset
    names = [*paths, *(alias for preset in presets for alias in preset.aliases)]
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    meant = f": did you mean {' or '.join(near)}?" if near else ""
    raise ConfigError(f"there is no preset {name}{meant}", hint="edgevox presets list shows all of them")


def preset_files(user_folder: Path | None = None) -> list[PresetFile]:
    """All presets; one in `user_folder` replaces a shipped one of the same name. Raises ConfigError."""
    return [_read(path) for path in _paths(user_folder).values()]


def _paths(user_folder: Path | None) -> dict[str, Path]:
    folders = [data_path("presets"), *([user_folder] if user_folder else [])]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _read(path: Path) -> PresetFile:
    content = read_toml(path)
    if content is None:
        raise ConfigError(f"{path} has just been removed", hint="try again")
    return PresetFile(path.stem, content)


_PREFIX = "EDGEVOX_"
_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class _Given:
    value: object
    source: Source

    @property
    def rank(self) -> int:
        return LAYERS.index(self.source.layer)


def load_settings(
    folders: Folders,
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    changes: Mapping[str, object] | None = None,
) -> Settings:
    """Load and merge all layers; `changes` replace values of the settings file. Raises ConfigError with every mistake.

    The values of `changes` are those of Setting.from_text.
    """
    problems: list[str] = []
    defaults = {name: _Given(setting.default, Source("default")) for name, setting in catalogue().items()}
    chosen = _resolve_model(
        _from_user_file(folders.config_file, changes or {}, problems)
        | _from_environment(os.environ if environ is None else environ, problems)
        | _from_flags(flags or {}, problems),
        problems,
    )
    preset = _from_preset(chosen.get("preset"), user_presets(folders), problems)
    if problems:
        in_file = any(str(folders.config) in problem for problem in problems)
        hint = (
            "edgevox config path prints the path of the settings file"
            if in_file
            else "edgevox help COMMAND explains it"
        )
        raise ConfigError(_report(problems), hint=hint)
    settings = _assemble(defaults | preset | chosen)
    _check_recogniser(settings)
    return settings


def user_presets(folders: Folders) -> Path:
    """The folder of the user's own presets."""
    return folders.config / "presets"


def variable_name(name: str) -> str:
    """The environment variable of a setting: EDGEVOX_LLM__THREADS for llm.threads."""
    return _PREFIX + name.replace(".", _SEPARATOR).upper()


# --- one layer each


def _from_preset(choice: _Given | None, user_folder: Path, problems: list[str]) -> dict[str, _Given]:
    name = str(choice.value) if choice else DEFAULT_PRESET
    try:
        content = find_preset(name, user_folder).content
    except ConfigError as error:
        origin = f"{choice.source}: " if choice and choice.source.layer != "flag" else ""
        problems.append(f"{origin}{error.message} ({error.hint})")
        return {}
    settings = {key: value for key, value in content.table.items() if key == SETTINGS_TABLE}
    return _from_toml(TomlFile(content.path, settings, content.text), Source("preset", name), problems)


def _from_user_file(path: Path, changes: Mapping[str, object], problems: list[str]) -> dict[str, _Given]:
    file, source = read_toml(path), Source("file", str(path))
    found = _from_toml(file, source, problems, replaced=changes) if file else {}
    return found | {name: _Given(value, source) for name, value in changes.items()}


def _from_toml(file: TomlFile, source: Source, problems: list[str], replaced: Container[str] = ()) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for name, value in _flatten(file.table):
        if name in replaced:
            continue
        if name.startswith(f"{PLUGINS}.") and isinstance(value, dict):
            found[name] = _Given(value, source)
            if not isinstance(enabled := value.get("enabled", True), bool):
                problems.append(f"{file.place(name)}: {name}.enabled must be true or false, not {enabled!r}")
            continue
        setting = catalogue().get(RENAMED.get(name, name))
        if setting is None:
            problems.append(f"{file.place(name)}: {unknown(name)}")
            continue
        try:
            found[setting.name] = _Given(setting.from_toml(value), source)
        except ValueError as error:
            problems.append(f"{file.place(name)}: {error}")
    return found


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> dict[str, _Given]:
    """An empty variable counts as not set."""
    found: dict[str, _Given] = {}
    for variable, text in environ.items():
        if not variable.startswith(_PREFIX) or not text:
            continue
        name = variable.removeprefix(_PREFIX).lower().replace(_SEPARATOR, ".")
        setting = catalogue().get(RENAMED.get(name, name))
        if setting is None:
            problems.extend(_unknown_variable(variable, name))
            continue
        try:
            found[setting.name] = _Given(setting.from_text(text), Source("environment", variable))
        except ValueError as error:
            problems.append(f"environment {variable}: {error}")
    return found


def _unknown_variable(variable: str, name: str) -> Iterator[str]:
    """The problem with an unknown variable: none if it has no section and resembles no setting."""
    too_short = [other for other in catalogue() if variable == variable_name(other).replace(_SEPARATOR, "_")]
    meant = too_short or (suggestions(name) if "." in name else [])
    if meant:
        names = " or ".join(map(variable_name, meant))
        yield f"environment: unknown variable {variable}: did you mean {names}?"
    elif "." in name:
        yield f"environment {variable}: {unknown(name)}"


def _from_flags(flags: Mapping[str, object], problems: list[str]) -> dict[str, _Given]:
    found: dict[str, _Given] = {}
    for name, value in flags.items():
        try:
            found[name] = _Given(catalogue()[name].from_flag(value), Source("flag"))
        except ValueError as error:
            problems.append(f"command line: {error}")
    return found


# --- merging


# Settings that choose a model, with the preset that applies if none is named.
_MODELS = {"llm.model": GENERIC_PRESET, "llm.remote_url": REMOTE_PRESET}


def _resolve_model(chosen: dict[str, _Given], problems: list[str]) -> dict[str, _Given]:
    """Resolve `preset`, `llm.model` and `llm.remote_url`, which all choose a model: the strongest layer wins.

    Within one layer a preset may accompany either of the others. So a model file gets the generic preset
    unless a preset is named beside it, and `--preset qwen3` selects qwen3 whatever the file names.
    """
    named = sorted((name for name in _MODELS if name in chosen), key=lambda name: chosen[name].rank)
    if not named:
        return chosen
    weaker, model = named[:-1], chosen[named[-1]]
    if weaker and chosen[weaker[0]].rank == model.rank:
        problems.append(f"{model.source}: llm.model and llm.remote_url each choose a model: remove one")
    chosen = {name: given for name, given in chosen.items() if name not in weaker}
    preset = chosen.get("preset")
    if preset is None or preset.rank < model.rank:
        return chosen | {"preset": _Given(_MODELS[named[-1]], model.source)}
    if preset.rank > model.rank:
        return {name: given for name, given in chosen.items() if given is not model}
    return chosen


def _assemble(given: Mapping[str, _Given]) -> Settings:
    nested: dict[str, Any] = {section: {} for section in sections()}
    for name, found in given.items():
        section, _, key = name.rpartition(".")
        (nested[section] if section else nested)[key] = found.value
    settings = Settings.model_validate(nested)
    return settings.from_sources({name: found.source for name, found in given.items()})


def _check_recogniser(settings: Settings) -> None:
    """Raises ConfigError for a language that the recogniser lacks: Whisper's .en models know English only."""
    model, language = settings.stt.model, settings.stt.language
    if model.endswith(".en") and language not in (ENGLISH, AUTO):
        source = max(("stt.model", "stt.language"), key=lambda name: LAYERS.index(settings.sources[name].layer))
        raise ConfigError(
            f"{settings.sources[source]}: {model} knows English only, and stt.language is "
            f"{language} ({LANGUAGES[language]})",
            hint=f'set stt.model to "{SttSettings().model}", which knows them all, or stt.language to "en"',
        )


def _flatten(table: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict) and key not in catalogue():
            if not value and key not in sections():
                yield key, value
            for inner, inner_value in value.items():
                yield f"{key}.{inner}", inner_value
        else:
            yield key, value


def _report(problems: list[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    return "\n".join([f"{len(problems)} settings cannot be used:", *(f"  {problem}" for problem in problems)])
