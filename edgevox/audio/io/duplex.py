"""Resolves the configured devices and selects echo cancellation (ours or the device's) or half duplex."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from edgevox.audio.aec.canceller import LEAD_S, EchoCanceller
from edgevox.audio.aec.reference import FarEndReference
from edgevox.audio.aec.webrtc import WebRtcAec
from edgevox.audio.io.devices import Device
from edgevox.audio.io.microphone import AudioSource, Microphone
from edgevox.audio.io.recorder import open_recorder
from edgevox.audio.io.sound_server import sound_server_source
from edgevox.audio.io.speaker import Loudspeaker, Speaker
from edgevox.config import AudioSettings
from edgevox.config.settings import EchoCancellation
from edgevox.core.errors import AudioError, DeviceUnavailable

Duplex: TypeAlias = EchoCanceller | Literal["device", "half"]
"""Our canceller; "device" if the device cancels echo; "half" if none does and input is dropped in playback."""

# The names of echo-cancelling sources in PulseAudio ("alsa_input.usb.echo-cancel", "… (echo cancelled with
# …)") and PipeWire ("Echo-Cancel Source").
_CANCELS = re.compile(r"echo[-_ ]?cancel", re.IGNORECASE)


def cancel_echo(wanted: EchoCancellation, microphone: Microphone, speaker: Speaker) -> Duplex:
    """Connect speaker and microphone through an echo canceller, if needed; call it before either is used.

    Raises AudioError if it is `on` and not possible.
    """
    duplex = choose_duplex(wanted, microphone.device, speaker.device)
    if isinstance(duplex, EchoCanceller):
        microphone.canceller, speaker.tap = duplex, duplex.played.note
    return duplex


def choose_duplex(
    wanted: EchoCancellation,
    microphone: Device,
    loudspeaker: Device,
    *,
    default_source: Callable[[], str] = sound_server_source,
) -> Duplex:
    """Select the duplex mode. Raises AudioError if cancellation is `on` and not possible."""
    if wanted == "off":
        return "half"
    if wanted == "auto" and _CANCELS.search(default_source() if microphone.is_server else microphone.name):
        return "device"
    try:
        return EchoCanceller(FarEndReference(loudspeaker.rate_hz), lambda: WebRtcAec(expected_delay_s=LEAD_S))
    except AudioError:
        if wanted == "on":
            raise
        return "half"


class OpenableMicrophone(AudioSource, Protocol):
    """A microphone on one device, until the device is lost."""

    @property
    def device(self) -> Device: ...
    @property
    def level_dbfs(self) -> float: ...
    async def __aenter__(self) -> object: ...
    async def close(self) -> None: ...


class OpenableSpeaker(Loudspeaker, Protocol):
    """A loudspeaker on one device, until the device is lost."""

    @property
    def device(self) -> Device: ...


@dataclass(frozen=True, slots=True)
class ResolvedDevices:
    """The devices in use; None if not available or not wanted."""

    microphone: OpenableMicrophone | None
    speaker: OpenableSpeaker | None
    duplex: Duplex = "half"
    microphone_problem: str = ""
    speaker_problem: str = ""


def resolve_devices(settings: AudioSettings, *, speaks: bool) -> ResolvedDevices:
    """Resolve the configured devices, as far as they are available. Raises AudioError."""
    microphone: Microphone | None = None
    speaker: Speaker | None = None
    microphone_problem = speaker_problem = ""
    try:
        microphone = Microphone(settings.microphone, opened_by=open_recorder)
    except DeviceUnavailable as error:
        microphone_problem = str(error)
    try:
        speaker = Speaker(settings.speaker, lead_in_ms=settings.lead_in_ms) if speaks else None
    except DeviceUnavailable as error:
        speaker_problem = str(error)
    duplex: Duplex = "half"
    if microphone and speaker:
        duplex = cancel_echo(settings.echo_cancellation, microphone, speaker)
    return ResolvedDevices(microphone, speaker, duplex, microphone_problem, speaker_problem)
