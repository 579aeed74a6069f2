"""`edgevox tools`, `parse` and `grammar`: call tools, parse calls and test grammars without a model."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from edgevox.app.toolbox import Toolbox
from edgevox.audio.files import read_audio
from edgevox.cli.command import Command
from edgevox.cli.context import Context, run_until_done, stdin_lines
from edgevox.config import user_presets
from edgevox.core.errors import ConfigError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ToolCall
from edgevox.llm.presets import resolve_preset
from edgevox.llm.prompt.tool_lines import tool_line
from edgevox.llm.tool_parsers import DETECTORS, ParsedReply, StreamingToolParser, openai_call
from edgevox.tools import PendingConfirmation, Tool, ToolResult, ToolStats, decide_yes_no
from edgevox.tools.executor import ToolExecutor


def read_tools(path: Path) -> list[dict[str, Any]]:
    """Read tool definitions from a file. Raises ConfigError."""
    try:
        tools = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise ConfigError(f"{path} cannot be read as JSON: {err}", hint="write an array of tools") from err
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise ConfigError(f"{path} must contain an array of tools", hint="use the OpenAI format")
    return tools


def add_tools_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|call")
    listing = actions.add_parser("list", help="list the offered tools, and why others are not offered")
    listing.add_argument("--json", action="store_true", help="print a JSON array in OpenAI format")
    show = actions.add_parser("show", help="show one tool")
    show.add_argument("name", help="tool name, such as light_set")
    show.add_argument("--json", action="store_true", help="print a JSON object")
    call = actions.add_parser("call", help="run a tool without the model; asks for confirmation where needed")
    call.add_argument("name", help="tool name, such as light_set")
    call.add_argument("arguments", nargs="?", default="{}", metavar="JSON", help="arguments as a JSON object")
    call.add_argument("--json", action="store_true", help="print the full result as a JSON object")


def tools_command(args: argparse.Namespace, context: Context) -> int:
    toolbox = Toolbox(
        context.settings,
        context.folders,
        transcribe=lambda path: _transcribe_file(path, context),
        stats=ToolStats(),  # manual calls are not counted
    )
    for report in toolbox.plugins.reports():
        if report.status == "disabled":
            context.err.print(f"plugin {report.name} is disabled: {report.reason}", markup=False, soft_wrap=True)
    match args.action:
        case "list" if args.json:
            context.write(_json(toolbox.registry.openai_schemas()))
        case "list":
            _print_tools(toolbox, context)
        case "show" if args.json:
            context.write(_json(_tool_json(toolbox.registry.get(args.name), toolbox, context)))
        case "show":
            _print_tool(toolbox.registry.get(args.name), toolbox, context)
        case "call":
            call = ToolCall("edgevox-tools-call", args.name, args.arguments)
            result = run_until_done(_call(call, toolbox, context))
            if args.json:
                context.write(_json(_outcome_text(result)))
            else:
                (context.err.print if result.is_error else context.out.print)(
                    Text(result.speech or result.content), soft_wrap=True
                )
            return 1 if result.is_error else 0
        case other:
            raise AssertionError(other)
    return 0


async def _call(call: ToolCall, toolbox: Toolbox, context: Context) -> ToolResult:
    if call.name in toolbox.registry:
        plugins = [report.name for report in toolbox.plugins.reports() if call.name in report.tools]
        servers = [report.id for report in toolbox.mcp.reports() if call.name in report.tools]
        await toolbox.start(plugins, servers)
    else:  # a plugin or MCP server may register it when it starts
        await toolbox.start()
    try:
        result = await toolbox.executor.dispatch(call)
        if result.confirmation is not None:
            return await _ask(result.confirmation, toolbox.executor, context)
        return result
    finally:
        await toolbox.stop()


async def _ask(pending: PendingConfirmation, executor: ToolExecutor, context: Context) -> ToolResult:
    """Ask for confirmation on the terminal; a program cannot confirm on behalf of its user."""
    if not sys.stdin.isatty():
        return executor.refuse(pending, f"“{pending.question}” needs a yes, and there is no terminal to ask on")
    if decide_yes_no(await _typed_answer(pending.question, context)) != "yes":
        return executor.refuse(pending, "the answer was not yes")
    return await executor.dispatch_confirmed(pending.call, pending.token, channel="keyboard")


async def _typed_answer(question: str, context: Context) -> str:
    """Return the first typed line, or an empty string after the timeout."""
    try:
        async with asyncio.timeout(context.settings.tools.confirm_within_s):
            async for line in stdin_lines(lambda: context.err.print(Text(f"{question} "), end="")):
                return line
    except TimeoutError:
        context.err.print("\nno answer")
    return ""


async def _transcribe_file(path: Path, context: Context) -> str:
    audio = await asyncio.to_thread(read_audio, path)
    # Imported here because it imports every engine.
    from edgevox.cli.assistant import open_runtime

    async with open_runtime(context, ["stt"]) as runtime:
        transcript = await runtime.transcriber().transcribe(audio, CancelFlag())
    return transcript.text


def _print_tools(toolbox: Toolbox, context: Context) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", no_wrap=True)
    table.add_column("description")
    table.add_column("from", no_wrap=True, style="dim")
    for tool in toolbox.registry:
        table.add_row(Text(tool.name), Text(tool.description), Text(toolbox.registry.owner(tool.name)))
    context.out.print(table)
    if toolbox.not_offered:
        context.out.print("\nnot offered:")
        for name, reason in toolbox.not_offered.items():
            context.out.print(Text(f"  {name}: {reason}"), soft_wrap=True)


def _print_tool(tool: Tool, toolbox: Toolbox, context: Context) -> None:
    context.out.print(Text(tool_line(tool.openai_schema), style="bold"), soft_wrap=True)
    facts = _tool_json(tool, toolbox, context)
    context.out.print(Text(f"from {facts['from']}, needs the permission “{tool.needed_scope}”"))
    context.out.print(Text(f"timeout {facts['timeout_s']:g} s"))
    if tool.confirm is not None:
        context.out.print(Text(f"confirmation: {tool.confirm}"))
    for example in tool.examples:
        context.out.print(Text(f"“{example}”"))
    context.out.print(Text(_json(tool.parameters)), soft_wrap=True)


def _tool_json(tool: Tool, toolbox: Toolbox, context: Context) -> dict[str, object]:
    return {
        **tool.openai_schema["function"],
        "from": toolbox.registry.owner(tool.name),
        "side_effects": tool.side_effects,
        "confirm": tool.confirm,
        "scope": tool.needed_scope,
        "timeout_s": tool.timeout_s or context.settings.tools.timeout_s,
        "examples": tool.examples,
    }


def _outcome_text(result: ToolResult) -> dict[str, object]:
    facts = dataclasses.asdict(dataclasses.replace(result, confirmation=None))
    return {key: value for key, value in facts.items() if key not in ("tool_call_id", "confirmation")}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def add_parse_arguments(parser: argparse.ArgumentParser) -> None:
    chain = parser.add_mutually_exclusive_group()
    chain.add_argument("--preset", help="use the parsers of this preset")
    chain.add_argument(
        "--parsers",
        metavar="A,B",
        help=f"parsers to try in order; default: every format with markers ({', '.join(DETECTORS)})",
    )
    parser.add_argument("--tools", type=Path, metavar="FILE", help="offered tools: a JSON array in OpenAI format")
    parser.add_argument("--stream", type=int, metavar="N", help="feed the input in pieces of N characters")
    parser.add_argument("--explain", action="store_true", help="show what each parser does")
    parser.add_argument(
        "--jsonl",
        action="store_true",
        help='read one {"raw", "tools", "parsers"} per line and print one JSON object per line',
    )


def parse_command(args: argparse.Namespace, context: Context) -> int:
    if args.stream is not None and args.stream < 1:
        raise ConfigError("--stream must be at least 1", hint="give the number of characters per piece")
    parsers = _parsers(args, context)
    tools = read_tools(args.tools) if args.tools is not None else None
    # Model output may contain invalid UTF-8.
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
                context.write(json.dumps(_reply_json(reply)))
        return 0
    _print_reply(_parse(raw, parsers, tools, args.stream, explain), context)
    return 0


def _parsers(args: argparse.Namespace, context: Context) -> Sequence[str]:
    if args.preset is not None:
        return resolve_preset(args.preset, user_presets(context.folders)).tool_call_parsers
    return tuple(name.strip() for name in args.parsers.split(",")) if args.parsers else ()


def _read_case(line: str, number: int) -> dict[str, Any]:
    try:
        case = json.loads(line)
    except ValueError as err:
        raise ConfigError(f"line {number} is not valid JSON: {err}", hint="write one object per line") from err
    if not isinstance(case, dict) or not isinstance(case.get("raw"), str):
        raise ConfigError(f"line {number} has no string field raw", hint='write {"raw": "…", "tools": […]}')
    if not _is_list_of(case.get("tools"), dict) or not _is_list_of(case.get("parsers"), str):
        raise ConfigError(
            f"line {number}: tools must be an array of objects, parsers an array of names",
            hint="use null for the defaults",
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


def _reply_json(reply: ParsedReply) -> dict[str, Any]:
    return {
        "calls": [openai_call(call) for call in reply.calls],
        "content": reply.text,
        "reasoning": reply.reasoning,
        "rejected": [{"name": one.name, "raw": one.raw, "reason": one.reason} for one in reply.rejected],
        "fallback": reply.fallback,
    }


def _print_reply(reply: ParsedReply, context: Context) -> None:
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
    line("text", reply.text or "(empty)")


_SHOWN_CHARS = 40
REJECTED = 1


def add_grammar_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tools", type=Path, metavar="FILE", required=True, help="JSON array of tools in OpenAI format"
    )
    parser.add_argument("--preset", help="use the call format of this preset (default: the configured one)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--tool", metavar="NAME", help="only calls of this tool")
    what.add_argument("--auto", action="store_true", help="free text with optional calls")
    parser.add_argument("--parallel", action="store_true", help="allow several calls")
    parser.add_argument(
        "--check", metavar="FILE", help="test whether the grammar accepts this text (-: standard input)"
    )


def grammar_command(args: argparse.Namespace, context: Context) -> int:
    # Imported here because it loads llama.cpp.
    from edgevox.llm.grammars import build_call_grammar, reply_or_tool_grammar

    tools = _select_tool(read_tools(args.tools), args.tool)
    name = args.preset or context.settings.preset
    wire_format = resolve_preset(name, user_presets(context.folders)).tool_call_parsers[0]
    grammar = build_call_grammar(tools, wire_format=wire_format, parallel=args.parallel)
    for warning in grammar.warnings:
        context.err.print(f"warning: {warning}", style="yellow", markup=False, soft_wrap=True)
    if args.check is not None:
        return _check_text(grammar.lark, _read_text(args.check), grammar.triggers if args.auto else (), context)
    gbnf = reply_or_tool_grammar(tools, wire_format=wire_format, parallel=args.parallel) if args.auto else grammar.gbnf
    context.write(gbnf.rstrip("\n"))
    return 0


def _check_text(lark: str, text: str, triggers: Sequence[str], context: Context) -> int:
    from edgevox.llm.grammar.check import find_mismatch

    at = find_mismatch(lark, text, triggers=triggers)
    if at is None:
        context.write("accepted")
        return 0
    if at == len(text):
        context.write("rejected: the text is incomplete")
        return REJECTED
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    good, bad = text[max(0, at - _SHOWN_CHARS) : at], text[at : at + _SHOWN_CHARS]
    context.write(f"rejected at line {line}, column {column} (character {at}): {bad!r} after {good!r}")
    return REJECTED


def _select_tool(tools: list[dict[str, Any]], name: str | None) -> list[dict[str, Any]]:
    if name is None:
        return tools
    by_name = {_function(tool).get("name"): tool for tool in tools}
    if name not in by_name:
        known = ", ".join(str(one) for one in by_name) or "none"
        raise ConfigError(f"unknown tool {name}", hint=f"the tools are: {known}")
    return [by_name[name]]


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    inner = tool.get("function")
    return inner if isinstance(inner, dict) else tool


def _read_text(name: str) -> str:
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as err:
        raise ConfigError(f"{name} cannot be read: {err}", hint="give a text file, or - for standard input") from err


COMMANDS = (
    Command("tools", "List tools, and call them without the model", tools_command, add_tools_arguments),
    Command("parse", "Parse tool calls in raw model output", parse_command, add_parse_arguments),
    Command("grammar", "Show the tool-call grammar, or test a text against it", grammar_command, add_grammar_arguments),
)
