"""The default assistant in real homes: what is said to it happens in Home Assistant, and over MQTT."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import BOUND_S, edgevox, home_environment
from tests.cli.test_voice import Lines
from tests.home.backends.home_assistant.server import Server, eventually
from tests.home.backends.mqtt.devices import Devices
from tests.home.backends.mqtt.mosquitto import PASSWORD, USER, Mosquitto

pytestmark = [pytest.mark.engine]

TIMEOUT_S = 3.0
# What a sentence may take on a busy machine when its prompt is known, and the home does not answer.
ANSWERED_WITHIN_S = 30.0
ROOMS = (
    "Kitchen", "Living Room", "Hallway", "Garage", "Garden", "Bedroom", "Office", "Bathroom", "Attic",
    "Cellar", "Nursery", "Guest Room", "Pantry", "Laundry Room", "Terrace", "Balcony", "Workshop", "Library",
    "Dining Room", "Studio", "Sauna", "Music Room", "Porch", "Stables", "Greenhouse",
)  # fmt: skip
IN_EACH_ROOM = (
    "Bed", "Cabinet", "Candle", "Ceiling", "Closet", "Corner", "Desk", "Door", "Floor", "Lava", "Mirror",
    "Moon", "Night", "Party", "Reading", "Shelf", "Star", "Table", "Wall", "Window",
)  # fmt: skip
# The tools and the instructions take 1,100; the 60 things in the prompt may take as much again.
MAX_PROMPT_TOKENS = 2200


@pytest.fixture(autouse=True)
def _model(smollm2_path: Path) -> None:
    """The default model is there."""


def user(folder: Path) -> dict[str, str]:
    return home_environment(folder, EDGEVOX_HOME__TIMEOUT_S=str(TIMEOUT_S))


class Conversation:
    """The running program: one sentence after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.said: list[str] = []
        self._stdin = process.stdin
        self._out = Lines(process.stdout)

    def say(self, sentence: str, *, within_s: float = BOUND_S) -> str:
        """What is answered, which is never nothing."""
        self._stdin.write(f"{sentence}\n")
        self._stdin.flush()
        reply = self._out.until("", within_s=within_s)
        assert reply, sentence
        self.said.append(reply)
        return reply


@contextmanager
def conversation(env: dict[str, str], log: Path) -> Iterator[Conversation]:
    """Ends with the input, and as it should."""
    with (
        log.open("w", encoding="utf-8") as err,
        subprocess.Popen(
            [sys.executable, "-m", "edgevox", "run", "--text", "--no-speech"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            env=env,
        ) as process,
    ):
        try:
            yield Conversation(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(BOUND_S) == 0
        finally:
            process.kill()


@pytest.mark.long
def test_a_conversation_runs_a_house_that_goes_and_comes_back(server: Server, tmp_path: Path) -> None:
    env, log = user(tmp_path), tmp_path / "stderr.txt"
    edgevox("home", "setup", "--url", server.url, env=env, stdin=server.token)
    server.call("light", "turn_off", entity_id="light.bed_light")
    with conversation(env, log) as talk:
        talk.say("Turn on the bed light.")
        assert server.state("light.bed_light") == "on"
        talk.say("Turn off the kitchen lights.")
        assert server.state("light.kitchen_lights") == "off"
        talk.say("Add apples to the shopping list.")
        assert [item["name"] for item in server.get("/api/shopping_list")] == ["apples"]
        assert "15.6" in talk.say("What is the outside temperature?")

        # What it says is what is so.
        locked = talk.say("Is the front door locked?")
        server.call("lock", "unlock", entity_id="lock.front_door")
        eventually(lambda: server.state("lock.front_door") == "unlocked", within_s=BOUND_S)
        assert talk.say("Is the front door locked?") != locked

        server.kill()
        began_s = time.monotonic()
        assert "Home Assistant" in talk.say("Turn off the bed light.", within_s=ANSWERED_WITHIN_S)
        assert time.monotonic() - began_s < ANSWERED_WITHIN_S

        server.start()
        server.wait_until_running()
        server.call("light", "turn_on", entity_id="light.bed_light")
        eventually(lambda: "Home Assistant" not in talk.say("Turn off the bed light."), within_s=BOUND_S)
        assert server.state("light.bed_light") == "off"

    shown = log.read_text(encoding="utf-8")
    assert "Traceback" not in shown
    assert server.token not in shown + "".join(talk.said)
    assert_only_in(tmp_path / "config" / "home-assistant.token", server.token, tmp_path)


def assert_only_in(file: Path, secret: str, folder: Path) -> None:
    """No other file has it: no record of a turn, no kept prompt, no log."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} > {"config", "state"}
    assert [path for path in files if secret.encode() in path.read_bytes()] == [file]


@pytest.mark.long
async def test_of_five_hundred_things_the_named_one_is_switched_and_the_prompt_has_its_bounds(tmp_path: Path) -> None:
    folder = tmp_path / "broker"
    folder.mkdir()
    mosquitto = Mosquitto(folder)
    mosquitto.start()
    devices = Devices(mosquitto)
    for room in ROOMS:
        for kind in IN_EACH_ROOM:
            has_lamp(devices, f"{room} {kind} Lamp", room)
    await devices.connect()
    try:
        answer = await asyncio.to_thread(_ask, tmp_path, mosquitto.port, "Turn on the greenhouse star lamp.")
    finally:
        await devices.disconnect()
        mosquitto.stop()
    assert answer["reply"]
    assert devices.commands == [("greenhouse_star_lamp/set", "ON")]
    (record,) = (tmp_path / "state" / "turns.jsonl").read_text(encoding="utf-8").splitlines()
    assert 0 < json.loads(record)["prompt_tokens"] < MAX_PROMPT_TOKENS
    assert_only_in(tmp_path / "config" / "mqtt.password", PASSWORD, tmp_path)


def _ask(folder: Path, port: int, sentence: str) -> dict[str, object]:
    env = user(folder)
    words = ("--mqtt", f"127.0.0.1:{port}", "--username", USER)
    done = edgevox("home", "setup", *words, env=env, stdin=PASSWORD)
    assert done.returncode == 0, done.stderr
    asked = edgevox("ask", "--json", sentence, env=env)
    assert asked.returncode == 0, asked.stderr
    assert PASSWORD not in done.stdout + done.stderr + asked.stdout + asked.stderr
    return dict(json.loads(asked.stdout))


def has_lamp(devices: Devices, name: str, room: str) -> None:
    """One that is off, and says so when it is on."""
    topic = name.lower().replace(" ", "_")
    devices.has(
        f"light/{topic}",
        {
            "name": None,
            "state_topic": topic,
            "command_topic": f"{topic}/set",
            "device": {"identifiers": [topic], "name": name, "suggested_area": room},
        },
        **{topic: "OFF"},
    )
    devices.answers(f"{topic}/set", lambda payload: {topic: payload})
