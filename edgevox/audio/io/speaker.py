"""The loudspeaker: gapless playback of chunks, ducking, and stopping at once on cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.aec.reference import Hole
from edgevox.audio.dsp import Resampler
from edgevox.audio.io.devices import Device, device_lost, find_device
from edgevox.audio.io.streams import RingBuffer, close_stream, open_stream, start_stream
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio

OnStart: TypeAlias = Callable[[], None]
"""Called when the first sample is played."""
Tap: TypeAlias = Callable[[NDArray[np.float32], float, Hole | None], None]
"""Called in PortAudio's thread with the played samples, when the first one sounds (monotonic), and the kind of
hole before them."""

# Audio buffered ahead of the device, for a machine that is busy for a moment.
_RING_S = 2.0
# Drivers report too short a delay, and closing a device drops its buffer.
_MARGIN_S = 0.05
# A longer delay is an error of the driver.
_LONGEST_DELAY_S = 3.0
# Ducking is by 15 dB: at once, so that speech is recognised; back to full volume gradually.
_DUCKED = 10 ** (-15 / 20)
_DUCK_S = 0.02
_LOUD_AGAIN_S = 0.15
# A fade-out avoids a click. A slow device is cut off after the limit.
_FADE_S = 0.005
_LONGEST_CUT_S = 0.12


class Playback:
    """One playback: `feed` runs in the loop, `fill` in PortAudio's thread.

    `is_over` is set when everything was played, or it was cancelled and is silent. The `tap` gets all samples
    that go to the device, silence included.
    """

    def __init__(self, rate_hz: int, lead_in_frames: int, on_start: OnStart, tap: Tap | None = None) -> None:
        self.is_over = asyncio.Event()
        self.underruns = 0
        self.taken_frames = 0
        self.device_delay_s = 0.0
        """The output latency: an estimate until the first callback."""
        self._rate_hz = rate_hz
        self._on_start = on_start
        self._tap = tap
        self._loop = asyncio.get_running_loop()
        self._ring = RingBuffer(round(_RING_S * rate_hz))
        self._lead_in_left = lead_in_frames
        self._has_room = asyncio.Event()
        self._wants_room = False
        self._has_begun = False
        self._is_starving = False
        self._is_complete = False
        self._is_cancelled = False
        self._is_ducked = False
        self._is_held = False
        self._gain = 1.0
        self._heard_by_frames = 0
        self._given_frames = 0
        self._given_until_s = 0.0

    @property
    def heard_s(self) -> float:
        ahead_s = max(0.0, self._given_until_s - monotonic())
        return max(0.0, self._given_frames / self._rate_hz - ahead_s)

    def duck(self, is_ducked: bool) -> None:
        self._is_ducked = is_ducked

    def hold(self, is_held: bool) -> None:
        """Fall silent and keep the rest, or go on with it."""
        self._is_held = is_held

    async def feed(self, chunks: AsyncIterator[Audio]) -> None:
        """Consume the chunks at playback speed."""
        # One resampler for the whole reply: one per chunk would click at the boundaries.
        resampler = Resampler(self._rate_hz, self._rate_hz)
        try:
            async for chunk in chunks:
                if chunk.rate_hz != resampler.from_hz:
                    await self._write(resampler.finish())
                    resampler = Resampler(chunk.rate_hz, self._rate_hz)
                await self._write(resampler.feed(chunk.samples))
            await self._write(resampler.finish())
        finally:
            self._is_complete = True

    def cancel(self) -> None:
        """Fade out to silence at once. Safe from any thread."""
        self._is_cancelled = True
        self._loop.call_soon_threadsafe(self._cut)

    def fill(self, outdata: NDArray[np.float32], frames: int, time: Any, status: Any) -> None:  # noqa: ANN401
        """Fill the device's buffer. In PortAudio's thread: copy and return."""
        self.taken_frames += frames
        # Read before the ring: a last chunk that arrives in between is still played.
        is_complete = self._is_complete
        if self._is_cancelled and not self._has_begun:
            self._gain = 0.0
        is_cut = self._is_cancelled and not self._gain
        is_paused = self._is_held and not self._gain
        is_silent = is_cut or is_paused or not (self._has_begun or self._ring.available)
        silence = frames if is_silent else max(0, min(frames, self._lead_in_left))
        self._lead_in_left -= silence
        outdata[:silence] = 0.0
        mono = outdata[silence:, 0]
        count = self._ring.read_into(mono)
        self._fade(mono)
        outdata[silence:, 1:] = mono[:, np.newaxis]
        # Not the longest delay so far, as below: the reference must not be later than the echo.
        delay_s = min(time.outputBufferDacTime - time.currentTime, _LONGEST_DELAY_S)
        heard_at_s = monotonic() + (delay_s if delay_s > 0 else self.device_delay_s)
        if self._tap is not None:
            hole: Hole | None = "lost" if status.output_underflow else None
            self._tap(outdata[:, 0], heard_at_s, "opened" if self.taken_frames == frames else hole)
        if count:
            self._given_frames += count
            self._given_until_s = heard_at_s + (silence + count) / self._rate_hz
            self._sounded(delay_s)
        if self._is_cancelled and not self._gain:
            self._loop.call_soon_threadsafe(self._over_when_heard)
        elif is_complete and not self._ring.available:
            if self.taken_frames - frames >= self._heard_by_frames:
                self._loop.call_soon_threadsafe(self.is_over.set)
        elif self._has_begun and not is_paused:
            was_starving, self._is_starving = self._is_starving, count < len(mono)
            self.underruns += status.output_underflow or (self._is_starving and not was_starving)
        if self._wants_room and self._ring.room >= self._ring.capacity // 2:
            self._wants_room = False
            self._loop.call_soon_threadsafe(self._has_room.set)

    def _fade(self, samples: NDArray[np.float32]) -> None:
        if self._is_cancelled or self._is_held:
            wanted, per_s = 0.0, 1 / _FADE_S
        elif self._is_ducked:
            wanted, per_s = _DUCKED, (1 - _DUCKED) / _DUCK_S
        else:
            wanted, per_s = 1.0, (1 - _DUCKED) / _LOUD_AGAIN_S
        if self._gain == wanted:
            if wanted != 1.0:
                samples *= np.float32(wanted)
        elif len(samples):
            way = np.arange(1, len(samples) + 1, dtype=np.float32) * np.float32(per_s / self._rate_hz)
            is_less = self._gain > wanted
            gains = np.maximum(self._gain - way, wanted) if is_less else np.minimum(self._gain + way, wanted)
            samples *= gains
            self._gain = float(gains[-1])

    def _cut(self) -> None:
        if self._has_begun:
            self._loop.call_later(_LONGEST_CUT_S, self.is_over.set)
        else:
            self.is_over.set()

    def _over_when_heard(self) -> None:
        self._loop.call_later(self._given_until_s - monotonic(), self.is_over.set)

    def _sounded(self, delay_s: float) -> None:
        # Some drivers do not know the output time, and report the current time.
        delay_s = max(self.device_delay_s, delay_s)
        # Counted in frames: PortAudio's clock can stand still after the sound server was restarted.
        self._heard_by_frames = self.taken_frames + round((delay_s + _MARGIN_S) * self._rate_hz)
        if not self._has_begun:
            self._has_begun = True
            self.device_delay_s = delay_s
            self._loop.call_soon_threadsafe(self._started)

    def _started(self) -> None:
        # A cancelled reply must not be reported as started after its end.
        if not self.is_over.is_set():
            self._on_start()

    async def _write(self, samples: NDArray[np.float32]) -> None:
        while len(samples):
            written = self._ring.write(samples[: self._ring.room])
            samples = samples[written:]
            if len(samples):
                self._has_room.clear()
                self._wants_room = True
                await self._has_room.wait()


# Short, since it delays the first word; with 50 ms there were underruns with all cores busy.
_DEVICE_BUFFER_S = 0.08
# A device that consumes nothing, not even silence, for this long is lost.
_GONE_AFTER_S = 3.0


class Speaker:
    """An output device by name, part of a name or index, or the default. Raises DeviceUnavailable.

    `lead_in_ms` is silence before the first word of a reply, for sinks that sleep and swallow the first
    syllable (Bluetooth, HDMI). It begins with `play`, so it passes while the first word is being made.
    """

    def __init__(self, device: str | None = None, *, lead_in_ms: int = 0) -> None:
        self.device: Device = find_device(device, "output")
        self.underruns = 0
        """How often a reply paused because the next chunk was late."""
        self.delay_s = _DEVICE_BUFFER_S
        """The time from `on_start` to the first audible sample of the last reply."""
        self.heard_s = 0.0
        """How much of the last reply was played."""
        self.tap: Tap | None = None
        """Gets all played samples, for the echo canceller."""
        self._lead_in_frames = self.device.rate_hz * lead_in_ms // 1000
        self._playback: Playback | None = None

    def duck(self, is_ducked: bool) -> None:
        if self._playback is not None:
            self._playback.duck(is_ducked)

    def hold(self, is_held: bool) -> None:
        if self._playback is not None:
            self._playback.hold(is_held)

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: OnStart = lambda: None) -> None:
        """Play chunks as they come; returns when the last sample was played or `cancel` is set.

        `on_start` is called when the first sample goes to the device. Raises DeviceUnavailable, SoundStuck if
        PortAudio hangs, and what `chunks` raises once everything before it was played.
        """
        playback = Playback(self.device.rate_hz, self._lead_in_frames, on_start, self.tap)
        stream = await open_stream(self.device, "output", playback.fill, latency_s=_DEVICE_BUFFER_S)
        feeding = asyncio.create_task(playback.feed(chunks))
        cancel.add_listener(playback.cancel)
        self._playback = playback
        try:
            playback.device_delay_s = stream.latency_s
            await start_stream(stream)
            await self._wait_for(playback)
            if not cancel.is_set():
                await feeding
        finally:
            cancel.remove_listener(playback.cancel)
            feeding.cancel()
            self._playback = None
            self.heard_s = playback.heard_s  # closing it drops the rest
            self.underruns += playback.underruns
            self.delay_s = playback.device_delay_s
            try:
                await close_stream(stream)
            finally:
                await asyncio.gather(feeding, return_exceptions=True)

    async def _wait_for(self, playback: Playback) -> None:
        while not playback.is_over.is_set():
            taken_frames = playback.taken_frames
            try:
                async with asyncio.timeout(_GONE_AFTER_S):
                    await playback.is_over.wait()
            except TimeoutError as error:
                if playback.taken_frames == taken_frames:
                    raise device_lost(self.device, "output") from error


class Loudspeaker(Protocol):
    """An output device."""

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: OnStart) -> None:
        """Play chunks as they come; returns when the last sample was played or `cancel` is set."""

    def duck(self, is_ducked: bool) -> None:
        """Attenuate the current playback or restore its volume; ends with `play`."""

    def hold(self, is_held: bool) -> None:
        """Pause the current playback or go on with it, where the device can; ends with `play`."""

    @property
    def heard_s(self) -> float:
        """How much of the audio of the last `play` was played."""
