"""`edgevox ask TEXT`: one question, one answer, for people and (with --json) for programs.

With --tools the tools of a file are offered and the calls are printed, not run; with --json-schema the answer
is an instance of that schema.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from contextlib import aclosing
from pathlib import Path
from typing import Any

from edgevox.agents import AgentResult
from edgevox.cli.context import Context
from edgevox.cli.keyboard import keyboard, print_question
from edgevox.cli.loop import run_until_done
from edgevox.cli.mcp_approval import approve_servers
from edgevox.cli.options import add_mcp_options, add_model_options
from edgevox.cli.session import open_daemon, report_unrecorded
from edgevox.cli.with_running import ask_running
from edgevox.daemon import Daemon
from edgevox.errors import ConfigError, EdgevoxError
from edgevox.events import ConfirmationRequired, Event
from edgevox.llm.tool_choice import RESPOND, RESPOND_NAME, plan_hop
from edgevox.llm.tool_parsers import parse_reply
from edgevox.turn import Turn
from edgevox.types import (
    ChatDelta,
    ChatDone,
    ChatRequest,
    JsonObject,
    Message,
    NamedTool,
    ToolCall,
    ToolChoice,
)

_CHOICES = ("auto", "none", "required")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help="the question")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--tools", type=Path, metavar="FILE", help="offer these tools (a JSON list), print the calls"
    )
    form.add_argument(
        "--json-schema", type=Path, metavar="FILE", help="answer with a JSON value that fits this schema"
    )
    parser.add_argument(
        "--tool-choice", default="auto", metavar="CHOICE", help="auto, none, required, or the name of a tool"
    )
    add_model_options(parser)
    add_mcp_options(parser)


def run(args: argparse.Namespace, context: Context) -> int:
    turn = Turn()
    text = " ".join(args.text)
    try:
        form = _Form(args)
        if not form.is_given:
            if (answer := run_until_done(ask_running(context, text))) is not None:
                return _print_answer(context, answer, as_json=args.json)
            approve_servers(context)
        daemon = open_daemon(context, ["llama"])
        asking = (
            _ask_in_form(daemon, text, form, turn) if form.is_given else _ask(daemon, context, text, turn)
        )
        result = run_until_done(asking)
    except EdgevoxError as error:
        if not args.json:
            raise
        context.write(json.dumps(_failure(context, turn, error), ensure_ascii=False))
        context.complain(error)
        return error.exit_code
    if args.json:
        context.write(json.dumps(_answer(daemon, turn, result), ensure_ascii=False))
    else:
        for line in (result.reply, *(f"{call.name} {call.arguments}" for call in result.calls)):
            if line:
                context.write(line)
    return report_unrecorded(context, daemon)


def _print_answer(context: Context, answer: JsonObject, *, as_json: bool) -> int:
    """What the assistant that runs has answered, in the same form as one's own."""
    if as_json:
        fields = {key: value for key, value in answer.items() if key != "kind"}
        context.write(json.dumps(fields | {"error": None}, ensure_ascii=False))
        return 0
    calls = [f"{call['name']} {json.dumps(call['arguments'])}" for call in answer["tool_calls"]]
    for line in (answer["reply"], *calls):
        if line:
            context.write(line)
    return 0


class _Form:
    """What the answer must look like. Raises ConfigError when a file or the choice is of no use."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.is_given = bool(args.tools or args.json_schema)
        self.schema: JsonObject | None = _read_json(args.json_schema, dict) if args.json_schema else None
        self.tools: tuple[JsonObject, ...] = tuple(_read_json(args.tools, list)) if args.tools else ()
        names = [_tool_name(tool, args.tools) for tool in self.tools]
        match args.tool_choice:
            case "auto" | "none" | "required":
                self.choice: ToolChoice = args.tool_choice
            case name if name in names:
                self.choice = NamedTool(name)
            case name:
                raise ConfigError(
                    f"there is no tool {name} in {args.tools}",
                    hint=f"--tool-choice takes {', '.join((*_CHOICES, *names))}",
                )


def _read_json(path: Path, kind: type) -> Any:  # noqa: ANN401  (JSON is what it is)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint="check the name") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}", hint="it must hold JSON in UTF-8") from error
    if not isinstance(content, kind):
        wanted = "a list of tools" if kind is list else "a JSON object"
        raise ConfigError(f"{path} does not hold {wanted}", hint="docs/guide/grammars.md shows one")
    return content


def _tool_name(tool: object, path: Path) -> str:
    match tool:
        case {"function": {"name": str(name)}}:
            return name
    raise ConfigError(
        f"{path} holds something that is no tool", hint="docs/guide/grammars.md shows what one looks like"
    )


async def _ask(daemon: Daemon, context: Context, text: str, turn: Turn) -> AgentResult:
    # What is typed before there is a question is for the shell.
    is_asked = asyncio.Event()

    def show(event: Event) -> None:
        if isinstance(event, ConfirmationRequired):
            print_question(context, event.question)
            is_asked.set()

    async with daemon:
        pipeline = daemon.pipeline()
        with daemon.bus.listening(show):
            async with keyboard(pipeline, lambda text: context.err.print(text, end=" "), begin=is_asked):
                return await pipeline.answer(text, turn)


async def _ask_in_form(daemon: Daemon, text: str, form: _Form, turn: Turn) -> AgentResult:
    preset, llm = daemon.preset, daemon.settings.llm
    plan = plan_hop(form.tools, policy=preset.tool_choice_policy, hop=0, choice=form.choice)
    request = ChatRequest(
        (Message("system", llm.instructions), Message("user", text)),
        tools=plan.tools,
        sampling=llm.sampling,
        stop=preset.stop,
        thinking=llm.thinking,
        tool_choice=plan.tool_choice,
        wire_format=preset.tool_call_parsers[0],
        json_schema=form.schema,
    )
    written = ""
    done: ChatDone | None = None
    async with daemon, aclosing(daemon.engines.llama.stream(request, turn.cancel)) as replies:
        async for reply in replies:
            match reply:
                case ChatDelta():
                    written += reply.text
                case ChatDone():
                    done = reply
    assert done is not None
    if form.schema is not None:
        return AgentResult(written, (), done.finish_reason)
    read = parse_reply(
        written, preset_parsers=preset.tool_call_parsers, tools=[dict(tool) for tool in plan.tools]
    )
    calls = [ToolCall(call.id, call.name, call.arguments) for call in read.calls if call.error is None]
    said = [call for call in calls if call.name == RESPOND_NAME and RESPOND not in form.tools]
    answer = " ".join((read.text.strip(), *(json.loads(call.arguments)["text"] for call in said))).strip()
    own = tuple(call for call in calls if call not in said)
    return AgentResult(answer, own, "tool_calls" if own else done.finish_reason)


def _answer(daemon: Daemon, turn: Turn, result: AgentResult) -> dict[str, object]:
    return {
        "turn_id": turn.id,
        "preset": daemon.preset.name,
        **result.told(),
        "error": None,
        "timings_ms": daemon.records.last.timings_ms if daemon.records.last is not None else {},
    }


def _failure(context: Context, turn: Turn, error: EdgevoxError) -> dict[str, object]:
    return {
        "turn_id": turn.id,
        "preset": context.chosen_preset,
        "reply": "",
        "tool_calls": [],
        "finish_reason": "error",
        "error": {"code": error.code, "message": error.message, "hint": error.hint},
        "timings_ms": {},
    }
