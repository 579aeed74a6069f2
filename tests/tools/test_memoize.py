"""An answer is kept for its time, and only so many."""

from __future__ import annotations

from edgevox.tools.memoize import Memo


def test_an_answer_is_kept_for_its_time() -> None:
    now_s = 0.0
    memo: Memo[str] = Memo(clock=lambda: now_s)
    memo.put("a", "one", ttl_s=10)
    now_s = 9.9
    assert memo.get("a") == "one"
    now_s = 10.0
    assert memo.get("a") is None
    assert len(memo) == 0


def test_the_answer_that_was_asked_for_longest_ago_goes_first() -> None:
    memo: Memo[int] = Memo(max_entries=2)
    memo.put("a", 1, ttl_s=10)
    memo.put("b", 2, ttl_s=10)
    assert memo.get("a") == 1
    memo.put("c", 3, ttl_s=10)
    assert (memo.get("a"), memo.get("b"), memo.get("c")) == (1, None, 3)
