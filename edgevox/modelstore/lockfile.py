"""lock.json in the models folder: every downloaded file, every optimised copy, and what was measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edgevox.errors import ModelError
from edgevox.modelstore.disk import name_when_whole


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
        name_when_whole(temporary, self._path)
