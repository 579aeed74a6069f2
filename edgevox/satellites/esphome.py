"""Connects to an ESPHome voice assistant (Home Assistant Voice PE and others) and serves it as a room.

It is the client of the device's native API, as Home Assistant is. Audio comes over the API, or by UDP from older
devices. A reply goes to the device as PCM if it takes that (a plain speaker), else as the URL of a WAV stream that only
this device can fetch.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aioesphomeapi.client import APIClient
from aioesphomeapi.core import APIConnectionError, InvalidEncryptionKeyAPIError, RequiresEncryptionAPIError
from aioesphomeapi.model import (
    DeviceInfo,
    VoiceAssistantAnnounceFinished,
    VoiceAssistantAudioSettings,
    VoiceAssistantEventType,
    VoiceAssistantFeature,
)
from wyoming.audio import AudioChunk

from edgevox.core import events
from edgevox.core.turn import cancel_tasks
from edgevox.core.types import SAMPLE_RATE_HZ
from edgevox.engines.wyoming import CHANNELS, WIDTH, PcmReader
from edgevox.satellites.device import DeviceSession, SatelliteLost
from edgevox.satellites.store import DeviceEntry
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.wav_stream import WavStream, own_address

_log = logging.getLogger(__name__)

_CONNECT_S = 30.0
_ANNOUNCED_WITHIN_S = 300.0
# The library gives a device up after 4.5 of these without an answer: with its default, a room is deaf for 90 s.
_PING_EVERY_S = 5.0


@asynccontextmanager
async def connected(
    entry: DeviceEntry, lost: asyncio.Event | None = None
) -> AsyncIterator[tuple[APIClient, DeviceInfo]]:
    """A connection to the device, which sets `lost` at its end. Raises SatelliteLost."""
    host, port = entry.esphome_address

    async def on_stop(_is_expected: bool) -> None:
        if lost is not None:
            lost.set()

    client = APIClient(host, port, None, client_info="EdgeVox", noise_psk=entry.key or None, keepalive=_PING_EVERY_S)
    try:
        async with asyncio.timeout(_CONNECT_S):
            await client.connect(on_stop=on_stop, login=True, log_errors=False)
            info = await client.device_info()
    except (InvalidEncryptionKeyAPIError, RequiresEncryptionAPIError) as error:
        await _disconnect(client)
        raise SatelliteLost(f"{entry.esphome} refuses the encryption key: {error}") from None
    except (APIConnectionError, TimeoutError, OSError) as error:
        await _disconnect(client)
        raise SatelliteLost(f"{entry.esphome} cannot be reached: {str(error) or 'no answer'}") from None
    try:
        yield client, info
    finally:
        await _disconnect(client)


async def _disconnect(client: APIClient) -> None:
    with suppress(APIConnectionError, TimeoutError, OSError):
        await client.disconnect(force=True)


def features_of(client: APIClient, info: DeviceInfo) -> VoiceAssistantFeature:
    """What the device can do. Raises SatelliteLost if it is no voice assistant."""
    assert client.api_version is not None
    features = VoiceAssistantFeature(info.voice_assistant_feature_flags_compat(client.api_version))
    if VoiceAssistantFeature.VOICE_ASSISTANT not in features:
        raise SatelliteLost(f"{info.name} is an ESPHome device, but no voice assistant")
    return features


class _UdpAudio(asyncio.DatagramProtocol):
    """Audio of a device that does not send it over the API."""

    def __init__(self, satellite: EspHomeSatellite, device_host: str) -> None:
        self._satellite = satellite
        self._device_host = device_host

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        if address[0] == self._device_host:
            self._satellite.hear(data)


class EspHomeSatellite:
    """One connection to a device, from `run` to its end."""

    play_rate_hz = SAMPLE_RATE_HZ

    def __init__(self, name: str, entry: DeviceEntry, assistant: Assistant, queues: EngineQueues) -> None:
        self._entry = entry
        self._session = DeviceSession(self, name, entry, assistant, queues)
        self._client: APIClient | None = None
        self._features = VoiceAssistantFeature(0)
        self._own_host = self._device_host = ""
        self._is_in_run = False
        self._is_asking = False
        self._stream: WavStream | None = None
        self._udp: asyncio.DatagramTransport | None = None
        self._announcing: asyncio.Task[None] | None = None
        self._pcm = PcmReader()

    async def run(self) -> None:
        """Serve the device. Raises SatelliteLost when the connection ends."""
        lost = asyncio.Event()
        async with connected(self._entry, lost) as (client, info):
            self._client, self._features = client, features_of(client, info)
            self._own_host, self._device_host = _addresses(client)
            async with self._session.open():
                unsubscribe = client.subscribe_voice_assistant(
                    handle_start=self._handle_start,
                    handle_stop=self._handle_stop,
                    handle_audio=self._handle_audio if VoiceAssistantFeature.API_AUDIO in self._features else None,
                    handle_announcement_finished=self._handle_played,
                )
                try:
                    await lost.wait()
                finally:
                    if self._udp is not None:
                        self._udp.close()
                    with suppress(APIConnectionError):
                        unsubscribe()
                    await self._close_stream()
        raise SatelliteLost("it closed the connection")

    # --- from the device

    async def _handle_start(
        self, _conversation_id: str, _flags: int, _settings: VoiceAssistantAudioSettings, _phrase: str | None
    ) -> int | None:
        if self._session.is_muted:
            return None
        self._is_in_run = True
        self._send(VoiceAssistantEventType.VOICE_ASSISTANT_RUN_START)
        self._send(VoiceAssistantEventType.VOICE_ASSISTANT_STT_START)
        self._session.called()
        if VoiceAssistantFeature.API_AUDIO in self._features:
            return 0
        if self._udp is None:
            loop = asyncio.get_running_loop()
            self._udp, _ = await loop.create_datagram_endpoint(
                lambda: _UdpAudio(self, self._device_host), local_addr=(self._own_host, 0)
            )
        port: int = self._udp.get_extra_info("sockname")[1]
        return port

    async def _handle_stop(self, is_aborted: bool) -> None:
        self._session.stop_listening()
        if is_aborted:
            self._session.interrupt()
            self._end_run()

    async def _handle_audio(self, data: bytes, _second_channel: bytes | None) -> None:
        self.hear(data)

    async def _handle_played(self, _finished: VoiceAssistantAnnounceFinished) -> None:
        self._session.loudspeaker.note_played()

    def hear(self, pcm: bytes) -> None:
        self._session.hear(self._pcm.feed(AudioChunk(SAMPLE_RATE_HZ, WIDTH, CHANNELS, pcm)))

    # --- to the device

    def handle_silence(self) -> None:
        self._fail("stt-no-text-recognized", "nothing was said")

    def handle_refused(self) -> None:
        self._end_run()

    def handle_event(self, event: events.Event) -> None:
        kinds = VoiceAssistantEventType
        match event:
            case events.SpeechStarted():
                self._send(kinds.VOICE_ASSISTANT_STT_VAD_START)
            case events.EndpointReached():
                self._send(kinds.VOICE_ASSISTANT_STT_VAD_END)
            case events.TranscriptReady(text=""):
                self._fail("stt-no-text-recognized", "nothing was understood")
            case events.TranscriptReady(text=text) | events.AnswerHeard(text=text):
                # An unclear answer is asked for once more.
                self._is_asking = isinstance(event, events.AnswerHeard) and event.answer == "unclear"
                self._send(kinds.VOICE_ASSISTANT_STT_END, text=text)
                self._send(kinds.VOICE_ASSISTANT_INTENT_START)
            case events.ConfirmationRequired(question=question):
                self._is_asking = True
                self._send(kinds.VOICE_ASSISTANT_TTS_START, text=question)
            case events.ConfirmationDecided():
                self._is_asking = False
            case events.PlaybackFinished() if self._is_asking:
                # The device listens again without its wake word.
                self._send(kinds.VOICE_ASSISTANT_INTENT_END, continue_conversation="1")
                self._end_run()
            case events.TurnEnded(outcome="failed", error=error, error_code=code):
                self._fail(code or "failed", error)
            case events.TurnEnded():
                self._is_asking = False
                self._send(kinds.VOICE_ASSISTANT_INTENT_END, continue_conversation="0")
                self._end_run()
            case _:
                pass

    def _fail(self, code: str, message: str) -> None:
        self._send(VoiceAssistantEventType.VOICE_ASSISTANT_ERROR, code=code, message=message)
        self._end_run()

    def _end_run(self) -> None:
        if self._is_in_run:
            self._is_in_run = False
            self._send(VoiceAssistantEventType.VOICE_ASSISTANT_RUN_END)

    def _send(self, kind: VoiceAssistantEventType, **data: str) -> None:
        if self._client is not None:
            with suppress(APIConnectionError):  # `lost` is set
                self._client.send_voice_assistant_event(kind, data or None)

    # --- the loudspeaker

    @property
    def _takes_pcm(self) -> bool:
        return VoiceAssistantFeature.SPEAKER in self._features

    async def begin(self) -> None:
        """Raises OSError."""
        assert self._client is not None
        kinds = VoiceAssistantEventType
        if self._takes_pcm:
            self._send(kinds.VOICE_ASSISTANT_TTS_STREAM_START)
            return
        await self._close_stream()
        self._stream = WavStream(self._own_host, self._device_host, self.play_rate_hz)
        url = await self._stream.open()
        if self._is_in_run:
            self._send(kinds.VOICE_ASSISTANT_TTS_START, text="")
            self._send(kinds.VOICE_ASSISTANT_TTS_END, url=url)
        elif VoiceAssistantFeature.ANNOUNCE in self._features:
            self._announcing = asyncio.create_task(self._announce(self._client, url))
        else:
            raise ConnectionError("the device cannot be spoken on outside a conversation")

    async def send(self, pcm: bytes) -> None:
        """Raises OSError."""
        if self._client is None or not self._client.is_connected:
            raise ConnectionError("the device is gone")
        if self._takes_pcm:
            self._client.send_voice_assistant_audio(pcm)
        elif self._stream is not None:
            self._stream.add(pcm)

    async def end(self) -> None:
        if self._takes_pcm:
            self._send(VoiceAssistantEventType.VOICE_ASSISTANT_TTS_STREAM_END)
        elif self._stream is not None:
            self._stream.end()

    async def _announce(self, client: APIClient, url: str) -> None:
        try:
            await client.send_voice_assistant_announcement_await_response(url, _ANNOUNCED_WITHIN_S)
        except (APIConnectionError, TimeoutError) as error:
            _log.warning("the announcement was not played: %s", error)
        self._session.loudspeaker.note_played()

    async def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        announcing, self._announcing = self._announcing, None
        await cancel_tasks(announcing)
        if stream is not None:
            await stream.close()


def _addresses(client: APIClient) -> tuple[str, str]:
    """The addresses of this machine and of the device, as each sees the other. Raises SatelliteLost."""
    device = client.connected_address
    if device is None:
        raise SatelliteLost("it closed the connection")
    return own_address(device), device
