"""Who cancels the echo on which machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from edgevox.audio.aec.canceller import EchoCanceller
from edgevox.audio.io.devices import Device
from edgevox.audio.io.duplex import cancel_echo, choose_duplex
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.io.sound_server import sound_server_source
from edgevox.audio.io.speaker import Speaker
from edgevox.config.settings import EchoCancellation
from edgevox.core.errors import AudioError
from tests.audio.fake_portaudio import FakePortAudio


def device(name: str) -> Device:
    return Device(0, name, "ALSA", 1, 1, 48_000, is_default_input=True, is_default_output=True)


def no_server() -> str:
    return ""


@pytest.mark.parametrize(
    ("microphone", "source"),
    [
        ("Echo-Cancel Source", ""),
        ("Built-in Audio (echo cancelled with Built-in Audio)", ""),
        ("pulse", "alsa_input.usb-Blue.mono-fallback.echo-cancel"),
        ("default", "echo-cancel-source"),
        ("pipewire", "echo_cancel_capture"),
    ],
)
def test_a_microphone_that_cancels_already_is_left_alone(microphone: str, source: str) -> None:
    assert choose_duplex("auto", device(microphone), device("x"), default_source=lambda: source) == "device"


@pytest.mark.parametrize(("microphone", "source"), [("USB Audio", "echo-cancel-source"), ("pulse", "alsa_input.usb")])
def test_any_other_microphone_is_cancelled_here(microphone: str, source: str) -> None:
    chosen = choose_duplex("auto", device(microphone), device("x"), default_source=lambda: source)
    assert isinstance(chosen, EchoCanceller)


def test_on_cancels_whatever_the_device_is_called() -> None:
    assert isinstance(choose_duplex("on", device("Echo-Cancel Source"), device("x")), EchoCanceller)


def test_echo_cancellation_off_is_half_duplex_without_asking_the_sound_server() -> None:
    def asked() -> str:
        pytest.fail("the sound server was asked")

    assert choose_duplex("off", device("pulse"), device("x"), default_source=asked) == "half"


@pytest.mark.parametrize("wanted", ["auto", "on"])
def test_without_the_library_it_is_half_duplex_or_an_error(
    wanted: EchoCancellation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc", None)
    if wanted == "auto":
        assert choose_duplex(wanted, device("USB"), device("x"), default_source=no_server) == "half"
    else:
        with pytest.raises(AudioError):
            choose_duplex(wanted, device("USB"), device("x"), default_source=no_server)


def test_a_machine_without_a_sound_server_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PULSE_SOURCE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sound_server_source() == ""


def test_the_source_that_the_environment_chooses_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_SOURCE", "my.echo-cancel")
    assert sound_server_source() == "my.echo-cancel"


@pytest.mark.parametrize(("wanted", "is_wired"), [("on", True), ("off", False)])
def test_the_microphone_and_the_speaker_are_wired_where_it_is_cancelled_here(
    wanted: EchoCancellation, is_wired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakePortAudio((1,)))
    microphone, speaker = Microphone(), Speaker()
    cancel_echo(wanted, microphone, speaker)
    assert (microphone.canceller is not None) == is_wired
    assert (speaker.tap is not None) == is_wired
