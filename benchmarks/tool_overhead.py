"""What tool calling costs beside the model's own work: `python -m benchmarks.tool_overhead`.

The time and the memory of schemas, grammars, constraints and parsing, each beside its target; and how many
of the calls are valid that the default model writes when it is only told of the tools, told by its chat
template, and held to a grammar.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.constrained_decoding import Bench, ms_per_token
from benchmarks.default_model import default_model
from benchmarks.forced_calls import QUESTIONS, problem, tool_sets
from benchmarks.hardware import describe
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatRequest, JsonObject, Message, Sampling, ToolChoice
from edgevox.engines.threads import plan_threads
from edgevox.llm.engine import LlamaEngine
from edgevox.llm.grammars import GrammarCache, build_call_grammar
from edgevox.llm.tool_parsers import parse_reply
from edgevox.tools import Tool, ToolRegistry

ROUNDS = 30
CALLS_PER_WAY = 40
CALL = '<tool_call>\n{"name": "set_light", "arguments": {"room": "hall", "on": true}}\n</tool_call>'
SAMPLING = Sampling(temperature=0.7, max_tokens=700)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `target` is the seed's, None where it names none."""

    what: str
    value: float
    unit: str
    target: float | None


def tools_of(count: int, salt: int = 0) -> list[Tool]:
    return [
        Tool.function(f"tool_{salt}_{number}", "Does something.")
        .param("room", "string", "where", required=True, enum=["hall", "kitchen"])
        .param("level", "integer", "how much", minimum=0, maximum=100)
        .build()
        for number in range(count)
    ]


def median_ms(work: Callable[[int], object]) -> float:
    times_s = []
    for number in range(ROUNDS):
        started_s = time.perf_counter()
        work(number)
        times_s.append(time.perf_counter() - started_s)
    return 1000 * statistics.median(times_s)


def memory_kb(make: Callable[[], object]) -> float:
    """What Python holds for what `make` returns."""
    gc.collect()
    tracemalloc.start()
    made = make()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del made
    return used / 1000


def table(model: Path) -> list[Row]:
    five = tool_sets()[16]
    registry = ToolRegistry(tools_of(50))
    registry.openai_schemas()
    schema_ms = median_ms(lambda _: registry.openai_schemas())
    fresh = [tools_of(1, salt)[0] for salt in range(ROUNDS)]
    grammar_ms = median_ms(lambda salt: build_call_grammar([fresh[salt].openai_schema, *five[1:]]))
    cache = GrammarCache()
    cache.get(five)
    cached_ms = median_ms(lambda _: cache.get(five))
    parse_ms = median_ms(lambda _: parse_reply(CALL, preset_parsers=("hermes",), tools=[dict(tool) for tool in five]))
    bench = Bench(model, threads=1)
    costs = ms_per_token(bench, build_call_grammar(five), limit=48)
    bench.context.close()
    per_token_ms = max(costs["llguidance"] - costs["free"], 0.0)
    few_kb = memory_kb(lambda: tools_of(10, 1000))
    return [
        Row("schemas of 50 tools, cached", schema_ms, "ms", 1.0),
        Row("grammar of 5 tools", grammar_ms, "ms", 10.0),
        Row("grammar of 5 tools, cached", cached_ms, "ms", 0.1),
        Row("constraint, per token", per_token_ms, "ms", 0.1),
        Row("reading one call", parse_ms, "ms", 1.0),
        Row("all of it, first use of five tools", schema_ms + grammar_ms + parse_ms, "ms", 10.0),
        Row("memory per tool", few_kb / 10, "KB", 1.0),
        Row("memory per grammar of 5 tools", memory_kb(lambda: build_call_grammar(five)), "KB", 10.0),
    ]


def ask(engine: LlamaEngine, question: str, tools: tuple[JsonObject, ...], way: str) -> tuple[str, ChatDone]:
    """A call asked for in one of the three ways."""
    choice: ToolChoice = "required" if way == "constrained" else "auto"
    told = ""
    if way == "prompt only":
        told = "Answer with a JSON object with name and arguments, in <tool_call> tags. The tools: " + json.dumps(
            [dict(tool) for tool in tools]
        )
    request = ChatRequest(
        (Message("system", told or "You call tools."), Message("user", question)),
        tools=() if told else tools,
        sampling=SAMPLING,
        tool_choice=choice,
        # A wire format holds a call to its grammar once it has begun: not when only the template is tried.
        wire_format="hermes" if way == "constrained" else None,
    )
    text = ""
    for reply in engine.run(request, CancelFlag()):
        match reply:
            case ChatDelta():
                text += reply.text
            case ChatDone():
                return text, reply
    raise RuntimeError("the engine did not finish")


def validity(model: Path) -> dict[str, float]:
    plan = plan_threads()
    engine = LlamaEngine(model, context_tokens=4096, threads=plan.llm, prompt_threads=plan.llm_prompt)
    engine.load()
    sets = [tools for tools in tool_sets() if len(tools) <= 5]
    found: dict[str, float] = {}
    for way in ("prompt only", "template", "constrained"):
        valid = 0
        started_s = time.monotonic()
        for number in range(CALLS_PER_WAY):
            tools = sets[number % len(sets)]
            text, done = ask(engine, QUESTIONS[number % len(QUESTIONS)], tools, way)
            found_problem = problem(text, done, tools)
            valid += found_problem is None
            if way == "constrained" and found_problem:
                print(f"{found_problem}: {text[:300]!r}")
        found[way] = round(100 * valid / CALLS_PER_WAY, 1)
        elapsed_s = time.monotonic() - started_s
        print(f"{way:12} {found[way]:5.1f} % valid calls, {elapsed_s / CALLS_PER_WAY:.2f} s each")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    model = args.model or default_model()
    print(describe(), model.name)
    rows = table(model)
    for row in rows:
        target = f"target {row.target:g}" if row.target is not None else ""
        print(f"{row.what:36} {row.value:9.4f} {row.unit}  {target}")
    found = validity(model)
    if args.json:
        figures = {
            "hardware": describe(),
            "model": model.name,
            "rows": {row.what: {row.unit: round(row.value, 4), "target": row.target} for row in rows},
            "valid_calls_percent": found,
        }
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
