"""The default assistant on a real audio device: spoken commands change the demo home, and it says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from edgevox.testing import NullSinks
from tests.cli.command import edgevox, environment
from tests.cli.test_voice import assistant

pytestmark = [pytest.mark.engine, pytest.mark.audio_device, pytest.mark.slow]

# What is said, and what must be true of the home behind it.
COMMANDS: tuple[tuple[str, tuple[str, str, object]], ...] = (
    ("Turn on the kitchen light.", ("light.kitchen", "state", "on")),
    ("Set the desk lamp to forty percent.", ("light.desk_lamp", "brightness", 40)),
    ("Turn off the hallway light.", ("light.hallway", "state", "off")),
    ("Switch on the coffee machine.", ("switch.coffee_machine", "state", "on")),
    ("Open the curtains in the bedroom.", ("cover.bedroom_curtains", "state", "open")),
    ("Set the thermostat to nineteen degrees.", ("climate.thermostat", "temperature", 19)),
    ("Turn on the ceiling fan.", ("fan.bedroom", "state", "on")),
    ("Start the robot vacuum.", ("vacuum.robot", "state", "cleaning")),
    ("Turn on the garden lights.", ("light.garden", "state", "on")),
    ("Pause the TV.", ("media_player.tv", "state", "paused")),
    ("Close the living room blinds.", ("cover.living_room_blinds", "state", "closed")),
)
# The voice and the recogniser disagree on a word now and then: a person would say it again.
TRIES = 3


@pytest.fixture(autouse=True)
def _models(smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path) -> None:
    """The default models are there."""


@pytest.mark.timeout(900)
def test_spoken_commands_change_the_home_and_are_answered_aloud(tmp_path: Path) -> None:
    with NullSinks() as room:
        env = environment(tmp_path) | room.environment
        del env["EDGEVOX_PRESET"]
        for number, (command, _change) in enumerate(COMMANDS):
            edgevox("say", command, "-o", tmp_path / f"{number}.wav", env=env)
        with assistant(env) as (out, err):
            err.until("listening")
            for number, (command, change) in enumerate(COMMANDS):
                for _try in range(TRIES):
                    with room.record(tmp_path / "answer.wav"):
                        room.speak(tmp_path / f"{number}.wav")
                        heard = out.until("you ›")
                        reply = out.until("edgevox ›")
                    if holds(tmp_path, change):
                        break
                else:
                    pytest.fail(f"{command}: heard {heard!r}, said {reply!r}, {state(tmp_path, change)}")
                assert reply
                if number == 0:  # that it is spoken and not only written is heard once: it takes seconds
                    assert spoken(tmp_path / "answer.wav", env) & words(reply)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def spoken(recording: Path, env: dict[str, str]) -> set[str]:
    return words(json.loads(edgevox("transcribe", "--json", recording, env=env).stdout)["text"])


def holds(home: Path, change: tuple[str, str, object]) -> bool:
    return state(home, change) == change[2]


def state(home: Path, change: tuple[str, str, object]) -> object:
    listed = json.loads(edgevox("home", "list", "--json", env=environment(home)).stdout)
    (entity,) = (thing for thing in listed["entities"] if thing["id"] == change[0])
    return entity["state"] if change[1] == "state" else entity["attributes"].get(change[1])
