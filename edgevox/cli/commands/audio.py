"""`edgevox devices`, `setup` and `wake`: list, choose and test audio devices, and measure a wake word."""

from __future__ import annotations

import argparse
import dataclasses
import json
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
    WakeWordTrace,
    score_wake_word,
    trace_wake_word,
)
from edgevox.cli.command import Command
from edgevox.cli.context import Context, run_until_done
from edgevox.config.sections import Threshold, ThresholdName, wake_words
from edgevox.config.toml_file import update_config_file
from edgevox.core.errors import AudioError, ConfigError, DeviceUnavailable
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio


def add_devices_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def devices_command(args: argparse.Namespace, context: Context) -> int:
    settings = context.settings.audio
    devices = list_devices()
    microphone = _device_in_use(devices, settings.microphone, "input", context)
    speaker = _device_in_use(devices, settings.speaker, "output", context)
    if args.json:
        rows = [
            dataclasses.asdict(device)
            | {"used_as_microphone": device == microphone, "used_as_speaker": device == speaker}
            for device in devices
        ]
        context.write(json.dumps(rows, indent=2, ensure_ascii=False))
    elif devices:
        context.out.print(devices_table(devices, microphone, speaker))
        context.out.print("\nChoose by number, name or part of a name with edgevox setup, or run --mic and --speaker.")
    return 0 if microphone and speaker else DeviceUnavailable.exit_code


