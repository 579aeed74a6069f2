"""The prefix cache: evaluated prompts in the KV cache, one sequence per client, and snapshots on disk.

A turn evaluates only new tokens. The fixed prefix (system prompt and tools) has its own sequence, from which every new
conversation is copied, and a file on disk. llama.cpp aborts the process on a truncated state and accepts a foreign one
silently, so a snapshot begins with a digest of its key, its tokens and the state's checksum, and is loaded only if it
matches.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import llama_cpp
import numpy as np

from edgevox.core.files import private_folder, write_atomic
from edgevox.llm.context import BATCH_TOKENS, KvCacheFull, LlamaContext

_DIGEST_BYTES = 32
_SUFFIX = ".prefix"


@dataclass(frozen=True, slots=True)
class SnapshotStore:
    """The prefixes of one model and configuration. All models share `max_bytes`; the oldest are deleted.

    `key` identifies everything a state depends on besides its tokens and llama.cpp's build.
    """

    folder: Path
    key: str
    max_bytes: int

    def load(self, tokens: Sequence[int]) -> bytes | None:
        """Return the state after exactly these tokens, or None if there is no valid one."""
        path = self._path(tokens)
        try:
            with path.open("rb") as file:
                digest, state = file.read(_DIGEST_BYTES), file.read()
            if digest != self._digest(tokens, state):
                return None
            os.utime(path)  # deletion is by last use
        except OSError:
            return None
        return state

    def save(self, tokens: Sequence[int], state: bytes) -> None:
        """Store a state; a failed write only costs time at the next start."""
        if len(state) > self.max_bytes:
            return
        with contextlib.suppress(OSError):
            private_folder(self.folder)
            self._delete_oldest(len(state))
            write_atomic(self._path(tokens), self._digest(tokens, state), state)

    def _path(self, tokens: Sequence[int]) -> Path:
        return self.folder / f"{self._digest(tokens).hex()[:32]}{_SUFFIX}"

    def _digest(self, tokens: Sequence[int], state: bytes = b"") -> bytes:
        """Return a digest of the state and of everything it depends on."""
        digest = hashlib.sha256(json.dumps([llama_cpp.__version__, self.key, len(tokens)]).encode())
        digest.update(np.asarray(tokens, "<i4").tobytes())
        # A CRC finds accidental damage, and takes a quarter of the time of a digest of 30 MB.
        digest.update(struct.pack("<QI", len(state), zlib.crc32(state)))
        return digest.digest()

    def _delete_oldest(self, state_bytes: int) -> None:
        kept = sorted((file.stat().st_mtime, file.stat().st_size, file) for file in self.folder.glob(f"*{_SUFFIX}"))
        total = sum(size for _, size, _ in kept) + state_bytes
        for _, size, file in kept:
            if total <= self.max_bytes:
                break
            file.unlink(missing_ok=True)
            total -= size


CLIENTS = 4
PREFIXES = 2
SEQUENCES = CLIENTS + PREFIXES

# Evaluating a shorter prefix is faster than reading it from disk.
_WORTH_KEEPING_TOKENS = 64


@dataclass(slots=True)
class CachedSequence:
    """One sequence of the KV cache and its tokens."""

    seq_id: int
    tokens: list[int] = field(default_factory=list)
    client: str | None = None
    used: int = 0


class PrefixCache:
    """Owns the sequences of a context. All evaluation goes through it."""

    def __init__(self, context: LlamaContext, snapshots: SnapshotStore | None = None) -> None:
        self._context = context
        self._snapshots = snapshots
        self._clients = [CachedSequence(number) for number in range(CLIENTS)]
        self._prefixes = [CachedSequence(number) for number in range(CLIENTS, SEQUENCES)]
        self._clock = itertools.count(1)
        self._unsaved: CachedSequence | None = None

    def fork(self, context: LlamaContext) -> PrefixCache:
        """Return an empty one for another context; it only reads snapshots: its own are not worth the disk space."""
        return PrefixCache(context, self._snapshots and replace(self._snapshots, max_bytes=0))

    def begin(self, client: str, prompt: Sequence[int], prefix_tokens: int) -> tuple[CachedSequence, int]:
        """Return the client's sequence with the longest cached part of the prompt, and that part's length.

        The first `prefix_tokens` are fixed and may come from the disk. The last token is never cached: its logits are
        needed. Raises ModelError.
        """
        sequence = self._client_sequence(client, prompt[:-1])
        known = self._reuse(sequence, prompt[:-1])
        sequence.used = next(self._clock)
        if known < prefix_tokens < len(prompt) and prefix_tokens >= _WORTH_KEEPING_TOKENS:
            prefix = list(prompt[:prefix_tokens])
            if self._restore(sequence, prefix):
                known = prefix_tokens
        return sequence, known

    def read(self, sequence: CachedSequence, prompt: Sequence[int], prefix_tokens: int) -> Iterator[None]:
        """Evaluate all batches of the prompt but the last, and store the fixed prefix on the way.

        A long prompt takes minutes, so each step yields to show progress. Raises Aborted, KvCacheFull and ModelError.
        """
        if len(sequence.tokens) < prefix_tokens < len(prompt):
            yield from self._steps(sequence, prompt[:prefix_tokens], 0)
            if prefix_tokens >= _WORTH_KEEPING_TOKENS:
                self._unsaved = self._keep(sequence)
        yield from self._steps(sequence, prompt, BATCH_TOKENS)

    def extend(self, sequence: CachedSequence, tokens: Sequence[int]) -> None:
        """Append tokens to the sequence and evaluate them in whole batches. Raises Aborted, KvCacheFull, ModelError."""
        for start in range(0, len(tokens), BATCH_TOKENS):
            batch = tokens[start : start + BATCH_TOKENS]
            while True:
                try:
                    self._context.evaluate(batch, sequence.seq_id, len(sequence.tokens))
                    break
                except KvCacheFull:
                    self._evict(keep=sequence)
            sequence.tokens += batch

    def cut(self, sequence: CachedSequence, at: int) -> None:
        """Remove the tokens from `at` on, or all if the KV cache cannot do that."""
        if at >= len(sequence.tokens):
            return
        if self._context.cut(sequence.seq_id, at):
            del sequence.tokens[at:]
        else:
            self._empty(sequence)

    def save(self) -> None:
        """Write a new fixed prefix to disk. Call it after the answer, so that no user waits for it."""
        if self._unsaved is not None and self._snapshots is not None:
            sequence, self._unsaved = self._unsaved, None
            self._snapshots.save(sequence.tokens, self._context.state(sequence.seq_id))

    def _steps(self, sequence: CachedSequence, prompt: Sequence[int], leave: int) -> Iterator[None]:
        while len(prompt) - len(sequence.tokens) > leave:
            self.extend(sequence, prompt[len(sequence.tokens) : len(sequence.tokens) + BATCH_TOKENS])
            yield

    # --- lookup

    def _client_sequence(self, client: str, wanted: Sequence[int]) -> CachedSequence:
        for sequence in self._clients:
            if sequence.client == client:
                return sequence
        # A new client replaces the least recently used one, except the one it copies from.
        source = max(self._clients, key=lambda known: shared_tokens(known.tokens, wanted))
        sequence = min((other for other in self._clients if other is not source), key=lambda other: other.used)
        self._empty(sequence)
        sequence.client = client
        return sequence

    def _reuse(self, sequence: CachedSequence, wanted: Sequence[int]) -> int:
        """Fill the sequence with the longest cached beginning of `wanted`; return its length."""
        own = shared_tokens(sequence.tokens, wanted)
        if own < len(sequence.tokens) and not self._context.can_cut:
            own = 0
        source, best = sequence, own
        for other in (*self._prefixes, *self._clients):
            shared = shared_tokens(other.tokens, wanted)
            # A recurrent state cannot be cut back, only copied whole.
            if shared > best and (self._context.can_cut or shared == len(other.tokens)):
                source, best = other, shared
        if source is sequence:
            self.cut(sequence, own)
            return len(sequence.tokens)
        self._empty(sequence)
        self._context.copy(source.seq_id, sequence.seq_id, best if self._context.can_cut else -1)
        sequence.tokens = source.tokens[:best]
        source.used = next(self._clock)
        return best

    def _restore(self, sequence: CachedSequence, prefix: list[int]) -> bool:
        if self._snapshots is None or (state := self._snapshots.load(prefix)) is None:
            return False
        self._empty(sequence)
        if not self._context.restore(sequence.seq_id, state):
            self._empty(sequence)
            return False
        sequence.tokens = prefix
        self._keep(sequence)
        return True

    def _keep(self, sequence: CachedSequence) -> CachedSequence:
        """Copy a sequence that holds exactly a fixed prefix, for other conversations."""
        kept = min(self._prefixes, key=lambda prefix: prefix.used)
        self._empty(kept)
        self._context.copy(sequence.seq_id, kept.seq_id, -1)
        kept.tokens = list(sequence.tokens)
        kept.used = next(self._clock)
        return kept

    def _evict(self, keep: CachedSequence) -> None:
        """Empty the least recently used sequence. Raises KvCacheFull if there is none."""
        others = [
            sequence for sequence in (*self._clients, *self._prefixes) if sequence is not keep and sequence.tokens
        ]
        if not others:
            raise KvCacheFull
        self._empty(min(others, key=lambda other: other.used))

    def _empty(self, sequence: CachedSequence) -> None:
        self._context.cut(sequence.seq_id, 0)
        sequence.tokens = []
        if sequence is self._unsaved:
            self._unsaved = None


def shared_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the common prefix."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
