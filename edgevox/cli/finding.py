"""What a check of `edgevox doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from edgevox.errors import EdgevoxError

Verdict: TypeAlias = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A note is worth knowing and nothing to mend."""

    verdict: Verdict
    part: str
    detail: str
    fix: str = ""

    @classmethod
    def problem(cls, part: str, error: EdgevoxError) -> Finding:
        return cls("problem", part, error.message, error.hint)
