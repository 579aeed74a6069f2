"""The mean of adapters: what it adds is the mean of what they add, as far as its rank goes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgevox.errors import ModelError
from training.average import Factors, main, mean_of, read_factors
from training.export import write_factors

RANDOM = np.random.default_rng(7)


def adapter(rank: int, *, weight: str = "blk.0.attn_q.weight") -> dict[str, Factors]:
    a = RANDOM.standard_normal((rank, 64)).astype(np.float32)
    b = RANDOM.standard_normal((96, rank)).astype(np.float32)
    return {weight: Factors(a, b)}


def added(factors: dict[str, Factors]) -> np.ndarray:
    ((_, one),) = factors.items()
    return one.b @ one.a


def test_with_rank_enough_it_is_the_mean_itself() -> None:
    first, second = adapter(4), adapter(4)
    mean, lost = mean_of([first, second], 8)
    assert lost == pytest.approx(0, abs=1e-6)
    assert added(mean) == pytest.approx((added(first) + added(second)) / 2, abs=1e-4)


def test_a_smaller_rank_keeps_the_strongest_directions_and_says_what_is_lost() -> None:
    first, second = adapter(4), adapter(4)
    exact = (added(first) + added(second)) / 2
    mean, lost = mean_of([first, second], 5)
    strengths = np.linalg.svd(exact, compute_uv=False)
    assert np.linalg.matrix_rank(added(mean), tol=1e-3) == 5
    assert lost == pytest.approx(np.square(strengths[5:]).sum() / np.square(strengths).sum(), rel=1e-3)
    assert np.square(added(mean) - exact).sum() == pytest.approx(np.square(strengths[5:]).sum(), rel=1e-3)


def test_adapters_of_different_models_have_no_mean() -> None:
    with pytest.raises(ModelError, match="different models"):
        mean_of([adapter(4), adapter(4, weight="blk.0.attn_k.weight")], 4)


def test_the_scale_of_an_adapter_is_in_its_factors(tmp_path: Path) -> None:
    one = adapter(4)
    numbers = {weight: (factors.a, factors.b) for weight, factors in one.items()}
    write_factors(tmp_path / "one.gguf", numbers, alpha=8.0, name="one", number_type="f16")
    assert added(read_factors(tmp_path / "one.gguf")) == pytest.approx(2 * added(one), abs=0.1)


def test_the_mean_of_an_adapter_with_itself_is_that_adapter(tmp_path: Path) -> None:
    numbers = {weight: (factors.a, factors.b) for weight, factors in adapter(32).items()}
    path, out = tmp_path / "one.gguf", tmp_path / "mean.gguf"
    write_factors(path, numbers, alpha=64.0, name="one", number_type="q8_0")
    main([str(path), str(path), "--out", str(out), "--rank", "32"])
    wanted = added(read_factors(path))
    assert np.abs(added(read_factors(out)) - wanted).max() < 0.02 * np.abs(wanted).max()
    assert out.stat().st_size == path.stat().st_size
