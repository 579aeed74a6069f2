"""`edgevox devices`, `setup` and `wake`: list, choose and test audio devices, and measure a wake word."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from edgevox.audio.dsp import dbfs
from edgevox.audio.files import read_audio
from edgevox.audio.io.devices import Device, Direction, choose_device, list_devices
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.speaker import Speaker
from edgevox.audio.wake_word import (
    TARGET_FALSE_PER_HOUR,
    TARGET_MISSED,
    WakeWordDetector,
    WakeWordScore,
    score_wake_word,
    trace_wake_word,
)
from edgevox.cli.command import JSON, Command, argument, setting
from edgevox.cli.context import Context, folded, left, plain_table, right, run_until_done
from edgevox.config.sections import Threshold, ThresholdName, wake_words
from edgevox.config.toml_file import update_config_file
from edgevox.core.errors import AudioError, ConfigError, DeviceUnavailable
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio


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


def devices_table(devices: Sequence[Device], microphone: Device | None, speaker: Device | None) -> Table:
    """Table of the devices and their channels; devices in use are marked."""
    numbers = map(right, ("inputs", "outputs", "rate"))
    table = plain_table(right("#"), folded("device"), *numbers, left("host API"), "used as")
    for device in devices:
        uses = (("microphone", device == microphone), ("loudspeaker", device == speaker))
        table.add_row(
            str(device.index),
            Text(device.name),
            str(device.input_channels or ""),
            str(device.output_channels or ""),
            f"{device.rate_hz} Hz",
            device.host_api,
            ", ".join(name for name, is_used in uses if is_used),
        )
    return table


def _device_in_use(
    devices: Sequence[Device], wanted: str | None, direction: Direction, context: Context
) -> Device | None:
    try:
        return choose_device(devices, wanted, direction)
    except DeviceUnavailable as error:
        context.report_error(error)
        return None


LevelRating: TypeAlias = Literal["nothing", "too quiet", "clipping", "fine"]

_LISTEN_S = 2.0
_FRAME = SAMPLE_RATE_HZ // 50
# Level of the loudest 10 % of the frames: speech at arm's length is far above, room noise below.
_QUIET_DBFS = -45.0
_NOTHING_DBFS = -85.0
_CLIPPED_LEVEL = 0.99
_CLIPPED_SHARE = 0.001
_ADVICE: dict[LevelRating, str] = {
    "nothing": "records silence: is it muted, or is another microphone meant?",
    "too quiet": "is too quiet: speak up, move closer, or raise its level in the system's sound settings",
    "clipping": "clips: lower its level in the system's sound settings, or move away",
    "fine": "works",
}
_NOUNS: dict[Direction, str] = {"input": "microphone", "output": "loudspeaker"}
_KEYS: dict[Direction, str] = {"input": "microphone", "output": "speaker"}
_CHIME_HZ = (523.25, 659.25, 783.99)
_CHIME_RATE_HZ = 22_050
_NOTE_S = 0.35


@Command(
    "setup",
    "Choose and test a microphone and a speaker",
    setting("--mic", "audio.microphone", "NAME", "microphone to test"),
    setting("--speaker", "audio.speaker", "NAME", "loudspeaker to test"),
    argument("--save", action="store_true", help="save the choice without asking"),
)
def setup(args: argparse.Namespace, context: Context) -> int:
    settings = context.settings.audio
    wanted: dict[Direction, str | None] = {"input": settings.microphone, "output": settings.speaker}
    devices = list_devices()
    if sys.stdin.isatty() and devices:
        context.out.print(devices_table(devices, None, None))
        wanted = {direction: _choose_device(context, devices, direction, wanted[direction]) for direction in wanted}
    exit_codes = [_test_device(context, devices, direction, name) for direction, name in wanted.items()]
    named = {_KEYS[direction]: name for direction, name in wanted.items() if name is not None}
    _save_choice(context, named, works=not any(exit_codes), unasked=args.save)
    return max(exit_codes)


def rate_level(samples: NDArray[np.float32]) -> LevelRating:
    """Rate the input level of a speech recording."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    loudest = np.sort([dbfs(frame) for frame in frames])[-max(1, len(frames) // 10) :]
    if np.mean(np.abs(samples) >= _CLIPPED_LEVEL) > _CLIPPED_SHARE:
        return "clipping"
    if loudest.max() < _NOTHING_DBFS:
        return "nothing"
    return "too quiet" if np.median(loudest) < _QUIET_DBFS else "fine"


