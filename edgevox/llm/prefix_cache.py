"""The prefix cache: evaluated prompts in the KV cache, a sequence per client, and snapshots on disk.

A turn evaluates only what is new. The fixed prefix (system prompt and tools) has a sequence of its own, from
which every new conversation is copied, and a file on disk. llama.cpp aborts the process on a truncated state
and accepts a foreign one silently, so a snapshot is loaded only when its key, its tokens and its checksum
match.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from edgevox.core.files import write_atomic
from edgevox.llm.context import BATCH_TOKENS, LlamaContext, NoRoom

_MEMORY_NAME = "digests.json"


class DigestCache:
    """Digests remembered in one folder, by path, size, inode and time of change."""

    def __init__(self, folder: Path) -> None:
        self._memory = folder / _MEMORY_NAME

    def sha256(self, path: Path) -> str:
        """The file's digest. Raises OSError when it cannot be read."""
        path = path.resolve()
        facts = path.stat()
        known_by = [facts.st_size, facts.st_ino, facts.st_mtime_ns]
        remembered = self._remembered()
        match remembered.get(str(path)):
            case {"known_by": by, "sha256": str(digest)} if by == known_by:
                return digest
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._remember({**remembered, str(path): {"known_by": known_by, "sha256": digest}})
        return digest

    def _remembered(self) -> dict[str, object]:
        try:
            content = json.loads(self._memory.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _remember(self, content: dict[str, object]) -> None:
        """What cannot be written is worked out again the next time."""
        with contextlib.suppress(OSError):
            self._memory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(self._memory, json.dumps(content))


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
            write_atomic(self._path(tokens), _MAGIC, _LENGTH.pack(len(header)), header, _token_bytes(tokens), state)

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
        kept = sorted((file.stat().st_mtime, file.stat().st_size, file) for file in self._folder.glob(f"*{_SUFFIX}"))
        total = sum(size for _, size, _ in kept) + state_bytes
        for _, size, file in kept:
            if total <= self._max_bytes:
                break
            file.unlink(missing_ok=True)
            total -= size


class ReadOnlySnapshots(SnapshotStore):
    """The same files for somebody whose own prefixes are not worth the room on the disk."""

    def save(self, tokens: Sequence[int], state: bytes) -> None:
        """Nothing is kept."""


def _token_bytes(tokens: Sequence[int]) -> bytes:
    return np.asarray(tokens, "<i4").tobytes()


CLIENTS = 4
PREFIXES = 2
SEQUENCES = CLIENTS + PREFIXES

# A shorter prefix is evaluated again sooner than it is read from a disk.
_WORTH_KEEPING_TOKENS = 64


@dataclass(slots=True)
class CachedSequence:
    """One sequence of the model's memory and the tokens it holds."""

    sequence: int
    tokens: list[int] = field(default_factory=list)
    client: str | None = None
    used: int = 0


class PrefixCache:
    """The owner of a context's sequences. Everything that evaluates goes through here."""

    def __init__(self, context: LlamaContext, snapshots: SnapshotStore | None = None) -> None:
        self._context = context
        self._snapshots = snapshots
        self._clients = [CachedSequence(number) for number in range(CLIENTS)]
        self._prefixes = [CachedSequence(number) for number in range(CLIENTS, SEQUENCES)]
        self._clock = itertools.count(1)
        self._unsaved: CachedSequence | None = None

    def begin(self, client: str, prompt: Sequence[int], prefix_tokens: int) -> tuple[CachedSequence, int]:
        """The client's track, holding as much of the prompt as is known already, and how much that is.

        `prefix_tokens` at the beginning of the prompt are fixed: they may be known from the disk. The last
        token is never known: its scores are wanted. Raises ModelError.
        """
        track = self._track(client, prompt[:-1])
        known = self._reuse(track, prompt[:-1])
        track.used = next(self._clock)
        if known < prefix_tokens < len(prompt) and prefix_tokens >= _WORTH_KEEPING_TOKENS:
            prefix = list(prompt[:prefix_tokens])
            if self._restore(track, prefix):
                known = prefix_tokens
        return track, known

    def read(self, track: CachedSequence, prompt: Sequence[int], prefix_tokens: int) -> Iterator[None]:
        """Evaluate the prompt batch by batch, all but the last; the fixed prefix is kept on the way.

        A long prompt takes minutes: whoever waits learns from each step that it goes on. Raises Aborted,
        NoRoom and ModelError.
        """
        if len(track.tokens) < prefix_tokens < len(prompt):
            yield from self._steps(track, prompt[:prefix_tokens], 0)
            if prefix_tokens >= _WORTH_KEEPING_TOKENS:
                self._unsaved = self._keep(track)
        yield from self._steps(track, prompt, BATCH_TOKENS)

    def extend(self, track: CachedSequence, tokens: Sequence[int]) -> None:
        """Evaluate tokens behind those of the track, in whole batches. Raises Aborted, NoRoom, ModelError."""
        for start in range(0, len(tokens), BATCH_TOKENS):
            batch = tokens[start : start + BATCH_TOKENS]
            while True:
                try:
                    self._context.evaluate(batch, track.sequence, len(track.tokens))
                    break
                except NoRoom:
                    self._evict(keep=track)
            track.tokens += batch

    def cut(self, track: CachedSequence, at: int) -> bool:
        """Forget the tokens from `at` on; where the memory cannot do that, all of them, and False."""
        if at >= len(track.tokens):
            return True
        if self._context.cut(track.sequence, at):
            del track.tokens[at:]
            return True
        self._empty(track)
        return False

    def save(self) -> None:
        """Write a fixed prefix that is new to the disk. Not before the answer: nobody waits for it there."""
        if self._unsaved is not None and self._snapshots is not None:
            track, self._unsaved = self._unsaved, None
            self._snapshots.save(track.tokens, self._context.state(track.sequence))

    def _steps(self, track: CachedSequence, prompt: Sequence[int], leave: int) -> Iterator[None]:
        while len(prompt) - len(track.tokens) > leave:
            self.extend(track, prompt[len(track.tokens) : len(track.tokens) + BATCH_TOKENS])
            yield

    # --- finding

    def _track(self, client: str, wanted: Sequence[int]) -> CachedSequence:
        for track in self._clients:
            if track.client == client:
                return track
        # A new client takes the place of the one that was silent longest, but not of what it will copy.
        source = max(self._clients, key=lambda track: shared_tokens(track.tokens, wanted))
        track = min((track for track in self._clients if track is not source), key=lambda track: track.used)
        self._empty(track)
        track.client = client
        return track

    def _reuse(self, track: CachedSequence, wanted: Sequence[int]) -> int:
        """Make the track hold the longest beginning of `wanted` that any sequence knows; its length."""
        own = shared_tokens(track.tokens, wanted)
        if own < len(track.tokens) and not self._context.can_cut:
            own = 0
        source, best = track, own
        for other in (*self._prefixes, *self._clients):
            shared = shared_tokens(other.tokens, wanted)
            # A memory that cannot be cut back can only be copied as it stands.
            if shared > best and (self._context.can_cut or shared == len(other.tokens)):
                source, best = other, shared
        if source is track:
            self.cut(track, own)
            return len(track.tokens)
        self._empty(track)
        self._context.copy(source.sequence, track.sequence, best if self._context.can_cut else -1)
        track.tokens = source.tokens[:best]
        source.used = next(self._clock)
        return best

    def _restore(self, track: CachedSequence, prefix: list[int]) -> bool:
        if self._snapshots is None or (state := self._snapshots.load(prefix)) is None:
            return False
        self._empty(track)
        if not self._context.restore(track.sequence, state):
            self._empty(track)
            return False
        track.tokens = prefix
        self._keep(track)
        return True

    def _keep(self, track: CachedSequence) -> CachedSequence:
        """Copy the track, which holds a fixed prefix and nothing else, for other conversations."""
        kept = min(self._prefixes, key=lambda prefix: prefix.used)
        self._empty(kept)
        self._context.copy(track.sequence, kept.sequence, -1)
        kept.tokens = list(track.tokens)
        kept.used = next(self._clock)
        return kept

    def _evict(self, keep: CachedSequence) -> None:
        """Empty the sequence that was not used for longest. Raises NoRoom when there is none."""
        others = [track for track in (*self._clients, *self._prefixes) if track is not keep and track.tokens]
        if not others:
            raise NoRoom
        self._empty(min(others, key=lambda track: track.used))

    def _empty(self, track: CachedSequence) -> None:
        self._context.cut(track.sequence, 0)
        track.tokens = []
        if track is self._unsaved:
            self._unsaved = None


def shared_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
