"""`edgevox grammar`: the grammar that holds a model to valid calls, and what it makes of a text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from edgevox.cli.context import Context
from edgevox.cli.tools_file import read_tools
from edgevox.errors import ConfigError
from edgevox.llm.grammar_check import GrammarChecker
from edgevox.llm.grammars import build_call_grammar, reply_or_tool_grammar
from edgevox.llm.presets import resolve_preset
from edgevox.modelstore import ModelStore, load_manifest
from edgevox.settings import user_presets

# Its vocabulary has a token for every byte that texts are made of, and it is small.
_CHECKING_MODEL = "smollm2-135m-instruct"
_SHOWN_CHARS = 40
REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tools", type=Path, metavar="FILE", required=True, help="a JSON array of tools in OpenAI's form"
    )
    parser.add_argument("--preset", help="write calls as this preset's model does; without, the chosen one")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--tool", metavar="NAME", help="a call of this tool and no other")
    what.add_argument("--auto", action="store_true", help="free text, in which a call must be a valid one")
    parser.add_argument("--parallel", action="store_true", help="several calls as well as one")
    parser.add_argument(
        "--check", metavar="FILE", help="say whether this text is accepted, and where it fails (- reads it)"
    )


def run(args: argparse.Namespace, context: Context) -> int:
    tools = _chosen(read_tools(args.tools), args.tool)
    name = args.preset or context.settings.preset
    wire_format = resolve_preset(name, user_presets(context.folders)).tool_call_parsers[0]
    grammar = build_call_grammar(tools, wire_format=wire_format, parallel=args.parallel)
    for warning in grammar.warnings:
        context.err.print(f"warning: {warning}", style="yellow", markup=False, soft_wrap=True)
    gbnf = grammar.gbnf
    if args.auto:
        gbnf = reply_or_tool_grammar(tools, wire_format=wire_format, parallel=args.parallel)
    if args.check is None:
        context.write(gbnf.rstrip("\n"))
        return 0
    return _check(gbnf, _read_text(args.check), context)


def _check(gbnf: str, text: str, context: Context) -> int:
    store = ModelStore(context.folders.models, load_manifest())
    with GrammarChecker(store.pull(_CHECKING_MODEL)) as checker:
        verdict = checker.check(gbnf, text)
    if verdict.accepted:
        context.write("accepted")
        return 0
    if verdict.failed_at is None:
        context.write("refused: the text is right so far, but more has to come")
        return REFUSED
    at = verdict.failed_at
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    good, bad = text[max(0, at - _SHOWN_CHARS) : at], text[at : at + _SHOWN_CHARS]
    context.write(f"refused at line {line}, column {column} (character {at}): {bad!r} behind {good!r}")
    return REFUSED


def _chosen(tools: list[dict[str, Any]], name: str | None) -> list[dict[str, Any]]:
    if name is None:
        return tools
    by_name = {_function(tool).get("name"): tool for tool in tools}
    if name not in by_name:
        known = ", ".join(str(one) for one in by_name) or "none"
        raise ConfigError(f"no tool is called {name}", hint=f"the tools are: {known}")
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
        raise ConfigError(
            f"{name} cannot be read: {err}", hint="give a text file, or - for standard input"
        ) from err
