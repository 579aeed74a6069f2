"""EdgeVox as a Wyoming server: STT, TTS, wake words and intent handling for Home Assistant.

Only this machine and the networks in the settings may connect.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

import numpy as np
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.info import (
    AsrModel,
    AsrProgram,
    Attribution,
    Describe,
    HandleModel,
    HandleProgram,
    Info,
    TtsProgram,
    TtsVoice,
    WakeModel,
    WakeProgram,
)
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped
from wyoming.wake import Detect, Detection, NotDetected

from edgevox import __version__
from edgevox.agents.tool_loop import deny_confirmation
from edgevox.audio.dsp import Resampler
from edgevox.audio.wake_word import WakeWordDetector, WakeWordStream
from edgevox.config import ServerSettings
from edgevox.config.sections import Threshold, WakeSettings, wake_words
from edgevox.core.errors import AudioError, ConfigError, EdgevoxError
from edgevox.core.languages import ENGLISH, LANGUAGES
from edgevox.core.turn import cancel_tasks
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, to_pcm16
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
from edgevox.server.assistant import Assistant
from edgevox.server.chat.service import ChatService
from edgevox.server.engine_queues import EngineQueues, joined_text, synthesize, transcribe_in_turns
from edgevox.server.http.errors import ApiError, as_api_error, invalid
from edgevox.server.wyoming_conversations import WyomingConversations, WyomingRings
from edgevox.tools.policy import Caller
from edgevox.tts.sentences import SentenceSplitter

_NAME = "edgevox"
_US = Attribution("The EdgeVox developers", "")


class WyomingService:
    """The offered services. Wyoming has no tokens: all clients are one caller.

    `rings_here` says that this machine has a loudspeaker on which timers ring.
    """

    def __init__(
        self,
        assistant: Assistant,
        queues: EngineQueues,
        settings: ServerSettings,
        wake: WakeSettings,
        *,
        rings_here: bool = False,
    ) -> None:
        self.assistant = assistant
        self.queues = queues
        self._wake = wake
        self.caller = Caller("wyoming", frozenset(settings.wyoming_scopes))
        chat = ChatService(assistant, queues.model, deny_confirmation)
        tools = assistant.dashboard.toolbox if assistant.dashboard else None
        self.rings = WyomingRings(tools.home, tools.scheduled, rings_here=rings_here) if tools else None
        self.conversations = WyomingConversations(chat, self.caller, assistant.voice_language, self.rings)
        self.max_audio_s = settings.max_audio_s

    def room_of(self, context: object) -> str:
        """The area of the satellite or device that a context names; "" if it is not known.

        Home Assistant (2026.2) names only the conversation, but shows which satellite processes a sentence.
        """
        dashboard = self.assistant.dashboard
        if dashboard is None or dashboard.toolbox is None or not isinstance(context, dict):
            return ""
        named = [one for key in ("satellite_id", "device_id") if isinstance(one := context.get(key), str)]
        if not named and "conversation_id" in context:
            named = [""]
        return next(filter(None, map(dashboard.toolbox.home.room_of, named)), "")

    @property
    def has_handler(self) -> bool:
        """Whether the scopes allow questions to the assistant."""
        return self.assistant.make_agent is not None and bool(self.caller.scopes)

    def wake_words(self) -> Mapping[str, str | Path]:
        """The wake words on offer by name, the one of the settings first."""
        own = self._wake.model
        default = own.stem if own else self._wake.word
        return {default: own or default} | {name: name for name in wake_words() if name != default}

    def listener(self, names: Iterable[str] | None) -> WakeWordListener:
        """Listens for these wake words, by default the one of the settings. Raises ApiError and EdgevoxError."""
        words = self.wake_words()
        default = next(iter(words))
        if unknown := set(names := names or (default,)) - words.keys():
            raise ApiError(404, "wake_word_unknown", f"there is no wake word {min(unknown)[:40]}")
        return WakeWordListener({name: WakeWordStream(words[name], self._threshold(name, default)) for name in names})

    def _threshold(self, name: str, default: str) -> Threshold:
        """A number is a cut-off for the word of the settings, and means nothing for others."""
        threshold = self._wake.threshold
        return threshold if name == default or isinstance(threshold, str) else "normal"

    def _wake_models(self) -> Iterator[WakeModel]:
        for name, word in self.wake_words().items():
            try:
                phrase = WakeWordDetector(word).word.phrase if isinstance(word, Path) else wake_words()[word].phrase
            except EdgevoxError as error:
                _log.warning("the wake word of wake.model is not offered: %s", error)
                continue
            yield WakeModel(name, _US, True, None, None, [ENGLISH], phrase)

    @property
    def info(self) -> Info:
        """STT, TTS, wake words and, if the scopes allow it, intent handling of the assistant."""
        assistant = self.assistant
        info = Info()
        if assistant.transcriber:
            name = assistant.stt_model_name
            languages = [ENGLISH] if name.endswith(".en") else list(LANGUAGES)
            model = AsrModel(name, _US, True, "recognises speech", None, languages)
            info.asr = [AsrProgram(_NAME, _US, True, "EdgeVox STT", __version__, [model])]
        if assistant.voice:
            voice = TtsVoice(assistant.voice_name, _US, True, "speaks", None, [assistant.voice_language])
            info.tts = [
                TtsProgram(_NAME, _US, True, "EdgeVox TTS", __version__, [voice], supports_synthesize_streaming=True)
            ]
        models = list(self._wake_models())
        info.wake = [WakeProgram(_NAME, _US, True, "EdgeVox wake words", __version__, models)]
        if self.has_handler:
            handler = HandleModel(assistant.name, _US, True, "answers with its tools", None, [assistant.voice_language])
            info.handle = [
                HandleProgram(
                    _NAME,
                    _US,
                    True,
                    "EdgeVox and its tools",
                    __version__,
                    [handler],
                    supports_handled_streaming=True,
                    supports_home_control=bool({"act", "*"} & self.caller.scopes),
                )
            ]
        return info


class Recording:
    """Incoming audio, limited to `max_s`."""

    def __init__(self, max_s: float) -> None:
        self._max_s = max_s
        self._reader = PcmReader()
        self._resampler: Resampler | None = None
        self._pieces: list[np.typing.NDArray[np.float32]] = []
        self._seconds = 0.0

    def feed(self, chunk: AudioChunk) -> None:
        """Add a chunk. Raises AudioError if the recording is too long."""
        sound = _pcm(self._reader, chunk)
        if self._resampler is None:
            self._resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
        elif self._resampler.from_hz != sound.rate_hz:
            raise AudioError("the audio changes its rate", hint="send it in one rate")
        self._seconds += sound.duration_s
        if self._seconds > self._max_s:
            raise AudioError(f"the audio is longer than {self._max_s:g} s", hint="send it in parts")
        self._pieces.append(self._resampler.feed(sound.samples))

    def finish(self) -> Audio:
        """Return the recording in the format of STT."""
        if self._resampler is not None:
            self._pieces.append(self._resampler.finish())
        samples = np.concatenate([np.zeros(0, dtype=np.float32), *self._pieces])
        return Audio(samples, SAMPLE_RATE_HZ)


class WakeWordListener:
    """Detects wake words, by their names, in one stream of audio."""

    def __init__(self, words: Mapping[str, WakeWordStream]) -> None:
        self._words = words
        self._reader = PcmReader()
        self._heard_s = 0.0
        self.has_detected = False

    def feed(self, chunk: AudioChunk) -> Detection | None:
        """Return the wake word that ends in this chunk, with the time of the chunk. Raises AudioError."""
        sound = _pcm(self._reader, chunk)
        self._heard_s += sound.duration_s
        ended = [name for name, stream in self._words.items() if stream.ends_in(sound)]
        if not ended:
            return None
        self.has_detected = True
        return Detection(ended[0], round(self._heard_s * 1000) if chunk.timestamp is None else chunk.timestamp)


def _pcm(reader: PcmReader, chunk: AudioChunk) -> Audio:
    """Raises AudioError."""
    try:
        return reader.feed(chunk)
    except UnsupportedPcm as error:
        raise AudioError(str(error), hint="send 16 bits") from None


_IDLE_S = 300.0
_AHEAD_EVENTS = 64
_MAX_TEXT_CHARS = 20_000


class WyomingConnection:
    """One client connection and its pending request."""

    def __init__(self, service: WyomingService, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._service = service
        self._reader = reader
        self._writer = writer
        self._key = f"connection {id(self)}"
        self._language: str | None = None
        self._recording: Recording | None = None
        self._detect: Detect | None = None
        """The wake words that its audio is searched for, until it asks for a transcript."""
        self._listener: WakeWordListener | None = None
        self._splitter: SentenceSplitter | None = None
        self._text_chars = 0

    async def run(self) -> None:
        """Serve until the client disconnects, violates the protocol, or times out."""
        events: asyncio.Queue[Event] = asyncio.Queue(_AHEAD_EVENTS)
        tasks = [asyncio.create_task(self._read(events)), asyncio.create_task(self._process(events))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._writer.close()  # first, because a closing server may not wait for the rest
            await cancel_tasks(*tasks)

    async def _read(self, events: asyncio.Queue[Event]) -> None:
        with suppress(WyomingProtocolError, OSError):  # includes the timeout
            while True:
                async with asyncio.timeout(_IDLE_S):
                    event = await read_event(self._reader)
                if event is None:
                    return
                await events.put(event)

    async def _process(self, events: asyncio.Queue[Event]) -> None:
        """Process events. Disconnects on an error, because some clients ignore errors and would wait for ever."""
        with suppress(OSError):  # already disconnected
            while True:
                event = await events.get()
                try:
                    await self._handle_event(event)
                except (ApiError, EdgevoxError) as error:
                    api_error = as_api_error(error)
                    return await self._send(Error(api_error.message, api_error.code))
                except (KeyError, TypeError, ValueError, AttributeError):
                    return await self._send(Error(f"{event.type[:40]} is invalid", "invalid_event"))

    async def _handle_event(self, event: Event) -> None:
        """Handle an event; unknown events are ignored, as the protocol requires."""
        kind = event.type
        if Describe.is_type(kind):
            # A wake word of the user's own is loaded for its phrase.
            await self._send(await asyncio.to_thread(lambda: self._service.info))
        elif Ping.is_type(kind):
            await self._send(Pong(Ping.from_event(event).text))
        elif Transcribe.is_type(kind):
            self._language = _language(Transcribe.from_event(event).language)
            self._detect = None
        elif Detect.is_type(kind):
            self._detect, self._listener = Detect.from_event(event), None
        elif AudioStart.is_type(kind):
            self._recording, self._listener = Recording(self._service.max_audio_s), None
        elif AudioChunk.is_type(kind):
            await self._hear(AudioChunk.from_event(event))
        elif AudioStop.is_type(kind):
            await (self._transcribe() if self._detect is None else self._end_wake())
        elif Synthesize.is_type(kind) and self._splitter is None:  # otherwise the text came in chunks
            await self._speak_all(Synthesize.from_event(event).text)
        elif SynthesizeStart.is_type(kind):
            self._splitter, self._text_chars = SentenceSplitter(), 0
        elif SynthesizeChunk.is_type(kind):
            await self._speak_more(SynthesizeChunk.from_event(event).text)
        elif SynthesizeStop.is_type(kind):
            await self._speak_rest()
        elif Transcript.is_type(kind):
            transcript = Transcript.from_event(event)
            await self._handle(transcript.text, transcript.context)

    async def _send(self, event: Eventable) -> None:
        await write_event(self._writer, event)

    async def _hear(self, chunk: AudioChunk) -> None:
        if self._detect is None:
            self._recording = self._recording or Recording(self._service.max_audio_s)
            self._recording.feed(chunk)
            return
        # On a thread: a trained word computes for longer, and the first chunk loads the models.
        if self._listener is None:
            self._listener = await asyncio.to_thread(self._service.listener, self._detect.names)
        if (detection := await asyncio.to_thread(self._listener.feed, chunk)) is not None:
            await self._send(detection)

    async def _end_wake(self) -> None:
        listener, self._listener = self._listener, None
        if listener is None or not listener.has_detected:
            await self._send(NotDetected())

    # --- speech to text

    async def _transcribe(self) -> None:
        recording, self._recording = self._recording, None
        if recording is None:
            return
        if self._service.assistant.transcriber is None:
            raise ApiError(404, "audio_not_served", "this server has no STT")
        transcriber = self._service.assistant.transcriber(self._language)
        queue = self._service.queues.transcriber
        with queue.place():
            transcripts = await transcribe_in_turns(recording.finish(), transcriber, queue, self._service.caller.name)
        language = next((one.language for one in transcripts if one.language), self._language)
        await self._send(Transcript(joined_text(transcripts), language=language))

    # --- text to speech

    async def _speak_all(self, text: str) -> None:
        splitter = SentenceSplitter()
        _check_length(len(text))
        if not await self._speak((*splitter.feed(text), *splitter.finish())):
            raise invalid("the text contains nothing to say")

    async def _speak_more(self, text: str) -> None:
        if self._splitter is None:
            return
        self._text_chars += len(text)
        _check_length(self._text_chars)
        for sentence in self._splitter.feed(text):
            await self._speak((sentence,))

    async def _speak_rest(self) -> None:
        splitter, self._splitter = self._splitter, None
        if splitter is None:
            return
        for sentence in splitter.finish():
            await self._speak((sentence,))
        await self._send(SynthesizeStopped())

    async def _speak(self, sentences: Sequence[str]) -> bool:
        """Send one audio stream, sentence by sentence; returns False if it is empty."""
        if self._service.assistant.voice is None:
            raise ApiError(404, "audio_not_served", "this server has no TTS")
        is_begun = False
        service = self._service
        sounds = synthesize(service.assistant, service.queues.speaking, sentences, service.caller.name)
        async with aclosing(sounds):
            async for sound in sounds:
                if not is_begun:
                    await self._send(AudioStart(sound.rate_hz, WIDTH, CHANNELS))
                    is_begun = True
                await self._send(AudioChunk(sound.rate_hz, WIDTH, CHANNELS, to_pcm16(sound.samples)))
        if is_begun:
            await self._send(AudioStop())
        return is_begun

    # --- the assistant and its tools

    async def _handle(self, text: str, context: object) -> None:
        if not self._service.has_handler:
            raise ApiError(403, "not_allowed", "server.wyoming_scopes does not allow questions")
        _check_length(len(text))
        conversation = self._service.conversations.find(context, self._key)
        reply = ""
        try:
            async with aclosing(conversation.reply(text, self._service.room_of(context))) as pieces:
                async for piece in pieces:
                    if not reply:
                        await self._send(HandledStart())
                    reply += piece
                    await self._send(HandledChunk(piece))
        except (ApiError, EdgevoxError) as error:
            await self._send(NotHandled(as_api_error(error).message))
            return
        await self._send(Handled(reply))
        if reply:
            await self._send(HandledStop())


def _language(written: str | None) -> str | None:
    """Return the language code without the country; None if it is unknown."""
    code = (written or "").replace("_", "-").partition("-")[0].casefold()
    return code if code in LANGUAGES else None


def _check_length(chars: int) -> None:
    if chars > _MAX_TEXT_CHARS:
        raise invalid(f"at most {_MAX_TEXT_CHARS:,} characters are allowed")


_log = logging.getLogger(__name__)

_MAX_CLIENTS = 16


@asynccontextmanager
async def wyoming_listener(
    service: WyomingService, host: str, port: int, peers: Sequence[str] = ()
) -> AsyncIterator[str]:
    """Serve during the block and yield the address. Raises ConfigError if the port cannot be bound."""
    clients: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")  # None if it has already disconnected
        if peer is not None and not may_connect(peer[0], peers):
            _log.warning("rejected Wyoming client %s: not in server.wyoming_peers", peer[0])
            peer = None
        if peer is None or len(clients) >= _MAX_CLIENTS:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        try:
            await WyomingConnection(service, reader, writer).run()
        except asyncio.CancelledError:
            pass  # shutdown; asyncio would log the cancelled task
        finally:
            clients.discard(task)

    try:
        server = await asyncio.start_server(serve, host, port, limit=MAX_LINE_BYTES)
    except OSError as error:
        raise ConfigError(
            f"the Wyoming server cannot listen on {host}, port {port}: {error.strerror or error}",
            hint="another program may use the port: set server.wyoming_port, or stop it",
        ) from error
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"tcp://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await cancel_tasks(*clients)
        await service.conversations.close()


def may_connect(address: str, peers: Sequence[str]) -> bool:
    client = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(client, ipaddress.IPv6Address) and client.ipv4_mapped is not None:
        client = client.ipv4_mapped
    return client.is_loopback or any(client in ipaddress.ip_network(peer) for peer in peers)
