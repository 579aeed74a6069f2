"""Evaluated prefixes on disk: each file says what it belongs to, and is checked before llama.cpp sees it.

llama.cpp aborts the process on a truncated state and takes a foreign one without a word, so a file is read
only when its key, its tokens and its checksum are right. Whatever is wrong with a file, it is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from edgevox.whole_file import write_whole

_MAGIC = b"EDGEVOX-PREFIX-1\n"
_LENGTH = struct.Struct("<I")
_MAX_HEADER_BYTES = 1 << 16
_SUFFIX = ".prefix"


@dataclass(frozen=True, slots=True)
class SnapshotKey:
    """Everything that a state depends on besides its tokens."""

    model_sha256: str
    adapter_sha256: str
    adapter_scale: float
    template_sha256: str
    kv_type: str
    llama_build: str


class SnapshotStore:
    """The prefixes of one model in one form. At most `max_bytes` of all models are kept; the oldest go."""

    def __init__(self, folder: Path, key: SnapshotKey, *, max_bytes: int) -> None:
        self._folder = folder
        self._key = key
        self._max_bytes = max_bytes

    def load(self, tokens: Sequence[int]) -> bytes | None:
        """The state behind exactly these tokens, or None where there is none that can be trusted."""
        path = self._path(tokens)
        try:
            with path.open("rb") as file:
                if file.read(len(_MAGIC)) != _MAGIC:
                    return None
                header_bytes = _LENGTH.unpack(file.read(_LENGTH.size))[0]
                if header_bytes > _MAX_HEADER_BYTES:
                    return None
                header = json.loads(file.read(header_bytes))
                known = file.read(4 * len(tokens))
                state = file.read()
            if header != self._header(tokens, state) or known != _token_bytes(tokens):
                return None
            os.utime(path)  # the oldest is the one that was not used for longest
        except (OSError, ValueError, struct.error):
            return None
        return state

    def save(self, tokens: Sequence[int], state: bytes) -> None:
        """Keep a state. A disk that cannot take it costs time at the next start, and nothing else."""
        if len(state) > self._max_bytes:
            return
        header = json.dumps(self._header(tokens, state)).encode()
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_room(len(state))
            write_whole(
                self._path(tokens), _MAGIC, _LENGTH.pack(len(header)), header, _token_bytes(tokens), state
            )

    def _path(self, tokens: Sequence[int]) -> Path:
        name = hashlib.sha256(json.dumps(asdict(self._key)).encode() + _token_bytes(tokens)).hexdigest()
        return self._folder / f"{name[:32]}{_SUFFIX}"

    def _header(self, tokens: Sequence[int], state: bytes) -> dict[str, object]:
        return {
            **asdict(self._key),
            "tokens": len(tokens),
            "state_bytes": len(state),
            "state_sha256": hashlib.sha256(state).hexdigest(),
        }

    def _make_room(self, state_bytes: int) -> None:
        kept = sorted(
            (file.stat().st_mtime, file.stat().st_size, file) for file in self._folder.glob(f"*{_SUFFIX}")
        )
        total = sum(size for _, size, _ in kept) + state_bytes
        for _, size, file in kept:
            if total <= self._max_bytes:
                break
            file.unlink(missing_ok=True)
            total -= size


class LentSnapshots(SnapshotStore):
    """The same files for somebody whose own prefixes are not worth the room on the disk."""

    def save(self, tokens: Sequence[int], state: bytes) -> None:
        """Nothing is kept."""


def _token_bytes(tokens: Sequence[int]) -> bytes:
    return np.asarray(tokens, "<i4").tobytes()
