"""What several tests of the voice loop hear with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from edgevox.core.types import TranscribeRequest, Transcript
from edgevox.engines import SupervisedEngine
from edgevox.stt.whisper import WhisperEngine

_STARTS_WITHIN_S = 120


@pytest.fixture
async def whisper(whisper_base_dir: Path) -> AsyncIterator[SupervisedEngine[TranscribeRequest, Transcript]]:
    engine = SupervisedEngine("stt", WhisperEngine(whisper_base_dir, language="en"))
    async with asyncio.timeout(_STARTS_WITHIN_S):
        await engine.start()
    yield engine
    await engine.close()
