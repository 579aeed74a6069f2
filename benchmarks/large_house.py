"""The same commands in a house of 20 things and in one of 500: `python -m benchmarks.large_house`.

The default model, each house in a conversation of its own, with a pause between commands in which the next
prompt is prepared. Time is from the sentence to the answer in words, the tool included. And without a model:
how long it takes to find the things of a call, and those that a sentence names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.generated_house import MemoryHome, generated_house
from benchmarks.hardware import describe
from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import MemorySettings, load_settings
from edgevox.core.events import Event, ModelFinished
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import CancelFlag
from edgevox.home import Alarms, HomeError, HomePrompt, House, Timers, home_tools
from edgevox.home.prompt import fixed_part, mentioned_entities
from edgevox.home.resolve.target_resolver import resolve_targets
from edgevox.models import open_store
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import ConfirmationPolicy
from edgevox.tools.registry import ToolRegistry

COMMANDS = (
    "Turn on the kitchen light.",
    "Switch on the coffee machine.",
    "Turn up the volume of the kitchen speaker.",
    "Turn off the floor lamp.",
    "Dim the reading lamp to thirty percent.",
    "Pause the TV.",
    "Set the thermostat to nineteen degrees.",
    "Close the living room blinds.",
    "Turn off the hallway light.",
    "Is the front door locked?",
    "Is the garage door open?",
    "Start the dehumidifier.",
    "Switch off the pond pump.",
    "What is the lawn moisture?",
    "Turn on the lights in the bedroom.",
    "Set the ceiling fan to fifty percent.",
    "Open the curtains in the bedroom.",
    "Set the desk lamp to forty percent.",
    "Turn off the printer.",
    "Activate movie night.",
)
SMALL, LARGE = 20, 500
ROUNDS = 3
BAR = 1.2
BAR_MS = 2.0
_CALLS = (
    ("turn_on", {"name": "kitchen light"}),
    ("turn_off", {"area": "bedroom", "domain": "light"}),
    ("light_set", {"name": "reeding lamp", "brightness": 30}),  # misheard
    ("get_state", {"name": "lawn moisture"}),
    ("get_state", {"name": "something else"}),
)


@dataclass(frozen=True, slots=True)
class Answered:
    """One command: what it took of the user's and of the model's process's time, and what was called."""

    command: str
    prompt_tokens: int
    evaluated_tokens: int
    ms: float
    processor_ms: float
    calls: tuple[str, ...]


class Household:
    """One conversation about one house."""

    def __init__(self, runtime: AssistantRuntime, house: House) -> None:
        preset, settings = runtime.preset, runtime.settings
        self._runtime = runtime
        home = MemoryHome(house)
        alarms = Alarms(time.time)
        tools = home_tools(home, Timers(time.time), alarms, now=alarms.now)
        self._finished: list[ModelFinished] = []
        self._agent = LLMAgent(
            "benchmark",
            instructions=HomePrompt(home.house, max_things=settings.home.max_things, before=settings.llm.instructions),
            tools=ToolExecutor(ToolRegistry(tools), rule=ConfirmationPolicy(otherwise="never")),
            tool_choice_policy=preset.tool_choice_policy,
            model=runtime.engines.llm,
            parsers=preset.tool_call_parsers,
            sampling=settings.llm.sampling,
            stop=preset.stop,
            tools_as=preset.tools_as,
            takes_notes=preset.takes_notes,
            conversation=Conversation(settings=MemorySettings(max_turns=preset.max_turns or 20)),
            publish=self._note,
        )

    async def ask(self, command: str) -> Answered:
        await self._agent.warm_prefix(CancelFlag())
        self._finished.clear()
        worked_s, started_s = self._worked_s(), time.monotonic()
        result = await self._agent.run(command)
        ms = (time.monotonic() - started_s) * 1000
        return Answered(
            command,
            prompt_tokens=self._finished[0].prompt_tokens,
            evaluated_tokens=sum(done.prompt_tokens - done.cached_tokens for done in self._finished),
            ms=ms,
            processor_ms=(self._worked_s() - worked_s) * 1000,
            calls=tuple(f"{call.name} {call.arguments}" for call in result.calls),
        )

    def _worked_s(self) -> float:
        """Processor time of the model's process so far: what other processes do is not in it."""
        stat = Path(f"/proc/{self._runtime.engines.pid('llm')}/stat").read_text("ascii")
        times = stat.rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def _note(self, event: Event) -> None:
        if isinstance(event, ModelFinished):
            self._finished.append(event)


