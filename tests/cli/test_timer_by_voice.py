"""A timer that is set by voice rings on a real audio device, also when the assistant was killed meanwhile."""

from __future__ import annotations

import asyncio
import queue
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.tones import CHIME_HZ
from edgevox.core.types import Audio
from edgevox.dialogue import Synthesizer
from edgevox.dialogue.alarm_player import ROUNDS
from edgevox.engines import LocalEngine
from edgevox.home.alarms.timers import TIMERS_FILE, Timers
from edgevox.testing import NullSinks
from edgevox.tts.piper import PiperEngine
from tests.cli.command import BOUND_S, home_environment
from tests.cli.test_voice import Lines

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

SAID = {
    "five": "Set a timer for five seconds.",
    "ten": "Set a timer for ten seconds.",
    # The recogniser takes the voice's "Stop." for "Star." now and then: the test does not repeat it for ever.
    "stop0": "Stop.",
    "stop1": "Stop the timer.",
    "stop2": "Turn off the timer.",
    "stop3": "Stop the timer, please.",
}

_MOMENT_S = 0.3
_SILENT = 0.001
_SOUND_S = 5.0
_FRAME_S = 0.1
_BAND_HZ = 30.0
# A vowel has its energy in many harmonics, a struck bell in one tone.
_PURE = 0.6


@pytest.fixture(scope="module")
def user(
    tmp_path_factory: pytest.TempPathFactory, smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path
) -> Path:
    """A user's folder, with what is said: the evaluated prompt of one run serves the next."""
    folder = tmp_path_factory.mktemp("user")
    asyncio.run(say(piper_voice_path, folder))
    return folder


async def say(piper_voice_path: Path, folder: Path) -> None:
    engine = LocalEngine(PiperEngine(piper_voice_path))
    await engine.start()
    for name, said in SAID.items():
        write_wav(folder / f"{name}.wav", [await Synthesizer(engine).sound_of(said)])
    await engine.close()


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
    return home_environment(folder)


def stop(running: Assistant, room: NullSinks, folder: Path) -> None:
    """Say it in a pause, since speech is not heard while it sounds; in the next one where a round has begun."""
    for number in range(ROUNDS):
        until_silent(room, folder / "moment.wav")
        room.speak(folder / f"stop{number % 4}.wav")
        try:
            running.err.until("(the timer was stopped)", within_s=_SOUND_S)
        except queue.Empty:
            continue
        return
    raise AssertionError("it was never stopped")


def until_silent(room: NullSinks, wav: Path) -> None:
    give_up_s = time.monotonic() + BOUND_S
    while time.monotonic() < give_up_s:
        with room.record(wav):
            time.sleep(_MOMENT_S)
        if np.max(np.abs(read_audio(wav).samples)) < _SILENT:
            return
    raise AssertionError("it is never silent")


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


def timers(folder: Path) -> Timers:
    return Timers(time.time, folder / "state" / TIMERS_FILE)


def test_a_spoken_timer_rings_and_a_spoken_stop_silences_it(user: Path) -> None:
    with NullSinks() as room:
        env = home(user) | room.environment
        with assistant(env) as running:
            running.err.until("listening")
            with room.record(user / "ring.wav"):
                room.speak(user / "five.wav")
                assert "five second" in running.out.until("you ›").lower().replace("5", "five")
                assert "5 second timer" in running.out.until("edgevox ›")
                assert running.out.until("timer ›") == "The 5 second timer is done."
                stop(running, room, user)
        assert 1 <= chimes(read_audio(user / "ring.wav")) <= 3
        assert not timers(user).all()


def test_a_timer_rings_although_the_assistant_was_killed_after_it_was_set(user: Path) -> None:
    with NullSinks() as room:
        env = home(user) | room.environment
        with assistant(env) as running:
            running.err.until("listening")
            room.speak(user / "ten.wav")
            assert "10 second timer" in running.out.until("edgevox ›")
            running.process.kill()
        assert len(timers(user).all()) == 1
        with room.record(user / "ring.wav"), assistant(env) as running:
            assert running.out.until("timer ›").startswith("The 10 second timer ")
            stop(running, room, user)
        assert chimes(read_audio(user / "ring.wav")) >= 1
        assert not timers(user).all()


def test_without_a_loudspeaker_the_sentence_is_printed(user: Path) -> None:
    timers(user).start(1, name="egg")
    with assistant(home(user), "--text", "--no-speech") as running:
        assert running.out.until("The egg timer") in ("is done.", "ended a minute ago.")
