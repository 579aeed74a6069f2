"""A client's microphone and loudspeaker over a WebSocket, and its bounded outgoing queue."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.dsp import Resampler
from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.turn import CancelFlag, cancel_tasks
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, JsonObject, to_pcm16
from edgevox.server.websocket.protocol import CloseCode, CloseConnection, invalid_frame

Send: TypeAlias = Callable[[str | bytes], Awaitable[None]]

READ_WITHIN_S = 10.0
# Half a minute of speech at the highest rate; normally only a few seconds are sent ahead.
MOST_BYTES = 3_000_000


class Outbox:
    """Outgoing queue: `put` frames from the event loop, `run` sends them until the connection ends."""

    def __init__(self, *, read_within_s: float = READ_WITHIN_S, most_bytes: int = MOST_BYTES) -> None:
        self._waiting: deque[str | bytes] = deque()
        self.waiting_bytes = 0
        self._is_there = asyncio.Event()
        self._read_within_s = read_within_s
        self._most_bytes = most_bytes

    def send_frame(self, frame: JsonObject) -> None:
        self.put(json.dumps(frame, ensure_ascii=False, separators=(",", ":")))

    def put(self, frame: str | bytes) -> None:
        if self.waiting_bytes > self._most_bytes:
            return  # the connection is closing
        self._waiting.append(frame)
        self.waiting_bytes += len(frame)
        self._is_there.set()

    def drop_audio(self) -> None:
        self._waiting = deque(one for one in self._waiting if isinstance(one, str))
        self.waiting_bytes = sum(map(len, self._waiting))

    async def run(self, send: Send) -> None:
        """Send until cancelled. Raises CloseConnection if the client does not read."""
        while True:
            await self._is_there.wait()
            while self._waiting:
                if self.waiting_bytes > self._most_bytes:
                    raise CloseConnection(CloseCode.STALLED, "the client reads too slowly")
                frame = self._waiting.popleft()
                self.waiting_bytes -= len(frame)
                try:
                    async with asyncio.timeout(self._read_within_s):
                        await send(frame)
                except TimeoutError:
                    message = f"the client read nothing for {self._read_within_s:g} seconds"
                    raise CloseConnection(CloseCode.STALLED, message) from None
            self._is_there.clear()


_SAMPLE_BYTES = 2
_LOUDEST = 32_768
# The voice loop consumes blocks immediately; after this much backlog the oldest are dropped.
_MOST_BLOCKS = 10_000 // BLOCK_MS


class WebSocketAudioSource:
    """The client's microphone. A silence of `longest_pause_s` ends any utterance."""

    live = True

    def __init__(self, rate_hz: int, *, longest_pause_s: float) -> None:
        self.dropped_samples = 0
        self._rate_hz = rate_hz
        self._resampler = Resampler(rate_hz, SAMPLE_RATE_HZ)
        self._pause = np.zeros(round(longest_pause_s * SAMPLE_RATE_HZ), dtype=np.float32)
        self._rest = np.zeros(0, dtype=np.float32)
        self._blocks: deque[Audio] = deque()
        self._is_there = asyncio.Event()
        self._is_silent = True
        """Whether nothing was received since the microphone was turned off."""

    @property
    def delay_s(self) -> float:
        """Age of the last consumed block: the audio that is still queued."""
        return len(self._blocks) * BLOCK_MS / 1000

    def feed(self, pcm: bytes) -> float:
        """Add a frame of audio and return its duration in seconds. Raises CloseConnection."""
        if len(pcm) % _SAMPLE_BYTES:
            raise invalid_frame("sound of 16 bits has an even number of bytes")
        self._is_silent = self._is_silent and not pcm
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(_LOUDEST)
        self._take(self._resampler.feed(samples))
        return len(samples) / self._rate_hz

    def end_speech(self) -> None:
        """Append silence, because the microphone was turned off."""
        if self._is_silent:
            return
        self._is_silent = True
        self._take(np.concatenate((self._resampler.finish(), self._pause)))
        self._resampler = Resampler(self._rate_hz, SAMPLE_RATE_HZ)

    def clear(self) -> None:
        """Drop what was not consumed yet."""
        self._blocks.clear()
        self._rest = np.zeros(0, dtype=np.float32)

    async def frames(self) -> AsyncGenerator[Audio, None]:
        while True:
            while self._blocks:
                yield self._blocks.popleft()
                await asyncio.sleep(0)  # a burst must not block the event loop
            self._is_there.clear()
            await self._is_there.wait()

    def _take(self, samples: NDArray[np.float32]) -> None:
        samples = np.concatenate((self._rest, samples))
        whole = len(samples) - len(samples) % BLOCK_SAMPLES
        for start in range(0, whole, BLOCK_SAMPLES):
            self._blocks.append(Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ))
        self._rest = samples[whole:]
        while len(self._blocks) > _MOST_BLOCKS:
            self.dropped_samples += len(self._blocks.popleft().samples)
        self._is_there.set()


AHEAD_S = 3.0
"""Audio sent ahead of playback, to bridge short network delays."""
GONE_AFTER_S = 5.0

