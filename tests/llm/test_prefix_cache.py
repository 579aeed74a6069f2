"""Which tokens are evaluated: a fake context counts them, with a KV cache that can or cannot be cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from edgevox.llm.context import BATCH_TOKENS, KvCacheFull, LlamaContext
from edgevox.llm.prefix_cache import CLIENTS, PrefixCache, SnapshotStore

SYSTEM = list(range(1000, 1100))


class FakeContext:
    """Keeps the tokens of every sequence, and says what was evaluated."""

    def __init__(self, *, can_cut: bool = True, cells: int = 100_000) -> None:
        self.can_cut = can_cut
        self.sequences: dict[int, list[int]] = {}
        self.evaluated: list[int] = []
        self._cells = cells

    def evaluate(self, tokens: Sequence[int], sequence: int, at: int) -> None:
        held = self.sequences.setdefault(sequence, [])
        assert at == len(held), "positions must follow each other"
        assert 0 < len(tokens) <= BATCH_TOKENS
        if sum(map(len, self.sequences.values())) + len(tokens) > self._cells:
            raise KvCacheFull
        held += tokens
        self.evaluated += tokens

    def cut(self, sequence: int, at: int) -> bool:
        held = self.sequences.setdefault(sequence, [])
        if 0 < at < len(held) and not self.can_cut:
            return False
        del held[at:]
        return True

    def copy(self, source: int, target: int, length: int) -> None:
        assert not self.sequences.get(target), "only an empty sequence can be copied to"
        held = self.sequences[source]
        assert self.can_cut or length < 0
        self.sequences[target] = held[:length] if length >= 0 else list(held)

    def state(self, sequence: int) -> bytes:
        return bytes(str(self.sequences[sequence]), "ascii")

    def restore(self, sequence: int, state: bytes) -> bool:
        self.sequences[sequence] = [int(token) for token in state.decode()[1:-1].split(",")]
        return True

    def take_evaluated(self) -> list[int]:
        taken, self.evaluated = self.evaluated, []
        return taken


def cache_on(context: FakeContext, folder: Path | None = None) -> PrefixCache:
    snapshots = SnapshotStore(folder, "model", max_bytes=10**9) if folder else None
    return PrefixCache(cast("LlamaContext", context), snapshots)


def ask(cache: PrefixCache, context: FakeContext, prompt: list[int], client: str = "") -> list[int]:
    """Evaluate a prompt as a turn does; the tokens that took."""
    sequence, _ = cache.begin(client, prompt, len(SYSTEM))
    for _step in cache.read(sequence, prompt, len(SYSTEM)):
        pass
    cache.extend(sequence, prompt[len(sequence.tokens) :])
    assert context.sequences[sequence.seq_id] == prompt == sequence.tokens
    return context.take_evaluated()


@pytest.mark.parametrize("can_cut", [True, False])
def test_a_second_turn_evaluates_only_what_is_new(can_cut: bool) -> None:
    context = FakeContext(can_cut=can_cut)
    cache = cache_on(context)
    first = [*SYSTEM, 1, 2, 3]
    assert ask(cache, context, first) == first
    assert ask(cache, context, [*first, 4, 5]) == [4, 5]


@pytest.mark.parametrize("can_cut", [True, False])
def test_a_new_conversation_begins_from_the_shared_prefix(can_cut: bool) -> None:
    context = FakeContext(can_cut=can_cut)
    cache = cache_on(context)
    ask(cache, context, [*SYSTEM, 1, 2], client="one")
    assert ask(cache, context, [*SYSTEM, 7, 8], client="two") == [7, 8]
    assert ask(cache, context, [*SYSTEM, 1, 2, 3], client="one") == [3]


def test_a_reply_that_was_cut_short_is_cut_in_memory_too() -> None:
    context = FakeContext()
    cache = cache_on(context)
    ask(cache, context, [*SYSTEM, 1, 2, 3, 4])
    assert ask(cache, context, [*SYSTEM, 1, 2, 9]) == [9]


def test_without_cutting_the_prefix_is_reused() -> None:
    context = FakeContext(can_cut=False)
    cache = cache_on(context)
    ask(cache, context, [*SYSTEM, 1, 2, 3, 4])
    assert ask(cache, context, [*SYSTEM, 1, 2, 9]) == [1, 2, 9]


def test_the_last_token_is_evaluated_even_when_it_is_known() -> None:
    context = FakeContext()
    cache = cache_on(context)
    ask(cache, context, [*SYSTEM, 1, 2])
    assert ask(cache, context, [*SYSTEM, 1, 2]) == [2]


def test_the_least_recently_used_client_is_evicted() -> None:
    context = FakeContext()
    cache = cache_on(context)
    for number in range(CLIENTS + 1):
        ask(cache, context, [*SYSTEM, number, number], client=str(number))
    assert ask(cache, context, [*SYSTEM, 1, 1, 5], client="1") == [5]
    assert ask(cache, context, [*SYSTEM, 0, 0, 5], client="0") == [0, 0, 5]


def test_a_conversation_goes_on_under_another_name_while_others_come_and_go() -> None:
    context = FakeContext()
    cache = cache_on(context)
    prompt = [*SYSTEM]
    for number in range(3 * CLIENTS):
        prompt += [number, number]
        evaluated = ask(cache, context, prompt, client=f"part {number}")
        assert len(evaluated) == (len(prompt) if number == 0 else 2)
        ask(cache, context, [*SYSTEM, 500, number], client=f"passer-by {number}")


def test_other_conversations_are_evicted_when_the_cache_is_full() -> None:
    context = FakeContext(cells=400)
    cache = cache_on(context)
    ask(cache, context, [*SYSTEM, 1], client="one")
    long = [*SYSTEM, *range(190)]
    assert ask(cache, context, long, client="two") == list(range(190))


def test_a_conversation_that_fills_the_cache_alone_raises_no_room() -> None:
    context = FakeContext(cells=150)
    with pytest.raises(KvCacheFull):
        ask(cache_on(context), context, [*SYSTEM, *range(80)])


def test_after_a_restart_the_prefix_comes_from_the_disk(tmp_path: Path) -> None:
    context = FakeContext()
    cache = cache_on(context, tmp_path)
    ask(cache, context, [*SYSTEM, 1, 2])
    cache.save()
    restarted = FakeContext()
    assert ask(cache_on(restarted, tmp_path), restarted, [*SYSTEM, 5, 6]) == [5, 6]


def test_a_short_prefix_is_not_worth_a_file(tmp_path: Path) -> None:
    context = FakeContext()
    cache = cache_on(context, tmp_path)
    sequence, _ = cache.begin("", [1, 2, 3, 4], 2)
    for _step in cache.read(sequence, [1, 2, 3, 4], 2):
        pass
    cache.extend(sequence, [1, 2, 3, 4][len(sequence.tokens) :])
    cache.save()
    assert not list(tmp_path.iterdir())
