"""Records in a child process, so that a hanging PortAudio can be killed (docs/adr/0029-daemon.md)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from time import monotonic
from types import SimpleNamespace

import numpy as np

from edgevox.audio.io.devices import Device, Direction, device_unusable
from edgevox.audio.io.recorder_child import BLOCK
from edgevox.audio.io.streams import Callback
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.platform import enlarge_pipe

_OPENS_WITHIN_S = 10.0
# More than a second of audio: how late this process may be before the device drops samples.
_PIPE_BYTES = 1 << 20


async def open_recorder(
    device: Device, direction: Direction, callback: Callback, *, block_frames: int = 0, latency_s: float
) -> RecorderStream:
    """An input stream in another process, as `open_stream` opens one in this. Raises DeviceUnavailable."""
    assert direction == "input"
    options = {
        "index": device.index,
        "name": device.name,
        "most_channels": device.channels(direction),
        "samplerate": device.rate_hz,
        "blocksize": block_frames,
        "latency": latency_s,
    }
    process = subprocess.Popen(  # noqa: ASYNC220  (milliseconds, and a cancelled caller must kill it)
        [sys.executable, "-m", "edgevox.audio.io.recorder_child", json.dumps(options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what ALSA says when a server dies
    )
    try:
        channels = await _channels(process, device)
    except BaseException:
        _end(process)
        assert process.stdout is not None
        process.stdout.close()
        raise
    return RecorderStream(process, channels, callback)


async def _channels(process: subprocess.Popen[bytes], device: Device) -> int:
    assert process.stdout is not None
    watchdog = threading.Timer(_OPENS_WITHIN_S, process.kill)
    watchdog.start()
    try:
        line = await asyncio.to_thread(process.stdout.readline)
    finally:
        watchdog.cancel()
    opened = json.loads(line) if line else {"error": "the recorder does not start"}
    if "error" in opened:
        raise device_unusable(device, "input", DeviceUnavailable(opened["error"]))
    return int(opened["channels"])


class RecorderStream:
    """An open stream; from `start` to `close` the callback runs in a thread of its own."""

    def __init__(self, process: subprocess.Popen[bytes], channels: int, callback: Callback) -> None:
        self.channels = channels
        self._process = process
        self._callback = callback
        self._is_closed = False
        assert process.stdout is not None
        enlarge_pipe(process.stdout.fileno(), _PIPE_BYTES)
        self._thread = threading.Thread(target=self._read, name="recorder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop; the callback is not called after this returns."""
        self._is_closed = True
        _end(self._process)
        if self._thread.ident is not None:
            self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        sound = self._process.stdout
        assert sound is not None
        while len(header := sound.read(BLOCK.size)) == BLOCK.size:
            length, frames, written_s, age_s, overflow = BLOCK.unpack(header)
            samples = sound.read(length)
            if len(samples) < length or self._is_closed:
                break
            block = np.frombuffer(samples, dtype=np.float32).reshape(frames, self.channels)
            # As from PortAudio, on the clock of this process.
            times = SimpleNamespace(currentTime=monotonic() - written_s + age_s, inputBufferAdcTime=0.0)
            self._callback(block, frames, times, SimpleNamespace(input_overflow=bool(overflow)))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process: PortAudio's own stop can hang for ever."""
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()
