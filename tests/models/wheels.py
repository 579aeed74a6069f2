"""Wheels built by tests that fail when imported."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from edgevox.models import PackagePart

VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class WheelFolder:
    """A folder that pip's --find-links understands."""

    path: Path

    def wheel_path(self, package: str) -> Path:
        return self.path / f"{package}-{VERSION}-py3-none-any.whl"

    def add(self, package: str, files: Mapping[str, bytes]) -> Path:
        """Make `package` 1.0 with `files` under `package/`."""
        members = {f"{package}/__init__.py": b"raise RuntimeError('imported')\n"}
        members |= {f"{package}/{name}": content for name, content in files.items()}
        info = f"{package}-{VERSION}.dist-info"
        members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: {VERSION}\n".encode()
        members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        record = "".join(f"{name},{_record_digest(data)},{len(data)}\n" for name, data in members.items())
        members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
        path = self.wheel_path(package)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path

    def part(self, package: str, name: str) -> PackagePart:
        return PackagePart(package=package, version=VERSION, path=f"{package}/{name}")


LETTERS = bytes(Random(1).choices(b"abcdefgh", k=200_000))
"""What cannot be unpacked once it is packed and `overwritten`."""


def overwritten(packed: bytes) -> bytes:
    """The content with other bytes in its middle."""
    other, half = Random(3).randbytes(4_000), len(packed) // 2
    return packed[:half] + other + packed[half + len(other) :]


def _record_digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
