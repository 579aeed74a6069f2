"""Connects to a Wyoming satellite (wyoming-satellite and others) and serves it as a room, as Home Assistant does.

The satellite is the TCP server. After `run-satellite` it reports its wake word (`detection`, `run-pipeline`) and
streams audio until it gets the transcript; then it plays the reply and says `played`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event as WyomingEvent
from wyoming.event import Eventable
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import RunSatellite
from wyoming.snd import Played
from wyoming.vad import VoiceStarted, VoiceStopped
from wyoming.wake import Detection

from edgevox.audio.wake_word import WakeWordStream
from edgevox.config.sections import WakeSettings, host_and_port
from edgevox.core import events
from edgevox.core.turn import background_task, cancel_tasks
from edgevox.core.types import Audio
from edgevox.engines.wyoming import (
    CHANNELS,
    MAX_LINE_BYTES,
    WIDTH,
    PcmReader,
    UnsupportedPcm,
    WyomingProtocolError,
    read_event,
    write_event,
)
from edgevox.satellites.device import DeviceSession, SatelliteLost
from edgevox.satellites.store import DeviceEntry
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues

_CONNECT_S = 10.0
_INFO_S = 10.0
_PING_EVERY_S = 5.0
_PONG_WITHIN_S = 10.0
_PLAY_RATE_HZ = 22_050


async def connect(entry: DeviceEntry) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Raises SatelliteLost."""
    host, port = host_and_port(entry.uri)
    try:
        async with asyncio.timeout(_CONNECT_S):
            return await asyncio.open_connection(host, port, limit=MAX_LINE_BYTES)
    except OSError as error:  # includes TimeoutError
        raise SatelliteLost(f"{entry.uri} cannot be reached: {error.strerror or str(error) or 'no answer'}") from None


async def describe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Info:
    """What a satellite says of itself. Raises SatelliteLost."""
    try:
        await write_event(writer, Describe())
        async with asyncio.timeout(_INFO_S):
            while (event := await read_event(reader)) is not None:
                if Info.is_type(event.type):
                    info = Info.from_event(event)
                    if info.satellite is None:
                        raise SatelliteLost("this is a Wyoming service, but no satellite")
                    return info
    except TimeoutError:
        raise SatelliteLost("it does not answer `describe`: is it a Wyoming satellite?") from None
    except (OSError, WyomingProtocolError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise SatelliteLost(f"it does not speak Wyoming: {error}") from None
    raise SatelliteLost("it closed the connection before its answer")


class WyomingSatellite:
    """One connection to a satellite, from `run` to its end."""

    play_rate_hz = _PLAY_RATE_HZ

    def __init__(
        self, name: str, entry: DeviceEntry, assistant: Assistant, queues: EngineQueues, wake: WakeSettings
    ) -> None:
        self._entry = entry
        self._wake = wake
        self._session = DeviceSession(self, name, entry, assistant, queues)
        self._pcm = PcmReader()
        self._server_wake: WakeWordStream | None = None
        """Where the satellite leaves the wake word to the server."""
        self._writer: asyncio.StreamWriter | None = None
        self._has_pong = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the satellite. Raises SatelliteLost when the connection ends."""
        reader, writer = await connect(self._entry)
        self._writer = writer
        try:
            await describe(reader, writer)
            async with self._session.open():
                try:
                    await self._send(RunSatellite())
                    async with background_task(self._ping()) as pinging, background_task(self._read(reader)) as reading:
                        done, _ = await asyncio.wait((pinging, reading), return_when=asyncio.FIRST_COMPLETED)
                        for task in done:
                            task.result()
                finally:
                    # A reply that waits for a satellite that reads nothing would keep the session open.
                    writer.transport.abort()
        except (OSError, WyomingProtocolError) as error:
            raise SatelliteLost(f"the connection broke: {error}") from None
        finally:
            writer.close()
            await cancel_tasks(*self._tasks)
        raise SatelliteLost("it closed the connection")

    async def _ping(self) -> None:
        """Raises SatelliteLost where no answer comes, or nothing can be sent: a half-open connection."""
        answers = False
        while True:
            self._has_pong.clear()
            is_sent = False
            try:
                async with asyncio.timeout(_PONG_WITHIN_S):
                    await self._send(Ping())
                    is_sent = True
                    await self._has_pong.wait()
                    answers = True
            except TimeoutError:
                if answers or not is_sent:  # earlier versions of wyoming-satellite never answer
                    raise SatelliteLost(f"it has not answered for {_PONG_WITHIN_S:g} s") from None
            await asyncio.sleep(_PING_EVERY_S)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while (event := await read_event(reader)) is not None:
            try:
                await self._handle(event)
            except (KeyError, TypeError, ValueError, AttributeError, UnsupportedPcm) as error:
                raise SatelliteLost(f"it sent an invalid {event.type[:40]}: {error}") from None

    async def _handle(self, event: WyomingEvent) -> None:
        if AudioChunk.is_type(event.type):
            self._hear(self._pcm.feed(AudioChunk.from_event(event)))
        elif RunPipeline.is_type(event.type):
            self._begin(RunPipeline.from_event(event))
        elif Ping.is_type(event.type):
            await self._send(Pong(Ping.from_event(event).text))
        elif Pong.is_type(event.type):
            self._has_pong.set()
        elif Played.is_type(event.type):
            self._session.loudspeaker.note_played()
        elif AudioStop.is_type(event.type):
            self._session.stop_listening()

    def _begin(self, run: RunPipeline) -> None:
        if run.start_stage is PipelineStage.WAKE:
            wake = self._wake
            self._server_wake = self._server_wake or WakeWordStream(wake.model or wake.word, wake.threshold)
        elif self._session.is_muted:
            self._reply(Error("this room is muted", "muted"))
        else:
            self._session.called()

    def _hear(self, sound: Audio) -> None:
        if self._server_wake is not None and self._server_wake.ends_in(sound) and not self._session.is_muted:
            self._reply(Detection(self._server_wake.phrase))
            self._session.called()
        self._session.hear(sound)

    # --- the reply

    def handle_silence(self) -> None:
        self._reply(Error("nothing was said", "stt-no-text-recognized"))

    def handle_refused(self) -> None:
        self._reply(Transcript(""))

    def handle_event(self, event: events.Event) -> None:
        match event:
            case events.SpeechStarted():
                self._reply(VoiceStarted())
            case events.EndpointReached():
                self._reply(VoiceStopped())
            case events.TranscriptReady(text=text) | events.AnswerHeard(text=text):
                self._reply(Transcript(text) if text else Error("nothing was understood", "stt-no-text-recognized"))
            case events.TurnEnded(outcome="failed", error=error, error_code=code):
                self._reply(Error(error, code))
            case _:
                pass

    def _reply(self, event: Eventable) -> None:
        self._spawn(self._send(event))

    async def _send(self, event: Eventable) -> None:
        """Raises OSError."""
        assert self._writer is not None
        await write_event(self._writer, event)

    async def begin(self) -> None:
        await self._send(AudioStart(self.play_rate_hz, WIDTH, CHANNELS))

    async def send(self, pcm: bytes) -> None:
        await self._send(AudioChunk(self.play_rate_hz, WIDTH, CHANNELS, pcm))

    async def end(self) -> None:
        await self._send(AudioStop())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        async def quietly() -> None:
            try:
                await work
            except OSError:
                return  # the reader sees it

        task = asyncio.create_task(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
