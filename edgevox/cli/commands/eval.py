"""`edgevox eval`: scores models on suites of commands, by text or speech."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from edgevox.agents.model_profile import ModelProfile
from edgevox.cli.assistant import open_runtime
from edgevox.cli.command import Command, argument, setting, titled
from edgevox.cli.context import Context, run_until_done
from edgevox.cli.ui.progress import ProgressLine
from edgevox.config.sections import AUTO
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.events import EngineName
from edgevox.core.files import data_path
from edgevox.core.languages import ENGLISH
from edgevox.eval import Case, read_suite, run_cases, speech
from edgevox.eval.report import ModelResults, figures, rows, tables, wrong_recordings
from edgevox.eval.synthetic_speech import NOISE_KINDS, AssistantVoice, EspeakVoice
from edgevox.llm.tool_choice import ToolChoicePolicy

_SUITES = ("tests", "eval")
_MISHEARD = "misheard"
_SEED = 1
_VOICES, _SPEEDS, _SNRS, _NOISE = "piper,espeak", "0.9,1.0,1.15", "clean,20,10,5", NOISE_KINDS[0]
_PIPER, _ESPEAK, _PIPER_VOICE = "piper", "espeak", "piper-en_US-joe-medium"
# The suite defines the tools; prompt snapshots are only for the assistant; a slow answer still counts.
_SETTINGS: Mapping[str, object] = {
    "tools.enabled": False,
    "llm.keep_prompts": False,
    "engines.first_token_timeout_s": 600.0,
}
_TABLE_CHARS = 180


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


@Command(
    "eval",
    "Score a model on suites of commands, by text or speech",
    argument(
        "suites",
        nargs="*",
        type=Path,
        metavar="SUITE",
        help="suite files (JSON lines of text or recordings); default: the bundled suites",
    ),
    titled(
        "model",
        argument("--preset", help="model preset (see edgevox presets list)"),
        argument("--model", metavar="FILE", help="GGUF file; with --remote, the name of the model on the server"),
        argument("--adapter", type=Path, metavar="FILE", help="LoRA adapter for the model, as GGUF"),
        argument("--remote", metavar="URL", help="OpenAI-compatible endpoint, such as http://host:8080/v1"),
        argument(
            "--baseline",
            action="append",
            default=[],
            metavar="PRESET",
            help="another preset to compare with; repeatable",
        ),
        argument(
            "--policy", choices=("auto", "required_first_hop"), help="tool choice policy, instead of the preset's"
        ),
        setting("--threads", "llm.threads", "N", "CPU threads for the language model"),
        setting("--max-tokens", "llm.max_tokens", "N", "maximum length of a reply"),
        setting("--temperature", "llm.temperature", "T", "sampling temperature; 0 is greedy"),
        setting("--seed", "llm.seed", "N", f"sampling seed (default: {_SEED})"),
    ),
    titled(
        "rows",
        argument("--category", action="append", default=[], help="only this category; repeatable"),
        argument("--limit", type=_positive, metavar="N", help="at most N rows, evenly spaced"),
        argument("--no-examples", action="store_true", help="leave out the example sentences of plugin tools"),
    ),
    titled(
        "speech",
        argument(
            "--speech", action="store_true", help="transcribe each row first: its recording, or synthesised speech"
        ),
        argument(
            "--voices",
            metavar="NAMES",
            help=f"espeak, and piper or the id of a voice, for rows without a recording (default: {_VOICES})",
        ),
        argument("--speeds", metavar="LIST", help=f"speaking rates, used in turn (default: {_SPEEDS})"),
        argument(
            "--snr",
            metavar="LIST",
            help=f"signal-to-noise ratios in dB (default: {_SNRS}; {speech.CLEAN} for recordings)",
        ),
        argument("--noise", choices=NOISE_KINDS, help=f"kind of noise (default: {_NOISE})"),
        argument("--heard", type=Path, metavar="FILE", help="cache transcripts in this file for later runs"),
    ),
    argument("--json", type=Path, metavar="FILE", help="write the figures as a JSON object"),
    argument("--rows", type=Path, metavar="FILE", help="write every result as a line of JSON"),
)
def evaluate(args: argparse.Namespace, context: Context) -> None:
    if args.json is not None and args.json.suffix == ".jsonl" and args.json.exists():
        raise ConfigError(
            f"the figures would replace the suite {args.json}", hint=f"edgevox eval {args.json} --json figures.json"
        )
    cases = _cases(args)
    plans = _plans(args, context)
    examined: list[ModelResults] = []
    try:
        if args.speech:
            cases = run_until_done(_transcribe_all(args, _speakable_cases(cases, context), context))
        else:
            _require_words(cases)
        run_until_done(_run_all(plans, cases, examined, context))
    finally:  # also after Ctrl-C and after an error
        _report(args, examined, context)


def _cases(args: argparse.Namespace) -> tuple[Case, ...]:
    paths: Sequence[Path] = args.suites or sorted(data_path(*_SUITES).glob("*.jsonl"))
    found = [case for path in paths for case in read_suite(path, with_examples=not args.no_examples)]
    if args.category:
        known = dict.fromkeys(case.category for case in found)
        if unknown := [category for category in args.category if category not in known]:
            raise ConfigError(f"unknown category {unknown[0]}", hint=f"the categories are {', '.join(known)}")
        found = [case for case in found if case.category in args.category]
    if args.limit and args.limit < len(found):
        step = len(found) / args.limit
        found = [found[int(number * step)] for number in range(args.limit)]
    return tuple(found)


def _speakable_cases(cases: Sequence[Case], context: Context) -> tuple[Case, ...]:
    """Drop the rows that contain recognition errors, because those are not spoken again, and dialogues."""
    speakable = tuple(case for case in cases if case.recording or case.category != _MISHEARD)
    if skipped := len(cases) - len(speakable):
        context.note(f"skipped {skipped} rows of the category {_MISHEARD}: recognition errors are not spoken")
    single = tuple(case for case in speakable if not case.dialogue)
    if skipped := len(speakable) - len(single):
        context.note(f"skipped {skipped} dialogues: only single rows are spoken")
    return single


def _require_words(cases: Sequence[Case]) -> None:
    """Raises ConfigError for a recording without a transcript."""
    for case in cases:
        if not case.utterance:
            raise ConfigError(
                f"row {case.id} of {case.suite} is a recording without a transcript",
                hint="transcribe it with --speech, or add its utterance",
            )


async def _transcribe_all(args: argparse.Namespace, cases: Sequence[Case], context: Context) -> tuple[Case, ...]:
    """Return the cases with their transcripts. Runs before the model, so that no engine slows another."""
    recorded = [case for case in cases if case.recording]
    synthesised = [case for case in cases if not case.recording]
    if recorded and not synthesised:
        _reject_synthesis_options(args)
    for case in recorded:  # an unreadable file must fail before hours of transcription
        speech.sound_of(case)
    noise = args.noise or _NOISE
    conditions = speech.SpeechConditions(
        speech.read_speeds(args.speeds or _SPEEDS), speech.read_snrs(args.snr or _SNRS), noise
    )
    recorded_snrs_db = speech.read_snrs(args.snr or speech.CLEAN)
    names = (args.voices or _VOICES).split(",") if synthesised else []
    engines: set[EngineName] = {"stt", "tts"} if {*names} - {_ESPEAK} else {"stt"}
    stt = context.settings.stt
    transcribed: list[Case] = []
    total = len(synthesised) * len(names) * len(conditions.snrs_db) + len(recorded) * len(recorded_snrs_db)
    progress = ProgressLine("transcribed", total, context.err)

    def note(case: Case) -> None:
        transcribed.append(case)
        assert case.spoken is not None
        progress.update(is_right=case.spoken.word_errors == 0 if case.spoken.words else None)

    # Whatever voice the assistant has: figures must stay comparable.
    tts: dict[str, object] = {"tts.engine": AUTO, "tts.voice": _voice_id(names), "tts.voices": {}, "tts.remote": None}
    runtime = open_runtime(context.with_flags(tts), engines)
    async with runtime:
        language = next(iter(runtime.models.voices))
        spoken = ENGLISH if stt.language == AUTO else stt.language
        voices = [
            EspeakVoice(spoken) if name == _ESPEAK else AssistantVoice(runtime.engines.tts, name, language)
            for name in names
        ]
        transcriber = speech.SuiteTranscriber(
            runtime.engines.stt,
            language=None if stt.language == AUTO else stt.language,
            names=stt.names,
            max_things=context.settings.home.max_things,
            cache=speech.TranscriptCache(args.heard),
        )
        async for case in transcriber.transcribe_recordings(recorded, recorded_snrs_db, noise):
            note(case)
        async for case in transcriber.transcribe_synthesized(synthesised, voices, conditions):
            note(case)
    progress.end()
    return tuple(transcribed)


def _reject_synthesis_options(args: argparse.Namespace) -> None:
    """Raises ConfigError for an option that has no effect on recordings."""
    for option, value in (("--voices", args.voices), ("--speeds", args.speeds)):
        if value:
            raise ConfigError(
                f"{option} only applies to synthesised rows, and every row is a recording",
                hint="remove it; --snr adds noise to recordings",
            )
    if args.noise and not args.snr:
        raise ConfigError("--noise without --snr has no effect on recordings", hint="give a level, such as --snr 10")


def _voice_id(names: Sequence[str]) -> str:
    """The voice of the manifest among these names: Piper's joe, or one given by its id. Raises ConfigError for two."""
    own = [_PIPER_VOICE if name == _PIPER else name for name in names if name != _ESPEAK]
    if len(own) > 1:
        raise ConfigError("--voices takes one voice beside espeak", hint=f"such as {_VOICES}")
    return own[0] if own else _PIPER_VOICE


