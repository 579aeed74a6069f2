"""lock.json in the models folder: downloaded files, optimised copies and measured speeds.

An optimised copy is stored next to the original and never replaces it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edgevox.core.files import set_aside
from edgevox.models.download import commit_file
from edgevox.models.manifest import StrictModel

log = logging.getLogger(__name__)


class FileRecord(StrictModel):
    """One file as first downloaded; `revision` is its commit on the hub, if it came from there."""

    bytes: int
    sha256: str
    source: str
    revision: str | None = None


class Recipe(StrictModel):
    """How a copy is made: weight type, llama.cpp version, and the adapter merged into it with its scale."""

    type: str
    made_by: str
    adapter: str | None = None
    adapter_sha256: str | None = None
    adapter_scale: float | None = None

    @property
    def merged(self) -> tuple[str | None, float | None]:
        """The digest and the scale of the adapter: there is one copy for each."""
        return self.adapter_sha256, self.adapter_scale

    def file_name(self, original: str) -> str:
        """Return the file name for a copy of `original`."""
        stem = original.removesuffix(".gguf")
        if self.adapter is None:
            return f"{stem}.optimised-{self.type}.gguf"
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", self.adapter)
        return f"{stem}.{name}-{self.adapter_scale:g}-{self.type}.gguf"


class OptimisedRecord(Recipe):
    """A copy made here, and the digest of its source file."""

    bytes: int
    sha256: str
    source_sha256: str


@dataclass(frozen=True, slots=True)
class OptimisedCopy:
    """A copy that exists and belongs to the current original."""

    path: Path
    record: OptimisedRecord


class WeightSpeed(StrictModel):
    """Tokens per CPU second of one thread with a small model: in a batch of 16, and one by one."""

    batch_tokens_s: float
    single_tokens_s: float


class ProcessorRecord(StrictModel):
    """The speed of each weight type on a processor, with the llama.cpp version of the measurement."""

    llama_build: str
    speeds: dict[str, WeightSpeed]


class LockContent(BaseModel):
    """Files and copies by model id and file name, and measurements by processor."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    models: dict[str, dict[str, FileRecord]] = Field(default_factory=dict)
    optimised: dict[str, dict[str, OptimisedRecord]] = Field(default_factory=dict)
    processors: dict[str, ProcessorRecord] = Field(default_factory=dict)


class LockFile:
    """The records of one models folder. Writing is atomic, and safe against other processes.

    A damaged file is set aside, and what `rebuild` finds in the folder takes its place.
    """

    def __init__(self, path: Path, guard: Path, rebuild: Callable[[], LockContent]) -> None:
        self._path = path
        self._guard = guard
        self._rebuild = rebuild

    def read(self) -> LockContent:
        """Raises OSError."""
        try:
            return self._parsed()
        except ValidationError:
            with self._locked():
                return self._repaired()

    @contextmanager
    def edit(self) -> Iterator[LockContent]:
        """Yield the content and write the changes that the block makes. Raises OSError."""
        with self._locked():
            content = self._repaired()
            before = content.model_copy(deep=True)
            yield content
            if content != before:
                self._write(content)

    def _parsed(self) -> LockContent:
        try:
            return LockContent.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return LockContent()

    def _repaired(self) -> LockContent:
        try:
            return self._parsed()  # another process may have repaired it
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
        kept = set_aside(self._path)
        log.warning(
            "%s is damaged (%s): it is kept as %s, and written again from the digests of the files",
            self._path,
            reason,
            kept,
        )
        content = self._rebuild()
        self._write(content)
        return content

    def _write(self, content: LockContent) -> None:
        temporary = self._path.with_name(f".{self._path.name}.new")
        temporary.write_text(content.model_dump_json(indent=2, exclude_none=True) + "\n", encoding="utf-8")
        commit_file(temporary, self._path)

    def _locked(self) -> FileLock:
        self._guard.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self._guard)
