"""Build the language models for rescoring.

`python -m training.rescoring.build --asked lm.txt … --books 45.txt … --out edgevox/stt/home_ngrams.npz`.
`--asked` takes files with one sentence a line: SLURP's `dataset/lm/lm.txt`, and the requests of CLINC150
(`data/data_full.json`), of NLU-Evaluation-Data, and of the English tests of Home Assistant's intents. The
books are Project Gutenberg's, by number: 45, 55, 74, 113, 514, 863, 1661, 1874, 3825 and 8164.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from edgevox.stt.ngrams import write_ngrams
from edgevox.stt.rescoring import GENERAL, HOME
from training.rescoring.corpus import Weighted, asked, books, built_in, generated, small_talk
from training.rescoring.estimate import estimate

_LEAST_WORD_COUNT = 2
_HOME_COUNTS = (1, 1, 2)
_GENERAL_COUNTS = (1, 2, 3)


def vocabulary(*corpora: list[Weighted]) -> frozenset[str]:
    """The words that were seen more than once."""
    counts: Counter[str] = Counter()
    for corpus in corpora:
        for words, _ in corpus:
            counts.update(words)
    return frozenset(word for word, count in counts.items() if count >= _LEAST_WORD_COUNT)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.rescoring.build", description=__doc__)
    parser.add_argument("--asked", type=Path, nargs="+", required=True)
    parser.add_argument("--books", type=Path, nargs="+", required=True)
    parser.add_argument("--count", type=int, default=120_000, help="sentences of the generator")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    home = [*generated(options.count, options.seed), *asked(options.asked), *built_in()]
    general = [*books(options.books), *small_talk()]
    words = vocabulary(home, general)
    models = {HOME: estimate(home, words, _HOME_COUNTS), GENERAL: estimate(general, words, _GENERAL_COUNTS)}
    write_ngrams(options.out, models)
    for name, model in models.items():
        print(name, [len(table.keys) for table in model.tables])


if __name__ == "__main__":
    main()
