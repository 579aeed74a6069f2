from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, TranscribeRequest, Transcript
from edgevox.stt.decoding import (
    DEFAULT_DECODE_OPTIONS,
    FULL_WINDOW_S,
    NO_SPEECH,
    NO_WORDS,
    UNINTELLIGIBLE,
    DecodeOptions,
    Decoding,
    Hypothesis,
    Window,
)
from edgevox.stt.rescoring import Rescorer
from edgevox.stt.whisper import UtteranceDecoder

LOOP = "next next next next next next"


@dataclass
class ScriptedGate:
    pieces_s: tuple[float, ...] = (2.0,)

    def pieces(self, audio: Audio) -> Iterator[NDArray[np.float32]]:
        for piece_s in self.pieces_s:
            yield np.zeros(round(piece_s * SAMPLE_RATE_HZ), np.float32)


@dataclass
class ScriptedDecoder:
    """Answers with one text after the other, and notes what it was asked."""

    texts: Sequence[str]
    mean_logprob: float = -0.2
    cancel_at: int | None = None
    cancel: CancelFlag = field(default_factory=CancelFlag)
    windows: list[Window] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    names: list[Sequence[str]] = field(default_factory=list)
    detections: int = 0
    least_word_logprob: float = 0.0
    readings: Sequence[Hypothesis] = ()
    weighed: int = 0

    def decode_options(self, language: str | None) -> DecodeOptions:
        return DEFAULT_DECODE_OPTIONS

    def detect_language(self, samples: NDArray[np.float32], window: Window, among: Collection[str] = ()) -> str:
        self.detections += 1
        return "de" if not among or "de" in among else next(iter(among))

    def attempt(self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str]) -> Decoding:
        text = self.texts[len(self.windows)]
        self.windows.append(window)
        self.languages.append(language)
        self.names.append(names)
        if len(self.windows) == self.cancel_at:
            self.cancel.set()
        return Decoding(
            text, True, self.mean_logprob, 0.0, len(samples) / SAMPLE_RATE_HZ, window.encoded_s, self.least_word_logprob
        )

    def hypotheses(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str]
    ) -> Sequence[Hypothesis]:
        self.weighed += 1
        return self.readings


def hear(
    decoder: ScriptedDecoder,
    gate: ScriptedGate | None = None,
    *,
    language: str | None = "en",
    names: tuple[str, ...] = (),
    rescorer: Rescorer | None = None,
) -> Transcript | None:
    request = TranscribeRequest(Audio(np.zeros(SAMPLE_RATE_HZ, np.float32), SAMPLE_RATE_HZ), names=names)
    return UtteranceDecoder(request, gate or ScriptedGate(), decoder, language, rescorer).transcript(decoder.cancel)


def test_a_good_first_attempt_is_the_only_one() -> None:
    decoder = ScriptedDecoder(["Stop."])
    transcript = hear(decoder)
    assert transcript is not None
    sure = replace(transcript, confidence=1.0)
    assert sure == Transcript("Stop.", "en", 1.0, -0.2, decoder.windows[0].encoded_s, attempts=1)


def test_a_loop_is_tried_again_in_a_longer_window() -> None:
    decoder = ScriptedDecoder([LOOP, "Next."])
    transcript = hear(decoder)
    assert transcript is not None
    assert (transcript.text, transcript.attempts) == ("Next.", 2)
    assert decoder.windows[1].encoded_s > decoder.windows[0].encoded_s


def test_a_loop_in_every_window_never_comes_out() -> None:
    decoder = ScriptedDecoder([LOOP] * 9)
    transcript = hear(decoder)
    assert transcript is not None
    assert (transcript.text, transcript.dropped) == ("", UNINTELLIGIBLE)
    assert decoder.windows[-1].encoded_s == FULL_WINDOW_S
    assert len(decoder.windows) == 2


def test_an_unlikely_text_that_every_window_gives_is_kept() -> None:
    transcript = hear(ScriptedDecoder(["Peppa pig."] * 9, mean_logprob=-1.1))
    assert transcript is not None
    assert transcript.text == "Peppa pig."


def test_without_speech_the_decoder_is_never_asked() -> None:
    decoder = ScriptedDecoder([])
    transcript = hear(decoder, ScriptedGate(()))
    assert transcript is not None
    assert (transcript.text, transcript.dropped, transcript.attempts) == ("", NO_SPEECH, 0)
    assert decoder.detections == 0


def test_speech_without_words_is_dropped() -> None:
    transcript = hear(ScriptedDecoder(["..."] * 2))
    assert transcript is not None
    assert (transcript.text, transcript.dropped) == ("", NO_WORDS)


