"""Lists and tests microphones and loudspeakers: records with a level meter, rates the level, plays sounds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from edgevox.audio.dsp import dbfs
from edgevox.audio.io.devices import Device
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.speaker import Speaker
from edgevox.cli.context import folded, left, plain_table, right, run_until_done
from edgevox.cli.ui.voice_view import meter
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

LevelRating: TypeAlias = Literal["nothing", "too quiet", "clipping", "fine"]

RECORD_S = 3.0
LEVEL_ADVICE: dict[LevelRating, str] = {
    "nothing": "records silence: is it muted, or is another microphone meant?",
    "too quiet": "is too quiet: speak up, move closer, or raise its level in the system's sound settings",
    "clipping": "clips: lower its level in the system's sound settings, or move away",
    "fine": "works",
}
_FRAME = SAMPLE_RATE_HZ // 50
# Level of the loudest 10 % of the frames: speech at arm's length is far above, room noise below.
_QUIET_DBFS = -45.0
_NOTHING_DBFS = -85.0
_CLIPPED_LEVEL = 0.99
_CLIPPED_SHARE = 0.001
_CHIME_HZ = (523.25, 659.25, 783.99)
_CHIME_RATE_HZ = 22_050
_NOTE_S = 0.35


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


def record_with_meter(device: Device, console: Console) -> Audio:
    """Record for RECORD_S seconds, with the level on the terminal. Raises DeviceUnavailable."""
    if not console.is_terminal:
        return run_until_done(_record(device, lambda _level_dbfs, _left_s: None))
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(level_dbfs: float, left_s: float) -> None:
            live.update(Text.assemble("  ", meter(level_dbfs), f" {max(0.0, left_s):.0f} s"), refresh=True)

        return run_until_done(_record(device, show))


async def _record(device: Device, on_level: Callable[[float, float], None]) -> Audio:
    blocks: list[NDArray[np.float32]] = []
    recorded_s = 0.0
    async with Microphone(str(device.index)) as microphone, aclosing(microphone.frames()) as frames:
        async for block in frames:
            blocks.append(block.samples)
            recorded_s += block.duration_s
            if len(blocks) % 5 == 0:  # ten times a second
                on_level(dbfs(np.concatenate(blocks[-5:])), RECORD_S - recorded_s)
            if recorded_s >= RECORD_S:
                break
    return Audio(np.concatenate(blocks), SAMPLE_RATE_HZ)


def play_sounds(device: Device, sounds: Sequence[Audio], *, lead_in_ms: int) -> None:
    """Play the sounds to their end. Raises DeviceUnavailable."""

    async def chunks() -> AsyncIterator[Audio]:
        for sound in sounds:
            yield sound

    run_until_done(Speaker(str(device.index), lead_in_ms=lead_in_ms).play(chunks(), CancelFlag()))
