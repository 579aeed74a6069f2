"""A whole training on a tiny model: it learns, and leaves an adapter and a record behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from edgevox.core.errors import EngineFailed
from edgevox.models.lora import check_adapter
from training.llm.settings import Settings, read_settings
from training.llm.train import train
from training.llm.training_loop import learning_rate


def settings(base: Path, folder: Path, more: str) -> Settings:
    options = f"--base {base} --out {folder / 'out'} --rows 2 --row-tokens 256 --processes 2"
    options += " --scenes tests.training.little_scenes:scenes"
    return read_settings([*options.split(), *more.split()], description=None)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """On a tiny model, several threads mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.long
@pytest.mark.usefixtures("one_thread")
def test_a_training_learns_and_says_how(tiny_llama: Path, tmp_path: Path) -> None:
    train(settings(tiny_llama, tmp_path, "--steps 60 --rank 8 --rate 2e-2"))
    check_adapter(tiny_llama, tmp_path / "out/adapter.gguf")
    log = json.loads((tmp_path / "out/training.json").read_text())
    assert log["steps"] == len(log["losses"]) == 60
    assert sum(log["losses"][-10:]) < 0.6 * sum(log["losses"][:10])
    assert log["examples"] == sum(log["examples_by_category"].values()) > 100
    assert set(log["examples_by_category"]) == {"command", "follow-up"}
    assert log["settings"]["rank"] == 8


@pytest.mark.long
@pytest.mark.usefixtures("one_thread")
def test_a_training_that_loses_its_examples_keeps_what_it_has_learnt(tiny_llama: Path, tmp_path: Path) -> None:
    broken = "--scenes tests.training.test_data_loader:broken_scenes --steps 100000"
    with pytest.raises(EngineFailed):
        train(settings(tiny_llama, tmp_path, broken))
    check_adapter(tiny_llama, tmp_path / "out/adapter.gguf")
    assert json.loads((tmp_path / "out/training.json").read_text())["steps"] > 1


def test_the_rate_warms_up_and_falls_to_nothing() -> None:
    rates = [learning_rate(1.0, step, step / 1000) for step in range(1001)]
    assert rates[0] == pytest.approx(1 / 40)
    assert rates[39] == max(rates) > 0.99
    assert rates[500] == pytest.approx(0.5)
    assert rates[1000] == pytest.approx(0)


def test_a_training_needs_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_settings(["--base", "b.gguf", "--out", "o"], description=None)
    assert "--seconds" in capsys.readouterr().err
