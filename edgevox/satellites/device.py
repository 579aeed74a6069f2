"""The voice session of a device that speaks another protocol: it streams one utterance after its wake word.

Wyoming and ESPHome devices share it. They cannot be heard while they play, and have no score of the wake word: the
level of what follows it decides which satellite answers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.dsp import Resampler
from edgevox.audio.io.speaker import Loudspeaker
from edgevox.audio.vad import BLOCK_MS, VoiceActivityDetector
from edgevox.audio.wake_gate import COMMAND_WITHIN_S
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.events import AnswerHeard, Event, SpeechDropped, TranscriptReady
from edgevox.core.turn import CancelFlag, cancel_tasks
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, to_pcm16
from edgevox.dialogue import VoiceLoop
from edgevox.satellites.hub import SatelliteLink, Wake
from edgevox.satellites.store import DeviceEntry
from edgevox.server.assistant import Assistant, VoiceSession
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.home_player import HomePlayer, PcmSink
from edgevox.server.websocket.audio import WebSocketAudioSource
from edgevox.server.websocket.protocol import SessionObserver

_log = logging.getLogger(__name__)

# The level of the first blocks after the wake word stands for how well it was heard.
_JUDGED_BLOCKS = 200 // BLOCK_MS
_CERTAIN = 1.0
_AHEAD_S = 1.0
_PIECE_S = 0.1
# How long after the end of a reply the device may say that it was played; earlier versions never do.
_PLAYED_WITHIN_S = 5.0
_UNTOLD_S = 0.3


class SatelliteLost(Exception):
    """There is no connection to a satellite; another attempt may succeed."""


class RemoteDevice(PcmSink, Protocol):
    """A device of another protocol: gets passages of PCM, and what becomes of its audio.

    `handle_silence` is called when nothing was said after the wake word, `handle_refused` when another satellite
    answers.
    """

    def handle_event(self, event: Event) -> None: ...
    def handle_silence(self) -> None: ...
    def handle_refused(self) -> None: ...


class DeviceLoudspeaker:
    """Plays on a device or a media player: sent a second ahead of playback, and over when the device says so.

    `play` raises DeviceUnavailable.
    """

    def __init__(self, device: PcmSink) -> None:
        self._device = device
        self._is_played = asyncio.Event()
        self._tells_played = False
        self.heard_s = 0.0

    def note_played(self) -> None:
        self._tells_played = True
        self._is_played.set()

    def duck(self, is_ducked: bool) -> None:
        """Without effect: these devices cannot."""

    def hold(self, is_held: bool) -> None:
        """Without effect, likewise."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        self._is_played.clear()
        self.heard_s, sent_s, began_s = 0.0, 0.0, 0.0
        length = round(_PIECE_S * self._device.play_rate_hz)
        try:
            async for samples in self._resampled(chunks):
                for start in range(0, len(samples), length):
                    if not began_s:
                        await self._device.begin()
                        began_s = time.monotonic()
                        on_start()
                    await asyncio.sleep(sent_s - (time.monotonic() - began_s) - _AHEAD_S)
                    if cancel.is_set():
                        return
                    piece = samples[start : start + length]
                    await self._device.send(to_pcm16(piece))
                    sent_s += len(piece) / self._device.play_rate_hz
        except OSError as error:
            raise DeviceUnavailable(f"the satellite cannot be spoken on: {error}", hint="is it switched on?") from error
        finally:
            if began_s:
                await self._end(cancel, sent_s, began_s)

    async def _resampled(self, chunks: AsyncIterator[Audio]) -> AsyncGenerator[NDArray[np.float32], None]:
        resampler: Resampler | None = None
        async for chunk in chunks:
            if resampler is not None and resampler.from_hz != chunk.rate_hz:
                yield resampler.finish()
                resampler = None
            resampler = resampler or Resampler(chunk.rate_hz, self._device.play_rate_hz)
            yield resampler.feed(chunk.samples)
        if resampler is not None:
            yield resampler.finish()

    async def _end(self, cancel: CancelFlag, sent_s: float, began_s: float) -> None:
        loop = asyncio.get_running_loop()

        def stop() -> None:  # from any thread
            loop.call_soon_threadsafe(self._is_played.set)

        cancel.add_listener(stop)
        try:
            await self._device.end()
            if not cancel.is_set():
                left_s = max(0.0, sent_s - (time.monotonic() - began_s))
                with suppress(TimeoutError):
                    async with asyncio.timeout(left_s + (_PLAYED_WITHIN_S if self._tells_played else _UNTOLD_S)):
                        await self._is_played.wait()
        except OSError as error:
            raise DeviceUnavailable("the satellite is gone", hint="is it switched on?") from error
        finally:
            cancel.remove_listener(stop)
            self.heard_s = min(sent_s, time.monotonic() - began_s)


