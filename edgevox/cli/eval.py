"""`edgevox eval`: how well a model does on suites of commands, in a table and as JSON."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgevox.agents.asked_model import AskedModel
from edgevox.cli.context import Context
from edgevox.cli.eval_daemon import EvalDaemon, open_eval_daemon
from edgevox.cli.loop import run_until_done
from edgevox.cli.main import INTERRUPTED
from edgevox.data_files import data_path
from edgevox.errors import ConfigError, EdgevoxError, StateError
from edgevox.eval import Case, RemoteModel, Result, by_group, examine, read_suite
from edgevox.eval.heard_notes import HeardNotes
from edgevox.eval.listening import Conditions, Listening, examine_heard, read_snrs, read_speeds
from edgevox.eval.noise import NOISE_KINDS
from edgevox.eval.remote import KEY_VARIABLE, WIRE_FORMAT
from edgevox.eval.table import Column, result_facts, summary_facts, summary_table
from edgevox.eval.voices import EspeakSpeaking, PiperSpeaking, Speaking
from edgevox.events import EngineName

_SUITES = ("tests", "eval")
_SEED = 1
# The suite brings the tools; what is kept of prompts is for the assistant's own; a slow answer is an answer.
_SETTINGS: Mapping[str, object] = {
    "tools.enabled": False,
    "llm.keep_prompts": False,
    "engines.first_token_timeout_s": 600.0,
}
_LINE_EVERY_S = 10.0
_TABLE_CHARS = 180


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "suites", nargs="*", type=Path, metavar="SUITE", help="files of rows; without one, those that ship"
    )
    model = parser.add_argument_group("the model")
    model.add_argument("--preset", help="the model to use (edgevox presets list)")
    model.add_argument("--model", metavar="FILE", help="a GGUF file; with --remote, the model's name there")
    model.add_argument("--adapter", type=Path, metavar="FILE", help="a LoRA adapter for the model, as GGUF")
    model.add_argument("--remote", metavar="URL", help="an OpenAI-compatible endpoint, such as …:8080/v1")
    model.add_argument(
        "--baseline", action="append", default=[], metavar="PRESET", help="another one beside it; repeatable"
    )
    model.add_argument(
        "--policy", choices=("auto", "required_first_hop"), help="who decides on a call, not the preset"
    )
    model.add_argument("--threads", dest="llm.threads", type=int, metavar="N", help="processor threads")
    model.add_argument("--max-tokens", dest="llm.max_tokens", type=int, metavar="N", help="longest reply")
    model.add_argument("--temperature", dest="llm.temperature", type=float, metavar="T", help="0 is greedy")
    model.add_argument("--seed", dest="llm.seed", type=int, metavar="N", help=f"{_SEED} without it")
    what = parser.add_argument_group("the rows")
    what.add_argument("--category", action="append", default=[], help="only this category; repeatable")
    what.add_argument("--limit", type=_positive, metavar="N", help="at most N rows, evenly picked")
    what.add_argument("--no-examples", action="store_true", help="keep plugins' example sentences back")
    speech = parser.add_argument_group("by ear")
    speech.add_argument("--speech", action="store_true", help="say every row, and ask what was heard")
    speech.add_argument("--voices", default="piper,espeak", metavar="NAMES", help="who says it: %(default)s")
    speech.add_argument("--speeds", default="0.9,1.0,1.15", metavar="LIST", help="in turn: %(default)s")
    speech.add_argument("--snr", default="clean,20,10,5", metavar="LIST", help="noise in dB: %(default)s")
    speech.add_argument("--noise", choices=NOISE_KINDS, default="babble", help="of this kind: %(default)s")
    speech.add_argument("--heard", type=Path, metavar="FILE", help="keep what was heard, for the next run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, as one JSON object")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write every result, as a line of JSON")


def run(args: argparse.Namespace, context: Context) -> int:
    cases = _cases(args)
    plans = _plans(args)
    runs: list[_Run] = []
    try:
        if args.speech:
            cases = run_until_done(_hear_all(args, cases, context))
        run_until_done(_examine_all(plans, cases, runs, context))
    except KeyboardInterrupt:
        _report(args, runs, context)
        return INTERRUPTED
    except EdgevoxError:
        _report(args, runs, context)
        raise
    _report(args, runs, context)
    return 0


# --- what is asked


def _cases(args: argparse.Namespace) -> tuple[Case, ...]:
    paths: Sequence[Path] = args.suites or sorted(data_path(*_SUITES).glob("*.jsonl"))
    found = [case for path in paths for case in read_suite(path, with_examples=not args.no_examples)]
    if args.category:
        known = dict.fromkeys(case.category for case in found)
        if unknown := [category for category in args.category if category not in known]:
            raise ConfigError(
                f"there is no category {unknown[0]}", hint=f"the categories are {', '.join(known)}"
            )
        found = [case for case in found if case.category in args.category]
    if args.limit and args.limit < len(found):
        step = len(found) / args.limit
        found = [found[int(number * step)] for number in range(args.limit)]
    return tuple(found)


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


# --- how it is said


async def _hear_all(args: argparse.Namespace, cases: Sequence[Case], context: Context) -> tuple[Case, ...]:
    """The cases as they were heard. Speaking and hearing come first, so that no engine slows another."""
    conditions = Conditions(read_speeds(args.speeds), read_snrs(args.snr), args.noise)
    names = args.voices.split(",")
    engines: set[EngineName] = {"whisper", "piper"} if "piper" in names else {"whisper"}
    stt = context.settings.stt
    heard: list[Case] = []
    progress = _Progress("heard", len(cases) * len(names) * len(conditions.snrs_db), context)
    daemon = open_eval_daemon(context, engines)
    async with daemon:
        voices = [_voice(name, daemon) for name in names]
        listening = Listening(
            daemon.transcriber,
            language=None if stt.language == "auto" else stt.language,
            names=stt.names,
            notes=HeardNotes(args.heard),
        )
        async for case in listening.hear(cases, voices, conditions):
            heard.append(case)
            assert case.spoken is not None
            progress.tell(case.spoken.word_errors == 0)
    progress.end()
    return tuple(heard)


def _voice(name: str, daemon: EvalDaemon) -> Speaking:
    match name:
        case "piper":
            return PiperSpeaking(daemon.synthesizer)
        case "espeak":
            return EspeakSpeaking()
        case _:
            raise ConfigError(f"there is no voice {name}", hint="--voices takes piper, espeak, or both")


# --- who is asked


@dataclass(frozen=True, slots=True)
class _Plan:
    """A model to be examined; `flags` are settings that lead to it."""

    flags: dict[str, object] = field(default_factory=dict)
    adapter: Path | None = None
    remote: str | None = None
    model: str | None = None
    policy: Any = None


@dataclass(slots=True)
class _Run:
    """What came of one plan, as far as it got."""

    model: str
    results: list[Result] = field(default_factory=list)


def _plans(args: argparse.Namespace) -> list[_Plan]:
    if args.remote and (args.adapter or args.preset or not args.model):
        raise ConfigError("--remote takes a --model, and no preset or adapter", hint="give the model's name")
    flags: dict[str, object] = {} if args.preset is None else {"preset": args.preset}
    if args.model and not args.remote:
        flags["llm.model"] = Path(args.model)
    first = _Plan(flags, args.adapter, args.remote, args.model, args.policy)
    return [first, *(_Plan({"preset": name}, policy=args.policy) for name in args.baseline)]


async def _examine_all(
    plans: Sequence[_Plan], cases: Sequence[Case], runs: list[_Run], context: Context
) -> None:
    for plan in plans:
        own = dataclasses.replace(
            context, flags={"llm.seed": _SEED, **context.flags, **plan.flags, **_SETTINGS}
        )
        if plan.remote is not None:
            assert plan.model is not None
            await _examine(plan.model, _remote(plan, own), cases, runs, own)
            continue
        daemon = open_eval_daemon(own, ["llama"], adapter=plan.adapter)
        async with daemon:
            await _examine(_name(plan, daemon), _local(plan, daemon), cases, runs, own)


async def _examine(
    name: str, model: AskedModel, cases: Sequence[Case], runs: list[_Run], context: Context
) -> None:
    run = _Run(name)
    runs.append(run)
    progress = _Progress(name, len(cases), context)
    is_heard = any(case.spoken for case in cases)
    asked = (examine_heard if is_heard else examine)(
        model, cases, instructions=context.settings.llm.instructions
    )
    async for result in asked:
        run.results.append(result)
        progress.tell(result.score.lenient_ok is not False and result.score.state_ok is not False)
    progress.end()


def _local(plan: _Plan, daemon: EvalDaemon) -> AskedModel:
    preset, llm = daemon.preset, daemon.settings.llm
    return AskedModel(
        daemon.chat_model,
        parsers=preset.tool_call_parsers,
        policy=plan.policy or preset.tool_choice_policy,
        tools_as=preset.tools_as,
        sampling=llm.sampling,
        stop=preset.stop,
        thinking=llm.thinking,
    )


def _remote(plan: _Plan, context: Context) -> AskedModel:
    assert plan.remote is not None
    assert plan.model is not None
    model = RemoteModel(plan.remote, plan.model, os.environ.get(KEY_VARIABLE, ""))
    sampling = context.settings.llm.sampling
    return AskedModel(model, parsers=(WIRE_FORMAT,), policy=plan.policy or "auto", sampling=sampling)


def _name(plan: _Plan, daemon: EvalDaemon) -> str:
    name = daemon.settings.llm.model.stem if daemon.settings.llm.model else daemon.preset.name
    return f"{name} + {plan.adapter.stem}" if plan.adapter else name


class _Progress:
    """A line that is written over on a terminal, and now and then a line elsewhere."""

    def __init__(self, name: str, total: int, context: Context) -> None:
        self._name = name
        self._total = total
        self._console = context.err
        self._done = self._right = 0
        self._shown_s = time.monotonic()

    def tell(self, is_right: bool) -> None:
        self._done += 1
        self._right += is_right
        now_s = time.monotonic()
        if not self._console.is_terminal and now_s - self._shown_s < _LINE_EVERY_S:
            return
        self._shown_s = now_s
        text = f"{self._name}: {self._done} of {self._total}, {self._right} right"
        self._console.print(text, markup=False, end="\r" if self._console.is_terminal else "\n")

    def end(self) -> None:
        if self._console.is_terminal:
            self._console.print()


# --- what came of it


def _report(args: argparse.Namespace, runs: Sequence[_Run], context: Context) -> None:
    """Raises StateError when a file cannot be written."""
    done = [run for run in runs if run.results]
    columns = [Column(run.model, by_group(run.results, _group)) for run in done]
    if columns:
        context.out.width = max(context.out.width, _TABLE_CHARS)  # cut figures are none
        context.out.print(summary_table(columns, "by ear" if args.speech else "category"), soft_wrap=True)
    for run in done:
        if problems := [result for result in run.results if result.error]:
            context.err.print(
                f"{run.model}: {len(problems)} rows could not be asked: {problems[0].error}", markup=False
            )
    if args.json:
        facts = {
            column.model: {name: summary_facts(summary) for name, summary in column.summaries.items()}
            for column in columns
        }
        _write(args.json, json.dumps(facts, indent=2))
    if args.rows:
        rows = [{"model": run.model, **result_facts(result)} for run in done for result in run.results]
        _write(args.rows, "\n".join(json.dumps(row, ensure_ascii=False) for row in rows))


def _group(result: Result) -> str:
    spoken = result.case.spoken
    return f"{spoken.voice} {spoken.noise}" if spoken else result.case.category


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise StateError(f"{path} cannot be written: {error.strerror}", hint="choose another file") from error
