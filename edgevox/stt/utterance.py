"""The story of one utterance: cut to its speech, decoded in a short window, in longer ones if it must be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edgevox.languages import ENGLISH
from edgevox.stt.attempt import Attempt, most_believable
from edgevox.stt.hypotheses import Hypothesis, choose
from edgevox.stt.ladder import Asking, Window
from edgevox.stt.rescoring import Rescorer
from edgevox.turn import CancelFlag
from edgevox.types import WHISPER_RATE_HZ, Audio, TranscribeRequest, Transcript

NO_SPEECH = "no speech"
NO_WORDS = "no words"
UNINTELLIGIBLE = "unintelligible"

_NO_LANGUAGE = "en"


class Decoder(Protocol):
    """What is needed of a recogniser: edgevox.stt.recogniser.Recogniser."""

    def asking(self, language: str | None) -> Asking: ...

    def detect_language(self, samples: NDArray[np.float32], window: Window) -> str: ...

    def attempt(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str]
    ) -> Attempt: ...

    def hypotheses(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str]
    ) -> Sequence[Hypothesis]: ...


class Gate(Protocol):
    """What is needed of a voice detector: edgevox.stt.speech_gate.SpeechGate."""

    def pieces(self, audio: Audio) -> Iterable[NDArray[np.float32]]: ...


@dataclass(slots=True)
class Utterance:
    """One request on its way to a transcript."""

    request: TranscribeRequest
    gate: Gate
    decoder: Decoder
    language: str | None
    rescorer: Rescorer | None = None
    _attempts: int = 0

    def transcript(self, cancel: CancelFlag) -> Transcript | None:
        """Transcribe; None once `cancel` is set. Raises ConfigError for a language that nobody knows."""
        believed: list[Attempt] = []
        dropped = NO_SPEECH
        for piece in self.gate.pieces(self.request.audio):
            tried = self._try(piece, cancel)
            if cancel.is_set():
                return None
            if (best := most_believable(tried)) is not None:
                believed.append(best)
            else:
                dropped = NO_WORDS if any(attempt.is_nothing() for attempt in tried) else UNINTELLIGIBLE
        return Transcript(
            text=" ".join(attempt.text for attempt in believed),
            language=self.language or _NO_LANGUAGE,
            duration_s=self.request.audio.duration_s,
            mean_logprob=min((attempt.mean_logprob for attempt in believed), default=0.0),
            window_s=max((attempt.window_s for attempt in believed), default=0.0),
            attempts=self._attempts,
            dropped=None if believed else dropped,
            confidence=math.prod(attempt.confidence for attempt in believed),
        )

    def _try(self, piece: NDArray[np.float32], cancel: CancelFlag) -> list[Attempt]:
        """Decode one piece in longer and longer windows, until there is nothing wrong with it."""
        tried: list[Attempt] = []
        for window in self.decoder.asking(self.language).windows_for(len(piece) / WHISPER_RATE_HZ):
            if cancel.is_set():
                break
            if self.language is None:
                self.language = self.decoder.detect_language(piece, window)
            attempt = self._attempt(piece, window, self.language, cancel)
            tried.append(attempt)
            if attempt.fault() is None:
                break
        self._attempts += len(tried)
        return tried

    def _attempt(
        self, piece: NDArray[np.float32], window: Window, language: str, cancel: CancelFlag
    ) -> Attempt:
        """Decode one piece; where the decoder is unsure, its other readings are weighed as well."""
        names = self.request.names
        attempt = self.decoder.attempt(piece, window, language=language, names=names).said_once()
        if not attempt.is_unsure() or cancel.is_set():
            return attempt
        hypotheses = self.decoder.hypotheses(piece, window, language=language, names=names)
        if self.rescorer is None or language != ENGLISH:
            return attempt.read_as(hypotheses, choose)
        rescorer = self.rescorer
        return attempt.read_as(hypotheses, lambda sane: rescorer.choose(sane, names))
