"""Presets: one TOML file per language model with its parsers, template, sampling and limits."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edgevox.config import LlmSettings
from edgevox.config.loader import PresetFile, find_preset, preset_files
from edgevox.config.sections import Language
from edgevox.core.errors import ConfigError, describe_faults
from edgevox.core.types import ToolsAs
from edgevox.llm.tool_choice import ToolChoicePolicy
from edgevox.llm.tool_parsers import DETECTORS

# Memory of llama.cpp and its process: SmolLM2-135M with 4,000 tokens took 400 MB in all.
_OVERHEAD_BYTES = 200_000_000

_Text = Annotated[str, Field(min_length=1)]


class ModelPreset(BaseModel):
    """The configuration of a language model; the user's settings override `llm`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: _Text
    summary: _Text
    family: _Text
    model: _Text | None = Field(default=None, description="id in the model manifest; None: the settings name a file")
    adapter: _Text | None = Field(
        default=None, description="id of a LoRA adapter in the model manifest, for this model"
    )
    adapter_scale: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    aliases: tuple[_Text, ...] = ()
    tool_call_parsers: Annotated[tuple[_Text, ...], Field(min_length=1, description="the first that reads wins")]
    tool_choice_policy: ToolChoicePolicy = "auto"
    calls_tools: bool = Field(default=True, description="false: too small, it is offered none")
    home_only: bool = Field(
        default=False, description="made for the home's tools alone: rules call the others, and it is asked no facts"
    )
    tools_as: ToolsAs = Field(default="lines", description="in one line each, or as the chat template writes them")
    languages: tuple[Language, ...] | None = Field(
        default=None, description="codes of those it speaks well enough; None: all of them"
    )
    takes_notes: bool = Field(default=True, description="it can summarise what its prompt has no room for")
    max_turns: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="more of the conversation only confuses it"
    )
    chat_template: _Text | None = Field(default=None, description="Jinja text; None: the one in the GGUF file")
    stop: tuple[_Text, ...] = ()
    kv_bytes_per_token: Annotated[int, Field(gt=0)] | None = None
    llm: LlmSettings = LlmSettings()

    def memory_bytes(self, model_bytes: int) -> int:
        """Estimate the memory use: the model file, a full context, and llama.cpp itself."""
        return model_bytes + (self.kv_bytes_per_token or 0) * self.llm.context_tokens + _OVERHEAD_BYTES


def resolve_preset(name: str, folder: Path | None = None, *, known_parsers: Collection[str] = DETECTORS) -> ModelPreset:
    """Return the preset with that name or alias; the user's presets in `folder` take precedence.

    Raises ConfigError if there is none, or if its file is invalid or names an unknown parser.
    """
    return _preset(find_preset(name, folder), known_parsers)


def all_presets(folder: Path | None = None) -> list[ModelPreset]:
    """Return all presets, shipped and the user's. Raises ConfigError."""
    return [_preset(file, DETECTORS) for file in preset_files(folder)]


def _preset(file: PresetFile, known_parsers: Collection[str]) -> ModelPreset:
    path, table = file.content.path, {**file.content.table, "name": file.name}
    try:
        if (name := str(table.get("chat_template"))).endswith(".jinja"):
            table["chat_template"] = path.with_name(name).read_text(encoding="utf-8")
        preset = ModelPreset.model_validate(table)
    except ValidationError as error:
        raise ConfigError(
            f"{path} is not a valid preset: {describe_faults(error)}", hint="see docs/guide/presets.md"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path}: the chat template {name} cannot be read",
            hint="put it next to the preset, or write its text into the preset",
        ) from error
    for parser in preset.tool_call_parsers:
        if parser not in known_parsers:
            near = difflib.get_close_matches(parser, known_parsers, n=1, cutoff=0.5)
            meant = f": did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"{file.content.place('tool_call_parsers')}: unknown parser {parser}{meant}",
                hint=f"the parsers are {', '.join(sorted(known_parsers))}",
            )
    return preset