@dataclass(frozen=True, slots=True)
class _Plan:
    """A model to evaluate; `flags` are the settings that select it."""

    flags: dict[str, object]
    policy: ToolChoicePolicy | None
    adapter: Path | None = None


def _plans(args: argparse.Namespace, context: Context) -> list[_Plan]:
    if args.remote and (args.adapter or args.preset or not args.model):
        raise ConfigError("--remote needs --model, without a preset or adapter", hint="give the model's name")
    flags: dict[str, object]
    if args.remote:
        # The prompt and the temperature are those of the local model, so that figures can be compared.
        own = context.settings.llm
        flags = {"llm.temperature": own.temperature, "llm.instructions": own.instructions}
        flags |= {"llm.remote_url": args.remote, "llm.remote_model": args.model}
    else:
        flags = {key: value for key, value in (("preset", args.preset), ("llm.model", args.model)) if value}
    return [_Plan(flags, args.policy, args.adapter), *(_Plan({"preset": name}, args.policy) for name in args.baseline)]


async def _run_all(
    plans: Sequence[_Plan], cases: Sequence[Case], examined: list[ModelResults], context: Context
) -> None:
    for plan in plans:
        own = context.with_flags({"llm.seed": context.flags.get("llm.seed", _SEED), **plan.flags, **_SETTINGS})
        async with open_runtime(own, ["llm"], adapter=plan.adapter) as runtime:
            profile, llm = runtime.assistant().profile, own.settings.llm
            model = replace(profile, policy=plan.policy or profile.policy)
            name = (llm.remote_url and llm.remote_model) or (llm.model.stem if llm.model else runtime.preset.name)
            name = f"{name} + {plan.adapter.stem}" if plan.adapter else name
            await _run_plan(name, model, cases, examined, own)


