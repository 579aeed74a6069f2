"""Engines for a child process of their own that take a little time and answer by rule; picklable."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from edgevox.core.turn import CancelFlag
from edgevox.core.types import (
    Audio,
    ChatDelta,
    ChatDone,
    ChatReply,
    ChatRequest,
    SynthesisRequest,
    TranscribeRequest,
    Transcript,
)

RATE_HZ = 16_000
SENTENCES = ("I know of {} questions.", "That is quite a lot.", "Ask me more.")


def seconds_of(text: str) -> float:
    """How long the voice needs for a text: its length tells what was said."""
    return round(len(text) * RATE_HZ / 100) / RATE_HZ


@dataclass
class RuleModel:
    """Says how many questions it has received."""

    work_s: float = 0.02

    def load(self) -> None: ...

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply]:
        if not request.prompt_only:
            questions = sum(message.role == "user" for message in request.messages)
            for sentence in SENTENCES:
                time.sleep(self.work_s)
                if cancel.is_set():
                    return
                yield ChatDelta(sentence.format(questions) + " ")
        yield ChatDone("stop", prompt_tokens=1, cached_tokens=0, generated_tokens=1)


@dataclass
class RuleRecogniser:
    """Hears a number of tenths of a second."""

    work_s: float = 0.02

    def load(self) -> None: ...

    def run(self, request: TranscribeRequest, cancel: CancelFlag) -> Iterator[Transcript]:
        time.sleep(self.work_s)
        tenths = round(request.audio.duration_s * 10)
        yield Transcript(f"What is {tenths}?", "en", request.audio.duration_s)


@dataclass
class RuleVoice:
    """Hums for a hundredth of a second per character."""

    work_s: float = 0.02

    def load(self) -> None: ...

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        time.sleep(self.work_s)
        t_s = np.arange(round(len(request.text) * RATE_HZ / 100)) / RATE_HZ
        yield Audio((0.3 * np.sin(2 * np.pi * 220 * t_s)).astype(np.float32), RATE_HZ)
