"""`edgevox setup`: the first run. Choose a microphone and a loudspeaker, try both, keep the choice."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from edgevox.audio.devices import Device, Direction, choose, list_devices
from edgevox.audio.levels import dbfs
from edgevox.audio.microphone import Microphone
from edgevox.audio.speaker import Speaker
from edgevox.cli.context import Context
from edgevox.cli.devices import devices_table
from edgevox.cli.loop import run_until_done
from edgevox.errors import DeviceUnavailable
from edgevox.settings.config_edit import keep_in_file
from edgevox.turn import CancelFlag
from edgevox.types import WHISPER_RATE_HZ, Audio

Verdict: TypeAlias = Literal["nothing", "too quiet", "clipping", "fine"]

_LISTEN_S = 2.0
_FRAME = WHISPER_RATE_HZ // 50
# Of the loudest tenth of the time: a voice at arm's length is far above, the hiss of a room below.
_QUIET_DBFS = -45.0
_NOTHING_DBFS = -85.0
_CLIPPED_LEVEL = 0.99
_CLIPPED_SHARE = 0.001
_ADVICE: dict[Verdict, str] = {
    "nothing": "hears nothing at all: is it muted, or is another one meant?",
    "too quiet": "hears little: speak up, come closer, or raise its level in the system's sound settings",
    "clipping": "distorts: lower its level in the system's sound settings, or move away",
    "fine": "hears well",
}
_NOUNS: dict[Direction, str] = {"input": "microphone", "output": "loudspeaker"}
_KEYS: dict[Direction, str] = {"input": "microphone", "output": "speaker"}
_CHIME_HZ = (523.25, 659.25, 783.99)
_CHIME_RATE_HZ = 22_050
_NOTE_S = 0.35


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mic", dest="audio.microphone", metavar="NAME", help="the microphone to try")
    parser.add_argument("--speaker", dest="audio.speaker", metavar="NAME", help="the loudspeaker to try")
    parser.add_argument("--save", action="store_true", help="keep the choice without asking")


def run(args: argparse.Namespace, context: Context) -> int:
    settings = context.settings.audio
    wanted: dict[Direction, str | None] = {"input": settings.microphone, "output": settings.speaker}
    devices = list_devices()
    if sys.stdin.isatty() and devices:
        context.out.print(devices_table(devices, None, None))
        wanted = {direction: _ask_for(context, devices, direction, wanted[direction]) for direction in wanted}
    exit_codes = [_try(context, devices, direction, name) for direction, name in wanted.items()]
    named = {_KEYS[direction]: name for direction, name in wanted.items() if name is not None}
    _keep(context, named, works=not any(exit_codes), unasked=args.save)
    return max(exit_codes)


def loudness(samples: NDArray[np.float32]) -> Verdict:
    """What a recording of somebody who speaks says about the microphone."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    loudest = np.sort([dbfs(frame) for frame in frames])[-max(1, len(frames) // 10) :]
    if np.mean(np.abs(samples) >= _CLIPPED_LEVEL) > _CLIPPED_SHARE:
        return "clipping"
    if loudest.max() < _NOTHING_DBFS:
        return "nothing"
    return "too quiet" if np.median(loudest) < _QUIET_DBFS else "fine"


def chime() -> Audio:
    """Three notes that rise, each of which fades."""
    at_s = np.arange(round(_NOTE_S * _CHIME_RATE_HZ)) / _CHIME_RATE_HZ
    fade = np.minimum(1, 100 * at_s) * np.exp(-6 * at_s)
    notes = [0.3 * fade * np.sin(2 * np.pi * hz * at_s) for hz in _CHIME_HZ]
    return Audio(np.concatenate(notes).astype(np.float32), _CHIME_RATE_HZ)


def _ask_for(
    context: Context, devices: Sequence[Device], direction: Direction, current: str | None
) -> str | None:
    """A device's number or name from the person at the terminal; nothing keeps what holds now."""
    while True:
        answer = _answer(context, f"{_NOUNS[direction]}, by number or name [{current or 'default'}]: ")
        if not answer:
            return current
        try:
            device = choose(devices, answer, direction)
        except DeviceUnavailable as error:
            context.complain(error)
        else:
            return _lasting_name(device, devices, direction)


def _lasting_name(device: Device, devices: Sequence[Device], direction: Direction) -> str:
    """The name, which survives a restart, unless another device has the same."""
    same = [other for other in devices if other.channels(direction) and other.name == device.name]
    return device.name if len(same) == 1 else str(device.index)


def _try(context: Context, devices: Sequence[Device], direction: Direction, name: str | None) -> int:
    try:
        device = choose(devices, name, direction)
        match direction:
            case "input":
                return _try_microphone(context, device)
            case "output":
                return _try_speaker(context, device)
    except DeviceUnavailable as error:
        context.complain(error)
        return error.exit_code


def _try_microphone(context: Context, device: Device) -> int:
    with context.err.status(f"Say something: listening for {_LISTEN_S:.0f} s …"):
        heard = run_until_done(_hear(device))
    verdict = loudness(heard)
    _tell(
        context,
        f"microphone {device.name!r} {_ADVICE[verdict]} ({dbfs(heard):.0f} dBFS)",
        is_good=verdict == "fine",
    )
    return 0 if verdict == "fine" else 1


def _try_speaker(context: Context, device: Device) -> int:
    with context.err.status("Playing three notes …"):
        run_until_done(_play(device, context.settings.audio.lead_in_ms))
    was_heard = not sys.stdin.isatty() or _agrees(context, "Did you hear three notes?")
    advice = "plays" if was_heard else "was not heard: is it muted, or is another one meant?"
    _tell(context, f"loudspeaker {device.name!r} {advice}", is_good=was_heard)
    return 0 if was_heard else 1


async def _hear(device: Device) -> NDArray[np.float32]:
    blocks: list[NDArray[np.float32]] = []
    async with Microphone(str(device.index)) as microphone, aclosing(microphone.frames()) as frames:
        async for block in frames:
            blocks.append(block.samples)
            if sum(map(len, blocks)) >= _LISTEN_S * WHISPER_RATE_HZ:
                break
    return np.concatenate(blocks)


async def _play(device: Device, lead_in_ms: int) -> None:
    async def notes() -> AsyncIterator[Audio]:
        yield chime()

    await Speaker(str(device.index), lead_in_ms=lead_in_ms).play(notes(), CancelFlag())


def _keep(context: Context, named: Mapping[str, str], *, works: bool, unasked: bool) -> None:
    path = context.folders.config_file
    if not works:
        context.err.print("nothing is kept: mend this first, or choose others")
    elif not named:
        context.err.print("these are the system's defaults: there is nothing to keep")
    elif unasked or (sys.stdin.isatty() and _agrees(context, f"Keep this choice in {path}?")):
        keep_in_file(path, "audio", named)
        context.err.print(Text(f"kept in {path}"), soft_wrap=True)


def _tell(context: Context, text: str, *, is_good: bool) -> None:
    mark, style = ("✓", "green") if is_good else ("✗", "red")
    context.out.print(Text.assemble((f"{mark} ", style), text), soft_wrap=True)


def _agrees(context: Context, question: str) -> bool:
    return _answer(context, f"{question} [Y/n] ").lower() not in ("n", "no")


def _answer(context: Context, question: str) -> str:
    try:
        return context.err.input(Text(question)).strip()
    except EOFError:
        return ""
