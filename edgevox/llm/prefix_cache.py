"""What the model has evaluated already: a sequence for each client, and the fixed prefixes they share.

A turn evaluates only what is new. The fixed prefix (system prompt and tools) is kept in a sequence of its
own, from which every new conversation is copied, and on disk, so that a restarted daemon has it at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from edgevox.llm.native.context import BATCH_TOKENS, LlamaContext, NoRoom
from edgevox.llm.snapshots import SnapshotStore

CLIENTS = 4
PREFIXES = 2
SEQUENCES = CLIENTS + PREFIXES

# A shorter prefix is evaluated again sooner than it is read from a disk.
_WORTH_KEEPING_TOKENS = 64


@dataclass(slots=True)
class Track:
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
        self._clients = [Track(number) for number in range(CLIENTS)]
        self._prefixes = [Track(number) for number in range(CLIENTS, SEQUENCES)]
        self._clock = itertools.count(1)
        self._unsaved: Track | None = None

    def begin(self, client: str, prompt: Sequence[int], prefix_tokens: int) -> tuple[Track, int]:
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

    def read(self, track: Track, prompt: Sequence[int], prefix_tokens: int) -> Iterator[None]:
        """Evaluate the prompt batch by batch, all but the last; the fixed prefix is kept on the way.

        A long prompt takes minutes: whoever waits learns from each step that it goes on. Raises Aborted,
        NoRoom and ModelError.
        """
        if len(track.tokens) < prefix_tokens < len(prompt):
            yield from self._steps(track, prompt[:prefix_tokens], 0)
            if prefix_tokens >= _WORTH_KEEPING_TOKENS:
                self._unsaved = self._keep(track)
        yield from self._steps(track, prompt, BATCH_TOKENS)

    def extend(self, track: Track, tokens: Sequence[int]) -> None:
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

    def cut(self, track: Track, at: int) -> bool:
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

    def _steps(self, track: Track, prompt: Sequence[int], leave: int) -> Iterator[None]:
        while len(prompt) - len(track.tokens) > leave:
            self.extend(track, prompt[len(track.tokens) : len(track.tokens) + BATCH_TOKENS])
            yield

    # --- finding

    def _track(self, client: str, wanted: Sequence[int]) -> Track:
        for track in self._clients:
            if track.client == client:
                return track
        # A new client takes the place of the one that was silent longest, but not of what it will copy.
        source = max(self._clients, key=lambda track: shared_tokens(track.tokens, wanted))
        track = min((track for track in self._clients if track is not source), key=lambda track: track.used)
        self._empty(track)
        track.client = client
        return track

    def _reuse(self, track: Track, wanted: Sequence[int]) -> int:
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

    def _restore(self, track: Track, prefix: list[int]) -> bool:
        if self._snapshots is None or (state := self._snapshots.load(prefix)) is None:
            return False
        self._empty(track)
        if not self._context.restore(track.sequence, state):
            self._empty(track)
            return False
        track.tokens = prefix
        self._keep(track)
        return True

    def _keep(self, track: Track) -> Track:
        """Copy the track, which holds a fixed prefix and nothing else, for other conversations."""
        kept = min(self._prefixes, key=lambda prefix: prefix.used)
        self._empty(kept)
        self._context.copy(track.sequence, kept.sequence, -1)
        kept.tokens = list(track.tokens)
        kept.used = next(self._clock)
        return kept

    def _evict(self, keep: Track) -> None:
        """Empty the sequence that was not used for longest. Raises NoRoom when there is none."""
        others = [track for track in (*self._clients, *self._prefixes) if track is not keep and track.tokens]
        if not others:
            raise NoRoom
        self._empty(min(others, key=lambda track: track.used))

    def _empty(self, track: Track) -> None:
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
