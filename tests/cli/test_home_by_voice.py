"""The default assistant on a real audio device: spoken commands change the demo home, and it says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from edgevox.core.types import JsonObject
from edgevox.testing import NullSinks
from tests.cli.command import edgevox, environment, home_environment
from tests.cli.test_voice import Lines, assistant

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

# What is said, and what must be true of the home behind it.
COMMANDS: tuple[tuple[str, tuple[str, str, object]], ...] = (
    ("Turn on the kitchen light.", ("light.kitchen", "state", "on")),
    ("Set the living room light to forty percent.", ("light.living_room", "brightness", 40)),
    ("Switch on the coffee machine.", ("switch.coffee_machine", "state", "on")),
    ("Open the curtains in the bedroom.", ("cover.bedroom_curtains", "state", "open")),
    ("Set the thermostat to nineteen degrees.", ("climate.thermostat", "temperature", 19)),
    ("Pause the TV.", ("media_player.tv", "state", "paused")),
)
# The recogniser takes a word of the synthetic voice for another now and then: not all need be understood.
UNDERSTOOD = 4


@pytest.fixture(autouse=True)
def _models(smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path) -> None:
    """The default models are there."""


def test_spoken_commands_change_the_home_and_are_answered_aloud(
    tmp_path: Path, write_speech: Callable[[str, Path], None]
) -> None:
    with NullSinks() as room:
        env = home_environment(tmp_path) | room.environment
        for number, (said, _change) in enumerate(COMMANDS):
            write_speech(said, tmp_path / f"{number}.wav")
        with assistant(env) as (out, err):
            err.until("listening")
            replies = [command(room, out, tmp_path, number) for number in range(len(COMMANDS))]
        things = listed(tmp_path)
        changed = [holds(things, change) for _command, change in COMMANDS]
        assert sum(changed) >= UNDERSTOOD, list(zip(COMMANDS, changed, replies, strict=True))
        assert all(reply for _heard, reply in replies)
        assert changed[0], replies[0]
        # Not the first: a slow machine may still read its first prompt, and says "One moment." before.
        warm = next(number for number in range(len(COMMANDS) // 2, len(COMMANDS)) if changed[number])
        assert spoken(tmp_path / f"answer{warm}.wav", env) & words(replies[warm][1])


def command(room: NullSinks, out: Lines, folder: Path, number: int) -> tuple[str, str]:
    """Say a command; what was heard, and what was said to it."""
    with room.record(folder / f"answer{number}.wav"):
        room.speak(folder / f"{number}.wav")
        return out.until("you ›"), out.until("edgevox ›")


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def spoken(recording: Path, env: dict[str, str]) -> set[str]:
    return words(json.loads(edgevox("transcribe", "--json", recording, env=env).stdout)["text"])


def holds(things: dict[str, JsonObject], change: tuple[str, str, object]) -> bool:
    thing, what, value = change
    entity = things[thing]
    return bool(value == (entity["state"] if what == "state" else entity["attributes"].get(what)))


def listed(home: Path) -> dict[str, JsonObject]:
    """The things of the home by id, as `edgevox home list` shows them."""
    found = json.loads(edgevox("home", "list", "--json", env=environment(home)).stdout)
    return {entity["id"]: entity for entity in found["entities"]}
