"""Whisper as an engine: one utterance in, one transcript out, without its padding, loops and inventions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from edgevox.engine.openmp import limit_omp_spin
from edgevox.errors import ModelError
from edgevox.stt.ladder import FULL_WINDOW_S
from edgevox.stt.rescoring import Rescorer, TextScorer
from edgevox.stt.utterance import Decoder, Gate, Utterance
from edgevox.turn import CancelFlag
from edgevox.types import TranscribeRequest, Transcript

_LONGEST_PIECE_S = FULL_WINDOW_S - 2.0


class WhisperEngine:
    """An Engine[TranscribeRequest, Transcript] on a folder that holds a CTranslate2 model.

    `language` is what is spoken where a request does not say; None listens for it at every utterance.
    `adapter` is what the model has learnt since, a LoRA adapter. With `rescoring`, an English utterance that
    it is unsure of is decided by what is said to homes, with the help of a `text_scorer` where there is one.
    """

    def __init__(
        self,
        model_dir: Path,
        *,
        threads: int = 2,
        language: str | None = None,
        beam_size: int = 1,
        adapter: Path | None = None,
        rescoring: bool = False,
        text_scorer: TextScorer | None = None,
    ) -> None:
        self.model_dir = model_dir
        self.adapter = adapter
        self.threads = threads
        self.language = language
        self.beam_size = beam_size
        self.rescoring = rescoring
        self.text_scorer = text_scorer
        self._rescorer: Rescorer | None = None
        self._decoder: Decoder | None = None
        self._gate: Gate | None = None

    def load(self) -> None:
        """Read the model. Raises ModelMissing when a file is not there, ModelError when it cannot be used."""
        limit_omp_spin()
        # Not at the top of the file: the process that builds this object need not carry CTranslate2.
        from edgevox.stt.recogniser import Recogniser
        from edgevox.stt.speech_gate import SpeechGate

        self._gate = SpeechGate(_LONGEST_PIECE_S)
        if self.rescoring:
            if self.text_scorer is not None:
                self.text_scorer.load()
            self._rescorer = Rescorer.load(text_scorer=self.text_scorer)
        self._decoder = Recogniser.load(
            self.model_dir, threads=self.threads, beam_size=self.beam_size, adapter=self.adapter
        )

    def run(self, request: TranscribeRequest, cancel: CancelFlag) -> Iterator[Transcript]:
        """Yield one transcript, nothing once `cancel` is set. Raises ConfigError for an unknown language."""
        if self._decoder is None or self._gate is None:
            raise ModelError("Whisper has not been loaded", hint="call load() before run()")
        language = request.language or self.language
        utterance = Utterance(request, self._gate, self._decoder, language, self._rescorer)
        # One window cannot be interrupted: a cancelled utterance ends with the window that is being decoded.
        if (transcript := utterance.transcript(cancel)) is not None:
            yield transcript
