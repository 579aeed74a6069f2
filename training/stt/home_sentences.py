"""Generates sentences for a home, as they are said and as Whisper writes them.

`python -m training.stt.home_sentences --model WHISPER_FOLDER --count 60000 --out rows.jsonl --mel mel.npy`.
A row is `{"say": …, "prompt": [tokens], "text": [tokens]}`: the prompt holds the names of the home, as in
the product. Held-out sentences are dropped. `mel.npy` holds the mel filters of faster-whisper.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor
from faster_whisper.tokenizer import Tokenizer

from edgevox.home import House
from edgevox.home.prompt import HomePrompt
from edgevox.stt.text_normalizer import words_of
from edgevox.stt.whisper_adapter import read_tokens
from edgevox.stt.whisper_decoder import hotword_prompt
from edgevox.tts.normalize import normalize_text
from training import no_call
from training.asr_noise import _CAPITALS as CAPITALS
from training.held_out import is_held_out
from training.home.houses import DEMO, KnownHome, random_house
from training.home.phrasing import phrase_request, sounds_like_a_question
from training.home.sampling import HOME_NAMES, any_request, several_requests, themes
from training.home.speaker import Speaker
from training.no_call import load_small_talk, make_remark

_ONES = {
    word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], start=1)
}
_TEENS = {
    word: n
    for n, word in enumerate(
        ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
        start=10,
    )
}
_TENS = {
    word: 10 * n
    for n, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2)
}
_ONE, _TEEN, _TEN = ("|".join(words) for words in (_ONES, _TEENS, _TENS))
_HUNDRED = re.compile(r"\b(?:a|one) hundred(?! and\b)\b")
_NUMBER = re.compile(rf"\b(?:({_TEN})(?:[ -]({_ONE}))?|({_TEEN}))\b")
_BEFORE_UNIT = re.compile(rf"\b({_ONE})(?= (?:percent|degrees)\b)")
_CLOCK = re.compile(rf"\b({_ONE}|ten|eleven|twelve) ((?:{_TEN})(?:[ -](?:{_ONE}))?|{_TEEN})\b(?! percent| degrees)")
_PERCENT = re.compile(r"(?<=\d) ?(?:percent|per cent)\b")


def as_written(text: str, *, is_question: bool) -> str:
    """The sentence with capitals, digits and a mark at its end."""
    text = " ".join(_capital(word) for word in text.strip().split(" "))
    text = _CLOCK.sub(lambda found: f"{_value(found[1])}:{_value(found[2])}", text)
    text = _HUNDRED.sub("100", text)
    text = _NUMBER.sub(lambda found: str(_value(found[0])), text)
    text = _BEFORE_UNIT.sub(lambda found: str(_ONES[found[1]]), text)
    text = _PERCENT.sub("%", text)
    mark = "" if text.endswith((".", "?", "!")) else "?" if is_question else "."
    return text[:1].upper() + text[1:] + mark


def _value(words: str) -> int:
    return sum(_ONES.get(word) or _TEENS.get(word) or _TENS[word] for word in re.split("[ -]", words))


def _capital(word: str) -> str:
    core = word.rstrip(",.?!:;")
    stem = core.removesuffix("'s")
    return CAPITALS[stem] + word[len(stem) :] if stem in CAPITALS else word


_PER_HOME = 8
_MOST_WORDS = 22
_DEMO_SHARE, _NAMELESS_SHARE = 0.06, 0.15
# Of 100: single commands, several in one breath, requests of other tools, ordinary talk.
_KINDS = {"home": 54, "several": 7, "other": 14, "talk": 25}
# How many tokens of names the recogniser is told: a decoder that was told few of them should hear as well.
_NAME_TOKENS = (32, 64, 64, 96, 128)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is said, how it should be written, and the names that the recogniser is told before."""

    said: str
    written: str
    names: tuple[str, ...]


def sentences(seed: int) -> Iterator[Sentence]:
    """Sentences without end; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - examples, no secrets
    talk = [question for pair in load_small_talk() for question in pair.questions]
    while True:
        house = DEMO if rng.random() < _DEMO_SHARE else random_house(rng)
        names = names_of(house)
        known = KnownHome(house)
        for _ in range(_PER_HOME):
            text = _said(rng, Speaker(rng, known), talk)
            words = words_of(text)
            if not 0 < len(words) <= _MOST_WORDS or is_held_out(text):
                continue
            told = () if rng.random() < _NAMELESS_SHARE else names
            is_question = sounds_like_a_question(text)
            yield Sentence(normalize_text(text), as_written(text, is_question=is_question), told)


def names_of(house: House) -> tuple[str, ...]:
    """The names of a home's entities and areas, as the recogniser is primed with them."""
    return HomePrompt(lambda: house).names()


def _said(rng: random.Random, speaker: Speaker, talk: list[str]) -> str:
    (kind,) = rng.choices(list(_KINDS), list(_KINDS.values()))
    match kind:
        case "home":
            return phrase_request(rng, any_request(speaker))
        case "several":
            made = several_requests(lambda: speaker, HOME_NAMES, has_others=False)
            return phrase_request(rng, made or any_request(speaker))
        case "other":
            tool = rng.choice(rng.choice(list(themes().values())))
            drawn = tool.draw(rng)
            spoken = make_remark((tool,), (drawn,), rng) if rng.random() < 0.2 else None
            return spoken.text if spoken else drawn.request(rng)[0]
        case _:
            return no_call.mention(speaker)[0] if rng.random() < 0.2 else rng.choice(talk)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.home_sentences", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="the folder of whisper-base")
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mel", type=Path, required=True, help="a file for Whisper's filters")
    options = parser.parse_args()
    np.save(options.mel, FeatureExtractor().mel_filters)
    tokenizer = Tokenizer(
        read_tokens(options.model / "tokenizer.json"), multilingual=True, task="transcribe", language="en"
    )
    made = sentences(options.seed)
    told = random.Random(options.seed)  # noqa: S311 - examples, no secrets
    with options.out.open("w", encoding="utf-8") as out:
        for _ in range(options.count):
            sentence = next(made)
            row = {
                "say": sentence.said,
                "prompt": hotword_prompt(tokenizer, sentence.names, "en", most_tokens=told.choice(_NAME_TOKENS)),
                "text": tokenizer.encode(" " + sentence.written),
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
