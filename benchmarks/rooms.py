"""Which satellite answers, and in which room the light goes on: `python -m benchmarks.rooms`.

200 double wakes: a wake phrase of several voices of espeak-ng in a simulated room, heard by the satellite in that room
and, through a door, by one in the next. Distances, doors, reverberation, noise and the gains of the microphones are
drawn at random; the wake-word model, the level and the hub are the real ones, reports arrive with a random delay, and
the satellites' idea of the server's clock is wrong by up to half of it.
Then a bare command ("turn on the light") in each room of the demo home, with the default model, 200 times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import describe
from benchmarks.speech_test_set import say_by_espeak
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.vad import BLOCK_SAMPLES, VoiceActivityDetector
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.config import load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import LOCAL, Turn
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.models import open_store
from edgevox.satellites.hub import SatelliteHub, SatelliteLink, Wake
from edgevox.satellites.program import WakeLevel

TRIALS = 200
LEAST_WAKES, LEAST_COMMANDS = 0.98, 0.99
VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-us+m3", "en-us+f3", "en-us+f4")
SPEEDS = (130, 155, 180)
COMMANDS = (
    "turn on the light",
    "turn on the lights",
    "switch on the light",
    "turn the light on",
    "please turn on the light",
    "can you turn on the light",
    "lights on",
    "turn off the light",
    "switch off the lights",
    "turn the lights off please",
)
_BEFORE_S, _AFTER_S = 2.0, 0.6
_DELAY_S = 0.08
Samples = NDArray[np.float32]


def heard_at(speech: Samples, rng: np.random.Generator, *, metres: float, door_db: float) -> Samples:
    """The speech in a reverberant room at that distance, behind a door, by a microphone of some gain."""
    rt60_s = rng.uniform(0.25, 0.6)
    length = round(rt60_s * SAMPLE_RATE_HZ)
    tail = rng.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    tail *= 0.25 / np.sqrt(np.sum(tail**2))  # the level of the reverberation is the same in the whole room
    response = tail.copy()
    response[0] += 1.0 / max(metres, 0.3)
    wet = np.convolve(speech, response)
    room = np.concatenate(
        (np.zeros(round(_BEFORE_S * SAMPLE_RATE_HZ)), wet, np.zeros(round(_AFTER_S * SAMPLE_RATE_HZ)))
    )
    noise = rng.standard_normal(len(room)) * 10 ** (rng.uniform(-66, -56) / 20)
    gain = 10 ** (rng.normal(0.0, 3.0) / 20)
    return np.clip(gain * (room * 10 ** (-door_db / 20) + noise), -1, 1).astype(np.float32)


def wake_of(samples: Samples) -> tuple[float, Wake] | None:
    """When the satellite notices the word, in seconds, and what it reports."""
    detector, vad, level = WakeWordDetector("okay_nabu"), VoiceActivityDetector(), WakeLevel()
    for number, start in enumerate(range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES), 1):
        block = Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)
        level.feed(vad.judge(block))
        if detector.feed(block):
            return number * BLOCK_SAMPLES / SAMPLE_RATE_HZ, Wake(detector.confidence, level.level_db)
    return None


async def winner(
    near: tuple[float, Wake], far: tuple[float, Wake], delays_s: tuple[float, float], errors_s: tuple[float, float]
) -> str:
    """Which of both satellites answers: "near", "far", "both" or "none"; each has an error of its clock."""
    hub = SatelliteHub()
    loop: Any = SimpleNamespace(pipeline=None)
    links = [SatelliteLink(name, name, "edgevox", loop) for name in ("near", "far")]
    began_s = time.monotonic() - min(near[0], far[0])

    async def report(link: SatelliteLink, heard: tuple[float, Wake], delay_s: float, error_s: float) -> bool:
        at_s = began_s + heard[0]
        await asyncio.sleep(at_s + delay_s - time.monotonic())
        return await hub.wins(link, replace(heard[1], heard_s=at_s + error_s))

    with hub.connected(links[0]), hub.connected(links[1]):
        wins = await asyncio.gather(
            report(links[0], near, delays_s[0], errors_s[0]), report(links[1], far, delays_s[1], errors_s[1])
        )
    return {(True, False): "near", (False, True): "far", (True, True): "both"}.get((wins[0], wins[1]), "none")


async def double_wakes(trials: int) -> dict[str, Any]:
    rng, contests, apart_s = np.random.default_rng(35), list[Any](), list[float]()
    spoken = [say_by_espeak(voice, speed, "okay nabu").samples for voice in VOICES for speed in SPEEDS]
    unheard = single = 0
    while len(contests) < trials:
        speech = 0.5 * spoken[int(rng.integers(len(spoken)))]
        near = wake_of(heard_at(speech, rng, metres=rng.uniform(0.7, 4.0), door_db=0.0))
        far = wake_of(heard_at(speech, rng, metres=rng.uniform(3.0, 8.0), door_db=rng.uniform(6.0, 20.0)))
        if near is None or far is None:
            single += (near is None) != (far is None)
            unheard += near is None and far is None
            continue
        delays_s, errors_s = rng.uniform(0.0, _DELAY_S, 2), rng.uniform(-_DELAY_S / 2, _DELAY_S / 2, 2)
        contests.append(winner(near, far, tuple(delays_s), tuple(errors_s)))
        apart_s.append(abs(near[0] - far[0]))
    answered = [await contest for contest in contests]
    return {
        "double_wakes": trials,
        "right_satellite": answered.count("near") / trials,
        "answered_by": {who: answered.count(who) for who in ("near", "far", "both", "none")},
        "heard_apart_s": {"median": round(float(np.median(apart_s)), 2), "most": round(max(apart_s), 2)},
        "heard_by_one_only": single,
        "heard_by_none": unheard,
    }


async def bare_commands(trials: int, folders: Folders) -> dict[str, Any]:
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ["llm"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    chosen, wrong = random.Random(35), list[str]()
    async with runtime:
        toolbox = runtime.home_context.toolbox
        assert toolbox is not None
        house = toolbox.home.house()
        with_lights = {one.area for one in house.entities if one.domain == "light"}
        rooms = [area for area in house.areas if area.id in with_lights]
        for _ in range(trials):
            room, command = chosen.choice(rooms), chosen.choice(COMMANDS)
            is_on = "off" not in command
            pipeline = runtime.voice_sessions.pipeline(
                lambda _event: None, None, None, None, caller=LOCAL, room=room.name
            )
            opposite = "turn off all lights" if is_on else "turn on all lights"
            await runtime.voice_sessions.pipeline(lambda _event: None, None, None, None).answer(opposite, Turn())
            before = {one.id: one.state for one in toolbox.home.house().entities}
            await pipeline.answer(command, Turn())
            after = [one for one in toolbox.home.house().entities if one.state != before[one.id]]
            is_right = bool(after) and all((one.area, one.domain) == (room.id, "light") for one in after)
            if not is_right:
                wrong.append(f"{command} in the {room.name}: {', '.join(one.id for one in after) or 'nothing'}")
    return {
        "bare_commands": trials,
        "rooms": len(rooms),
        "right_room": (trials - len(wrong)) / trials,
        "wrong": sorted(set(wrong)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Which satellite answers, and in which room the light goes on.")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--only", choices=("wakes", "commands"), help="only one of both")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    result: dict[str, Any] = {"hardware": describe()}
    if args.only != "commands":
        result |= asyncio.run(double_wakes(args.trials))
    if args.only != "wakes":
        with tempfile.TemporaryDirectory() as scratch:
            folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
            result |= asyncio.run(bare_commands(args.trials, folders))
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if result.get("right_satellite", 1.0) < LEAST_WAKES or result.get("right_room", 1.0) < LEAST_COMMANDS:
        sys.exit("below a bar")


if __name__ == "__main__":
    main()
