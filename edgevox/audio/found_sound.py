"""What is plugged in at this moment: a microphone and a loudspeaker, as far as they are to be had."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from edgevox.audio.devices import Device
from edgevox.audio.duplex import Duplex, cancel_echo
from edgevox.audio.microphone import Microphone
from edgevox.audio.speaker import Speaker
from edgevox.errors import DeviceUnavailable
from edgevox.settings import AudioSettings
from edgevox.turn import CancelFlag
from edgevox.types import Audio

OnStart: TypeAlias = Callable[[], None]


class OpenableMicrophone(Protocol):
    """A microphone of this moment: one device, until it is gone."""

    @property
    def device(self) -> Device: ...
    @property
    def dropped_samples(self) -> int: ...
    @property
    def delay_s(self) -> float: ...
    @property
    def level_dbfs(self) -> float: ...
    async def __aenter__(self) -> object: ...
    async def close(self) -> None: ...
    def frames(self) -> AsyncGenerator[Audio, None]: ...


class OpenableSpeaker(Protocol):
    """A loudspeaker of this moment."""

    @property
    def device(self) -> Device: ...
    @property
    def heard_s(self) -> float: ...
    def duck(self, is_ducked: bool) -> None: ...
    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: OnStart) -> None: ...


@dataclass(frozen=True, slots=True)
class FoundSound:
    """What there is now; None where it is not to be had, or not wanted. `duplex` is how the two go along."""

    microphone: OpenableMicrophone | None
    speaker: OpenableSpeaker | None
    duplex: Duplex = "half"
    microphone_problem: str = ""
    speaker_problem: str = ""


def find_sound(settings: AudioSettings, *, speaks: bool) -> FoundSound:
    """The devices that the settings choose, as far as they are there. Raises AudioError."""
    microphone: Microphone | None = None
    speaker: Speaker | None = None
    microphone_problem = speaker_problem = ""
    try:
        microphone = Microphone(settings.microphone)
    except DeviceUnavailable as error:
        microphone_problem = str(error)
    try:
        speaker = Speaker(settings.speaker, lead_in_ms=settings.lead_in_ms) if speaks else None
    except DeviceUnavailable as error:
        speaker_problem = str(error)
    duplex: Duplex = "half"
    if microphone and speaker:
        duplex = cancel_echo(settings.echo_cancellation, microphone, speaker)
    return FoundSound(microphone, speaker, duplex, microphone_problem, speaker_problem)
