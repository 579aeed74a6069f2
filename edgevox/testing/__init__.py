"""Fakes for engines and devices, for tests of EdgeVox and of programs built on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import numpy as np

from edgevox.audio.files import MemorySpeaker, WavMicrophone
from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatDelta, ChatDone, ChatReply, ChatRequest, SynthesisRequest
from edgevox.testing.virtual_audio import NullSinks

__all__ = ["MemorySpeaker", "NullSinks", "ScriptedModel", "ToneSynthesizer", "WavMicrophone"]


class ScriptedModel:
    """A chat model that streams one line per request in small pieces, or raises it if it is an error."""

    def __init__(self, lines: Sequence[str | EdgevoxError], *, piece_chars: int = 3) -> None:
        self._lines = iter(lines)
        self._piece_chars = piece_chars
        self.requests: list[ChatRequest] = []

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.requests.append(request)
        line = next(self._lines)
        if isinstance(line, EdgevoxError):
            raise line
        for start in range(0, len(line), self._piece_chars):
            if cancel.is_set():
                return
            yield ChatDelta(line[start : start + self._piece_chars])
            await asyncio.sleep(0)  # let other tasks run between pieces, as with a real model
        yield ChatDone("stop", prompt_tokens=0, cached_tokens=0, generated_tokens=len(line))


class ToneSynthesizer:
    """A synthesizer that yields a tone of 10 ms per character and records the texts and their languages."""

    def __init__(self, rate_hz: int = 16_000) -> None:
        self._rate_hz = rate_hz
        self.spoken: list[str] = []
        self.languages: list[str] = []

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        self.spoken.append(request.text)
        self.languages.append(request.language)
        seconds = np.arange(len(request.text) * self._rate_hz // 100) / self._rate_hz
        yield Audio(np.sin(2 * np.pi * 220 * seconds).astype(np.float32), self._rate_hz)
