"""A loudspeaker at the other end of a socket: the client plays, and says how much of it was heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.resample import Resampler
from edgevox.errors import DeviceUnavailable
from edgevox.remote.pcm import pcm
from edgevox.server.voice.closing import not_understood
from edgevox.server.voice.outbox import Outbox
from edgevox.turn import CancelFlag
from edgevox.types import Audio

AHEAD_S = 3.0
"""So much is sent ahead of what was heard: enough for a network that is busy for a moment."""
GONE_AFTER_S = 5.0

_PIECE_S = 0.1
# Browsers play in blocks of 128 samples, and may leave the last one out of their count.
_INEXACT_S = 0.02
# How much was heard, after it was told to stop: a client that does not say so has told it before.
_LAST_WORD_S = 0.3


class _Passage:
    """A piece of speech without a gap."""

    def __init__(self, number: int, rate_hz: int) -> None:
        self.number = number
        self.rate_hz = rate_hz
        self.sent = 0
        self.played = 0
        self.is_begun = False
        self.is_stopped = False
        self.has_last_word = False
        self.changed = asyncio.Event()

    def room(self) -> bool:
        return (self.sent - self.played) / self.rate_hz < AHEAD_S

    def is_heard(self) -> bool:
        return self.sent - self.played <= _INEXACT_S * self.rate_hz

    def note(self, samples: int) -> None:
        self.has_last_word = self.is_stopped
        self.played = max(self.played, samples)
        self.changed.set()


class SocketLoudspeaker:
    """One passage at a time. `turn_id` names the turn that is under way."""

    def __init__(
        self,
        outbox: Outbox,
        rate_hz: int,
        turn_id: Callable[[], str | None],
    ) -> None:
        self.heard_s = 0.0
        self._outbox = outbox
        self._rate_hz = rate_hz
        self._turn_id = turn_id
        self._passage: _Passage | None = None
        self._passages = 0

    def note_played(self, number: int, samples: int) -> None:
        """The client has played so much of a passage. Raises CutOff for what it cannot have played."""
        passage = self._passage
        if number > self._passages:
            raise not_understood(f"there was no passage {number}")
        if passage is None or passage.number != number:
            return  # it is over
        if samples > passage.sent:
            raise not_understood(f"passage {number} has {passage.sent} samples by now, not {samples}")
        passage.note(samples)

    def duck(self, is_ducked: bool) -> None:
        if self._passage is not None and self._passage.is_begun:
            self._tell("audio_duck", is_ducked=is_ducked)

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        """Send every chunk as it comes; returns when the client has played the last, or `cancel` is set.

        Raises DeviceUnavailable when the client plays nothing, and what `chunks` raises.
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
                await self._last_word(passage)
            if not playing.cancelled():
                playing.result()
        finally:
            cancel.remove_listener(stop)
            self._stop(passage, playing)
            await asyncio.gather(playing, return_exceptions=True)
            self.heard_s = passage.played / passage.rate_hz
            self._passage = None

    async def _play(
        self, passage: _Passage, chunks: AsyncIterator[Audio], on_start: Callable[[], None]
    ) -> None:
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
            self._tell("audio_end", samples=passage.sent)
            await self._until(passage, passage.is_heard)

    async def _send(
        self, passage: _Passage, samples: NDArray[np.float32], on_start: Callable[[], None]
    ) -> None:
        for piece in _pieces(samples, round(_PIECE_S * passage.rate_hz)):
            await self._until(passage, passage.room)
            if not passage.is_begun:
                passage.is_begun = True
                self._passages = passage.number
                self._tell("audio_begin", turn_id=self._turn_id(), rate_hz=passage.rate_hz)
                on_start()
            self._outbox.sound(pcm(piece))
            passage.sent += len(piece)

    async def _until(self, passage: _Passage, is_so: Callable[[], bool]) -> None:
        while not is_so():
            passage.changed.clear()
            try:
                async with asyncio.timeout(GONE_AFTER_S):
                    await passage.changed.wait()
            except TimeoutError:
                raise DeviceUnavailable(
                    "the client does not play what it is sent",
                    hint="touch the page, so that the browser lets it sound",
                ) from None

    async def _last_word(self, passage: _Passage) -> None:
        try:
            async with asyncio.timeout(_LAST_WORD_S):
                while not passage.has_last_word:
                    passage.changed.clear()
                    await passage.changed.wait()
        except TimeoutError:
            return

    def _stop(self, passage: _Passage, playing: asyncio.Task[None]) -> None:
        """Be silent, unless all was heard."""
        is_whole = playing.done() and not playing.cancelled() and playing.exception() is None
        if passage.is_stopped or is_whole:
            return
        passage.is_stopped = True
        playing.cancel()
        if passage.is_begun:
            self._outbox.drop_sound()
            self._tell("audio_stop")

    def _tell(self, kind: str, **facts: object) -> None:
        assert self._passage is not None
        self._outbox.tell({"type": kind, "passage": self._passage.number, **facts})


def _pieces(samples: NDArray[np.float32], length: int) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(samples), length):
        yield samples[start : start + length]
