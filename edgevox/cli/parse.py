"""`edgevox parse`: what the parser chain finds in raw model output, and why."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from edgevox.cli.context import Context
from edgevox.cli.tools_file import read_tools
from edgevox.errors import ConfigError
from edgevox.llm.presets import resolve_preset
from edgevox.llm.tool_parsers import DETECTORS, ParsedReply, StreamingToolParser, openai_call
from edgevox.settings import user_presets


def add_arguments(parser: argparse.ArgumentParser) -> None:
    chain = parser.add_mutually_exclusive_group()
    chain.add_argument("--preset", help="use the parsers of this preset")
    chain.add_argument(
        "--parsers",
        metavar="A,B",
        help=f"use these, first wins; without, every format that has markers ({', '.join(DETECTORS)})",
    )
    parser.add_argument(
        "--tools", type=Path, metavar="FILE", help="the offered tools: a JSON array in OpenAI's form"
    )
    parser.add_argument("--stream", type=int, metavar="N", help="read in pieces of N characters")
    parser.add_argument("--explain", action="store_true", help="say which parser looked at what")
    parser.add_argument(
        "--jsonl",
        action="store_true",
        help='read one {"raw", "tools", "parsers"} per line and print one JSON object per line',
    )


def run(args: argparse.Namespace, context: Context) -> int:
    if args.stream is not None and args.stream < 1:
        raise ConfigError(
            f"--stream {args.stream} is no size", hint="give a number of characters, at least 1"
        )
    parsers = _parsers(args, context)
    tools = read_tools(args.tools) if args.tools is not None else None
    # Whatever a model writes is to be read, broken encoding included.
    raw = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    explain = _explainer(context) if args.explain else None
    if args.jsonl:
        for number, line in enumerate(raw.split("\n"), start=1):
            if line.strip():
                case = _read_case(line, number)
                own = case.get("parsers")
                reply = _parse(
                    case["raw"],
                    parsers if own is None else own,
                    case["tools"] if case.get("tools") is not None else tools,
                    args.stream,
                    explain,
                )
                context.write(json.dumps(_facts(reply)))
        return 0
    _show(_parse(raw, parsers, tools, args.stream, explain), context)
    return 0


def _parsers(args: argparse.Namespace, context: Context) -> Sequence[str]:
    if args.preset is not None:
        return resolve_preset(args.preset, user_presets(context.folders)).tool_call_parsers
    return tuple(name.strip() for name in args.parsers.split(",")) if args.parsers else ()


def _read_case(line: str, number: int) -> dict[str, Any]:
    try:
        case = json.loads(line)
    except ValueError as err:
        raise ConfigError(f"line {number} is not JSON: {err}", hint="write one object per line") from err
    if not isinstance(case, dict) or not isinstance(case.get("raw"), str):
        raise ConfigError(f"line {number} has no text called raw", hint='write {"raw": "…", "tools": […]}')
    if not _is_list_of(case.get("tools"), dict) or not _is_list_of(case.get("parsers"), str):
        raise ConfigError(
            f"line {number}: tools is an array of objects, parsers an array of names",
            hint="null leaves them open",
        )
    return case


def _is_list_of(value: object, kind: type) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(member, kind) for member in value))


def _parse(
    raw: str,
    parsers: Sequence[str],
    tools: list[dict[str, Any]] | None,
    step: int | None,
    explain: Callable[[str], None] | None,
) -> ParsedReply:
    parser = StreamingToolParser(parsers, tools, explain=explain)
    for piece in _pieces(raw, step):
        parser.feed(piece)
    parser.finish()
    return parser.reply()


def _pieces(raw: str, step: int | None) -> Iterator[str]:
    if step is None:
        yield raw
    else:
        yield from (raw[at : at + step] for at in range(0, len(raw), step))


def _explainer(context: Context) -> Callable[[str], None]:
    return lambda line: context.err.print(line, style="dim", markup=False, soft_wrap=True)


def _facts(reply: ParsedReply) -> dict[str, Any]:
    return {
        "calls": [openai_call(call) for call in reply.calls],
        "content": reply.text,
        "reasoning": reply.reasoning,
        "rejected": [{"name": one.name, "raw": one.raw, "reason": one.reason} for one in reply.rejected],
        "fallback": reply.fallback,
    }


def _show(reply: ParsedReply, context: Context) -> None:
    def line(label: str, text: str) -> None:
        context.out.print(f"{label:10}{text}", markup=False, soft_wrap=True)

    for call in reply.calls:
        line("call", f"{call.name} {call.arguments}  (id {call.id})")
        if call.error is not None:
            line("", call.error)
    for one in reply.rejected:
        line("rejected", f"{one.name or '(no name)'}: {one.reason}")
        line("", one.raw)
    if reply.reasoning:
        line("reasoning", reply.reasoning)
    line("text", reply.text or "(nothing is left to say)")
