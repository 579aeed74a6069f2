"""Speech to text on a Wyoming server, such as Home Assistant's add-ons."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from wyoming.asr import Transcribe
from wyoming.asr import Transcript as Written
from wyoming.audio import AudioChunk, AudioStart, AudioStop

from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Busy, TranscribeRequest, Transcript, to_pcm16
from edgevox.engines.base import EngineLimits, limited_replies
from edgevox.engines.wyoming import CHANNELS, WIDTH, WyomingClient
from edgevox.stt.decoding import NO_SPEECH
from edgevox.stt.engines import SttContext

_CHUNK_SAMPLES = 8_000


class WyomingStt(WyomingClient):
    """An SttService. `model` selects one of the server's. Raises ConfigError."""

    def __init__(self, address: str, *, model: str | None = None, limits: EngineLimits | None = None) -> None:
        super().__init__(address, setting="stt.remote", limits=limits)
        self._model = model

    async def start(self) -> None:
        """Check the server. Raises EngineFailed, and ConfigError if it offers no STT."""
        programs = (await self.info()).asr
        if not programs:
            raise ConfigError(f"{self.address} recognises no speech", hint="check stt.remote")
        self.check_offer("model", [model.name for program in programs for model in program.models], self._model)

    def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        """One transcript, nothing once `cancel` is set. Raises EngineFailed."""
        return limited_replies(self._transcribe(request), cancel, self._limits, name=self.address)

    async def _transcribe(self, request: TranscribeRequest) -> AsyncGenerator[Transcript | Busy, None]:
        samples, rate_hz = request.audio.samples, request.audio.rate_hz
        async with self.connect() as connection:
            await connection.send(
                Transcribe(self._model, request.language, transcript_names=list(request.names) or None)
            )
            await connection.send(AudioStart(rate_hz, WIDTH, CHANNELS))
            for start in range(0, len(samples), _CHUNK_SAMPLES):
                sound = to_pcm16(samples[start : start + _CHUNK_SAMPLES])
                await connection.send(AudioChunk(rate_hz, WIDTH, CHANNELS, sound))
                yield Busy()
            await connection.send(AudioStop())
            while not Written.is_type((event := await connection.receive()).type):
                yield Busy()
        text, language = event.data.get("text"), event.data.get("language")
        if not isinstance(text, str):
            raise EngineFailed(f"{self.address} gave no transcript", hint="see its log")
        text = text.strip()
        yield Transcript(
            text,
            language if isinstance(language, str) else request.language or "",
            request.audio.duration_s,
            dropped=None if text else NO_SPEECH,
        )


def create(context: SttContext) -> WyomingStt:
    """Raises ConfigError if no server is set."""
    stt = context.settings
    if stt.remote is None:
        raise ConfigError("stt.engine is wyoming, and no server is set", hint="set stt.remote")
    return WyomingStt(stt.remote, model=stt.remote_model, limits=context.limits)
