"""The recorder's child process: writes PortAudio's input stream to standard output, block by block.

Started as `python -m edgevox.audio.io.recorder_child OPTIONS` (JSON). The first line is `{"channels": 1}`
or `{"error": "…"}`; then each block is a header and its samples. It exits when its standard input closes.
It does not import numpy, which would be most of its memory.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

BLOCK = struct.Struct("=IIddB")
"""Bytes of samples, frames, when it was written (monotonic), how old its first sample was then, overflow."""


def main(options: dict[str, Any]) -> None:
    import sounddevice

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    out = sys.stdout.fileno()

    def on_sound(indata: Any, frames: int, time: Any, status: Any) -> None:  # noqa: ANN401
        samples = bytes(indata)
        age_s = time.currentTime - time.inputBufferAdcTime
        header = BLOCK.pack(len(samples), frames, monotonic(), age_s, bool(status.input_overflow))
        _write(out, header + samples)

    try:
        stream, channels = open_with_channels(
            sounddevice.RawInputStream,
            sounddevice.PortAudioError,
            options.pop("most_channels"),
            device=_index(options.pop("index"), options.pop("name")),
            callback=on_sound,
            **options,
        )
    except (sounddevice.PortAudioError, ValueError) as error:
        _write(out, json.dumps({"error": str(error)}).encode() + b"\n")
        return
    _write(out, json.dumps({"channels": channels}).encode() + b"\n")
    stream.start()
    sys.stdin.buffer.read()
    os._exit(0)  # the parent has exited; closing the stream can hang


def open_with_channels(
    make: Callable[..., Any], refused: type[Exception], most_channels: int, **options: object
) -> tuple[Any, int]:
    """Open a stream; returns it with its number of channels. Raises `refused`."""
    # Mono first; some devices open only with all channels.
    for channels in (1, min(2, most_channels), most_channels):
        try:
            return make(channels=channels, dtype="float32", **options), channels
        except refused:
            if channels == most_channels:
                raise
    raise AssertionError


def _index(index: int, name: str) -> int:
    """The device's index in this process, which may differ from the parent's."""
    import sounddevice

    devices = sounddevice.query_devices()
    if index < len(devices) and devices[index]["name"] == name:
        return index
    for number, facts in enumerate(devices):
        if facts["name"] == name and facts["max_input_channels"]:
            return number
    raise ValueError(f"{name!r} is gone")


def _write(out: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(out, data) :]
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