def test_the_pieces_of_a_long_utterance_are_joined() -> None:
    transcript = hear(ScriptedDecoder(["First the hall.", "Then the kitchen."]), ScriptedGate((4.0, 4.0)))
    assert transcript is not None
    assert (transcript.text, transcript.attempts) == ("First the hall. Then the kitchen.", 2)


def test_a_piece_that_cannot_be_understood_does_not_cost_the_others() -> None:
    transcript = hear(ScriptedDecoder(["Lights on.", *[LOOP] * 3]), ScriptedGate((28.0, 2.0)))
    assert transcript is not None
    assert (transcript.text, transcript.dropped) == ("Lights on.", None)


def test_cancel_ends_it_before_the_next_window() -> None:
    decoder = ScriptedDecoder([LOOP] * 9, cancel_at=1)
    assert hear(decoder) is None
    assert len(decoder.windows) == 1


def test_cancelled_before_it_starts_nothing_is_decoded() -> None:
    decoder = ScriptedDecoder([])
    decoder.cancel.set()
    assert hear(decoder) is None


def test_the_language_is_detected_once_and_only_when_nobody_says_it() -> None:
    told, guessing = ScriptedDecoder(["Ja."]), ScriptedDecoder([LOOP, "Ja.", "Nein."])
    hear(told, language="nl")
    hear(guessing, ScriptedGate((2.0, 2.0)), language=None)
    assert (told.detections, told.languages) == (0, ["nl"])
    assert (guessing.detections, guessing.languages) == (1, ["de", "de", "de"])


def test_a_language_that_nobody_speaks_at_home_is_not_detected() -> None:
    decoder = ScriptedDecoder(["Yes."])
    utterance = UtteranceDecoder(
        TranscribeRequest(Audio(np.zeros(SAMPLE_RATE_HZ, np.float32), SAMPLE_RATE_HZ)),
        ScriptedGate((2.0,)),
        decoder,
        None,
        languages=("en", "fr"),
    )
    utterance.transcript(CancelFlag())
    assert decoder.languages == ["en"]


def test_the_names_reach_the_decoder() -> None:
    decoder = ScriptedDecoder(["Stop."])
    hear(decoder, names=("EcoBee",))
    assert decoder.names == [("EcoBee",)]


WEDDING = (
    Hypothesis("What's the wedding?", -1.0, 5),
    Hypothesis("What's the weather?", -2.0, 5),
    Hypothesis(f"{LOOP}", -0.5, 8),
)


def test_a_clear_piece_is_decoded_once() -> None:
    decoder = ScriptedDecoder(["What's the wedding?"], readings=WEDDING)
    transcript = hear(decoder, rescorer=Rescorer.load())
    assert transcript is not None
    assert (transcript.text, decoder.weighed) == ("What's the wedding?", 0)


def test_where_it_is_unsure_what_is_said_to_homes_decides() -> None:
    decoder = ScriptedDecoder(["What's the wedding?"], least_word_logprob=-0.7, readings=WEDDING)
    transcript = hear(decoder, rescorer=Rescorer.load())
    assert transcript is not None
    assert (transcript.text, decoder.weighed) == ("What's the weather?", 1)


def test_without_a_language_model_the_likeliest_sane_reading_is_taken() -> None:
    decoder = ScriptedDecoder(["What's a wedding?"], least_word_logprob=-0.7, readings=WEDDING)
    transcript = hear(decoder)
    assert transcript is not None
    assert transcript.text == "What's the wedding?"


def test_another_language_is_left_as_the_decoder_ranks_it() -> None:
    decoder = ScriptedDecoder(["What's the wedding?"], least_word_logprob=-0.7, readings=WEDDING)
    transcript = hear(decoder, language="nl", rescorer=Rescorer.load())
    assert transcript is not None
    assert transcript.text == "What's the wedding?"


def test_a_reading_that_shares_its_probability_is_less_certain() -> None:
    close = (Hypothesis("Off.", -0.7, 2), Hypothesis("Of.", -0.8, 2))
    clear = (Hypothesis("Off.", -0.7, 2), Hypothesis("Of.", -9.0, 2))
    confidences = []
    for readings in (close, clear):
        transcript = hear(ScriptedDecoder(["Off."], least_word_logprob=-0.6, readings=readings))
        assert transcript is not None
        confidences.append(transcript.confidence)
    assert confidences[0] < 0.5 < confidences[1]


def test_a_turn_that_was_cancelled_meanwhile_is_not_read_again() -> None:
    decoder = ScriptedDecoder(["Of."], least_word_logprob=-0.6, readings=WEDDING, cancel_at=1)
    assert hear(decoder) is None
    assert decoder.weighed == 0
