"""`edgevox talk`: push to talk. The assistant that runs listens to what is said next, and answers."""

from __future__ import annotations

import argparse

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.control.client import request
from edgevox.control.protocol import Talk
from edgevox.types import JsonObject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(args: argparse.Namespace, context: Context) -> int:
    done = run_until_done(_talk(context))
    match done["outcome"]:
        case "answered":
            context.write(done["reply"])
            return 0
        case outcome:
            context.err.print(f"({done['error'] or outcome})", style="dim", markup=False)
            return 1


async def _talk(context: Context) -> JsonObject:
    async with request(context.folders.runtime, Talk()) as talking:
        async for note in talking.notes():
            match note["kind"]:
                case "listening":
                    context.err.print("listening …")
                case "heard":
                    context.err.print(f"you › {note['text']}", markup=False, soft_wrap=True)
                case "done":
                    return note
    return {"outcome": "failed", "reply": "", "error": "the assistant has not answered"}
