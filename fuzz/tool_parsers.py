"""Looks for replies that break the tool-call parsers: `python -m fuzz.tool_parsers --seconds 600`.

A reply breaks them if anything raises, if reading it in pieces differs from reading it whole, if a call's
arguments are not a JSON object, or if it takes longer than 50 ms per 10 kB. Atheris drives it where it is
installed, and otherwise hypothesis in turn with a mutator of sound calls, which is faster. The first finding
is printed and ends the run with exit code 1: it belongs in tests/tool_parsing/test_findings.py.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import ModuleType

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers import DETECTORS, StreamingToolParser, parse_reply

MAX_S_PER_10_KB = 0.05
# Short replies are mostly start-up: the limit is for the growth.
MIN_TIMED_CHARS = 4_000

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "set_light",
            "parameters": {
                "type": "object",
                "properties": {
                    "room": {"type": "string", "enum": ["hall", "kitchen"]},
                    "on": {"type": "boolean"},
                    "level": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
                },
                "required": ["room"],
                "$defs": {"tag": {"type": ["string", "null"]}},
            },
        },
    },
    {"type": "function", "function": {"name": "get_time", "parameters": {}}},
]
CALLS = [
    ToolCall("abcdefghi", "set_light", '{"room": "hall", "on": true, "level": 3, "tags": ["a", null]}'),
    ToolCall("jklmnopqr", "get_time", "{}"),
    ToolCall("stuvwxyz0", "launch", '{"at": "no\\"on }] </tool_call>"}'),
]
NOISE = [
    *"\"'\\{}[]()<>,:;=`\n\t ",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "<|channel>thought\n",
    "<channel|>",
    "<|message|>",
    "analysis",
    "to=functions.get_time",
    "[ARGS]",
    "[CALL_ID]",
    '<|"|>',
    "<escape>",
    "<![CDATA[",
    "]]>",
    "<parameter=room>",
    "</parameter>",
    "</function>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    '<param name="room">',
    "<name>",
    "<arguments>",
    "get_time(",
    "call:get_time{",
    '"name": "get_time"',
    '"arguments": {"room": "hall"}',
    "&quot;",
    "\\u00",
    "\ud83d",
    "é",
    "0",
    "true",
    "text",
    *(marker for cls in DETECTORS.values() for marker in (*cls.markers, *cls.trailers)),
]
CHAINS: list[tuple[str, ...]] = [(), *((name,) for name in DETECTORS), tuple(DETECTORS), ("qwen25", "hermes")]
SOUND = [
    cls().render(CALLS[start:end]) for cls in DETECTORS.values() for start, end in ((0, 1), (0, 2), (0, 3), (2, 3))
]


class Finding(AssertionError):
    """A reply that breaks the parsers."""


def check(raw: str, parsers: tuple[str, ...], cuts: Sequence[int]) -> None:
    """Read one reply in every way. Raises Finding."""
    whole = parse_reply(raw, preset_parsers=parsers, tools=TOOLS)
    if len(raw) >= MIN_TIMED_CHARS:
        allowed_s = MAX_S_PER_10_KB * len(raw) / 10_000
        # The collector may strike while one is measured, so only what is slow each time is slow.
        taken_s = min(timed_s(raw, parsers) for _ in range(3))
        if taken_s > allowed_s:
            raise Finding(f"{taken_s * 1000:.0f} ms for {len(raw)} characters: {parsers} {raw[:2000]!r}")
    parser = StreamingToolParser(parsers, TOOLS)
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    for start, end in pairwise(edges):
        parser.feed(raw[start:end])
    parser.finish()
    if parser.reply() != whole:
        raise Finding(f"cut at {edges}: {parsers} {raw!r}\n  whole  {whole}\n  pieces {parser.reply()}")
    for call in whole.calls:
        if not isinstance(json.loads(call.arguments), dict):
            raise Finding(f"arguments are {call.arguments}: {parsers} {raw!r}")
        call.arguments.encode()


def timed_s(raw: str, parsers: tuple[str, ...]) -> float:
    """The processor time that a reply takes, in batch."""
    started = time.process_time()
    parse_reply(raw, preset_parsers=parsers, tools=TOOLS)
    return time.process_time() - started


def mutated(rng: random.Random) -> str:
    """Sound calls and noise, cut, doubled and shuffled; now and then very much of it."""
    parts = [rng.choice(SOUND) if rng.random() < 0.4 else rng.choice(NOISE) for _ in range(rng.randint(1, 8))]
    text = "".join(parts)
    for _ in range(rng.randint(0, 6)):
        at = rng.randint(0, len(text))
        match rng.randint(0, 4):
            case 0:
                text = text[:at] + text[at + rng.randint(1, 6) :]
            case 1:
                text = text[:at] + rng.choice(NOISE) + text[at:]
            case 2:
                end = min(len(text), at + rng.randint(1, 30))
                text = text[:end] + text[at:end] + text[end:]
            case 3:
                text = text[:at]
            case _:
                text = text[at:] + text[:at]
    if rng.random() < 0.02 and text:
        text *= 1 + 20_000 // len(text)
    return text[:40_000]


def run_mutator(stop_at: float, rng: random.Random) -> int:
    """Check mutated replies for a while, and say how many."""
    count = 0
    until = min(stop_at, time.monotonic() + 20)
    while time.monotonic() < until:
        raw = mutated(rng)
        check(raw, rng.choice(CHAINS), [rng.randint(0, len(raw)) for _ in range(rng.randint(0, 40))])
        count += 1
    return count


def run_hypothesis(stop_at: float) -> int:
    """Check replies that hypothesis makes up for a while, and say how many."""
    count = 0
    until = min(stop_at, time.monotonic() + 10)

    @settings(
        max_examples=2_000,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        parts=st.lists(st.one_of(st.sampled_from(NOISE), st.sampled_from(SOUND), st.text(max_size=5)), max_size=12),
        parsers=st.sampled_from(CHAINS),
        cuts=st.lists(st.integers(0, 2_000), max_size=20),
    )
    def explore(parts: list[str], parsers: tuple[str, ...], cuts: list[int]) -> None:
        nonlocal count
        if time.monotonic() < until:
            count += 1
            check("".join(parts), parsers, cuts)

    explore()
    return count


def run_atheris(atheris: ModuleType, seconds: float) -> None:
    """Hand over to atheris, which does not return."""

    def one(data: bytes) -> None:
        provider = atheris.FuzzedDataProvider(data)
        parsers = CHAINS[provider.ConsumeIntInRange(0, len(CHAINS) - 1)]
        cuts = provider.ConsumeIntList(provider.ConsumeIntInRange(0, 8), 2)
        parts: list[str] = []
        while provider.remaining_bytes():
            choice = provider.ConsumeIntInRange(0, len(NOISE) + len(SOUND))
            shards = [*NOISE, *SOUND]
            parts.append(shards[choice] if choice < len(shards) else provider.ConsumeUnicode(4))
        check("".join(parts), parsers, [abs(cut) for cut in cuts])

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds:.0f}"], one)
    atheris.Fuzz()


def installed(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=600.0)
    options.add_argument("--seed", type=int, default=None)
    chosen = options.parse_args()
    atheris = installed("atheris")
    if atheris is not None:
        run_atheris(atheris, chosen.seconds)
    rng = random.Random(chosen.seed)  # noqa: S311  (nothing secret is made of it)
    stop_at = time.monotonic() + chosen.seconds
    counts = {"mutated": 0, "made up": 0}
    steps: list[tuple[str, Callable[[], int]]] = [
        ("mutated", lambda: run_mutator(stop_at, rng)),
        ("made up", lambda: run_hypothesis(stop_at)),
    ]
    try:
        while time.monotonic() < stop_at:
            for name, step in steps:
                counts[name] += step()
    except Finding as finding:
        sys.stdout.write(f"{finding}\n")
        return 1
    sys.stdout.write(f"nothing found in {counts['mutated']} mutated and {counts['made up']} made-up replies\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
