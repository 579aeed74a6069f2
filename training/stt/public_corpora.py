"""Selects sentences of public corpora for speech synthesis: `python -m training.stt.public_corpora --help`.

From CLINC's out-of-scope evaluation (CC BY 3.0), Snips' benchmark of 2017 (CC0) and the NLU evaluation data
of Liu et al. (CC BY 4.0); orders of drinks and meals are generated here. Rows have the format of
`home_sentences`; held-out sentences are dropped.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from faster_whisper.tokenizer import Tokenizer

from edgevox.stt.text_normalizer import words_of
from edgevox.stt.whisper_adapter import read_tokens
from edgevox.stt.whisper_decoder import hotword_prompt
from training.held_out import is_held_out
from training.home.houses import random_house
from training.home.phrasing import sounds_like_a_question
from training.stt.home_sentences import as_written, names_of

_FEWEST_WORDS, _MOST_WORDS = 2, 13
_NAMES_SHARE, _PER_HOME, _NAME_TOKENS = 0.6, 8, (32, 64, 64)
_SAYABLE = re.compile(r"[A-Za-z][A-Za-z' ,]*[?.!]?")
_ASKS = ("can i get", "could i have", "i'd like", "i'll have", "i want", "make me", "order", "may i have", "")
_SIZES = ("small", "medium", "large", "regular", "tall", "big", "")
_DRINKS = (
    "latte", "cappuccino", "espresso", "mocha", "americano", "flat white", "macchiato", "cold brew",
    "hot chocolate", "green tea", "chai latte", "black tea", "iced latte", "iced mocha", "iced tea",
    "filter coffee", "cup of coffee", "lemonade", "orange juice", "smoothie", "milkshake",
)  # fmt: skip
_WITHS = (
    "skim milk", "whole milk", "oat milk", "soy milk", "almond milk", "cream", "no sugar", "two sugars",
    "brown sugar", "honey", "sweetener", "cinnamon", "an extra shot", "a single shot", "two shots",
    "a double shot", "a triple shot", "lots of ice", "a little milk", "whipped cream", "caramel syrup",
    "vanilla", "lemon", "dark roast", "light roast", "medium roast", "decaf beans",
)  # fmt: skip
_FOODS = (
    "a croissant", "a blueberry muffin", "a cheese sandwich", "a bagel with cream cheese", "a slice of cake",
    "a margherita pizza", "a bowl of soup", "a burger without onions", "fries", "a chicken salad",
)  # fmt: skip


def clinc(path: Path) -> Iterator[str]:
    for part, rows in json.loads(path.read_text(encoding="utf-8")).items():
        if part.endswith("train"):
            yield from (text for text, _ in rows)


def snips(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.json")):
        for rows in json.loads(path.read_text(encoding="utf-8", errors="replace")).values():
            yield from ("".join(part["text"] for part in row["data"]) for row in rows)


def annotated(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            yield from (row["answer_from_anno"] or "" for row in csv.DictReader(file, delimiter=";"))


def orders(rng: random.Random) -> Iterator[str]:
    """Drinks and meals as they are ordered, without end."""
    while True:
        size, ask = rng.choice(_SIZES), rng.choice(_ASKS)
        wishes = rng.sample(_WITHS, rng.choice((0, 1, 1, 2)))
        drink = " ".join(word for word in ("a", size, rng.choice(_DRINKS)) if word)
        drink = re.sub(r"^a (?=[aeiou])", "an ", drink)
        order = drink + (f" with {' and '.join(wishes)}" if wishes else "")
        order = rng.choice((order, order, order, f"{drink} and {rng.choice(_FOODS)}", rng.choice(_FOODS)))
        yield f"{ask} {order}{rng.choice(('', '', ' please'))}".strip()


def fit(texts: Iterable[str]) -> list[str]:
    """Those that can be said in a breath and are in no suite, each once."""
    kept: dict[str, None] = {}
    for text in texts:
        plain = " ".join(text.split())
        words = words_of(plain)
        if _SAYABLE.fullmatch(plain) and _FEWEST_WORDS <= len(words) <= _MOST_WORDS and not is_held_out(plain):
            kept[plain] = None
    return list(kept)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.public_corpora", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="the folder of whisper-base")
    parser.add_argument("--clinc", type=Path, required=True, help="data_full.json")
    parser.add_argument("--snips", type=Path, required=True, help="a folder of train_*_full.json")
    parser.add_argument("--annotated", type=Path, required=True, help="a folder of a train set, .csv files")
    parser.add_argument("--counts", type=int, nargs=4, default=(400, 200, 800, 200), help="of each, and orders")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - examples, no secrets
    made = orders(rng)
    corpora = {
        "clinc": fit(clinc(options.clinc)),
        "snips": fit(snips(options.snips)),
        "nlu-evaluation-data": fit(annotated(options.annotated)),
        "orders": fit(next(made) for _ in range(4 * options.counts[3])),
    }
    chosen = [
        (corpus, text)
        for (corpus, texts), count in zip(corpora.items(), options.counts, strict=True)
        for text in rng.sample(texts, count)
    ]
    rng.shuffle(chosen)
    tokenizer = Tokenizer(
        read_tokens(options.model / "tokenizer.json"), multilingual=True, task="transcribe", language="en"
    )
    with options.out.open("w", encoding="utf-8") as out:
        names: tuple[str, ...] = ()
        for number, (corpus, text) in enumerate(chosen):
            if number % _PER_HOME == 0:
                names = names_of(random_house(rng))
            primed = names if rng.random() < _NAMES_SHARE else ()
            written = as_written(text, is_question=sounds_like_a_question(text))
            row = {
                "say": text,
                "prompt": hotword_prompt(tokenizer, primed, "en", most_tokens=rng.choice(_NAME_TOKENS)),
                "text": tokenizer.encode(" " + written),
                "corpus": corpus,
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