def chime() -> Audio:
    """Return the test sound: three rising notes."""
    at_s = np.arange(round(_NOTE_S * _CHIME_RATE_HZ)) / _CHIME_RATE_HZ
    fade = np.minimum(1, 100 * at_s) * np.exp(-6 * at_s)
    notes = [0.3 * fade * np.sin(2 * np.pi * hz * at_s) for hz in _CHIME_HZ]
    return Audio(np.concatenate(notes).astype(np.float32), _CHIME_RATE_HZ)


def _choose_device(
    context: Context, devices: Sequence[Device], direction: Direction, current: str | None
) -> str | None:
    """Ask for a device by number or name; an empty answer keeps the current one."""
    while True:
        answer = context.ask(f"{_NOUNS[direction]}, by number or name [{current or 'default'}]: ")
        if not answer:
            return current
        try:
            device = choose_device(devices, answer, direction)
        except DeviceUnavailable as error:
            context.report_error(error)
        else:
            return _stable_name(device, devices, direction)


def _stable_name(device: Device, devices: Sequence[Device], direction: Direction) -> str:
    """Return the device's name, which is stable across restarts, or its number if the name is ambiguous."""
    same = [other for other in devices if other.channels(direction) and other.name == device.name]
    return device.name if len(same) == 1 else str(device.index)


def _test_device(context: Context, devices: Sequence[Device], direction: Direction, name: str | None) -> int:
    try:
        device = choose_device(devices, name, direction)
        return (_test_microphone if direction == "input" else _test_speaker)(context, device)
    except DeviceUnavailable as error:
        context.report_error(error)
        return error.exit_code


def _test_microphone(context: Context, device: Device) -> int:
    with context.err.status(f"Say something: recording for {_LISTEN_S:.0f} s …"):
        samples = run_until_done(_record(device))
    rating = rate_level(samples)
    text = f"microphone {device.name!r} {_ADVICE[rating]} ({dbfs(samples):.0f} dBFS)"
    return _print_result(context, text, is_good=rating == "fine")


def _test_speaker(context: Context, device: Device) -> int:
    with context.err.status("Playing three notes …"):
        run_until_done(_play(device, context.settings.audio.lead_in_ms))
    was_heard = not sys.stdin.isatty() or _confirm(context, "Did you hear three notes?")
    advice = "works" if was_heard else "was not heard: is it muted, or is another loudspeaker meant?"
    return _print_result(context, f"loudspeaker {device.name!r} {advice}", is_good=was_heard)


async def _record(device: Device) -> NDArray[np.float32]:
    blocks: list[NDArray[np.float32]] = []
    async with Microphone(str(device.index)) as microphone, aclosing(microphone.frames()) as frames:
        async for block in frames:
            blocks.append(block.samples)
            if sum(map(len, blocks)) >= _LISTEN_S * SAMPLE_RATE_HZ:
                break
    return np.concatenate(blocks)


async def _play(device: Device, lead_in_ms: int) -> None:
    async def notes() -> AsyncIterator[Audio]:
        yield chime()

    await Speaker(str(device.index), lead_in_ms=lead_in_ms).play(notes(), CancelFlag())


def _save_choice(context: Context, named: Mapping[str, str], *, works: bool, unasked: bool) -> None:
    path = context.folders.config_file
    if not works:
        context.note("not saved: fix the problem first, or choose other devices")
    elif not named:
        context.note("these are the system's default devices: nothing to save")
    elif unasked or (sys.stdin.isatty() and _confirm(context, f"Save this choice to {path}?")):
        update_config_file(path, "audio", named)
        context.note(f"saved to {path}")


def _print_result(context: Context, text: str, *, is_good: bool) -> int:
    """Print the result of a test and return its exit code."""
    mark, style = ("✓", "green") if is_good else ("✗", "red")
    context.out.print(Text.assemble((f"{mark} ", style), text), soft_wrap=True)
    return 0 if is_good else 1


def _confirm(context: Context, question: str) -> bool:
    return context.ask(f"{question} [Y/n] ").lower() not in ("n", "no")


_MAX_NAMED = 20
_AUDIO_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".webm")


WAKE = Command("wake", "Measure false and missed wake words in recordings")


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
