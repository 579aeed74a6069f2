"""Summarizes results: rates, tokens and latencies, as tables and as JSON."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table
from rich.text import Text

from edgevox.eval.expectation import Call
from edgevox.eval.runner import Result
from edgevox.eval.suite import AS_RECORDED

ALL = "all"


@dataclass(frozen=True, slots=True)
class Rate:
    """`ok` correct results out of `of`."""

    ok: int
    of: int

    def __str__(self) -> str:
        return f"{100 * self.ok / self.of:.1f}" if self.of else ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Tokens are medians; times exclude the first case of each prompt, which evaluates it.

    `word_errors` is relative to the spoken words, where known. `asked` are the rows where the assistant asks
    for confirmation because of low confidence, `asked_right` those of them that are right after a yes.
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
    reply: Rate
    turns: Rate
    prompt_tokens: int
    generated_tokens: int
    median_ms: int
    p95_ms: int
    failed: int
    word_errors: Rate
    asked: Rate
    asked_right: Rate


def summarise(results: Sequence[Result]) -> Summary:
    """Summarize results. Calls count where calls are expected, refusals where none is."""
    commands = [result for result in results if not result.case.expect.no_call]
    others = [result for result in results if result.case.expect.no_call]
    answered = [result for result in results if result.error is None]
    times_ms = sorted(result.ms for result in answered if result.was_cached) or sorted(result.ms for result in answered)
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
        reply=_rate(result.score.reply_ok for result in results),
        turns=_rate(turn.score.is_right for result in results if result.case.dialogue for turn in result.turns),
        prompt_tokens=_median(result.prompt_tokens for result in answered),
        generated_tokens=_median(result.generated_tokens for result in answered),
        median_ms=_median(times_ms),
        p95_ms=round(times_ms[min(len(times_ms) - 1, int(0.95 * len(times_ms)))]) if times_ms else 0,
        failed=len(results) - len(answered),
        word_errors=Rate(
            sum(result.case.spoken.word_errors for result in results if result.case.spoken),
            sum(result.case.spoken.words for result in results if result.case.spoken),
        ),
        asked=_rate(result.asks_first for result in results),
        asked_right=_rate(result.score.is_right for result in results if result.asks_first),
    )


def by_group(results: Sequence[Result], group: Callable[[Result], str]) -> dict[str, Summary]:
    """Summarize each group, in order of first appearance, and all results if there are several groups."""
    names = dict.fromkeys(map(group, results))
    summaries = {name: summarise([one for one in results if group(one) == name]) for name in names}
    return summaries if len(names) == 1 else {**summaries, ALL: summarise(results)}


def _rate(verdicts: Iterable[bool | None]) -> Rate:
    known = [verdict for verdict in verdicts if verdict is not None]
    return Rate(sum(known), len(known))


def _median(values: Iterable[float]) -> int:
    return round(statistics.median(found)) if (found := list(values)) else 0


_RATES = ("tool", "exact", "lenient", "valid", "refused", "spoken", "state")
# Rates that only some suites have, and the share of rows that are right in all of them.
_EFFECT_RATES = ("reply", "turns")
_RIGHT = "right"
# Rates of spoken rows only.
_SPEECH_RATES = ("word_errors", "asked", "asked_right")
# Headings and fields of the table.
_SPEECH_COLUMNS = {"word errors": "word_errors", "right": "right", "asked": "asked", "asked right": "asked_right"}
_COSTS = {"prompt": "prompt_tokens", "written": "generated_tokens", "ms": "median_ms", "p95 ms": "p95_ms"}


@dataclass(slots=True)
class ModelResults:
    """A model and its results so far."""

    model: str
    results: list[Result] = field(default_factory=list)

    def suites(self) -> dict[str, dict[str, Summary]]:
        """Summaries by suite, then by category or, for speech, by voice and noise."""
        names = dict.fromkeys(result.case.suite for result in self.results)
        return {name: by_group([one for one in self.results if one.case.suite == name], _group) for name in names}


def tables(examined: Sequence[ModelResults]) -> Iterator[Table]:
    """Yield a table per suite, with a row per group and model; rates are in percent."""
    by_model = {one.model: one.suites() for one in examined}
    spoken = {result.case.suite for one in examined for result in one.results if result.case.spoken}
    for suite in dict.fromkeys(suite for suites in by_model.values() for suite in suites):
        groups = {model: suites.get(suite, {}) for model, suites in by_model.items()}
        yield _table(suite, groups, has_speech=suite in spoken)


def wrong_recordings(examined: Sequence[ModelResults]) -> Iterator[str]:
    """Describe every wrong recording: transcript, calls and expectation."""
    for one in examined:
        recorded = [result for result in one.results if result.case.recording]
        wrong = [result for result in recorded if not result.score.is_right]
        if wrong:
            yield f"{one.model}: {len(wrong)} of {len(recorded)} recordings wrong"
        for result in wrong:
            yield from _wrong(result)


def figures(examined: Sequence[ModelResults]) -> dict[str, Any]:
    """Return the summaries as JSON by model, suite and group; a rate is a share and its count."""
    return {
        one.model: {
            suite: {group: _summary_facts(summary) for group, summary in groups.items()}
            for suite, groups in one.suites().items()
        }
        for one in examined
    }


def rows(examined: Sequence[ModelResults]) -> Iterator[dict[str, Any]]:
    """Yield every result as JSON."""
    for one in examined:
        for result in one.results:
            yield {"model": one.model, **_result_facts(result)}


def _group(result: Result) -> str:
    spoken = result.case.spoken
    if spoken is None:
        return result.case.category
    return spoken.voice if spoken.noise == AS_RECORDED else f"{spoken.voice} {spoken.noise}"


def _wrong(result: Result) -> Iterator[str]:
    case, spoken = result.case, result.case.spoken
    noise = f", {spoken.noise}" if spoken and spoken.noise != AS_RECORDED else ""
    yield f"  {case.id}{noise}"
    if said := spoken.text if spoken else case.utterance:
        yield f"    said:   {said}"
    if spoken:
        yield f"    heard:  {case.utterance or 'nothing'}"
    asked = ' (asks "Did you say …?" first)' if result.asks_first else ""
    yield f"    called: {_calls(result.calls)}{asked}"
    right = _calls(case.expect.calls) if case.expect.calls or case.expect.no_call else ""
    state = json.dumps(case.expect.state, ensure_ascii=False) if case.expect.state else ""
    yield f"    right:  {', then '.join(part for part in (right, state) if part)}"


def _calls(calls: Sequence[Call]) -> str:
    texts = (f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" for call in calls)
    return ", ".join(texts) or "nothing"


def _table(suite: str, by_model: Mapping[str, Mapping[str, Summary]], *, has_speech: bool) -> Table:
    has_models = len(by_model) > 1
    summaries = [summary for groups in by_model.values() for summary in groups.values()]
    rates = [*_RATES, *(name for name in _EFFECT_RATES if any(getattr(summary, name).of for summary in summaries))]
    if not has_speech and len(rates) > len(_RATES):
        rates.append(_RIGHT)
    columns = {"rows": "rows", **(_SPEECH_COLUMNS if has_speech else {}), **{name: name for name in rates}, **_COSTS}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in (suite, *(["model"] if has_models else [])):
        table.add_column(Text(name), no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for group in dict.fromkeys(group for groups in by_model.values() for group in groups):
        for model, groups in by_model.items():
            if (summary := groups.get(group)) is not None:
                names = [Text(group), Text(model)] if has_models else [Text(group)]
                values = [getattr(summary, field) for field in columns.values()]
                shown = [str(value) if isinstance(value, Rate) else f"{value:,}" for value in values]
                table.add_row(*names, *shown, style="bold" if group == ALL else None)
    return table


def _summary_facts(summary: Summary) -> dict[str, Any]:
    facts = dataclasses.asdict(summary)
    for name in (*_SPEECH_RATES, *_EFFECT_RATES):
        if not getattr(summary, name).of:
            del facts[name]
    for name in facts.keys() & {_RIGHT, *_SPEECH_RATES, *_EFFECT_RATES, *_RATES}:
        rate: Rate = getattr(summary, name)
        facts[name] = {"share": round(rate.ok / rate.of, 4) if rate.of else None, "of": rate.of}
    return facts


def _result_facts(result: Result) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "suite": result.case.suite,
        "id": result.case.id,
        "category": result.case.category,
        "utterance": result.case.utterance,
        "calls": [dataclasses.asdict(call) for call in result.calls],
        "reply": result.reply,
        **dataclasses.asdict(result.score),
        "ms": round(result.ms, 1),
        "prompt_tokens": result.prompt_tokens,
        "generated_tokens": result.generated_tokens,
    }
    if result.case.spoken is not None:
        facts["spoken"] = dataclasses.asdict(result.case.spoken)
        facts["asked"] = result.asks_first
    if result.turns:
        facts["turns"] = [{**dataclasses.asdict(turn), "right": turn.score.is_right} for turn in result.turns]
    if result.error is not None:
        facts["error"] = result.error
    return facts
