"""Copies of a model that were made here, for this processor: beside the original, never instead of it."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from edgevox.errors import ChecksumMismatch
from edgevox.modelstore.disk import name_when_whole
from edgevox.modelstore.lockfile import LockFile, OptimisedRecord
from edgevox.modelstore.partial_file import sha256_of


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
                name_when_whole(copy, final)
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
