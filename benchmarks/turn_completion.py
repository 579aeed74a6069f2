"""What the words alone say of a turn, its end and whether it is a request: `python -m benchmarks.turn_completion`

Every boundary between two words of a sentence is a pause after which the speaker goes on; behind the last word the
turn ends. The words are as written, without errors of a recogniser. A policy ends the turn after 300 ms of silence
for some classes of turn completion, and waits longer for the others.

Requests are what `wake.requests_only` lets through: most of the commands should be, and little of the talk.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.speech_test_set import SENTENCES
from edgevox.core.languages import ENGLISH
from edgevox.core.types import Transcript
from edgevox.dialogue.turn_completion import (
    AFTER_CERTAIN,
    AFTER_UNCLEAR,
    AFTER_UNFINISHED,
    AFTER_WHOLE,
    TurnCompletion,
    classify_completion,
    is_request,
)
from edgevox.home.backends.demo import first_day
from edgevox.home.prompt_text import home_names

Said: TypeAlias = tuple[str, tuple[str, ...]]
"""A sentence, and the names of the home in which it is said."""

SUITES = ("home", "home_b", "scheduled")
COMMANDS = ("home", "home_b", "references", "relative", "scheduled", "opposites", "messy")
TALK = ("talk", "overheard")
HANGOVER_MS = 500
WAITS_MS: Mapping[TurnCompletion, float] = {
    "certain": AFTER_CERTAIN * HANGOVER_MS,
    "whole": AFTER_WHOLE * HANGOVER_MS,
    "unclear": AFTER_UNCLEAR * HANGOVER_MS,
    "unfinished": AFTER_UNFINISHED * HANGOVER_MS,
}
SOON_MS = 300.0
POLICIES: Mapping[str, frozenset[TurnCompletion]] = {
    "certain (as it is)": frozenset({"certain"}),
    "certain and whole": frozenset({"certain", "whole"}),
    "all but unfinished": frozenset({"certain", "whole", "unclear"}),
}


def measure(sentences: Sequence[str]) -> dict[str, object]:
    inner: Counter[TurnCompletion] = Counter()
    last: Counter[TurnCompletion] = Counter()
    for sentence in sentences:
        words = sentence.rstrip(".?!").split()
        last[classify_completion(" ".join(words))] += 1
        inner.update(classify_completion(" ".join(words[:length])) for length in range(1, len(words)))
    return {
        "sentences": len(sentences),
        "pauses": inner.total(),
        "after_300_ms": {name: _policy(soon, inner, last) for name, soon in POLICIES.items()},
    }


def _policy(
    soon: frozenset[TurnCompletion], inner: Counter[TurnCompletion], last: Counter[TurnCompletion]
) -> dict[str, float]:
    waited_ms = sum(count * (SOON_MS if name in soon else WAITS_MS[name]) for name, count in last.items())
    return {
        "false_cut_offs_percent": round(100 * sum(inner[name] for name in soon) / inner.total(), 1),
        "ends_found_percent": round(100 * sum(last[name] for name in soon) / last.total(), 1),
        "mean_wait_ms": round(waited_ms / last.total()),
    }


def requests_percent(said: Sequence[Said]) -> float:
    asked = sum(is_request(Transcript(text, ENGLISH, 2.0), names) for text, names in said)
    return round(100 * asked / len(said), 1)


def suite(name: str) -> list[Said]:
    """The sentences of a suite, each with the names of its home."""
    path = Path(__file__).parents[1] / "tests" / "eval" / f"{name}.jsonl"
    rows = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    homes = {home: _names(content) for home, content in rows[0].get("suite", {}).get("homes", {}).items()}
    demo = home_names(first_day())
    turns = [(turn, homes.get(row.get("home"), demo)) for row in rows for turn in row.get("turns", [row])]
    return [(turn["utterance"], names) for turn, names in turns if "utterance" in turn]


def _names(home: Mapping[str, Any]) -> tuple[str, ...]:
    things = [thing for kind in ("floors", "areas", "entities") for thing in home.get(kind, ())]
    return tuple(name for thing in things for name in (thing["name"], *thing.get("aliases", ())))


def main() -> None:
    parser = argparse.ArgumentParser(description="Ends of turns, and requests, by their words.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    sets = {"speech benchmarks": list(SENTENCES)} | {name: [text for text, _ in suite(name)] for name in SUITES}
    asked: dict[str, list[Said]] = {"speech benchmarks": [(text, ()) for text in SENTENCES]}
    asked |= {name: suite(name) for name in (*COMMANDS, *TALK)}
    result = {
        "ends": {name: measure(sentences) for name, sentences in sets.items()},
        "requests_percent": {name: requests_percent(sentences) for name, sentences in asked.items()},
    }
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
