"""What the tables of the settings are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

UserPath: TypeAlias = Annotated[Path, AfterValidator(Path.expanduser)]
Text: TypeAlias = Annotated[str, Field(min_length=1)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=3600)]


class Section(BaseModel):
    """What all tables of the settings have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