_PIECE_S = 0.1
# Browsers play blocks of 128 samples and may not count the last one.
_INEXACT_S = 0.02
# Wait for the playback position after a stop; without it, the last reported position counts.
_FINAL_REPORT_S = 0.3


@dataclass(slots=True)
class _Passage:
    """A contiguous piece of speech."""

    number: int
    rate_hz: int
    sent: int = 0
    played: int = 0
    is_begun: bool = False
    is_stopped: bool = False
    has_final_report: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def room(self) -> bool:
        return (self.sent - self.played) / self.rate_hz < AHEAD_S

    def is_heard(self) -> bool:
        return self.sent - self.played <= _INEXACT_S * self.rate_hz

    def note(self, samples: int) -> None:
        self.has_final_report = self.is_stopped
        self.played = max(self.played, samples)
        self.changed.set()


class WebSocketLoudspeaker:
    """The client's loudspeaker: one passage at a time. `turn_id` is the current turn."""

    def __init__(self, outbox: Outbox, rate_hz: int, turn_id: Callable[[], str | None]) -> None:
        self.heard_s = 0.0
        self._outbox = outbox
        self._rate_hz = rate_hz
        self._turn_id = turn_id
        self._passage: _Passage | None = None
        self._passages = 0

    def note_played(self, number: int, samples: int) -> None:
        """Note how much of a passage was played. Raises CloseConnection for an impossible count."""
        passage = self._passage
        if number > self._passages:
            raise invalid_frame(f"there was no passage {number}")
        if passage is None or passage.number != number:
            return  # it is over
        if samples > passage.sent:
            raise invalid_frame(f"passage {number} has {passage.sent} samples by now, not {samples}")
        passage.note(samples)

    def duck(self, is_ducked: bool) -> None:
        if self._passage is not None and self._passage.is_begun:
            self._send_frame("audio_duck", is_ducked=is_ducked)

    def hold(self, is_held: bool) -> None:
        """Without effect: the client already has the audio."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        """Send chunks as they arrive; returns when the client has played the last, or `cancel` is set.

        Raises DeviceUnavailable if the client plays nothing, and errors of `chunks`.
        """
        passage = _Passage(self._passages + 1, self._rate_hz)
        self._passage = passage
        self.heard_s = 0.0
        loop = asyncio.get_running_loop()
        playing = asyncio.create_task(self._play(passage, chunks, on_start))

        def stop() -> None:  # from any thread
            loop.call_soon_threadsafe(self._stop, passage, playing)

        cancel.add_listener(stop)
        try:
            await asyncio.wait((playing,))
            if passage.is_stopped and passage.is_begun:
                with suppress(DeviceUnavailable):
                    await self._until(passage, lambda: passage.has_final_report, _FINAL_REPORT_S)
            if not playing.cancelled():
                playing.result()
        finally:
            cancel.remove_listener(stop)
            self._stop(passage, playing)
            await cancel_tasks(playing)
            self.heard_s = passage.played / passage.rate_hz
            self._passage = None

    async def _play(self, passage: _Passage, chunks: AsyncIterator[Audio], on_start: Callable[[], None]) -> None:
        resampler: Resampler | None = None
        async for chunk in chunks:
            if resampler is not None and resampler.from_hz != chunk.rate_hz:
                await self._send(passage, resampler.finish(), on_start)
                resampler = None
            resampler = resampler or Resampler(chunk.rate_hz, passage.rate_hz)
            await self._send(passage, resampler.feed(chunk.samples), on_start)
        if resampler is not None:
            await self._send(passage, resampler.finish(), on_start)
        if passage.is_begun:
            self._send_frame("audio_end", samples=passage.sent)
            await self._until(passage, passage.is_heard)

    async def _send(self, passage: _Passage, samples: NDArray[np.float32], on_start: Callable[[], None]) -> None:
        length = round(_PIECE_S * passage.rate_hz)
        for start in range(0, len(samples), length):
            piece = samples[start : start + length]
            await self._until(passage, passage.room)
            if not passage.is_begun:
                passage.is_begun = True
                self._passages = passage.number
                self._send_frame("audio_begin", turn_id=self._turn_id(), rate_hz=passage.rate_hz)
                on_start()
            self._outbox.put(to_pcm16(piece))
            passage.sent += len(piece)

    async def _until(self, passage: _Passage, is_so: Callable[[], bool], gone_after_s: float | None = None) -> None:
        while not is_so():
            passage.changed.clear()
            try:
                async with asyncio.timeout(gone_after_s or GONE_AFTER_S):
                    await passage.changed.wait()
            except TimeoutError:
                raise DeviceUnavailable(
                    "the client does not play what it is sent", hint="touch the page, so that the browser lets it sound"
                ) from None

    def _stop(self, passage: _Passage, playing: asyncio.Task[None]) -> None:
        """Stop playback, unless everything was played."""
        is_whole = playing.done() and not playing.cancelled() and playing.exception() is None
        if passage.is_stopped or is_whole:
            return
        passage.is_stopped = True
        playing.cancel()
        if passage.is_begun:
            self._outbox.drop_audio()
            self._send_frame("audio_stop")

    def _send_frame(self, kind: str, **facts: object) -> None:
        assert self._passage is not None
        self._outbox.send_frame({"type": kind, "passage": self._passage.number, **facts})
