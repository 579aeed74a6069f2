"""What the recogniser learns to write: sentences for a home, as they are said, and as Whisper writes.

`python -m training.hearing.sentences --model WHISPER_FOLDER --count 60000 --out rows.jsonl --mel mel.npy`. A
row is `{"say": …, "prompt": [tokens], "text": [tokens]}`: the prompt holds the names of the home, as in the
product. No sentence that a model is judged by is among them. `mel.npy` is what the learning needs of
faster-whisper.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor
from faster_whisper.tokenizer import Tokenizer

from edgevox.eval.word_errors import words_of
from edgevox.stt.recogniser import names_prompt
from edgevox.stt.vocabulary import read_tokens
from edgevox.tools.home import House
from edgevox.tools.home.told_home import ToldHome
from edgevox.tts.speakable import speakable
from training.asides import aside
from training.hearing.spelling import as_written
from training.home import beyond
from training.home.houses import DEMO, Known, random_house
from training.home.manner import put, sounds_like_a_question
from training.home.requests import any_request, several
from training.home.speaker import Speaker
from training.home.stages import HOME_NAMES, themes
from training.kept_aside import is_kept_aside
from training.talk_data import load_talk

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
    talk = [question for pair in load_talk() for question in pair.questions]
    while True:
        house = DEMO if rng.random() < _DEMO_SHARE else random_house(rng)
        names = names_of(house)
        known = Known(house)
        for _ in range(_PER_HOME):
            text = _said(rng, Speaker(rng, known), talk)
            words = words_of(text)
            if not 0 < len(words) <= _MOST_WORDS or is_kept_aside(text):
                continue
            told = () if rng.random() < _NAMELESS_SHARE else names
            is_question = sounds_like_a_question(text)
            yield Sentence(speakable(text), as_written(text, is_question=is_question), told)


def names_of(house: House) -> tuple[str, ...]:
    """The names of a home's entities and areas, as the recogniser is primed with them."""
    return ToldHome(lambda: house).names()


def _said(rng: random.Random, speaker: Speaker, talk: list[str]) -> str:
    (kind,) = rng.choices(list(_KINDS), list(_KINDS.values()))
    match kind:
        case "home":
            return put(rng, any_request(speaker))
        case "several":
            made = several(lambda: speaker, HOME_NAMES)
            return put(rng, made or any_request(speaker))
        case "other":
            tool = rng.choice(rng.choice(list(themes().values())))
            drawn = tool.draw(rng)
            spoken = aside((tool,), (drawn,), rng) if rng.random() < 0.2 else None
            return spoken.text if spoken else drawn.request(rng)[0]
        case _:
            return beyond.mentioned(speaker)[0] if rng.random() < 0.2 else rng.choice(talk)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.hearing.sentences", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="the folder of whisper-base")
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mel", type=Path, required=True, help="a file for Whisper's filters")
    options = parser.parse_args()
    np.save(options.mel, FeatureExtractor().mel_filters)
    tokenizer = Tokenizer(
        read_tokens(options.model / "tokenizer.json"),
        multilingual=True,
        task="transcribe",
        language="en",
    )
    made = sentences(options.seed)
    told = random.Random(options.seed)  # noqa: S311 - examples, no secrets
    with options.out.open("w", encoding="utf-8") as out:
        for _ in range(options.count):
            sentence = next(made)
            row = {
                "say": sentence.said,
                "prompt": names_prompt(
                    tokenizer, sentence.names, "en", most_tokens=told.choice(_NAME_TOKENS)
                ),
                "text": tokenizer.encode(" " + sentence.written),
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
