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


class WyomingTts(WyomingClient):
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
        super().__init__(address, setting="tts.remote", limits=limits)
        self._voice = voice
        self._languages = languages
        self._has_warned = False

    async def start(self) -> None:
        """Check the server. Raises EngineFailed, and ConfigError if it offers no TTS."""
        programs = (await self.info()).tts
        if not programs:
            raise ConfigError(f"{self.address} does not speak", hint="check tts.remote")
        self.check_offer("voice", [voice.name for program in programs for voice in program.voices], self._voice)

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        """Stream the audio of one sentence. Raises EngineFailed."""
        if not request.text:  # a request to load the voice
            return
        if request.speed != 1.0 and not self._has_warned:
            self._has_warned = True
            _log.warning("%s: the Wyoming protocol has no speed: tts.speed is ignored", self.address)
        given: AsyncGenerator[Audio, None] = limited_replies(
            self._spoken(request), cancel, self._limits, name=self.address
        )
        async for piece in given:
            yield piece

    async def _spoken(self, request: SynthesisRequest) -> AsyncGenerator[Audio | Busy, None]:
        reader = PcmReader()
        async with self.connect() as connection:
            await connection.send(Synthesize(request.text, self._chosen(request.language)))
            while not AudioStop.is_type((event := await connection.receive()).type):
                if not AudioChunk.is_type(event.type):
                    yield Busy()
                    continue
                try:
                    sound = reader.feed(AudioChunk.from_event(event))
                except (UnsupportedPcm, KeyError, TypeError) as error:
                    raise EngineFailed(
                        f"{self.address} sends sound that cannot be read: {error}", hint="see its log"
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
