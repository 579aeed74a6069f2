"""What the tables of the settings are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from edgevox.languages import checked_language

AUTO = "auto"
"""Where a language is expected: whichever is spoken."""


def _checked_or_auto(language: str) -> str:
    return language if language == AUTO else checked_language(language)


UserPath: TypeAlias = Annotated[Path, AfterValidator(Path.expanduser)]
Text: TypeAlias = Annotated[str, Field(min_length=1)]
Language: TypeAlias = Annotated[str, AfterValidator(checked_language)]
LanguageOrAuto: TypeAlias = Annotated[str, AfterValidator(_checked_or_auto)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=3600)]


class Section(BaseModel):
    """What all tables of the settings have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
