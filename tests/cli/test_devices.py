"""`edgevox devices` with a sound server, without one, and without PortAudio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgevox.testing import NullSinks
from tests.cli.command import edgevox, environment

# ALSA with one device that cannot be opened: PortAudio aborts where there is not even that.
NO_DEVICES = 'pcm.gone { type hw card "none" }\n'


def test_without_portaudio_it_says_what_to_install(tmp_path: Path) -> None:
    stand_in = tmp_path / "site" / "sounddevice.py"
    stand_in.parent.mkdir()
    stand_in.write_text("raise OSError('PortAudio library not found')\n")
    result = edgevox("devices", env=environment(tmp_path, PYTHONPATH=str(stand_in.parent)))
    assert result.returncode == 4
    assert "apt-get install libportaudio2" in result.stderr


@pytest.mark.audio_device
def test_every_device_is_listed_and_the_used_ones_are_marked(tmp_path: Path) -> None:
    with NullSinks() as room:
        shown = edgevox("devices", env=environment(tmp_path, **room.environment))
        env = environment(tmp_path, **room.environment, EDGEVOX_AUDIO__SPEAKER="pulse")
        listed = edgevox("devices", "--json", env=env)
    assert shown.returncode == listed.returncode == 0
    (default,) = [line for line in shown.stdout.splitlines() if " default " in line]
    assert default.split()[-2:] == ["microphone,", "loudspeaker"]
    used = {row["name"]: (row["used_as_microphone"], row["used_as_speaker"]) for row in json.loads(listed.stdout)}
    assert used == {"pulse": (False, True), "default": (True, False)}


@pytest.mark.audio_device
def test_a_setting_that_names_no_device_is_told_beside_the_list(tmp_path: Path) -> None:
    with NullSinks() as room:
        env = environment(tmp_path, **room.environment, EDGEVOX_AUDIO__MICROPHONE="Yeti")
        result = edgevox("devices", env=env)
    assert result.returncode == 4
    assert "no microphone 'Yeti'" in result.stderr
    assert "pulse" in result.stdout


def test_a_machine_without_devices_says_so(tmp_path: Path) -> None:
    config = tmp_path / "asound.conf"
    config.write_text(NO_DEVICES)
    env = environment(tmp_path, ALSA_CONFIG_PATH=str(config))
    result = edgevox("devices", env=env)
    assert result.returncode == 4
    assert "no microphone on this machine" in result.stderr
    assert "no loudspeaker on this machine" in result.stderr
    assert json.loads(edgevox("devices", "--json", env=env).stdout) == []
