"""Tests of what needs PyTorch are left out where it is not installed; the header of the run says so."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.training.tiny_llama import write_tiny_llama
from training.llm.data_loader import Tokens

_HAS_TORCH = find_spec("torch") is not None
_NEED_TORCH = ("adapters", "llama", "score", "stt", "train")

collect_ignore = [] if _HAS_TORCH else [f"test_{name}.py" for name in _NEED_TORCH]


def pytest_report_header() -> list[str]:
    return [] if _HAS_TORCH else ["training: no PyTorch, so its tests are left out (make train-smoke gets it)"]


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of random weights that llama.cpp loads, in a file of some hundred kilobytes."""
    return write_tiny_llama(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session")
def byte_tokens(tiny_llama: Path) -> Tokens:
    """Tokens that are single bytes."""
    return Tokens.from_gguf(tiny_llama)
