"""Text to speech on a Wyoming server."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator

from wyoming.audio import AudioChunk, AudioStop
from wyoming.tts import Synthesize, SynthesizeVoice

from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, Busy, SynthesisRequest
from edgevox.engines.base import EngineLimits, limited_replies
from edgevox.engines.wyoming import PcmReader, UnsupportedPcm, WyomingClient
from edgevox.tts.engines import TtsContext

_log = logging.getLogger(__name__)


class WyomingTts:
    """A TtsService. `voice` is for the first of `languages`; the server chooses one for the others.

    Raises ConfigError for an invalid address.
    """

    def __init__(
        self,
        address: str,
        *,
        voice: str | None = None,
        languages: tuple[str, ...] = (ENGLISH,),
        limits: EngineLimits | None = None,
    ) -> None:
        self._link = WyomingClient(address, setting="tts.remote")
        self._voice = voice
        self._languages = languages
        self._limits = limits or EngineLimits()
        self._has_warned = False

    @property
    def is_up(self) -> bool:
        return self._link.is_up

    async def start(self) -> None:
        """Check the server. Raises EngineFailed, and ConfigError if it offers no TTS."""
        programs = (await self._link.info()).tts
        if not programs:
            raise ConfigError(f"{self._link.address} does not speak", hint="check tts.remote")
        names = [voice.name for program in programs for voice in program.voices]
        if self._voice is not None and self._voice not in names:
            raise ConfigError(
                f"{self._link.address} has no voice {self._voice}",
                hint=f"set tts.remote_voice to one of {', '.join(names[:12])}",
            )

    async def close(self) -> None:
        """No effect: each request has its own connection."""

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        """Stream the audio of one sentence. Raises EngineFailed."""
        if not request.text:  # a request to load the voice
            return
        if request.speed != 1.0 and not self._has_warned:
            self._has_warned = True
            _log.warning("%s: the Wyoming protocol has no speed: tts.speed is ignored", self._link.address)
        given: AsyncGenerator[Audio, None] = limited_replies(
            self._spoken(request), cancel, self._limits, name=self._link.address
        )
        async for piece in given:
            yield piece

    async def _spoken(self, request: SynthesisRequest) -> AsyncGenerator[Audio | Busy, None]:
        reader = PcmReader()
        async with self._link.connect() as connection:
            await connection.send(Synthesize(request.text, self._chosen(request.language)))
            while not AudioStop.is_type((event := await connection.receive()).type):
                if not AudioChunk.is_type(event.type):
                    yield Busy()
                    continue
                try:
                    sound = reader.feed(AudioChunk.from_event(event))
                except (UnsupportedPcm, KeyError, TypeError) as error:
                    raise EngineFailed(
                        f"{self._link.address} sends sound that cannot be read: {error}", hint="see its log"
                    ) from None
                if len(sound.samples):
                    yield sound

    def _chosen(self, language: str) -> SynthesizeVoice | None:
        if language != self._languages[0]:
            return SynthesizeVoice(language=language)
        return SynthesizeVoice(name=self._voice) if self._voice is not None else None


def create(context: TtsContext) -> WyomingTts:
    """Raises ConfigError if no server is set."""
    tts = context.settings
    if tts.remote is None:
        raise ConfigError("tts.engine is wyoming, and no server is set", hint="set tts.remote")
    return WyomingTts(tts.remote, voice=tts.remote_voice, languages=tts.remote_languages, limits=context.limits)
