"""Results in figures: shares of right answers, tokens and times."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from edgevox.eval.examination import Result

ALL = "all"


@dataclass(frozen=True, slots=True)
class Rate:
    """`ok` right answers of `of` that were asked for."""

    ok: int
    of: int

    def __str__(self) -> str:
        return f"{100 * self.ok / self.of:.1f}" if self.of else ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Tokens are medians; times leave out the first case of each prompt, which has to evaluate it.

    `word_errors` are of the words that were said, where they are known. `asked` are the rows that were heard
    so unsurely that the assistant asks before it acts, `asked_right` those of them that a yes makes right.
    """

    rows: int
    right: Rate
    tool: Rate
    exact: Rate
    lenient: Rate
    valid: Rate
    refused: Rate
    spoken: Rate
    state: Rate
    prompt_tokens: int
    generated_tokens: int
    median_ms: int
    p95_ms: int
    failed: int
    word_errors: Rate
    asked: Rate
    asked_right: Rate


def summarise(results: Sequence[Result]) -> Summary:
    """The figures of some results. Calls are counted where calls are wanted, refusals where none is."""
    commands = [result for result in results if not result.case.expect.no_call]
    others = [result for result in results if result.case.expect.no_call]
    answered = [result for result in results if result.error is None]
    times_ms = sorted(result.ms for result in answered if result.was_cached) or sorted(
        result.ms for result in answered
    )
    return Summary(
        rows=len(results),
        right=_rate(result.score.is_right for result in results),
        tool=_rate(result.score.tool_ok for result in commands),
        exact=_rate(result.score.args_ok for result in commands),
        lenient=_rate(result.score.lenient_ok for result in commands),
        valid=_rate(result.score.valid for result in results),
        refused=_rate(result.score.tool_ok for result in others),
        spoken=_rate(result.score.spoken_ok for result in results),
        state=_rate(result.score.state_ok for result in results),
        prompt_tokens=_median(result.prompt_tokens for result in answered),
        generated_tokens=_median(result.generated_tokens for result in answered),
        median_ms=_median(times_ms),
        p95_ms=round(times_ms[min(len(times_ms) - 1, int(0.95 * len(times_ms)))]) if times_ms else 0,
        failed=len(results) - len(answered),
        word_errors=Rate(
            sum(result.case.spoken.word_errors for result in results if result.case.spoken),
            sum(result.case.spoken.words for result in results if result.case.spoken),
        ),
        asked=_rate(result.is_asked for result in results),
        asked_right=_rate(result.score.is_right for result in results if result.is_asked),
    )


def by_group(results: Sequence[Result], group: Callable[[Result], str]) -> dict[str, Summary]:
    """The figures of each group, in the order of their first results, and of all where there are several."""
    names = dict.fromkeys(map(group, results))
    summaries = {name: summarise([one for one in results if group(one) == name]) for name in names}
    return summaries if len(names) == 1 else {**summaries, ALL: summarise(results)}


def _rate(verdicts: Iterable[bool | None]) -> Rate:
    known = [verdict for verdict in verdicts if verdict is not None]
    return Rate(sum(known), len(known))


def _median(values: Iterable[float]) -> int:
    return round(statistics.median(found)) if (found := list(values)) else 0
