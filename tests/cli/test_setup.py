"""`edgevox setup` in a room where somebody speaks, and in silence; with and without a person to ask."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import read_audio, write_wav
from edgevox.cli.commands.audio import LevelRating, chime, rate_level
from edgevox.core.types import Audio
from edgevox.testing import NullSinks
from tests.audio.sounds import find, noise, silence, sweep
from tests.cli.command import edgevox, environment

BOUND_S = 60.0


@pytest.fixture(scope="module")
def room() -> Iterator[NullSinks]:
    with NullSinks() as sinks:
        yield sinks


@contextmanager
def somebody_speaking(room: NullSinks, folder: Path, level: float = 0.3) -> Iterator[None]:
    """Sound into the microphone for as long as the block runs."""
    path, done = folder / "voice.wav", threading.Event()
    write_wav(path, [Audio(sweep(1.0, level=level), 16_000)])

    def speak() -> None:
        while not done.is_set():
            room.speak(path)

    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join(BOUND_S)


@pytest.mark.audio_device
def test_both_are_tried_and_the_chime_is_heard(room: NullSinks, tmp_path: Path) -> None:
    with somebody_speaking(room, tmp_path), room.record(tmp_path / "heard.wav"):
        result = edgevox("setup", env=environment(tmp_path, **room.environment))
    assert result.returncode == 0
    assert "microphone 'default' works" in result.stdout
    assert "loudspeaker 'default' works" in result.stdout
    assert "nothing to save" in result.stderr
    assert not (tmp_path / "config").exists()
    recording = read_audio(tmp_path / "heard.wav", chime().rate_hz)
    assert find(chime().samples, recording.samples).likeness > 0.95


@pytest.mark.audio_device
def test_a_choice_is_kept_among_the_settings_that_are_there(room: NullSinks, tmp_path: Path) -> None:
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text("# mine\n[audio]\nlead_in_ms = 50  # short\n\n[tts]\n")
    env = environment(tmp_path, **room.environment)
    with somebody_speaking(room, tmp_path):
        result = edgevox("setup", "--mic", "pulse", "--speaker", "pulse", "--save", env=env)
    assert result.returncode == 0
    assert config.read_text() == (
        '# mine\n[audio]\nspeaker = "pulse"\nmicrophone = "pulse"\nlead_in_ms = 50  # short\n\n[tts]\n'
    )


@pytest.mark.audio_device
def test_silence_is_told_and_nothing_is_kept(room: NullSinks, tmp_path: Path) -> None:
    env = environment(tmp_path, **room.environment)
    result = edgevox("setup", "--mic", "pulse", "--save", env=env)
    assert result.returncode == 1
    assert "records silence" in result.stdout
    assert "not saved" in result.stderr
    assert not (tmp_path / "config").exists()


@pytest.mark.audio_device
def test_a_device_that_is_not_there_is_told_and_the_other_is_tried(room: NullSinks, tmp_path: Path) -> None:
    env = environment(tmp_path, **room.environment)
    result = edgevox("setup", "--mic", "Yeti", env=env)
    assert result.returncode == 4
    assert "no microphone 'Yeti'" in result.stderr
    assert "loudspeaker 'default' works" in result.stdout


@pytest.mark.audio_device
def test_a_person_chooses_by_number_and_is_asked_again_after_a_mistake(room: NullSinks, tmp_path: Path) -> None:
    person, terminal = pty.openpty()
    env = environment(tmp_path, **room.environment)
    with somebody_speaking(room, tmp_path):
        command = [sys.executable, "-m", "edgevox", "setup"]
        with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=env) as process:
            os.close(terminal)
            # Microphone: a mistake, then a number. Loudspeaker: the default. Heard: yes. Keep: yes.
            os.write(person, b"Yeti\n0\n\ny\ny\n")
            said = _everything(person)
            assert process.wait(BOUND_S) == 0, said
    os.close(person)
    assert "no microphone 'Yeti'" in said
    assert (tmp_path / "config" / "config.toml").read_text() == '[audio]\nmicrophone = "pulse"\n'


def _everything(person: int) -> str:
    said = b""
    try:
        while piece := os.read(person, 4096):
            said += piece
    except OSError:
        pass  # Linux says so when the other end of a terminal has gone
    return said.decode()


@pytest.mark.parametrize(
    ("level", "verdict"), [(0.0, "nothing"), (0.001, "too quiet"), (0.1, "fine"), (2.0, "clipping")]
)
def test_what_the_level_says(level: float, verdict: LevelRating) -> None:
    voice = np.concatenate((silence(1.0), sweep(0.5, level=level), silence(0.5)))
    assert rate_level(np.clip(voice, -1, 1)) == verdict


def test_the_hiss_of_a_room_is_not_taken_for_a_voice() -> None:
    assert rate_level(noise(2.0, 0.001)) == "too quiet"
