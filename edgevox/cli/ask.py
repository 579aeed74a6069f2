"""`edgevox ask TEXT`: one question, one answer, for people and (with --json) for programs."""

from __future__ import annotations

import argparse
import json

from edgevox.agents import AgentResult
from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.options import add_model_options
from edgevox.cli.session import open_daemon, report_unrecorded
from edgevox.daemon import Daemon
from edgevox.errors import EdgevoxError
from edgevox.turn import Turn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help="the question")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_model_options(parser)


def run(args: argparse.Namespace, context: Context) -> int:
    turn = Turn()
    try:
        daemon = open_daemon(context, ["llama"])
        result = run_until_done(_ask(daemon, " ".join(args.text), turn))
    except EdgevoxError as error:
        if not args.json:
            raise
        context.write(json.dumps(_failure(context, turn, error), ensure_ascii=False))
        context.complain(error)
        return error.exit_code
    if args.json:
        context.write(json.dumps(_answer(daemon, turn, result), ensure_ascii=False))
    else:
        context.write(result.reply)
    return report_unrecorded(context, daemon)


async def _ask(daemon: Daemon, text: str, turn: Turn) -> AgentResult:
    async with daemon:
        return await daemon.pipeline().answer(text, turn)


def _answer(daemon: Daemon, turn: Turn, result: AgentResult) -> dict[str, object]:
    assert daemon.last_record is not None
    return {
        "turn_id": turn.id,
        "preset": daemon.preset.name,
        "reply": result.reply,
        "tool_calls": [],
        "finish_reason": result.finish_reason,
        "error": None,
        "timings_ms": daemon.last_record.timings_ms,
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
