"""Drops test sentences from the training data: those of `tests/eval` and of public test sets.

`held_out.txt` holds their digests, so that authors of training sentences do not read them here. `python -m
training.held_out SUITE…` adds the sentences of more suites of `edgevox eval`, and of the ones that ship.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from edgevox.stt.text_normalizer import words_of

DIGESTS = Path(__file__).with_name("held_out.txt")
SUITES = Path(__file__).parents[1] / "tests" / "eval"

_DIGEST_BYTES = 5
# Who is polite has said the same sentence.
_POLITE = frozenset({"please"})
# Shorter turns of a dialogue ("turn it off") are everybody's.
_OWN_WORDS = 5


def is_held_out(sentence: str) -> bool:
    """Whether a model is judged by this sentence, however it is spelt."""
    return digest(sentence) in _digests()


def digest(sentence: str) -> str:
    """The same for sentences of the same words."""
    words = " ".join(word for word in words_of(sentence) if word not in _POLITE)
    return hashlib.blake2b(words.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def suite_sentences(suite: Path) -> Iterable[str]:
    """What is said in the rows of a suite."""
    for line in suite.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for turn in row.get("turns", (row,)):
            if "utterance" in turn and ("turns" not in row or len(turn["utterance"].split()) >= _OWN_WORDS):
                yield turn["utterance"]


@functools.cache
def _digests() -> frozenset[str]:
    return frozenset(DIGESTS.read_text(encoding="ascii").split())


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.held_out", description=__doc__)
    parser.add_argument("suites", type=Path, nargs="+", metavar="SUITE", help="rows of public test sets")
    options = parser.parse_args(arguments)
    suites = [*sorted(SUITES.glob("*.jsonl")), *options.suites]
    added = {digest(sentence) for suite in suites for sentence in suite_sentences(suite)}
    digests = _digests() | added
    DIGESTS.write_text("".join(f"{one}\n" for one in sorted(digests)), encoding="ascii")
    sys.stdout.write(f"{len(digests)} sentences are held out, {len(added)} of them of these suites\n")


if __name__ == "__main__":
    main(sys.argv[1:])
