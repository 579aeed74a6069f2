from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from edgevox.stt.whisper_decoder import TwoModelDecoder, _DecoderPrompt, hotword_prompt

START, MOST = -1, 128


@dataclass
class WordTokenizer:
    """A token is a word; it can be read back."""

    sot_prev: int = START
    known: list[str] = field(default_factory=list)

    def encode(self, text: str) -> list[int]:
        self.known += (words := text.split())
        return list(range(len(self.known) - len(words), len(self.known)))

    def read(self, tokens: list[int]) -> str:
        return " ".join(self.known[token] for token in tokens if token != START)


@dataclass
class NamedDecoder:
    """Records what it is asked for."""

    name: str
    log: list[str]

    def decode_options(self, language: str | None) -> str:
        return f"{self.name} options for {language}"

    def detect_language(self, samples: object, window: object, among: object) -> str:
        self.log.append(f"{self.name} detects among {among}")
        return "de"

    def attempt(self, samples: object, window: object, *, language: str, names: object) -> None:
        self.log.append(f"{self.name} decodes {language}")


def test_english_is_detected_and_decoded_by_the_adapted_model_and_german_by_the_plain_one() -> None:
    log: list[str] = []
    both: Any = TwoModelDecoder(NamedDecoder("adapted", log), NamedDecoder("plain", log))  # type: ignore[arg-type]
    assert [both.decode_options(language) for language in (None, "en", "de")] == [
        "adapted options for en",
        "adapted options for en",
        "plain options for de",
    ]
    both.detect_language(None, None, ("en", "de"))
    both.attempt(None, None, language="en")
    both.attempt(None, None, language="de")
    assert log == ["adapted detects among ('en', 'de')", "adapted decodes en", "plain decodes de"]


def test_without_names_there_is_no_prompt() -> None:
    assert hotword_prompt(WordTokenizer(), (), "en", most_tokens=MOST) == []
    assert hotword_prompt(WordTokenizer(), ("", "  "), "en", most_tokens=MOST) == []


def test_a_name_is_given_once() -> None:
    tokenizer = WordTokenizer()
    prompt = hotword_prompt(tokenizer, ("Kitchen", "Hall", "Kitchen "), "sv", most_tokens=MOST)
    assert prompt[0] == START
    assert tokenizer.read(prompt).split() == ["Kitchen", ",", "Hall", "."]


def test_english_names_come_before_a_command() -> None:
    tokenizer = WordTokenizer()
    assert tokenizer.read(hotword_prompt(tokenizer, ("Hall",), "en", most_tokens=MOST)).startswith("hall . Turn")


def test_english_names_are_written_as_in_the_middle_of_a_sentence() -> None:
    tokenizer = WordTokenizer()
    names = ("Kitchen Light", "kitchen light", "LED Strip", "EcoBee", "Jonas's Room")
    told = tokenizer.read(hotword_prompt(tokenizer, names, "en", most_tokens=MOST)).partition(" . ")[0]
    assert told == "kitchen light , LED strip , EcoBee , jonas's room"


def test_german_names_keep_their_capitals() -> None:
    tokenizer = WordTokenizer()
    assert tokenizer.read(hotword_prompt(tokenizer, ("Rote Lampe",), "de", most_tokens=MOST)).startswith("Rote Lampe")


def test_only_whole_names_that_fit_are_given() -> None:
    tokenizer = WordTokenizer()
    names = tuple(f"Left{index} Right{index}" for index in range(1000))
    given = tokenizer.read(hotword_prompt(tokenizer, names, "sv", most_tokens=MOST)).split()
    assert len(given) <= MOST + 1
    lefts, rights = (sum(word.startswith(side) for word in given) for side in ("Left", "Right"))
    assert lefts == rights > 10


@dataclass
class SpellingTokenizer:
    """Three words, a mark and a time."""

    eot: int = 4
    texts: tuple[str, ...] = ("turn", " on", " off", ".", "<|1.00|>")

    def decode(self, tokens: list[int]) -> str:
        return "".join(self.texts[token] for token in tokens)


def test_the_least_sure_word_counts_and_not_a_mark_or_a_time() -> None:
    decoding = _DecoderPrompt(SpellingTokenizer(), [], 9)
    half = np.log(np.array([0.98, 0.005, 0.005, 0.005, 0.005], np.float32))
    steps = [half, np.log(np.array([0.1, 0.6, 0.2, 0.05, 0.05], np.float32)), np.zeros(5, np.float32), np.zeros(5)]
    least = decoding.least_word_logprob([0, 1, 3, 4], steps)
    assert least == pytest.approx(np.log(0.6), abs=1e-4)
