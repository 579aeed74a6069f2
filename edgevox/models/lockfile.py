"""lock.json in the models folder: downloaded files, optimised copies and measured speeds.

An optimised copy is stored next to the original and never replaces it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edgevox.core.errors import ChecksumMismatch, ModelError
from edgevox.models.download import commit_file, sha256_of


class FileRecord(BaseModel):
    """One file as first downloaded; `revision` is its commit on the hub, if it came from there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int
    sha256: str
    source: str
    revision: str | None = None


class OptimisedRecord(BaseModel):
    """A copy made here: its source file, llama.cpp version and merged adapter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int
    sha256: str
    source_sha256: str
    type: str
    made_by: str
    adapter: str | None = None
    adapter_sha256: str | None = None
    adapter_scale: float | None = None


class WeightSpeed(BaseModel):
    """Tokens per CPU second of one thread with a small model: in a batch of 16, and one by one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    batch_tokens_s: float
    single_tokens_s: float


class ProcessorRecord(BaseModel):
    """The speed of each weight type on a processor, with the llama.cpp version of the measurement."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    llama_build: str
    speeds: dict[str, WeightSpeed]


class _Content(BaseModel):
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

    def record(self, model: str, file: str) -> FileRecord | None:
        """Return the record of a file's first download. Raises ModelError if lock.json is damaged."""
        return self._read().models.get(model, {}).get(file)

    def add(self, model: str, file: str, record: FileRecord) -> None:
        with FileLock(self._guard):
            content = self._read()
            content.models.setdefault(model, {})[file] = record
            self._write(content)

    def optimised(self, model: str) -> dict[str, OptimisedRecord]:
        """Return the copies of a model by file name. Raises ModelError if lock.json is damaged."""
        return self._read().optimised.get(model, {})

    def add_optimised(self, model: str, file: str, record: OptimisedRecord) -> None:
        with FileLock(self._guard):
            content = self._read()
            content.optimised.setdefault(model, {})[file] = record
            self._write(content)

    def drop_optimised(self, model: str, *files: str) -> None:
        """Remove the records of some copies."""
        with FileLock(self._guard):
            content = self._read()
            known = content.optimised.pop(model, None)
            if known is None:
                return
            if left := {name: record for name, record in known.items() if name not in files}:
                content.optimised[model] = left
            self._write(content)

    def processor(self, name: str) -> ProcessorRecord | None:
        """Return the measurement of that processor. Raises ModelError if lock.json is damaged."""
        return self._read().processors.get(name)

    def add_processor(self, name: str, record: ProcessorRecord) -> None:
        with FileLock(self._guard):
            content = self._read()
            content.processors[name] = record
            self._write(content)

    def forget(self, model: str) -> None:
        """Remove the records of a model: its next download may be another file."""
        with FileLock(self._guard):
            content = self._read()
            if content.models.pop(model, None) is not None:
                self._write(content)

    def _read(self) -> _Content:
        try:
            return _Content.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return _Content()
        except ValidationError as error:
            raise ModelError(f"{self._path} is damaged", hint="delete it: the next downloads write it again") from error

    def _write(self, content: _Content) -> None:
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

    def record(self, *, size_bytes: int, sha256: str, source_sha256: str) -> OptimisedRecord:
        return OptimisedRecord(
            bytes=size_bytes,
            sha256=sha256,
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

    def is_made_by(self, recipe: Recipe) -> bool:
        return self.record.type == recipe.type and self._has_adapter_of(recipe)

    def is_replaced_by(self, recipe: Recipe) -> bool:
        """Whether a copy made by `recipe` replaces this one: there is one per adapter."""
        return self.record.type != recipe.type and self._has_adapter_of(recipe)

    def verify(self, model_id: str) -> None:
        """Compare its digest. Raises ChecksumMismatch."""
        found = sha256_of(self.path)
        if found != self.record.sha256:
            raise ChecksumMismatch(
                f"the optimised copy {self.path.name} of {model_id} has changed: its sha256 is {found}, "
                f"it should be {self.record.sha256}",
                hint=f"edgevox models optimize {model_id} creates it again",
            )

    def _has_adapter_of(self, recipe: Recipe) -> bool:
        adapter = recipe.adapter
        return self.has(adapter.sha256, adapter.scale) if adapter else self.has(None, 1.0)


class OptimisedCopies:
    """The copies in a models folder. The caller holds the model's lock to change them."""

    def __init__(self, folder: Path, work: Path, lock_file: LockFile) -> None:
        self._folder = folder
        self._work = work
        self._lock_file = lock_file

    def of(self, model_id: str, source_sha256: str | None) -> tuple[OptimisedCopy, ...]:
        """Return the existing copies, by name and size, of that original."""
        return tuple(
            OptimisedCopy(path, record)
            for name, record in self._lock_file.optimised(model_id).items()
            if record.source_sha256 == source_sha256
            and (path := self._folder / model_id / name).is_file()
            and path.stat().st_size == record.bytes
        )

    def keep(
        self, model_id: str, recipe: Recipe, make: Callable[[Path, Path], None], *, source: Path, source_sha256: str
    ) -> OptimisedCopy:
        """Let `make` write a copy, and rename it when complete. An incomplete one is deleted."""
        final = self._folder / model_id / recipe.file_name(source.name)
        work = self._unfinished(model_id)
        shutil.rmtree(work, ignore_errors=True)  # left by a killed process
        work.mkdir(parents=True)
        try:
            with tempfile.TemporaryDirectory(dir=work) as scratch:
                copy = Path(scratch) / final.name
                make(source, copy)
                record = recipe.record(
                    size_bytes=copy.stat().st_size, sha256=sha256_of(copy), source_sha256=source_sha256
                )
                # Recorded first: a copy with its final name always has a digest.
                self._lock_file.add_optimised(model_id, final.name, record)
                commit_file(copy, final)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        for old in self.of(model_id, source_sha256):
            if old.is_replaced_by(recipe):
                self.discard(model_id, old)
        return OptimisedCopy(final, record)

    def discard(self, model_id: str, copy: OptimisedCopy) -> None:
        copy.path.unlink(missing_ok=True)
        self._lock_file.drop_optimised(model_id, copy.path.name)

    def forget(self, model_id: str) -> None:
        """Remove the records of a model's copies, and leftovers of a killed process."""
        shutil.rmtree(self._unfinished(model_id), ignore_errors=True)
        self._lock_file.drop_optimised(model_id, *self._lock_file.optimised(model_id))

    def _unfinished(self, model_id: str) -> Path:
        return self._work / f"{model_id}.copies"
