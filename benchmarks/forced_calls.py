"""Calls forced on the default model at temperature 1: `python -m benchmarks.forced_calls [--count 1000]`.

Twenty sets of tools, from one without arguments to forty at once. Every reply must be one call of an offered
tool whose arguments fit its schema. Prints the failures, and the tokens that the calls took.
"""

from __future__ import annotations

import argparse
import collections
import json
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from benchmarks.default_model import default_model
from benchmarks.hardware import describe
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatRequest, JsonObject, Message, Sampling
from edgevox.engines.threads import plan_threads
from edgevox.llm.engine import LlamaEngine
from edgevox.llm.tool_parsers import parse_reply

HOT = Sampling(temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, max_tokens=1500)
QUESTIONS = (
    "Turn on the lamp in the hall.",
    "What is the weather like tomorrow?",
    "Set a timer for ten minutes, please.",
    "Tell me a joke.",
    "Zwei Brote auf die Einkaufsliste!",
)
TEXT = {"type": "string"}


def tool(name: str, properties: Mapping[str, Any], *required: str) -> JsonObject:
    parameters: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    parameters["additionalProperties"] = False
    if required:
        parameters["required"] = list(required)
    function = {"name": name, "description": name.replace("_", " "), "parameters": parameters}
    return {"type": "function", "function": function}


def tool_sets() -> list[tuple[JsonObject, ...]]:
    """Twenty of them: each a different corner of what a schema can say."""
    light = tool("set_light", {"room": {"enum": ["hall", "kitchen"]}, "on": {"type": "boolean"}}, "room", "on")
    clock = tool("get_time", {})
    timer = tool(
        "start_timer",
        {
            "hours": {"type": "integer", "minimum": 0, "maximum": 23},
            "minutes": {"type": "integer", "minimum": 0, "maximum": 59},
            "label": {"type": "string", "maxLength": 30},
        },
    )
    message = tool("send", {"to": TEXT, "text": TEXT, "urgent": {"type": "boolean"}}, "to", "text")
    climate = tool(
        "set_climate",
        {"temperature": {"type": "number", "minimum": 5, "maximum": 30.5}, "mode": {"enum": ["heat", "cool", None]}},
        "temperature",
    )
    shopping = tool("add_items", {"items": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 5}}, "items")
    nested = tool(
        "plan",
        {
            "route": {
                "type": "object",
                "properties": {
                    "from": TEXT,
                    "stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}, "maxItems": 3},
                },
                "required": ["from"],
                "additionalProperties": False,
            }
        },
        "route",
    )
    nested["function"]["parameters"]["$defs"] = {
        "stop": {
            "type": "object",
            "properties": {"place": TEXT, "minutes": {"type": "integer", "minimum": 1, "maximum": 600}},
            "required": ["place", "minutes"],
            "additionalProperties": False,
        }
    }
    dated = tool("remind", {"when": {"type": "string", "format": "date-time"}, "what": TEXT}, "when", "what")
    code = tool("unlock", {"code": {"type": "string", "pattern": "^[0-9]{4}$"}}, "code")
    union = tool(
        "find", {"what": {"anyOf": [{"type": "integer"}, {"enum": ["keys", "phone"]}, {"type": "null"}]}}, "what"
    )
    tree = tool("build", {"tree": {"$ref": "#/$defs/node"}}, "tree")
    tree["function"]["parameters"]["$defs"] = {
        "node": {
            "type": "object",
            "properties": {
                "name": {"enum": ["a", "b"]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    }
    many = tuple(
        tool(f"tool_{number}", {"a": {"type": "integer"}, f"b{number}": {"enum": ["x", "y"]}}, "a")
        for number in range(40)
    )
    optional = tool("search", {f"filter_{letter}": TEXT for letter in "abcdefgh"})
    odd = tool("weird-name.v2", {'quo"ted': TEXT, "ünï": {"const": "é\n"}}, 'quo"ted')
    return [
        (clock,), (light,), (timer,), (message,), (climate,), (shopping,), (nested,), (dated,), (code,),
        (union,), (tree,), (optional,), (odd,), (light, clock), (light, timer, message),
        (climate, shopping, union), (light, clock, timer, message, climate), (nested, tree, dated, code),
        many,
        (light, clock, timer, message, climate, shopping, nested, dated, code, union, tree, optional, odd),
    ]  # fmt: skip


def problem(text: str, done: ChatDone, tools: tuple[JsonObject, ...]) -> str | None:
    """What is wrong with a reply, or None."""
    if done.finish_reason != "stop":
        return f"ended by {done.finish_reason}" + (" inside white space" if text[-8:].isspace() else "")
    reply = parse_reply(text, preset_parsers=("hermes",), tools=[dict(tool) for tool in tools])
    if len(reply.calls) != 1 or reply.rejected or reply.text.strip():
        return "is not one call"
    call = reply.calls[0]
    if call.error:
        return call.error
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    try:
        jsonschema.validate(json.loads(call.arguments), schemas[call.name])
    except jsonschema.ValidationError as error:
        return f"does not fit the schema: {error.message}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--engine", choices=["llguidance", "llama.cpp"], default="llguidance")
    parser.add_argument("--model", type=Path, help="a GGUF file; the default model where none is given")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    model = args.model or default_model()
    plan = plan_threads()
    engine = LlamaEngine(
        model, context_tokens=8192, threads=plan.llm, prompt_threads=plan.llm_prompt, constraint_engine=args.engine
    )
    engine.load()
    sets = tool_sets()
    problems: collections.Counter[str] = collections.Counter()
    sizes: list[int] = []
    started_s = time.monotonic()
    for number in range(args.count):
        tools = sets[number * len(sets) // args.count]
        question = QUESTIONS[number % len(QUESTIONS)]
        request = ChatRequest((Message("user", question),), tools, HOT, tool_choice="required", wire_format="hermes")
        text = ""
        for reply in engine.run(request, CancelFlag()):
            match reply:
                case ChatDelta():
                    text += reply.text
                case ChatDone():
                    sizes.append(reply.generated_tokens)
                    if found := problem(text, reply, tools):
                        problems[found] += 1
                        print(f"{found}: {text[:300]!r}")
        if (number + 1) % 100 == 0:
            print(f"{number + 1} calls, {problems.total()} problems, {time.monotonic() - started_s:.0f} s")
    figures = {
        "hardware": describe(),
        "model": model.name,
        "engine": args.engine,
        "tool_sets": len(sets),
        "calls": args.count,
        "problems": dict(problems),
        "median_tokens": statistics.median(sizes),
        "longest_tokens": max(sizes),
        "seconds": round(time.monotonic() - started_s),
    }
    print(json.dumps(figures, indent=2))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