async def _run_plan(
    name: str, model: ModelProfile, cases: Sequence[Case], examined: list[ModelResults], context: Context
) -> None:
    so_far = ModelResults(name)
    examined.append(so_far)
    progress = ProgressLine(name, len(cases), context.err)
    settings = context.settings
    ask = run_cases
    if any(case.spoken for case in cases):
        ask = partial(speech.run_heard_cases, ask_below=settings.stt.ask_below)
    asked = ask(model, cases, instructions=settings.llm.instructions, max_things=settings.home.max_things)
    async for result in asked:
        so_far.results.append(result)
        progress.update(is_right=result.score.is_right)
    progress.end()


def _report(args: argparse.Namespace, examined: Sequence[ModelResults], context: Context) -> None:
    """Raises StateError when a file cannot be written."""
    context.out.width = max(context.out.width, _TABLE_CHARS)  # never truncate figures
    for number, table in enumerate(tables(examined)):
        if number:
            context.out.print()
        context.out.print(table, soft_wrap=True)
    context.print(*wrong_recordings(examined))
    for one in examined:
        if problems := [result.error for result in one.results if result.error]:
            context.note(f"{one.model}: {len(problems)} rows failed: {problems[0]}")
    if args.json:
        _write(args.json, json.dumps(figures(examined), indent=2))
    if args.rows:
        _write(args.rows, "\n".join(json.dumps(row, ensure_ascii=False) for row in rows(examined)))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise StateError(f"{path} cannot be written: {error.strerror}", hint="choose another file") from error
