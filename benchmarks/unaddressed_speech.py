"""What the assistant does on speech that is not addressed to it: `python -m benchmarks.unaddressed_speech`

35 minutes of recordings (EDGEVOX_SPEECH_DIR) with the wake word off: interviews, speeches, read sentences, accents,
music and household sounds go through the voice loop, the recogniser, the default model and the tools of the demo home,
as `edgevox run --input` does, once for each value of `wake.requests_only`. An action is a change: of the home, a list,
a timer, an alarm or a volume. A follow-up after a reply is judged alike.

Then the cost: the spoken commands of the same folder, and how many of them are taken for talk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.files import read_audio
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import load_settings
from edgevox.config.sections import RequestsOnly
from edgevox.core import events
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue.turn_completion import is_request
from edgevox.models import open_store

BAR_ACTIONS = 1
MINUTES = 35.0
MODES: tuple[RequestsOnly, ...] = ("never", "always")
_PARTS = ("talk", "music", "accents", "clips", "noise")
_CHANGES_VOICE = ("louder", "quieter", "faster", "slower", "normal")
_BETWEEN_S = 1.0
_HISS = 1e-4


@dataclass(frozen=True, slots=True)
class Recording:
    part: str
    text: str
    audio: Audio


@dataclass(slots=True)
class Heard:
    """What became of one utterance."""

    part: str
    text: str = ""
    outcome: str = ""
    reason: str = ""
    calls: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


def recordings(folder: Path, parts: Sequence[str]) -> Iterator[Recording]:
    for part in parts:
        for line in (folder / "people" / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Recording(part, row.get("text", ""), read_audio(folder / "people" / row["file"]))
    if "talk" in parts:
        yield Recording("talk", "", read_audio(folder / "jfk.flac"))
    if "commands" in parts:
        for path in sorted((folder / "home-commands").glob("*.wav")):
            part = "talk" if path.name.startswith("oov_") else "commands"
            yield Recording(part, path.stem, read_audio(path))


class Room:
    """An audio source that plays the recordings one after another, as fast as they are read, and notes each turn."""

    live = False
    dropped_samples = 0
    delay_s = 0.0

    def __init__(self, played: Sequence[Recording], runtime: AssistantRuntime) -> None:
        self.heard: list[Heard] = []
        self._played = played
        self._runtime = runtime
        self._part = ""
        self._turns: dict[str, Heard] = {}
        self._ended: list[Heard] = []

    def __call__(self, event: events.Event) -> None:
        if not isinstance(event, events.TurnEvent):
            return
        turn = self._turns.setdefault(event.turn_id, Heard(self._part))
        match event:
            case events.TranscriptReady():
                turn.text = event.text
            case events.BuiltinCommandRun():
                turn.calls.append(event.word)
                turn.changed += ["voice"] if event.word in _CHANGES_VOICE else []
            case events.ToolFinished():
                turn.calls.append(event.name if event.code is None else f"{event.name}: {event.code}")
            case events.TurnEnded():
                turn.outcome, turn.reason = event.outcome, event.error
                self._ended.append(self._turns.pop(event.turn_id))
            case _:
                pass

    async def frames(self) -> AsyncGenerator[Audio, None]:
        hiss = np.random.default_rng(3)
        before = await self._state()
        for recording in self._played:
            self._part = recording.part
            room = np.zeros(round(_BETWEEN_S * SAMPLE_RATE_HZ), np.float32)
            samples = np.concatenate([recording.audio.samples, room])
            samples = (samples + _HISS * hiss.standard_normal(len(samples))).astype(np.float32)
            for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
                yield Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)
                if self._ended:
                    before = await self._note(before)
        await asyncio.sleep(0)
        await self._note(before)

    async def _note(self, before: dict[str, str]) -> dict[str, str]:
        after = await self._state()
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        if self._ended:
            self._ended[-1].changed += changed
        for heard in self._ended:
            self.heard.append(heard)
            if heard.text:
                sys.stdout.write(f"{heard}\n")
        self._ended.clear()
        return after

    async def _state(self) -> dict[str, str]:
        """All that a turn can change, as text by name."""
        toolbox = self._runtime.home_context.toolbox
        assert toolbox is not None
        state = {}
        for entity in toolbox.home.house().entities:
            state[entity.name] = f"{entity.state} {dict(entity.attributes)}"
            if entity.domain == "todo":
                state[entity.name] = str(await toolbox.home.items(entity.id))
        state["scheduled"] = str((toolbox.timers.all(), toolbox.alarms.all(), toolbox.watches.all()))
        return state


async def overheard(folders: Folders, played: Sequence[Recording], mode: RequestsOnly) -> list[Heard]:
    settings = load_settings(folders, flags={"wake.requests_only": mode}, environ={})
    store = open_store(folders)
    runtime = AssistantRuntime(settings, folders, store, ["llm", "stt"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    async with runtime:
        room = Room(played, runtime)
        with runtime.bus.listening(room):
            await runtime.voice_loop(room).run()
        return room.heard


async def commands(folders: Folders, said: Sequence[Recording]) -> dict[str, object]:
    """How many spoken commands count as requests."""
    settings = load_settings(folders, environ={})
    runtime = AssistantRuntime(settings, folders, open_store(folders), ["llm", "stt"])
    refused = []
    async with runtime:
        transcriber, names = runtime.transcriber(), runtime.home_context.all_names()
        for recording in said:
            transcript = await transcriber.transcribe(recording.audio, CancelFlag())
            if not is_request(transcript, names, is_follow_up=False):
                refused.append({"said": recording.text, "transcript": transcript.text})
    return {
        "commands": len(said),
        "taken_for_talk": len(refused),
        "percent": round(100 * len(refused) / len(said), 1),
        "each": refused,
    }


def figures(heard: Sequence[Heard]) -> dict[str, object]:
    spoken = [one for one in heard if one.text]
    acted = [one for one in spoken if one.changed]
    return {
        "utterances": len(heard),
        "with_words": len(spoken),
        "answered": sum(one.outcome == "answered" for one in spoken),
        "taken_for_talk": sum(one.reason == "no request" for one in spoken),
        "answered_by_part": dict(Counter(one.part for one in spoken if one.outcome == "answered")),
        "calls": dict(Counter(call for one in spoken for call in one.calls)),
        "actions": len(acted),
        "each_action": [{"part": one.part, "calls": one.calls, "changed": one.changed} for one in acted],
    }


def folders_in(scratch: str) -> Folders:
    return Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)


async def measure(folder: Path, args: argparse.Namespace) -> dict[str, object]:
    played, total_s = [], 0.0
    for recording in recordings(folder, _PARTS):
        if total_s < args.minutes * 60:
            played.append(recording)
            total_s += recording.audio.duration_s
    minutes: Counter[str] = Counter()
    for recording in played:
        minutes[recording.part] += recording.audio.duration_s / 60  # type: ignore[assignment]
    result: dict[str, object] = {
        "hardware": describe(),
        "minutes": {part: round(value, 1) for part, value in minutes.items()},
        "bar_actions": BAR_ACTIONS,
    }
    for mode in args.mode or MODES:
        with tempfile.TemporaryDirectory() as scratch:
            result[mode] = figures(await overheard(folders_in(scratch), played, mode))
        print(mode, result[mode], flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        said = [one for one in recordings(folder, ["commands"]) if one.part == "commands"]
        result["commands"] = await commands(folders_in(scratch), said)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Actions on speech that is not for the assistant.")
    parser.add_argument("--mode", choices=MODES, action="append", help="of wake.requests_only; both unless named")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    if "EDGEVOX_SPEECH_DIR" not in os.environ:
        sys.exit("EDGEVOX_SPEECH_DIR is not set: there are no recordings of people to measure with")
    result = asyncio.run(measure(Path(os.environ["EDGEVOX_SPEECH_DIR"]), args))
    print(json.dumps(result, indent=2))
    print(f"bar: at most {BAR_ACTIONS} action")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