def devices_table(devices: Sequence[Device], microphone: Device | None, speaker: Device | None) -> Table:
    """Table of the devices and their channels; devices in use are marked."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("device", overflow="fold")
    for heading in ("inputs", "outputs", "rate"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("host API", no_wrap=True)
    table.add_column("used as")
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


def add_setup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mic", dest="audio.microphone", metavar="NAME", help="microphone to test")
    parser.add_argument("--speaker", dest="audio.speaker", metavar="NAME", help="loudspeaker to test")
    parser.add_argument("--save", action="store_true", help="save the choice without asking")


def setup_command(args: argparse.Namespace, context: Context) -> int:
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
        answer = _prompt(context, f"{_NOUNS[direction]}, by number or name [{current or 'default'}]: ")
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
        match direction:
            case "input":
                return _test_microphone(context, device)
            case "output":
                return _test_speaker(context, device)
    except DeviceUnavailable as error:
        context.report_error(error)
        return error.exit_code


def _test_microphone(context: Context, device: Device) -> int:
    with context.err.status(f"Say something: recording for {_LISTEN_S:.0f} s …"):
        samples = run_until_done(_record(device))
    rating = rate_level(samples)
    _print_result(
        context, f"microphone {device.name!r} {_ADVICE[rating]} ({dbfs(samples):.0f} dBFS)", is_good=rating == "fine"
    )
    return 0 if rating == "fine" else 1


def _test_speaker(context: Context, device: Device) -> int:
    with context.err.status("Playing three notes …"):
        run_until_done(_play(device, context.settings.audio.lead_in_ms))
    was_heard = not sys.stdin.isatty() or _confirm(context, "Did you hear three notes?")
    advice = "works" if was_heard else "was not heard: is it muted, or is another loudspeaker meant?"
    _print_result(context, f"loudspeaker {device.name!r} {advice}", is_good=was_heard)
    return 0 if was_heard else 1


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
        context.err.print("not saved: fix the problem first, or choose other devices")
    elif not named:
        context.err.print("these are the system's default devices: nothing to save")
    elif unasked or (sys.stdin.isatty() and _confirm(context, f"Save this choice to {path}?")):
        update_config_file(path, "audio", named)
        context.err.print(Text(f"saved to {path}"), soft_wrap=True)


def _print_result(context: Context, text: str, *, is_good: bool) -> None:
    mark, style = ("✓", "green") if is_good else ("✗", "red")
    context.out.print(Text.assemble((f"{mark} ", style), text), soft_wrap=True)


def _confirm(context: Context, question: str) -> bool:
    return _prompt(context, f"{question} [Y/n] ").lower() not in ("n", "no")


def _prompt(context: Context, question: str) -> str:
    try:
        return context.err.input(Text(question)).strip()
    except EOFError:
        return ""


_MAX_NAMED = 20
_AUDIO_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".webm")


def add_wake_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="test")
    test = actions.add_parser("test", help="count false accepts per hour and misses in recordings")
    test.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="recordings (or folders) without the wake word: every detection is a false accept",
    )
    test.add_argument(
        "--wake-files",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="recordings (or folders) with the wake word once in each: no detection is a miss",
    )
    test.add_argument("--word", dest="wake.word", choices=[*wake_words()], help="built-in wake word")
    test.add_argument("--model", dest="wake.model", metavar="FILE.json", help="your own wake-word model")
    test.add_argument(
        "--threshold", dest="wake.threshold", type=_threshold, help="strict, normal, eager, or a number from 0 to 1"
    )
    test.add_argument("--json", action="store_true", help="print a JSON object")


def wake_command(args: argparse.Namespace, context: Context) -> int:
    others, words = list(_audio_files(args.files)), list(_audio_files(args.wake_files))
    if not others and not words:
        raise ConfigError("no recordings given", hint="edgevox wake test TALK.wav … --wake-files WORD.wav …")
    wake = context.settings.wake
    word = wake.model or wake.word
    wake_word = WakeWordDetector(word).word
    began_s = time.monotonic()
    with context.err.status("processing …"):
        heard_others = [trace_wake_word(word, str(path), read_audio(path)) for path in others]
        heard_words = [trace_wake_word(word, str(path), read_audio(path)) for path in words]
    took_s = time.monotonic() - began_s
    chosen = score_wake_word(heard_words, heard_others, wake_word.cutoff(wake.threshold))
    if args.json:
        context.write(json.dumps(_score_json(wake_word.phrase, chosen, heard_words, heard_others), indent=2))
        return 0
    levels: list[Threshold] = list(get_args(ThresholdName))
    if wake.threshold not in levels:
        levels.append(wake.threshold)
    table = _score_table(
        [(level, score_wake_word(heard_words, heard_others, wake_word.cutoff(level))) for level in levels],
        wake.threshold,
    )
    heard_s = sum(heard.duration_s for heard in (*heard_words, *heard_others))
    context.out.print(f'"{wake_word.phrase}" in {heard_s / 60:.1f} minutes of audio (processed in {took_s:.1f} s)\n')
    context.out.print(table)
    _print_mistakes(context, chosen, heard_words, heard_others)
    return 0


def _threshold(text: str) -> Threshold | str:
    """Return a number if the text is one; the settings validate the rest."""
    try:
        return float(text)
    except ValueError:
        return text


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
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("threshold", "cut-off", "false accepts", "per hour", "at most (95 %)", "missed"):
        table.add_column(heading, justify="left" if heading == "threshold" else "right", no_wrap=True)
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


def _print_mistakes(
    context: Context, chosen: WakeWordScore, words: Sequence[WakeWordTrace], others: Sequence[WakeWordTrace]
) -> None:
    wrong = [f"{heard.name} at {at_s:.1f} s" for heard in others for at_s in heard.accepts_s(chosen.cutoff)]
    missed = [heard.name for heard in words if not heard.accepts_s(chosen.cutoff)]
    for what, names in (("false accepts", wrong), ("missed", missed)):
        if names:
            context.out.print(f"\n{what}:")
        for name in names[:_MAX_NAMED]:
            context.out.print(f"  {name}", markup=False, soft_wrap=True)
        if len(names) > _MAX_NAMED:
            context.out.print(f"  … and {len(names) - _MAX_NAMED} more")


def _score_json(
    spoken: str, chosen: WakeWordScore, words: Sequence[WakeWordTrace], others: Sequence[WakeWordTrace]
) -> dict[str, object]:
    return {
        "word": spoken,
        **dataclasses.asdict(chosen),
        "false_per_hour": chosen.false_per_hour,
        "false_per_hour_at_most": chosen.false_per_hour_at_most,
        "missed_share": chosen.missed_share,
        "heard_wrongly": [
            {"file": heard.name, "at_s": round(at_s, 2)} for heard in others for at_s in heard.accepts_s(chosen.cutoff)
        ],
        "missed_files": [heard.name for heard in words if not heard.accepts_s(chosen.cutoff)],
    }


COMMANDS = (
    Command("setup", "Choose and test a microphone and a speaker", setup_command, add_setup_arguments),
    Command("devices", "List audio devices", devices_command, add_devices_arguments),
    Command("wake", "Measure false and missed wake words in recordings", wake_command, add_wake_arguments),
)
