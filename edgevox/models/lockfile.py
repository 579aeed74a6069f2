"""lock.json in the models folder: downloaded files, optimised copies and measured speeds.

An optimised copy is stored next to the original and never replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edgevox.core.errors import ChecksumMismatch, ModelError
from edgevox.models.download import commit_file, sha256_of


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileRecord(_Record):
    """One file as first downloaded; `revision` is its commit on the hub, if it came from there."""

    bytes: int
    sha256: str
    source: str
    revision: str | None = None


class OptimisedRecord(_Record):
    """A copy made here: its source file, llama.cpp version and merged adapter."""

    bytes: int
    sha256: str
    source_sha256: str
    type: str
    made_by: str
    adapter: str | None = None
    adapter_sha256: str | None = None
    adapter_scale: float | None = None


class WeightSpeed(_Record):
    """Tokens per CPU second of one thread with a small model: in a batch of 16, and one by one."""

    batch_tokens_s: float
    single_tokens_s: float


class ProcessorRecord(_Record):
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
    """The records of one models folder. Writing is atomic, and safe against other processes."""

    def __init__(self, path: Path, guard: Path) -> None:
        self._path = path
        self._guard = guard

    def read(self) -> LockContent:
        """Raises ModelError if lock.json is damaged."""
        try:
            return LockContent.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return LockContent()
        except ValidationError as error:
            raise ModelError(f"{self._path} is damaged", hint="delete it: the next downloads write it again") from error

    @contextmanager
    def edit(self) -> Iterator[LockContent]:
        """Yield the content and write the changes that the block makes. Raises ModelError."""
        self._guard.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._guard):
            content = self.read()
            before = content.model_copy(deep=True)
            yield content
            if content != before:
                temporary = self._path.with_name(f".{self._path.name}.new")
                temporary.write_text(content.model_dump_json(indent=2, exclude_none=True) + "\n", encoding="utf-8")
                commit_file(temporary, self._path)


@dataclass(frozen=True, slots=True)
class MergedAdapter:
    """The adapter merged into a copy, and its scale."""

    name: str
    sha256: str
    scale: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a copy is made: weight type, llama.cpp version and adapter."""

    type: str
    made_by: str
    adapter: MergedAdapter | None = None

    def file_name(self, original: str) -> str:
        """Return the file name for a copy of `original`."""
        stem = original.removesuffix(".gguf")
        if self.adapter is None:
            return f"{stem}.optimised-{self.type}.gguf"
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", self.adapter.name)
        return f"{stem}.{name}-{self.adapter.scale:g}-{self.type}.gguf"

    def record(self, copy: Path, source_sha256: str) -> OptimisedRecord:
        """Return the record of a finished copy."""
        return OptimisedRecord(
            bytes=copy.stat().st_size,
            sha256=sha256_of(copy),
            source_sha256=source_sha256,
            type=self.type,
            made_by=self.made_by,
            adapter=self.adapter.name if self.adapter else None,
            adapter_sha256=self.adapter.sha256 if self.adapter else None,
            adapter_scale=self.adapter.scale if self.adapter else None,
        )


@dataclass(frozen=True, slots=True)
class OptimisedCopy:
    """A copy that exists and belongs to the current original."""

    path: Path
    record: OptimisedRecord

    def has(self, adapter_sha256: str | None, adapter_scale: float) -> bool:
        """Whether exactly this adapter, or none, is merged into it."""
        if adapter_sha256 is None:
            return self.record.adapter_sha256 is None
        return (self.record.adapter_sha256, self.record.adapter_scale) == (adapter_sha256, adapter_scale)

    def has_adapter_of(self, recipe: Recipe) -> bool:
        """Whether a copy made by `recipe` takes its place: there is one per adapter."""
        return self.has(recipe.adapter.sha256, recipe.adapter.scale) if recipe.adapter else self.has(None, 1.0)

    def verify(self, model_id: str) -> None:
        """Compare its digest. Raises ChecksumMismatch."""
        found = sha256_of(self.path)
        if found != self.record.sha256:
            raise ChecksumMismatch(
                f"the optimised copy {self.path.name} of {model_id} has changed: its sha256 is {found}, "
                f"it should be {self.record.sha256}",
                hint=f"edgevox models optimize {model_id} creates it again",
            )
