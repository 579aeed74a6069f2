"""Home Assistant's published test sentences in other languages than English, through the templates, as counts only.

    python -m benchmarks.published_sentences --intents CHECKOUT [--most 300] [--skip 0] [--results FILE.json]

CHECKOUT is a checkout of the repository home-assistant/intents. Its sentences are kept aside: none is printed or kept
here, and nothing is written from reading them. The home is that of the tests, and what they expect is told in the words
of our tools as in `benchmarks.home_assistant_sentences`. A sentence counts as exact if its calls are those expected,
where a domain or a class may be missing on one side, and "on" and "playing" of a player are the same. The order of the
sentences is always the same: `--skip 200` leaves out those that a run with `--most 200` has read.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hardware import describe
from benchmarks.home_assistant_sentences import Converted, convert
from edgevox.core.types import JsonObject
from edgevox.eval.offered_tools import bound_home_tools
from edgevox.eval.values import same_value
from edgevox.home import DemoHome
from edgevox.home.rules.languages.reader import Reading, read
from edgevox.home.rules.languages.templates import LANGUAGES, names_of

FOLDERS: Mapping[str, tuple[str, ...]] = {**{language: (language,) for language in LANGUAGES}, "pt": ("pt", "pt-br")}


@dataclass
class Counts:
    """How many sentences there were, and what became of them."""

    sentences: int = 0
    right_tool: int = 0
    exact: int = 0
    not_understood: int = 0

    def add(self, expected: Sequence[JsonObject], given: Sequence[JsonObject], *, is_understood: bool) -> None:
        self.sentences += 1
        self.right_tool += [one["name"] for one in expected] == [one["name"] for one in given]
        self.exact += _same_calls(expected, given)
        self.not_understood += not is_understood

    def report(self) -> JsonObject:
        """The counts as percentages."""
        of = max(self.sentences, 1)
        return {
            "sentences": self.sentences,
            "right_tool_percent": round(100 * self.right_tool / of, 1),
            "exact_percent": round(100 * self.exact / of, 1),
            "not_understood_percent": round(100 * self.not_understood / of, 1),
        }


@dataclass
class LanguageCounts:
    """The counts of a language: of the sentences that were read, and by tool. `published` is how many there are."""

    published: int = 0
    read: Counts = field(default_factory=Counts)
    by_kind: dict[str, Counts] = field(default_factory=dict)

    def report(self) -> JsonObject:
        """The counts as percentages, and the kinds of requests that were not all exact, the worst first."""
        worst = sorted(self.by_kind.items(), key=lambda one: one[1].exact - one[1].sentences)
        missed = {
            kind: f"{counts.exact} of {counts.sentences}, {counts.not_understood} not understood"
            for kind, counts in worst
            if counts.exact < counts.sentences
        }
        return {"published": self.published, **self.read.report(), "exact by kind": missed}


def measure(tests: Sequence[Path], language: str, most: int, skip: int = 0) -> LanguageCounts:
    """Read sentences that map to one of our tools with the templates of this language: a sample."""
    tools = {tool.name: tool for tool in bound_home_tools(DemoHome())}
    rows = [(converted, row) for converted in (convert(folder, tools) for folder in tests) for row in converted.rows]
    random.Random(20).shuffle(rows)
    found = LanguageCounts(published=len(rows))
    homes = {id(converted): _names(converted) for converted, _ in rows}
    for converted, row in rows[skip : skip + most]:
        reading = read(row["utterance"], language, homes[id(converted)][row["home"]], tools)
        by_kind = found.by_kind.setdefault(_kind(row), Counts())
        for counts in (found.read, by_kind):
            counts.add(row["expect"].get("calls", ()), _calls(reading), is_understood=reading is not None)
    return found


def _kind(row: JsonObject) -> str:
    """What a sentence asks for, without its words: "turn_on cover: area"."""
    calls = row["expect"].get("calls") or [{"arguments": {}}]
    arguments = dict(calls[0]["arguments"])
    kinds = [str(arguments.pop(kind)) for kind in ("domain", "device_class") if kind in arguments]
    return " ".join((row["category"], "/".join(kinds), *sorted(arguments)))


def _names(converted: Converted) -> dict[str, Any]:
    return {name: names_of(home.house()) for name, home in converted.homes.items()}


def _calls(reading: Reading | None) -> list[JsonObject]:
    calls = reading.calls if reading else ()
    return [{"name": call.name, "arguments": json.loads(call.arguments)} for call in calls]


def _same_calls(expected: Sequence[JsonObject], given: Sequence[JsonObject]) -> bool:
    return len(expected) == len(given) and all(map(_same_call, expected, given))


def _same_call(expected: JsonObject, given: JsonObject) -> bool:
    one, two = dict(expected["arguments"]), dict(given["arguments"])
    for kind in ("domain", "device_class"):
        first, second = one.pop(kind, None), two.pop(kind, None)
        if None not in (first, second) and first != second:
            return False
    for slots in (one, two):
        if slots.get("state") == "playing":
            slots["state"] = "on"
    return (
        expected["name"] == given["name"] and one.keys() == two.keys() and all(same_value(one[k], two[k]) for k in one)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--intents", type=Path, required=True, help="a checkout of home-assistant/intents")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="default: all six")
    parser.add_argument("--most", type=int, default=300, help="a random sample of so many of each language")
    parser.add_argument("--skip", type=int, default=0, help="how many of the random order to leave out first")
    parser.add_argument("--results", type=Path, help="write the counts as JSON")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"hardware": describe(), "most": arguments.most, "skipped": arguments.skip}
    for language in arguments.languages.split(","):
        folders = [arguments.intents / "tests" / folder for folder in FOLDERS[language]]
        counts = measure(folders, language, arguments.most, arguments.skip).report()
        report[language] = counts
        print(language, *(f"{name} {value}" for name, value in counts.items() if not isinstance(value, dict)))
        for kind, missed in counts["exact by kind"].items():
            print(f"   {kind:60} {missed}", flush=True)
    if arguments.results:
        arguments.results.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
