"""lock.json in the models folder: downloaded files, optimised copies and measured speeds.

An optimised copy lies beside the original and never replaces it.
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
    """One file as it was first downloaded; `revision` is the hub's commit, where it came from there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int
    sha256: str
    source: str
    revision: str | None = None


class OptimisedRecord(BaseModel):
    """A copy that was made here: from which file, by which llama.cpp, with which adapter merged into it."""

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
    """How fast each weight type is on a processor, with the llama.cpp that it was measured with."""

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
        """What that file was at its first download. Raises ModelError when lock.json is damaged."""
        return self._read().models.get(model, {}).get(file)

    def add(self, model: str, file: str, record: FileRecord) -> None:
        with FileLock(self._guard):
            content = self._read()
            content.models.setdefault(model, {})[file] = record
            self._write(content)

    def optimised(self, model: str) -> dict[str, OptimisedRecord]:
        """The copies of a model, by file name. Raises ModelError when lock.json is damaged."""
        return self._read().optimised.get(model, {})

    def add_optimised(self, model: str, file: str, record: OptimisedRecord) -> None:
        with FileLock(self._guard):
            content = self._read()
            content.optimised.setdefault(model, {})[file] = record
            self._write(content)

    def drop_optimised(self, model: str, *files: str) -> None:
        """Forget some copies of a model."""
        with FileLock(self._guard):
            content = self._read()
            known = content.optimised.pop(model, None)
            if known is None:
                return
            if left := {name: record for name, record in known.items() if name not in files}:
                content.optimised[model] = left
            self._write(content)

    def processor(self, name: str) -> ProcessorRecord | None:
        """What was measured on the processor of that name. Raises ModelError when lock.json is damaged."""
        return self._read().processors.get(name)

    def add_processor(self, name: str, record: ProcessorRecord) -> None:
        with FileLock(self._guard):
            content = self._read()
            content.processors[name] = record
            self._write(content)

    def forget(self, model: str) -> None:
        """Drop what is known of a model: its next download may be another file."""
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
            raise ModelError(
                f"{self._path} is damaged", hint="delete it: it is written again with the next downloads"
            ) from error

    def _write(self, content: _Content) -> None:
        temporary = self._path.with_name(f".{self._path.name}.new")
        temporary.write_text(content.model_dump_json(indent=2, exclude_none=True) + "\n", encoding="utf-8")
        commit_file(temporary, self._path)


@dataclass(frozen=True, slots=True)
class MergedAdapter:
    """The adapter that a copy has in it, and how strongly."""

    name: str
    sha256: str
    scale: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a copy is made: the type of its weights, by which llama.cpp, with which adapter."""

    type: str
    made_by: str
    adapter: MergedAdapter | None = None

    def file_name(self, original: str) -> str:
        """What the copy of `original` is called."""
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
    """A copy that is there and belongs to the original that is there."""

    path: Path
    record: OptimisedRecord

    def has(self, adapter_sha256: str | None, adapter_scale: float) -> bool:
        """Whether this adapter, or none, is what has been merged into it."""
        if adapter_sha256 is None:
            return self.record.adapter_sha256 is None
        return (self.record.adapter_sha256, self.record.adapter_scale) == (adapter_sha256, adapter_scale)

    def is_made_by(self, recipe: Recipe) -> bool:
        return self.record.type == recipe.type and self._is_as_adapted_as(recipe)

    def is_replaced_by(self, recipe: Recipe) -> bool:
        """Whether a copy after `recipe` takes the place of this one: there is one for each adapter."""
        return self.record.type != recipe.type and self._is_as_adapted_as(recipe)

    def verify(self, model_id: str) -> None:
        """Read it and compare its digest. Raises ChecksumMismatch."""
        found = sha256_of(self.path)
        if found != self.record.sha256:
            raise ChecksumMismatch(
                f"the optimised copy {self.path.name} of {model_id} has changed: its sha256 is {found}, "
                f"it should be {self.record.sha256}",
                hint=f"edgevox models optimize {model_id} makes it again",
            )

    def _is_as_adapted_as(self, recipe: Recipe) -> bool:
        adapter = recipe.adapter
        return self.has(adapter.sha256, adapter.scale) if adapter else self.has(None, 1.0)


class OptimisedCopies:
    """The copies in a models folder. Whoever keeps or forgets one is alone with its model."""

    def __init__(self, folder: Path, work: Path, lock_file: LockFile) -> None:
        self._folder = folder
        self._work = work
        self._lock_file = lock_file

    def of(self, model_id: str, source_sha256: str | None) -> tuple[OptimisedCopy, ...]:
        """The copies of a model that are there, by name and size, and were made of that original."""
        return tuple(
            OptimisedCopy(path, record)
            for name, record in self._lock_file.optimised(model_id).items()
            if record.source_sha256 == source_sha256
            and (path := self._folder / model_id / name).is_file()
            and path.stat().st_size == record.bytes
        )

    def keep(
        self,
        model_id: str,
        recipe: Recipe,
        make: Callable[[Path, Path], None],
        *,
        source: Path,
        source_sha256: str,
    ) -> OptimisedCopy:
        """Let `make` write a copy, and name it when it is whole. Nothing is left of an unfinished one."""
        final = self._folder / model_id / recipe.file_name(source.name)
        work = self._unfinished(model_id)
        shutil.rmtree(work, ignore_errors=True)  # what a killed process left
        work.mkdir(parents=True)
        try:
            with tempfile.TemporaryDirectory(dir=work) as scratch:
                copy = Path(scratch) / final.name
                make(source, copy)
                record = recipe.record(
                    size_bytes=copy.stat().st_size, sha256=sha256_of(copy), source_sha256=source_sha256
                )
                # Recorded first: a copy that has its name always has its digest too.
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
        """Drop what is known of a model's copies, and what a killed process left of one."""
        shutil.rmtree(self._unfinished(model_id), ignore_errors=True)
        self._lock_file.drop_optimised(model_id, *self._lock_file.optimised(model_id))

    def _unfinished(self, model_id: str) -> Path:
        return self._work / f"{model_id}.copies"
