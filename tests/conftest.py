"""Fixtures that every test may use: the real default models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def _models_dir() -> Path:
    return Path(os.environ["EDGEVOX_TEST_MODELS"])


@pytest.fixture(scope="session")
def whisper_base_dir() -> Path:
    return _models_dir() / "whisper-base"


@pytest.fixture(scope="session")
def whisper_tiny_dir() -> Path:
    return _models_dir() / "whisper-tiny.en"


@pytest.fixture(scope="session")
def piper_voice_path() -> Path:
    return _models_dir() / "piper" / "en_US-joe-medium.onnx"


@pytest.fixture(scope="session")
def smollm2_path() -> Path:
    return _models_dir() / "llm" / "SmolLM2-135M-Instruct.Q4_1.gguf"
