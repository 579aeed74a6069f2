"""From a command's transcript to the first audible sample of the answer, the tool included.

`python -m benchmarks.command_turns`: the default model, the demo home, the real voice; what a loudspeaker
delays is not in it. Beside it, in the same run, the same commands in conversations that nobody prepared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path

from benchmarks.audio_onset import OnsetMeter
from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import Turn
from edgevox.models import open_store

COMMANDS = (
    "Turn on the kitchen light.",
    "Set the desk lamp to forty percent.",
    "Turn off the hallway light.",
    "Is the front door locked?",
    "Open the curtains in the bedroom.",
    "Set the thermostat to nineteen degrees.",
    "How warm is it in the bedroom?",
    "Turn on the ceiling fan.",
    "Add butter to the shopping list.",
    "Set a timer for ten minutes.",
    "Which lights are on?",
    "Pause the TV.",
    "Make the floor lamp blue.",
    "What is the weather like?",
    "Switch on the coffee machine.",
    "Start the robot vacuum.",
    "What time is it?",
    "Turn off the floor lamp and the desk lamp.",
    "Close the curtains.",
    "Turn up the volume of the kitchen speaker.",
)
BAR_S = 0.45
# A person takes a breath between two commands: the next prompt is prepared then.
PAUSE_S = 2.0


async def turns(runtime: AssistantRuntime, commands: Sequence[str] = COMMANDS, *, fresh: bool) -> list[float]:
    """Seconds to the first sound of each command; `fresh` asks each in a new conversation."""
    took: list[float] = []
    pipeline = runtime.pipeline(speaker := OnsetMeter(), runtime.conversation())
    for command in commands:
        if fresh:
            pipeline = runtime.pipeline(speaker := OnsetMeter())
        else:
            await asyncio.sleep(PAUSE_S)
            speaker.forget()
        started_s = time.monotonic()
        await pipeline.answer(command, Turn())
        assert speaker.audible_s is not None, command
        took.append(speaker.audible_s - started_s)
    return took


async def measure(folders: Folders) -> dict[str, object]:
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ["llm", "tts"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    async with runtime:
        await turns(runtime, fresh=False)  # everything is loaded and compiled once
        ours = await turns(runtime, fresh=False)
        unprepared = await turns(runtime, fresh=True)
    return {
        "preset": runtime.preset.name,
        "commands": len(COMMANDS),
        "median_s": round(statistics.median(ours), 3),
        "p95_s": round(statistics.quantiles(ours, n=20)[-1], 3),
        "unprepared_median_s": round(statistics.median(unprepared), 3),
        "ratio": round(statistics.median(unprepared) / statistics.median(ours), 2),
        "each_s": {command: round(took, 3) for command, took in zip(COMMANDS, ours, strict=True)},
    }


def report(
    description: str | None, measure: Callable[[Folders], Coroutine[None, None, dict[str, object]]], bar: str
) -> None:
    """Measure with the user's models and folders of its own; print the result, keep it with --json."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the result there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        own = Folders(config=Path(home) / "config", state=Path(home) / "state", models=user_folders().models)
        result = asyncio.run(measure(own)) | {"hardware": describe()}
    print(json.dumps(result, indent=2))
    print(bar)
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    report(__doc__, measure, f"bar for the median: {BAR_S} s")


if __name__ == "__main__":
    main()
