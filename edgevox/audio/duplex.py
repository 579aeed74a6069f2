"""Whether the assistant can listen while it speaks, and who takes its own voice out of what is heard."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Literal, TypeAlias, assert_never

from edgevox.audio.devices import Device
from edgevox.audio.echo import LEAD_S, EchoCanceller
from edgevox.audio.microphone import Microphone
from edgevox.audio.played_sound import PlayedSound
from edgevox.audio.speaker import Speaker
from edgevox.audio.webrtc import WebRtc
from edgevox.errors import AudioError
from edgevox.settings.model import EchoCancellation

Duplex: TypeAlias = EchoCanceller | Literal["device", "half"]
"""The canceller; or the device cancels already; or nobody does, and nobody may listen while it speaks."""

# What PulseAudio ("alsa_input.usb.echo-cancel", "… (echo cancelled with …)") and PipeWire ("Echo-Cancel
# Source") call a microphone that cancels.
_CANCELS = re.compile(r"echo[-_ ]?cancel", re.IGNORECASE)
# Behind these names of ALSA there is a sound server, and PortAudio does not say what stands behind that.
_SERVERS = ("default", "pulse", "pipewire")
_ASK_WITHIN_S = 2.0


def cancel_echo(wanted: EchoCancellation, microphone: Microphone, speaker: Speaker) -> Duplex:
    """Have what the speaker plays taken out of what the microphone hears, where nobody else does it.

    Call it before either is used. Raises AudioError where it is `on` and cannot be.
    """
    duplex = choose_duplex(wanted, microphone.device, speaker.device)
    if isinstance(duplex, EchoCanceller):
        microphone.canceller, speaker.tap = duplex, duplex.played.note
    return duplex


def cancels_itself(microphone: Device, default_source: Callable[[], str]) -> bool:
    """Whether the sound server takes the echo out of what this microphone gives."""
    if _CANCELS.search(microphone.name):
        return True
    return microphone.name.casefold() in _SERVERS and bool(_CANCELS.search(default_source()))


def sound_server_source() -> str:
    """The name of the sound server's own default microphone; "" where there is no server to ask."""
    if chosen := os.environ.get("PULSE_SOURCE"):
        return chosen
    if (pactl := shutil.which("pactl")) is None:
        return ""
    try:
        asked = subprocess.run(
            [pactl, "get-default-source"], capture_output=True, text=True, check=True, timeout=_ASK_WITHIN_S
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()


def choose_duplex(
    wanted: EchoCancellation,
    microphone: Device,
    loudspeaker: Device,
    *,
    default_source: Callable[[], str] = sound_server_source,
) -> Duplex:
    """Who cancels the echo. Raises AudioError where it is `on` and cannot be."""
    match wanted:
        case "off":
            return "half"
        case "on":
            return _canceller(loudspeaker)
        case "auto":
            if cancels_itself(microphone, default_source):
                return "device"
            try:
                return _canceller(loudspeaker)
            except AudioError:
                return "half"
        case _:
            assert_never(wanted)


def _canceller(loudspeaker: Device) -> EchoCanceller:
    return EchoCanceller(PlayedSound(loudspeaker.rate_hz), lambda: WebRtc(expected_delay_s=LEAD_S))
