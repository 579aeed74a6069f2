"""What a source of files is asked for, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edgevox.errors import ChecksumMismatch
from edgevox.modelstore.manifest import ModelFile
from edgevox.modelstore.progress import Progress


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file of a model. `work` is a folder for what is not whole yet; it is kept between attempts."""

    model: str
    file: ModelFile
    sha256: str | None
    work: Path
    progress: Progress


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole file under a temporary name, and what is known of it."""

    path: Path
    bytes: int
    sha256: str
    revision: str | None = None


def wrong_checksum(wanted: Wanted, source: str, found: str, expected: str) -> ChecksumMismatch:
    hint = f"edgevox models pull {wanted.model} tries again; if it stays wrong, check the proxy or mirror"
    if wanted.file.sha256 is None:
        hint += f"; if its publisher replaced it, edgevox models remove --forget {wanted.model} accepts that"
    return ChecksumMismatch(
        f"{wanted.file.name} of {wanted.model} from the {source} is not the expected file: "
        f"its sha256 is {found}, it should be {expected}. It was not kept",
        hint=hint,
    )