async def measure(folders: Folders, rounds: int) -> dict[str, object]:
    store = open_store(folders)
    runtime = AssistantRuntime(load_settings(folders, environ={}), folders, store, ["llm"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    answered: dict[int, list[Answered]] = {SMALL: [], LARGE: []}
    async with runtime:
        for _round in range(rounds):
            households = {things: Household(runtime, generated_house(things)) for things in answered}
            for command in COMMANDS:
                for things, household in households.items():  # whatever else the machine does meets both
                    answered[things].append(await household.ask(command))
    small, large = answered[SMALL], answered[LARGE]
    told = {entity.id for entity in fixed_part(generated_house(LARGE), 60).entities}
    return {
        "preset": runtime.preset.name,
        "rounds": rounds,
        "commands": len(COMMANDS),
        f"of {SMALL} things": _figures(small),
        f"of {LARGE} things": _figures(large),
        "ratio": round(_mean_ms(large) / _mean_ms(small), 3),
        "processor_ratio": round(_total_work(large) / _total_work(small), 3),
        "commands that name what is not always told": sum(
            bool(mentioned_entities(generated_house(LARGE), command, told)) for command in COMMANDS
        ),
        "calls alike": sum(one.calls == other.calls for one, other in zip(small, large, strict=True)),
        "calls unlike": sorted(
            {
                f"{one.command} {one.calls} {other.calls}"
                for one, other in zip(small, large, strict=True)
                if one.calls != other.calls
            }
        ),
        "code": code_times(generated_house(LARGE)),
        "each": [
            f"{other.command} {one.evaluated_tokens} and {other.evaluated_tokens} tokens, "
            f"{one.ms:.0f} and {other.ms:.0f} ms"
            for one, other in zip(small[-len(COMMANDS) :], large[-len(COMMANDS) :], strict=True)
        ],
    }


def code_times(house: House) -> dict[str, float]:
    """Milliseconds of processor time, median and longest, of what is done without a model."""
    told = HomePrompt(lambda: house)
    told_ids = {entity.id for entity in fixed_part(house, 60).entities}
    finding = [_ms(partial(_choose, call, house)) for call in _CALLS]
    naming = [_ms(partial(mentioned_entities, house, text, told_ids)) for text in COMMANDS]
    return {
        "find_ms": round(statistics.median(finding), 2),
        "find_longest_ms": round(max(finding), 2),
        "named_ms": round(statistics.median(naming), 2),
        "named_longest_ms": round(max(naming), 2),
        "whole_prompt_anew_ms": round(_ms(lambda: HomePrompt(lambda: house).for_utterance("")), 2),
        "whole_prompt_again_ms": round(_ms(lambda: told.for_utterance("")), 3),
    }


def _choose(call: tuple[str, Mapping[str, object]], house: House) -> None:
    try:
        resolve_targets(*call, house)
    except HomeError:
        return


def _ms(work: Callable[[], object]) -> float:
    """The median of eleven times; the first, in which words are read, is among them."""
    took = []
    for _ in range(11):
        started_s = time.process_time()
        work()
        took.append((time.process_time() - started_s) * 1000)
    return statistics.median(took)


def _figures(answers: list[Answered]) -> dict[str, float]:
    return {
        "prompt_tokens": round(statistics.mean(answer.prompt_tokens for answer in answers)),
        "evaluated_tokens": round(statistics.mean(answer.evaluated_tokens for answer in answers), 1),
        "most_evaluated_tokens": max(answer.evaluated_tokens for answer in answers),
        "mean_ms": round(_mean_ms(answers)),
        "median_ms": round(statistics.median(answer.ms for answer in answers)),
    }


def _mean_ms(answers: list[Answered]) -> float:
    """The mean of each command's quickest round: a mean hides no slow command, a machine's noise is cut."""
    quickest: dict[str, float] = {}
    for answer in answers:
        quickest[answer.command] = min(answer.ms, quickest.get(answer.command, answer.ms))
    return statistics.mean(quickest.values())


def _total_work(answers: list[Answered]) -> float:
    return sum(answer.processor_ms for answer in answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, help="write the result there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        own = Folders(config=Path(home) / "config", state=Path(home) / "state", models=user_folders().models)
        result = asyncio.run(measure(own, args.rounds)) | {"hardware": describe()}
    print(json.dumps(result, indent=2))
    print(f"{result['ratio']} times as long in the large house, bar {BAR}")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
