"""One Wyoming client: its events are taken in order, and its work ends when it goes away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.info import Describe
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped

from edgevox.errors import EdgevoxError
from edgevox.languages import LANGUAGES
from edgevox.remote.pcm import CHANNELS, WIDTH, pcm
from edgevox.remote.wyoming_events import NotWyoming, read_event, write_event
from edgevox.server.audio.in_turns import heard_in, spoken
from edgevox.server.errors import ApiError, as_api_error, invalid
from edgevox.server.parts import Said
from edgevox.server.question import Question
from edgevox.server.wyoming.offer import Offer
from edgevox.server.wyoming.recording import Recording
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import CancelFlag
from edgevox.types import Message

_IDLE_S = 300.0
_AHEAD_EVENTS = 64
_MAX_TEXT_CHARS = 20_000


class WyomingConnection:
    """What one client has asked for, and what it has sent of that so far."""

    def __init__(self, offer: Offer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._offer = offer
        self._reader = reader
        self._writer = writer
        self._language: str | None = None
        self._recording: Recording | None = None
        self._splitter: SentenceSplitter | None = None
        self._text_chars = 0

    async def run(self) -> None:
        """Serve it until it goes away, says what is no Wyoming, or is silent for minutes."""
        events: asyncio.Queue[Event] = asyncio.Queue(_AHEAD_EVENTS)
        tasks = [asyncio.create_task(self._read(events)), asyncio.create_task(self._work(events))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._writer.close()  # first: the server may be closing, and not wait for what follows
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, events: asyncio.Queue[Event]) -> None:
        with suppress(NotWyoming, OSError):  # the silence, too, is one of these
            while True:
                async with asyncio.timeout(_IDLE_S):
                    event = await read_event(self._reader)
                if event is None:
                    return
                await events.put(event)

    async def _work(self, events: asyncio.Queue[Event]) -> None:
        """Until something goes wrong. Then it ends: some clients know no errors, and would wait for ever."""
        with suppress(OSError):  # it has gone
            while True:
                event = await events.get()
                try:
                    await self._take(event)
                except ApiError as error:
                    return await self._tell(Error(error.message, error.code))
                except EdgevoxError as error:
                    told = as_api_error(error)
                    return await self._tell(Error(told.message, told.code))
                except (KeyError, TypeError, ValueError, AttributeError):
                    problem = f"{event.type[:40]} cannot be understood"
                    return await self._tell(Error(problem, "invalid_event"))

    async def _take(self, event: Event) -> None:
        """Do what an event says; those that are not known are passed over, as the protocol has it."""
        kind = event.type
        if Describe.is_type(kind):
            await self._tell(self._offer.info)
        elif Ping.is_type(kind):
            await self._tell(Pong(Ping.from_event(event).text))
        elif Transcribe.is_type(kind):
            self._language = _language(Transcribe.from_event(event).language)
        elif AudioStart.is_type(kind):
            self._recording = Recording(self._offer.max_audio_s)
        elif AudioChunk.is_type(kind):
            self._recording = self._recording or Recording(self._offer.max_audio_s)
            self._recording.feed(AudioChunk.from_event(event))
        elif AudioStop.is_type(kind):
            await self._transcribe()
        elif Synthesize.is_type(kind) and self._splitter is None:  # else its text has come in chunks
            await self._speak_all(Synthesize.from_event(event).text)
        elif SynthesizeStart.is_type(kind):
            self._splitter, self._text_chars = SentenceSplitter(), 0
        elif SynthesizeChunk.is_type(kind):
            await self._speak_more(SynthesizeChunk.from_event(event).text)
        elif SynthesizeStop.is_type(kind):
            await self._speak_rest()
        elif Transcript.is_type(kind):
            await self._handle(Transcript.from_event(event).text)

    async def _tell(self, event: Eventable) -> None:
        await write_event(self._writer, event)

    # --- speech to text

    async def _transcribe(self) -> None:
        recording, self._recording = self._recording, None
        if recording is None:
            return
        if self._offer.assistant.hearing is None:
            raise ApiError(404, "audio_not_served", "this server does not recognise speech")
        hearing = self._offer.assistant.hearing(self._language)
        queue = self._offer.queues.hearing
        with queue.place():
            heard = await heard_in(recording.finish(), hearing, queue, self._offer.caller.name)
        text = " ".join(filter(None, (one.text.strip() for one in heard)))
        language = next((one.language for one in heard if one.language), self._language)
        await self._tell(Transcript(text, language=language))

    # --- text to speech

    async def _speak_all(self, text: str) -> None:
        splitter = SentenceSplitter()
        _check_length(len(text))
        if not await self._speak((*splitter.feed(text), *splitter.finish())):
            raise invalid("there is nothing to say in that text")

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
        await self._tell(SynthesizeStopped())

    async def _speak(self, sentences: tuple[str, ...]) -> bool:
        """One sound with its beginning and its end, sentence by sentence; False where there is none."""
        is_begun = False
        async with aclosing(self._sounds(sentences)) as sounds:
            async for rate_hz, sound in sounds:
                if not is_begun:
                    await self._tell(AudioStart(rate_hz, WIDTH, CHANNELS))
                    is_begun = True
                await self._tell(AudioChunk(rate_hz, WIDTH, CHANNELS, sound))
        if is_begun:
            await self._tell(AudioStop())
        return is_begun

    async def _sounds(self, sentences: tuple[str, ...]) -> AsyncGenerator[tuple[int, bytes], None]:
        assistant, queue, who = self._offer.assistant, self._offer.queues.speaking, self._offer.caller.name
        if assistant.voice is None:
            raise ApiError(404, "audio_not_served", "this server does not speak")
        voice, cancel = assistant.voice(1.0), CancelFlag()
        try:
            with queue.place():
                for sentence in sentences:
                    sounds = spoken(sentence, voice, assistant.voice_language, queue, who, cancel)
                    async with aclosing(sounds):
                        async for sound in sounds:
                            yield sound.rate_hz, pcm(sound.samples)
        finally:
            cancel.set()

    # --- the assistant and its tools

    async def _handle(self, text: str) -> None:
        if not self._offer.info.handle:
            raise ApiError(403, "not_allowed", "server.wyoming_scopes does not let anybody ask here")
        _check_length(len(text))
        question = Question((Message("user", text),))
        said = ""
        try:
            async with aclosing(self._offer.answering.parts(question, self._offer.caller)) as parts:
                async for part in parts:
                    if not isinstance(part, Said):
                        continue
                    if not said:
                        await self._tell(HandledStart())
                    said += part.text
                    await self._tell(HandledChunk(part.text))
        except (ApiError, EdgevoxError) as error:
            told = error if isinstance(error, ApiError) else as_api_error(error)
            await self._tell(NotHandled(told.message))
            return
        await self._tell(Handled(said))
        if said:
            await self._tell(HandledStop())


def _language(written: str | None) -> str | None:
    """Its code, without the country; None where it is none that is known."""
    code = (written or "").replace("_", "-").partition("-")[0].casefold()
    return code if code in LANGUAGES else None


def _check_length(chars: int) -> None:
    if chars > _MAX_TEXT_CHARS:
        raise invalid(f"there may be {_MAX_TEXT_CHARS:,} characters at most")
