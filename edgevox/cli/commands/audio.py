"""`edgevox setup`, `devices` and `wake`: sound, and the quality of a wake word."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from rich.table import Table

from edgevox.audio.files import read_audio
from edgevox.audio.io.devices import Device, Direction, choose_device, list_devices
from edgevox.audio.wake_features import MODEL_ID as EMBEDDING_MODEL_ID
from edgevox.audio.wake_features import EmbeddingNetwork
from edgevox.audio.wake_head import save_word
from edgevox.audio.wake_word import (
    TARGET_FALSE_PER_HOUR,
    TARGET_MISSED,
    WakeWordDetector,
    WakeWordScore,
    score_wake_word,
    trace_wake_word,
)
from edgevox.cli.command import JSON, Command, argument, setting
from edgevox.cli.context import Context, left, plain_table, right
from edgevox.cli.ui.progress import pull_progress
from edgevox.cli.ui.sound_check import devices_table
from edgevox.config import TtsSettings
from edgevox.config.editing import save_answers
from edgevox.config.sections import TRAINED_WORDS_FOLDER, Threshold, ThresholdName, wake_words
from edgevox.core.errors import AudioError, ConfigError, DeviceUnavailable
from edgevox.models import open_store


@Command("devices", "List audio devices", JSON)
def devices(args: argparse.Namespace, context: Context) -> int:
    settings = context.settings.audio
    found = list_devices()
    microphone = _device_in_use(found, settings.microphone, "input", context)
    speaker = _device_in_use(found, settings.speaker, "output", context)
    if args.json:
        context.write_json(
            [
                dataclasses.asdict(device)
                | {"used_as_microphone": device == microphone, "used_as_speaker": device == speaker}
                for device in found
            ]
        )
    elif found:
        context.out.print(devices_table(found, microphone, speaker))
        context.print("\nChoose by number, name or part of a name with edgevox setup, or run --mic and --speaker.")
    return 0 if microphone and speaker else DeviceUnavailable.exit_code


def _device_in_use(
    devices: Sequence[Device], wanted: str | None, direction: Direction, context: Context
) -> Device | None:
    try:
        return choose_device(devices, wanted, direction)
    except DeviceUnavailable as error:
        context.report_error(error)
        return None


@Command(
    "setup",
    "Set up everything in one guided conversation",
    argument("steps", nargs="*", metavar="STEP", help="only these steps, such as microphone or home"),
    argument("--mic", metavar="NAME", help="propose this microphone"),
    argument("--speaker", metavar="NAME", help="propose this loudspeaker"),
    argument("--yes", "--save", action="store_true", help="ask nothing: take every default, test and save"),
)
def setup(args: argparse.Namespace, context: Context) -> int:
    if not args.yes and not sys.stdin.isatty():
        raise ConfigError(
            "edgevox setup asks questions: run it in a terminal",
            hint="for scripts: edgevox config set NAME VALUE, or edgevox setup --yes, which takes all defaults",
        )
    # Imported here: the setup uses most other commands, which takes a second.
    from edgevox.cli.setup.flow import run_setup
    from edgevox.cli.setup.machine import LocalMachine
    from edgevox.cli.setup.session import SetupSession
    from edgevox.cli.ui.questions import Questions

    proposed: dict[Direction, str] = {}
    proposed |= {"input": args.mic} if args.mic else {}
    proposed |= {"output": args.speaker} if args.speaker else {}
    questions = Questions(context.err, is_unattended=args.yes)
    return run_setup(SetupSession(context, questions, LocalMachine(), proposed), args.steps)


_MAX_NAMED = 20
_AUDIO_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".webm")


WAKE = Command("wake", "Train a wake word of your own, and measure wake words in recordings")


@WAKE.action(
    "test",
    "count false accepts per hour and misses in recordings",
    argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="recordings (or folders) without the wake word: every detection is a false accept",
    ),
    argument(
        "--wake-files",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="recordings (or folders) with the wake word once in each: no detection is a miss",
    ),
    setting("--word", "wake.word", None, "built-in wake word", choices=[*wake_words()]),
    setting("--model", "wake.model", "FILE.json", "your own wake-word model"),
    setting("--threshold", "wake.threshold", None, "strict, normal, eager, or a number from 0 to 1"),
    JSON,
)
def _test(args: argparse.Namespace, context: Context) -> None:
    others, words = list(_audio_files(args.files)), list(_audio_files(args.wake_files))
    if not others and not words:
        raise ConfigError("no recordings given", hint="edgevox wake test TALK.wav … --wake-files WORD.wav …")
    wake = context.settings.wake
    word = wake.model or wake.word
    wake_word = WakeWordDetector(word).word
    began_s = time.monotonic()
    with context.err.status("processing …"):
        other_traces = [trace_wake_word(word, str(path), read_audio(path)) for path in others]
        word_traces = [trace_wake_word(word, str(path), read_audio(path)) for path in words]
    took_s = time.monotonic() - began_s
    chosen = score_wake_word(word_traces, other_traces, wake_word.cutoff(wake.threshold))
    wrong = [(trace.name, at_s) for trace in other_traces for at_s in trace.accepts_s(chosen.cutoff)]
    missed = [trace.name for trace in word_traces if not trace.accepts_s(chosen.cutoff)]
    if args.json:
        context.write_json(
            {
                "word": wake_word.phrase,
                **dataclasses.asdict(chosen),
                "false_per_hour": chosen.false_per_hour,
                "false_per_hour_at_most": chosen.false_per_hour_at_most,
                "missed_share": chosen.missed_share,
                "heard_wrongly": [{"file": name, "at_s": round(at_s, 2)} for name, at_s in wrong],
                "missed_files": missed,
            }
        )
        return
    levels: list[Threshold] = list(dict.fromkeys((*get_args(ThresholdName), wake.threshold)))
    scores = [(level, score_wake_word(word_traces, other_traces, wake_word.cutoff(level))) for level in levels]
    audio_s = sum(trace.duration_s for trace in (*word_traces, *other_traces))
    context.print(f'"{wake_word.phrase}" in {audio_s / 60:.1f} minutes of audio (processed in {took_s:.1f} s)\n')
    context.out.print(_score_table(scores, wake.threshold))
    mistakes = {"false accepts": [f"{name} at {at_s:.1f} s" for name, at_s in wrong], "missed": missed}
    for what, names in mistakes.items():
        if names:
            context.print(f"\n{what}:", *(f"  {name}" for name in names[:_MAX_NAMED]))
        if len(names) > _MAX_NAMED:
            context.print(f"  … and {len(names) - _MAX_NAMED} more")


@WAKE.action(
    "train",
    "train a wake word of your own, from synthesised speech",
    argument("phrase", metavar="PHRASE", help='a few English words, such as "hey house"'),
    argument(
        "--negatives",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="recordings (or folders) without the phrase, of your rooms and people: fewer false accepts",
    ),
    argument("--quick", action="store_true", help="a first try in a minute or two, with more errors"),
    argument("--use", action="store_true", help="make it the wake word: wake.mode and wake.word"),
    JSON,
)
def _train(args: argparse.Namespace, context: Context) -> None:
    # Imported late: other commands do without onnxruntime.
    from edgevox.tts.speaker_bank import MODEL_ID as SPEAKERS
    from edgevox.tts.speaker_bank import SpeakerBank
    from edgevox.wake_training.recipe import QUICK, Plan, checked_phrase, train_wake_word

    phrase = checked_phrase(args.phrase)
    recordings = [read_audio(path).samples for path in _audio_files(args.negatives)]
    store, voice = open_store(context.folders), TtsSettings().voice
    with pull_progress(context.err) as progress:
        store.ensure([EMBEDDING_MODEL_ID, SPEAKERS, voice], progress)
    bank = SpeakerBank(store.path(SPEAKERS).parent, store.path(voice), threads=os.cpu_count() or 1)
    network = EmbeddingNetwork.read(store.path(EMBEDDING_MODEL_ID))
    with context.err.status("synthesising …") as status:
        word, head = train_wake_word(
            phrase, bank, network, plan=QUICK if args.quick else Plan(), recordings=recordings, report=status.update
        )
    name = phrase.replace(" ", "_").replace("'", "")
    path = context.folders.state / TRAINED_WORDS_FOLDER / f"{name}.json"
    save_word(path, head, word)
    if args.use:
        # With the recogniser as the second opinion, the detector may be eager.
        chosen = {"mode": "word", "word": name, "model": None, "confirm": True, "threshold": "eager"}
        save_answers(context.settings, context.folders, {f"wake.{key}": value for key, value in chosen.items()})
    if args.json:
        context.write_json({"name": name, "file": str(path), **word.model_dump()})
        return
    missed, false = word.measured, word.measured["false_accepts"]
    context.print(
        f'"{phrase}" is trained: {path}',
        f"  missed {missed['missed']} of {missed['phrases']} synthesised phrases of speakers kept aside",
        f"  {false} false accepts in {missed['hours'] * 60:.0f} minutes of people's speech kept aside",
        f"  {word.training['seconds'] / 60:.1f} minutes, {word.training['cpu_seconds'] / 60:.1f} of processor time",
    )
    if not args.use:
        context.print(f"\nUse it: edgevox config set wake.word {name}, and wake.mode word")
    context.print(f"Measure it on recordings of people: edgevox wake test TALK.wav --wake-files WORD.wav --word {name}")


def _audio_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in _AUDIO_SUFFIXES)
        if not inside:
            raise AudioError(f"no audio files in {path}", hint=f"supported suffixes: {', '.join(_AUDIO_SUFFIXES)}")
        yield from inside


def _score_table(scores: Sequence[tuple[Threshold, WakeWordScore]], chosen: Threshold) -> Table:
    headings = ("cut-off", "false accepts", "per hour", "at most (95 %)", "missed")
    table = plain_table(left("threshold"), *map(right, headings))
    for level, result in scores:
        table.add_row(
            f"{level}{' *' if level == chosen else ''}",
            f"{result.cutoff:.3f}",
            str(result.false_accepts) if result.hours else "–",
            _number(result.false_per_hour),
            _number(result.false_per_hour_at_most),
            f"{result.missed} of {result.words}" if result.words else "–",
        )
    table.add_row("openWakeWord's target", "", "", f"{TARGET_FALSE_PER_HOUR}", "", f"{TARGET_MISSED:.0%}", style="dim")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
