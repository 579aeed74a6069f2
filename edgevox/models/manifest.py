"""The manifest: every downloadable model, its files and their sources."""

from __future__ import annotations

import difflib
import tomllib
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from edgevox.core.errors import ConfigError, ModelMissing, describe_faults
from edgevox.core.files import data_path, parse_toml
from edgevox.core.languages import ENGLISH, checked_language

Kind: TypeAlias = Literal["llm", "stt", "tts", "adapter", "embedding", "speaker", "wake"]

# Ids and file names become paths: no separators, no leading dot.
_PathName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*$")]
_Sha256: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Language: TypeAlias = Annotated[str, AfterValidator(checked_language)]


class StrictModel(BaseModel):
    """A frozen value without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PackagePart(StrictModel):
    """A file inside a wheel of the Python package index."""

    package: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    version: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+!-]*$")]
    path: str


class PackageSource(StrictModel):
    """A file in one wheel, or in several that are joined in order."""

    kind: Literal["package"]
    parts: Annotated[tuple[PackagePart, ...], Field(min_length=1)]

    @property
    def label(self) -> str:
        packages = dict.fromkeys(f"{part.package} {part.version}" for part in self.parts)
        return f"package index ({', '.join(packages)})"


class HubSource(StrictModel):
    """A file of a repository on the Hugging Face hub."""

    kind: Literal["hub"]
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    file: str
    revision: str = "main"

    @property
    def label(self) -> str:
        return f"hub ({self.repo})"


class ShippedSource(StrictModel):
    """A file bundled with EdgeVox, relative to its repository root."""

    kind: Literal["shipped"]
    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w./-]*$")]

    @property
    def label(self) -> str:
        return "installation"


class NpmSource(StrictModel):
    """A file in a package of the npm registry."""

    kind: Literal["npm"]
    package: Annotated[str, Field(pattern=r"^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$")]
    version: Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9.+-]*$")]
    path: str

    @property
    def label(self) -> str:
        return f"npm registry ({self.package} {self.version})"


Source: TypeAlias = Annotated[PackageSource | HubSource | NpmSource | ShippedSource, Field(discriminator="kind")]


class ModelFile(StrictModel):
    """One file of a model; either its exact size is known, or an estimate."""

    name: _PathName
    bytes: Annotated[int, Field(gt=0)] | None = None
    bytes_about: Annotated[int, Field(gt=0)] | None = None
    sha256: _Sha256 | None = None
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.bytes is None) == (self.bytes_about is None):
            raise ValueError("give either bytes or bytes_about")
        return self

    @property
    def size_bytes(self) -> int:
        """Return the size, exact or estimated, for display and the free space check."""
        return self.bytes or self.bytes_about or 0


class ModelEntry(StrictModel):
    """One model. `note` is a warning for users, `base` the model of an adapter.

    `language` is what a voice speaks, English where that is not said. `engine` opens it, where it is not the usual one.
    """

    id: _PathName
    kind: Kind
    base: _PathName | None = None
    engine: _PathName | None = None
    language: _Language | None = None
    licence: str
    note: str = ""
    files: Annotated[tuple[ModelFile, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.kind == "adapter") != (self.base is not None):
            raise ValueError(f"{self.id}: only an adapter can have base")
        if self.kind == "adapter" and len(self.files) > 1:
            raise ValueError(f"{self.id}: an adapter must be one GGUF file")
        if self.language is not None and self.kind != "tts":
            raise ValueError(f"{self.id}: only a voice can have language")
        if self.engine is not None and self.kind not in ("stt", "tts"):
            raise ValueError(f"{self.id}: engine is for stt and tts models")
        return self

    @property
    def spoken_language(self) -> str:
        return self.language or ENGLISH

    @property
    def licence_text(self) -> str:
        return f"{self.licence} ({self.note})" if self.note else self.licence

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def size_is_exact(self) -> bool:
        return all(file.bytes is not None for file in self.files)


class Manifest(StrictModel):
    """All models, in the order of the file."""

    models: tuple[ModelEntry, ...]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        for model_id, count in Counter(entry.id for entry in self.models).items():
            if count > 1:
                raise ValueError(f"duplicate id {model_id}")
        return self

    @cached_property
    def _by_id(self) -> dict[str, ModelEntry]:
        return {entry.id: entry for entry in self.models}

    def entry(self, model_id: str) -> ModelEntry:
        """Return the model with that id. Raises ModelMissing with similar ids."""
        if model_id in self._by_id:
            return self._by_id[model_id]
        near = difflib.get_close_matches(model_id, self._by_id, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ModelMissing(f"unknown model {model_id}", hint=hint + "edgevox models list shows all")

    def find(self, model_id: str) -> ModelEntry | None:
        return self._by_id.get(model_id)

    def adapter_of(self, model_id: str) -> str | None:
        """Return the id of the model's first adapter, or None."""
        return next((entry.id for entry in self.models if entry.base == model_id), None)

    def joined_with(self, other: Manifest) -> Manifest:
        """Return both manifests joined; entries of `other` take precedence."""
        return Manifest(models=tuple({**self._by_id, **other._by_id}.values()))


def load_manifest(user_file: Path | None = None) -> Manifest:
    """Load the shipped manifest and the entries of `user_file`, if it exists. Raises ConfigError."""
    manifest = read_manifest(data_path("models", "manifest.toml"))
    if user_file is None or not user_file.is_file():
        return manifest
    joined = manifest.joined_with(read_manifest(user_file))
    bases = {entry.id for entry in joined.models if entry.kind in ("llm", "stt")}
    for entry in joined.models:
        if entry.base is not None and entry.base not in bases:
            raise ConfigError(
                f"{user_file}: the adapter {entry.id} is for {entry.base}, which is not a model that takes one",
                hint="base must be the id of a model of kind llm or stt: edgevox models list shows them",
            )
    return joined


def read_manifest(path: Path) -> Manifest:
    """Read one manifest file. Raises ConfigError with the file and the faulty key."""
    try:
        return Manifest.model_validate(parse_toml(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}", hint="correct the file, or remove it") from error
    except ValidationError as error:
        raise ConfigError(
            f"{path} is not a model manifest: {describe_faults(error)}", hint="correct the file"
        ) from error
