"""A timer that is set by voice rings on a real audio device, also when the assistant was killed meanwhile."""

from __future__ import annotations

import queue
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import read_audio
from edgevox.testing import NullSinks
from edgevox.types import Audio
from edgevox.voice.ring_sound import CHIME_HZ
from tests.cli.command import BOUND_S, edgevox, environment
from tests.cli.test_voice import Lines

pytestmark = [pytest.mark.engine, pytest.mark.audio_device, pytest.mark.slow]

_FRAME_S = 0.1
_BAND_HZ = 30.0
# A vowel has its energy in many harmonics, a struck bell in one tone.
_PURE = 0.6


@pytest.fixture(autouse=True)
def _models(smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path) -> None:
    """The default models are there."""


class Assistant:
    """The running program, in a room."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.out = Lines(process.stdout)
        self.err = Lines(process.stderr)


@contextmanager
def assistant(env: dict[str, str], *words: str) -> Iterator[Assistant]:
    with subprocess.Popen(
        [sys.executable, "-m", "edgevox", "run", "--plain", *words],
        stdin=subprocess.PIPE if "--text" in words else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        try:
            yield Assistant(process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(BOUND_S)


def home(folder: Path) -> dict[str, str]:
    env = environment(folder)
    del env["EDGEVOX_PRESET"]
    return env


def say_until(running: Assistant, room: NullSinks, wav: Path, remark: str) -> None:
    """Say it until it was heard: while the assistant sounds, nobody is."""
    for _ in range(20):
        room.speak(wav)
        try:
            running.err.until(remark, within_s=2.0)
        except queue.Empty:
            continue
        return
    raise AssertionError(f"never came: {remark}")


def chimes(sound: Audio) -> int:
    """How often the two tones of the chime are heard, one behind the other."""
    size = round(_FRAME_S * sound.rate_hz)
    hz = np.fft.rfftfreq(size, 1 / sound.rate_hz)
    heard = ""
    for start in range(0, len(sound.samples) - size, size // 2):
        frame = sound.samples[start : start + size] * np.hanning(size)
        power = np.abs(np.fft.rfft(frame)) ** 2
        if power.sum() < 1e-3:
            continue
        for name, tone_hz in zip("ab", CHIME_HZ, strict=True):
            if power[np.abs(hz - tone_hz) < _BAND_HZ].sum() > _PURE * power.sum():
                heard += name
    return len(re.findall("a+b+", heard))


def timers(folder: Path) -> str:
    file = folder / "state" / "timers.json"
    return file.read_text() if file.exists() else ""


def test_a_spoken_timer_rings_and_a_spoken_stop_silences_it(tmp_path: Path) -> None:
    with NullSinks() as room:
        env = home(tmp_path) | room.environment
        edgevox("say", "Set a timer for five seconds.", "-o", tmp_path / "set.wav", env=env)
        edgevox("say", "Stop.", "-o", tmp_path / "stop.wav", env=env)
        with assistant(env) as running:
            running.err.until("listening")
            with room.record(tmp_path / "ring.wav"):
                room.speak(tmp_path / "set.wav")
                assert "five second" in running.out.until("you ›").lower().replace("5", "five")
                assert "5 second timer" in running.out.until("edgevox ›")
                assert running.out.until("timer ›") == "The 5 second timer is done."
                say_until(running, room, tmp_path / "stop.wav", "(the timer was stopped)")
        assert 1 <= chimes(read_audio(tmp_path / "ring.wav")) <= 3
        assert "due_s" not in timers(tmp_path)


def test_a_timer_rings_although_the_assistant_was_killed_after_it_was_set(tmp_path: Path) -> None:
    with NullSinks() as room:
        env = home(tmp_path) | room.environment
        edgevox("say", "Set a timer for ten seconds.", "-o", tmp_path / "set.wav", env=env)
        edgevox("say", "Stop.", "-o", tmp_path / "stop.wav", env=env)
        with assistant(env) as running:
            running.err.until("listening")
            room.speak(tmp_path / "set.wav")
            assert "10 second timer" in running.out.until("edgevox ›")
            running.process.kill()
        assert "due_s" in timers(tmp_path)
        with room.record(tmp_path / "ring.wav"), assistant(env) as running:
            assert running.out.until("timer ›").startswith("The 10 second timer ")
            say_until(running, room, tmp_path / "stop.wav", "(the timer was stopped)")
        assert chimes(read_audio(tmp_path / "ring.wav")) >= 1
        assert "due_s" not in timers(tmp_path)


def test_without_a_loudspeaker_the_sentence_is_printed(tmp_path: Path) -> None:
    with assistant(home(tmp_path), "--text", "--no-speech") as running:
        assert running.process.stdin is not None
        running.process.stdin.write("Set a timer for two seconds.\n")
        running.process.stdin.flush()
        assert running.out.until("The 2 second timer is done.") == ""
