"""Lists PortAudio's devices and selects one by name, part of a name or index."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeAlias

from edgevox.core.errors import DeviceUnavailable

# PortAudio's own lists have no lock: streams are opened and closed by one thread at a time.
_stream_lock = threading.Lock()
# A call hangs when the sound server dies at the wrong moment (ADR 29): the others must not wait for ever.
_LOCK_WITHIN_S = 4.0


@contextmanager
def stream_lock() -> Iterator[None]:
    """Hold PortAudio's lock during the block. Raises DeviceUnavailable if another call does not end."""
    if not _stream_lock.acquire(timeout=_LOCK_WITHIN_S):
        raise DeviceUnavailable(
            "PortAudio is still busy with another device", hint="restart the assistant if this stays so"
        )
    try:
        yield
    finally:
        _stream_lock.release()


def portaudio() -> Any:  # noqa: ANN401  (sounddevice has no types)
    """The sounddevice module. Raises DeviceUnavailable if PortAudio is not installed."""
    try:
        # Imported late: it starts PortAudio, which fails where that is not installed.
        module: ModuleType = importlib.import_module("sounddevice")
    except OSError as error:
        raise DeviceUnavailable(
            "PortAudio is not installed, so there is no microphone and no loudspeaker",
            hint="sudo apt-get install libportaudio2",
        ) from error
    return module


def rescan_devices() -> None:
    """Refresh PortAudio's device list; no stream may be open. Raises DeviceUnavailable."""
    sounddevice = portaudio()
    with stream_lock():
        sounddevice._terminate()
        sounddevice._initialize()


Direction: TypeAlias = Literal["input", "output"]

_NOUNS: dict[Direction, str] = {"input": "microphone", "output": "loudspeaker"}
_SETTINGS: dict[Direction, str] = {"input": "audio.microphone", "output": "audio.speaker"}
_LIST_THEM = "edgevox devices lists what is there"


@dataclass(frozen=True, slots=True)
class Device:
    """A PortAudio device; many have both input and output."""

    index: int
    name: str
    host_api: str
    input_channels: int
    output_channels: int
    rate_hz: int
    is_default_input: bool
    is_default_output: bool

    @property
    def is_server(self) -> bool:
        """Whether it is a sound server: PortAudio does not know the device behind it."""
        return self.name.casefold() in ("default", "pulse", "pipewire")

    def channels(self, direction: Direction) -> int:
        return self.input_channels if direction == "input" else self.output_channels

    def is_default(self, direction: Direction) -> bool:
        return self.is_default_input if direction == "input" else self.is_default_output


def list_devices() -> tuple[Device, ...]:
    """All sound devices. Raises DeviceUnavailable if PortAudio is not installed or fails."""
    sounddevice = portaudio()
    try:
        apis, devices = sounddevice.query_hostapis(), sounddevice.query_devices()
        default_input, default_output = sounddevice.default.device
    except sounddevice.PortAudioError as error:
        raise DeviceUnavailable(
            f"the sound devices cannot be listed: {error}", hint="check that the sound server runs"
        ) from error
    return tuple(
        Device(
            index=index,
            name=facts["name"],
            host_api=apis[facts["hostapi"]]["name"],
            input_channels=facts["max_input_channels"],
            output_channels=facts["max_output_channels"],
            rate_hz=round(facts["default_samplerate"]),
            is_default_input=index == default_input,
            is_default_output=index == default_output,
        )
        for index, facts in enumerate(devices)
    )


def find_device(wanted: str | None, direction: Direction) -> Device:
    """The device of that name, part of a name or index, or the default. Raises DeviceUnavailable."""
    return choose_device(list_devices(), wanted, direction)


def choose_device(devices: Sequence[Device], wanted: str | None, direction: Direction) -> Device:
    """The selected one of `devices`. Raises DeviceUnavailable naming the candidates."""
    noun = _NOUNS[direction]
    usable = [device for device in devices if device.channels(direction)]
    if not usable:
        raise DeviceUnavailable(
            f"there is no {noun} on this machine", hint="plug one in, or check that the sound server runs"
        )
    if wanted is None:
        return next((device for device in usable if device.is_default(direction)), usable[0])
    matching = _matching(usable, wanted)
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise DeviceUnavailable(
            f"{wanted!r} fits more than one {noun}: {_named(matching)}",
            hint=f"write more of the name, or its number, in {_SETTINGS[direction]}",
        )
    raise DeviceUnavailable(
        f"there is no {noun} {wanted!r}; there are: {_named(usable)}",
        hint=f"choose one of these in {_SETTINGS[direction]}; {_LIST_THEM}",
    )


def device_unusable(device: Device, direction: Direction, error: Exception) -> DeviceUnavailable:
    """The error for a listed device that PortAudio cannot open."""
    return DeviceUnavailable(
        f"the {_NOUNS[direction]} {device.name!r} cannot be used: {error}",
        hint=f"another program may hold it; {_LIST_THEM}, {_SETTINGS[direction]} chooses",
    )


def device_lost(device: Device, direction: Direction) -> DeviceUnavailable:
    """The error for a device that stopped delivering."""
    return DeviceUnavailable(
        f"the {_NOUNS[direction]} {device.name!r} does not answer any more",
        hint=f"check its plug and the sound server; {_LIST_THEM}",
    )


def _matching(usable: Sequence[Device], wanted: str) -> list[Device]:
    words = wanted.casefold()
    if words.isdecimal():
        return [device for device in usable if device.index == int(words)]
    if exact := [device for device in usable if device.name.casefold() == words]:
        return exact
    return [device for device in usable if words in device.name.casefold()]


def _named(devices: Sequence[Device]) -> str:
    return ", ".join(f"{device.index} {device.name!r}" for device in devices)