class PlayerLoudspeaker:
    """Plays on a media player of Home Assistant; what it cannot play, on the satellite's own loudspeaker."""

    def __init__(self, player: HomePlayer, own: Loudspeaker) -> None:
        self._player = DeviceLoudspeaker(player)
        self._own = own
        self._last: Loudspeaker = own

    @property
    def heard_s(self) -> float:
        return self._last.heard_s

    def duck(self, is_ducked: bool) -> None:
        self._last.duck(is_ducked)

    def hold(self, is_held: bool) -> None:
        self._last.hold(is_held)

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        """Raises DeviceUnavailable, and errors of `chunks`."""
        taken: list[Audio] = []
        has_begun = False

        async def taking() -> AsyncGenerator[Audio, None]:
            async for chunk in chunks:
                if not has_begun:
                    taken.append(chunk)
                yield chunk

        async def all_chunks() -> AsyncGenerator[Audio, None]:
            for chunk in taken:
                yield chunk
            async for chunk in chunks:
                yield chunk

        def note_begun() -> None:
            nonlocal has_begun
            has_begun = True
            on_start()

        self._last = self._player
        try:
            await self._player.play(taking(), cancel, note_begun)
        except DeviceUnavailable as error:
            if has_begun:
                raise
            _log.warning("%s", error)
            self._last = self._own
            await self._own.play(all_chunks(), cancel, on_start)


class DeviceSession:
    """Connects a device to the assistant: `hear` its audio after `called`."""

    def __init__(
        self, device: RemoteDevice, name: str, entry: DeviceEntry, assistant: Assistant, queues: EngineQueues
    ) -> None:
        factory = assistant.session_factory
        assert factory is not None, "a server with voice sessions"
        self._assistant = assistant
        self._factory = factory
        self._queues = queues
        self._device = device
        self._name = name
        self._kind = entry.kind
        self.loudspeaker = DeviceLoudspeaker(device)
        self._player = HomePlayer(assistant, entry.player) if entry.player else None
        answers_on = PlayerLoudspeaker(self._player, self.loudspeaker) if self._player else self.loudspeaker
        self._observer = SessionObserver(lambda _frame: None, assistant.keep)
        self._source = WebSocketAudioSource(SAMPLE_RATE_HZ, longest_pause_s=factory.longest_pause_s)
        self._session = VoiceSession(
            self._source, answers_on, entry.caller(name), self._publish, duplex=lambda: "half", room=entry.room
        )
        self._link: SatelliteLink | None = None
        self._vad = VoiceActivityDetector()
        self._resampler: Resampler | None = None
        self._is_listening = False
        self._unjudged = 0
        self._levels_db: list[float] = []
        self._silent_s = 0.0
        self._contest: asyncio.Task[None] | None = None
        self._rest = np.zeros(0, dtype=np.float32)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[VoiceLoop]:
        """Run the voice loop during the block."""
        async with self._factory.open(self._session) as loop:
            running = asyncio.create_task(loop.run())
            self._link = SatelliteLink(
                self._name,
                self._session.room,
                self._kind,
                loop,
                state=lambda: self._observer.doing,
                is_in_turn=lambda: self._observer.is_in_turn,
            )
            try:
                with self._assistant.satellites.connected(self._link):
                    yield loop
            finally:
                await cancel_tasks(self._contest, running)
                if self._player is not None:
                    await self._player.close()
                # The speaker is gone: release the engine queues.
                self._queues.on_event(SpeechDropped(reason="gone"))

    @property
    def is_muted(self) -> bool:
        return self._assistant.satellites.is_muted(self._name)

    def called(self) -> None:
        """The device has heard its wake word: its audio follows."""
        assert self._link is not None
        pipeline = self._link.loop.pipeline
        if pipeline.confirmation.open is None:  # else the answer follows
            pipeline.interrupt()
        self._link.stop_announcements()
        self._source.clear()
        self._link.loop.drop_speech()
        self._is_listening = True
        self._unjudged, self._levels_db, self._silent_s = _JUDGED_BLOCKS, [], 0.0

    def hear(self, sound: Audio) -> None:
        if not self._is_listening or self._link is None or self.is_muted:
            return
        if self._resampler is None or self._resampler.from_hz != sound.rate_hz:
            self._resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
        samples = self._resampler.feed(sound.samples)
        self._judge(samples)
        self._source.feed(to_pcm16(samples))
        if self._observer.doing == "listening":
            self._silent_s += sound.duration_s
            if self._silent_s > COMMAND_WITHIN_S:
                self.stop_listening()
                self._device.handle_silence()

    def interrupt(self) -> None:
        """Stop the reply: the device was told to."""
        if self._link is not None:
            self._link.loop.pipeline.interrupt()

    def stop_listening(self) -> None:
        """What the device sends from now on is not meant for the assistant."""
        self._is_listening = False
        self._source.end_speech()

    def _judge(self, samples: NDArray[np.float32]) -> None:
        """Take part in the contest with the level of the first blocks."""
        if not self._unjudged or self._link is None:
            return
        samples = np.concatenate((self._rest, samples))
        length = SAMPLE_RATE_HZ * BLOCK_MS // 1000
        whole = len(samples) - len(samples) % length
        self._rest = samples[whole:]
        for start in range(0, whole, length):
            heard = self._vad.judge(Audio(samples[start : start + length], SAMPLE_RATE_HZ))
            self._levels_db.append(heard.level_db)
            self._unjudged -= 1
            if not self._unjudged:
                wake = Wake(_CERTAIN, max(self._levels_db) - heard.room_db)
                self._contest = asyncio.create_task(self._wait_for_contest(self._link, wake))
                return

    async def _wait_for_contest(self, link: SatelliteLink, wake: Wake) -> None:
        if not await self._assistant.satellites.wins(link, wake):
            self._is_listening = False
            self._source.clear()
            link.loop.drop_speech()
            self._device.handle_refused()

    def _publish(self, event: Event) -> None:
        self._observer(event)
        self._queues.on_event(event)
        if isinstance(event, TranscriptReady | AnswerHeard):
            self._is_listening = False
        self._device.handle_event(event)
