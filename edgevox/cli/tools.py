"""`edgevox tools`: what the assistant can do, and doing it without the language model."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
from pathlib import Path

from rich.table import Table
from rich.text import Text

from edgevox.audio.files import read_audio
from edgevox.cli.context import Context
from edgevox.cli.lines import stdin_lines
from edgevox.cli.loop import run_until_done
from edgevox.cli.session import open_daemon
from edgevox.llm.tool_lines import tool_line
from edgevox.tools import PendingConfirmation, Tool, ToolResult, ToolStats, decide_yes_no
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.toolbox import Toolbox
from edgevox.turn import CancelFlag
from edgevox.types import ToolCall


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|call")
    listing = actions.add_parser("list", help="list the tools that are offered, and why others are not")
    listing.add_argument("--json", action="store_true", help="print a JSON array, in OpenAI's form")
    show = actions.add_parser("show", help="print all of one tool")
    show.add_argument("name", help="the tool's name, such as light_set")
    show.add_argument("--json", action="store_true", help="print a JSON object")
    call = actions.add_parser("call", help="run a tool without the model; what needs a yes is asked here")
    call.add_argument("name", help="the tool's name, such as light_set")
    call.add_argument("arguments", nargs="?", default="{}", metavar="JSON", help="its arguments")
    call.add_argument("--json", action="store_true", help="print the whole result as a JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    toolbox = Toolbox(
        context.settings,
        context.folders,
        transcribe=lambda path: _heard(path, context),
        stats=ToolStats(),  # what a person calls is not what the model chose: it is not counted
    )
    for report in toolbox.plugins.reports():
        if report.status == "disabled":
            context.err.print(
                f"the plugin {report.name} is disabled: {report.reason}", markup=False, soft_wrap=True
            )
    match args.action:
        case "list" if args.json:
            context.write(_json(toolbox.registry.openai_schemas()))
        case "list":
            _print_list(toolbox, context)
        case "show" if args.json:
            context.write(_json(_facts(toolbox.registry.get(args.name), toolbox, context)))
        case "show":
            _print_sheet(toolbox.registry.get(args.name), toolbox, context)
        case "call":
            call = ToolCall("edgevox-tools-call", args.name, args.arguments)
            result = run_until_done(_call(call, toolbox, context))
            if args.json:
                context.write(_json(_outcome(result)))
            else:
                (context.err.print if result.is_error else context.out.print)(
                    Text(result.speech or result.content), soft_wrap=True
                )
            return 1 if result.is_error else 0
        case other:
            raise AssertionError(other)
    return 0


# --- calling


async def _call(call: ToolCall, toolbox: Toolbox, context: Context) -> ToolResult:
    if call.name in toolbox.registry:
        plugins = [report.name for report in toolbox.plugins.reports() if call.name in report.tools]
        servers = [report.id for report in toolbox.mcp.reports() if call.name in report.tools]
        await toolbox.start(plugins, servers)
    else:  # it may be one that a plugin or a server brings when it starts
        await toolbox.start()
    try:
        result = await toolbox.executor.dispatch(call)
        if result.confirmation is not None:
            return await _ask(result.confirmation, toolbox.executor, context)
        return result
    finally:
        await toolbox.stop()


async def _ask(pending: PendingConfirmation, executor: ToolExecutor, context: Context) -> ToolResult:
    """Ask on the terminal. A program that calls this command cannot say yes for its user."""
    if not sys.stdin.isatty():
        return executor.refuse(
            pending, f"“{pending.question}” needs a yes, and there is no terminal to ask on"
        )
    if decide_yes_no(await _answer(pending.question, context)) != "yes":
        return executor.refuse(pending, "the answer was not yes")
    return await executor.dispatch_confirmed(pending.call, pending.token, channel="keyboard")


async def _answer(question: str, context: Context) -> str:
    """The first line that is typed; nothing when none comes in time."""
    try:
        async with asyncio.timeout(context.settings.tools.confirm_within_s):
            async for line in stdin_lines(lambda: context.err.print(Text(f"{question} "), end="")):
                return line
    except TimeoutError:
        context.err.print("\nno answer")
    return ""


async def _heard(path: Path, context: Context) -> str:
    audio = await asyncio.to_thread(read_audio, path)
    async with open_daemon(context, ["whisper"]) as daemon:
        transcript = await daemon.hearing().transcribe(audio, CancelFlag())
    return transcript.text


# --- showing


def _print_list(toolbox: Toolbox, context: Context) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", no_wrap=True)
    table.add_column("what it does")
    table.add_column("from", no_wrap=True, style="dim")
    for tool in toolbox.registry:
        table.add_row(Text(tool.name), Text(tool.description), Text(toolbox.registry.owner(tool.name)))
    context.out.print(table)
    if toolbox.not_offered:
        context.out.print("\nnot offered:")
        for name, reason in toolbox.not_offered.items():
            context.out.print(Text(f"  {name}: {reason}"), soft_wrap=True)


def _print_sheet(tool: Tool, toolbox: Toolbox, context: Context) -> None:
    context.out.print(Text(tool_line(tool.openai_schema), style="bold"), soft_wrap=True)
    facts = _facts(tool, toolbox, context)
    context.out.print(Text(f"from {facts['from']}, needs the permission “{tool.needed_scope}”"))
    context.out.print(Text(f"given up after {facts['timeout_s']:g} s"))
    if tool.confirm is not None:
        context.out.print(Text(f"confirmation: {tool.confirm}"))
    for example in tool.examples:
        context.out.print(Text(f"“{example}”"))
    context.out.print(Text(_json(tool.parameters)), soft_wrap=True)


def _facts(tool: Tool, toolbox: Toolbox, context: Context) -> dict[str, object]:
    return {
        **tool.openai_schema["function"],
        "from": toolbox.registry.owner(tool.name),
        "side_effects": tool.side_effects,
        "confirm": tool.confirm,
        "scope": tool.needed_scope,
        "timeout_s": tool.timeout_s or context.settings.tools.timeout_s,
        "examples": tool.examples,
    }


def _outcome(result: ToolResult) -> dict[str, object]:
    facts = dataclasses.asdict(dataclasses.replace(result, confirmation=None))
    return {key: value for key, value in facts.items() if key not in ("tool_call_id", "confirmation")}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
