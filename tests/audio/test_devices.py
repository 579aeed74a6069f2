"""Which device a name means."""

from __future__ import annotations

import pytest

from edgevox.audio.io.devices import Device, choose_device, find_device, list_devices
from edgevox.core.errors import DeviceUnavailable
from edgevox.testing import NullSinks
from tests.audio.fake_portaudio import FakePortAudio


def device(index: int, name: str, inputs: int = 0, outputs: int = 0, *, default: bool = False) -> Device:
    return Device(
        index=index,
        name=name,
        host_api="ALSA",
        input_channels=inputs,
        output_channels=outputs,
        rate_hz=48_000,
        is_default_input=default and inputs > 0,
        is_default_output=default and outputs > 0,
    )


HDMI = device(0, "HDA Intel: HDMI 0 (hw:0,3)", outputs=8)
USB_CAMERA = device(1, "USB Camera: Audio (hw:1,0)", inputs=2)
USB_HEADSET = device(2, "USB Headset: Audio (hw:2,0)", inputs=1, outputs=2)
DEFAULT = device(3, "default", inputs=32, outputs=32, default=True)
MACHINE = (HDMI, USB_CAMERA, USB_HEADSET, DEFAULT)


@pytest.mark.parametrize(
    ("wanted", "meant"), [(None, DEFAULT), ("camera", USB_CAMERA), ("2", USB_HEADSET), ("DEFAULT", DEFAULT)]
)
def test_a_microphone_by_part_of_its_name_or_by_its_number(wanted: str | None, meant: Device) -> None:
    assert choose_device(MACHINE, wanted, "input") == meant


def test_only_what_can_speak_is_a_loudspeaker() -> None:
    assert choose_device(MACHINE, "USB", "output") == USB_HEADSET


def test_a_whole_name_is_stronger_than_a_part_of_another() -> None:
    default_stereo = device(4, "default stereo", inputs=2)
    assert choose_device((default_stereo, *MACHINE), "default", "input") == DEFAULT


def test_a_name_with_a_number_in_it_is_no_index() -> None:
    assert choose_device(MACHINE, "hw:0,3", "output") == HDMI


def test_a_name_that_fits_two_says_which() -> None:
    with pytest.raises(DeviceUnavailable, match=r"1 'USB Camera.*2 'USB Headset") as caught:
        choose_device(MACHINE, "usb", "input")
    assert "audio.microphone" in caught.value.hint


@pytest.mark.parametrize("wanted", ["Bluetooth", "7", "0"])
def test_a_name_that_fits_none_says_what_there_is(wanted: str) -> None:
    with pytest.raises(DeviceUnavailable, match=r"USB Camera.*USB Headset.*default") as caught:
        choose_device(MACHINE, wanted, "input")
    assert "edgevox devices" in caught.value.hint


def test_a_machine_without_a_microphone_says_so() -> None:
    with pytest.raises(DeviceUnavailable, match="no microphone on this machine"):
        choose_device((HDMI,), None, "input")


def test_without_a_default_the_first_one_is_taken() -> None:
    assert choose_device((HDMI, USB_CAMERA, USB_HEADSET), None, "input") == USB_CAMERA


def test_a_sound_system_that_fails_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    portaudio = FakePortAudio((1,))

    def fails() -> None:
        raise portaudio.PortAudioError("Internal PortAudio error")

    monkeypatch.setattr(portaudio, "query_devices", fails)
    monkeypatch.setattr("edgevox.audio.io.devices.portaudio", lambda: portaudio)
    with pytest.raises(DeviceUnavailable, match="cannot be listed: Internal PortAudio error"):
        list_devices()


@pytest.mark.audio_device
def test_the_sound_server_is_listed_and_is_the_default(room: NullSinks) -> None:
    devices = {device.name: device for device in list_devices()}
    assert {"pulse", "default"} <= devices.keys()
    assert find_device(None, "input") == find_device(None, "output") == devices["default"]
    assert find_device("pul", "output") == devices["pulse"]
