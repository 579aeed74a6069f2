"""`edgevox history`: what was said and done, turn by turn."""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import itertools
import json
from collections.abc import Iterator
from contextlib import closing

from rich.text import Text

from edgevox.agents.kept_turn import KeptTurn
from edgevox.agents.memory_file import MemoryFile
from edgevox.cli.context import Context
from edgevox.errors import ConfigError
from edgevox.settings import MemorySettings

_LIMIT = 10
_RESULT_CHARS = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=_LIMIT, metavar="N", help=f"the last N turns ({_LIMIT})")
    parser.add_argument("--search", default="", metavar="TEXT", help="only turns in which TEXT occurs")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    if args.limit < 1:
        raise ConfigError(f"--limit {args.limit} shows nothing", hint="edgevox history --limit 10")
    memory = context.settings.memory
    kept = 0
    turns: list[KeptTurn] = []
    if file := MemoryFile.open_to_read(context.folders.state):
        with closing(file):
            kept = file.count()
            found = (turn for turn in file.turns() if _holds(turn, args.search))
            turns = list(itertools.islice(found, args.limit))[::-1]
    if args.json:
        rule = memory.model_dump(include={"enabled", "retention_days"})
        facts = {"turns": [_facts(turn) for turn in turns], "kept": kept, **rule}
        context.write(json.dumps(facts, ensure_ascii=False))
        return 0
    for turn in turns:
        for line in _lines(turn):
            context.out.print(line, soft_wrap=True)
    context.out.print(Text(f"{len(turns)} of {kept} turns. {retention(memory)}", style="dim"), soft_wrap=True)
    return 0


def retention(memory: MemorySettings) -> str:
    """What is kept for how long, in a sentence."""
    if not memory.enabled:
        return "New ones are not kept (memory.enabled)."
    days = "a day" if memory.retention_days == 1 else f"{memory.retention_days} days"
    return f"What was said is deleted after {days} (memory.retention_days)."


def _holds(turn: KeptTurn, text: str) -> bool:
    wanted = text.casefold()
    said = (message.content for message in turn.messages)
    done = (f"{call.name} {call.arguments}" for call in turn.calls)
    return any(wanted in part.casefold() for part in itertools.chain(said, done))


def _facts(turn: KeptTurn) -> dict[str, object]:
    return dataclasses.asdict(turn) | {"at": _when(turn).isoformat(timespec="seconds")}


def _lines(turn: KeptTurn) -> Iterator[Text]:
    ended = "" if turn.finish_reason == "stop" else f" · {turn.finish_reason}"
    yield Text(f"{_when(turn):%Y-%m-%d %H:%M:%S} · {turn.source}{ended}", style="bold")
    names = {call.id: call.name for call in turn.calls}
    for message in turn.messages:
        match message.role:
            case "user":
                yield _line("you › ", "cyan", message.content)
            case "tool":
                name = names.get(message.tool_call_id or "", "tool")
                yield _line(f"  {name} → ", "dim", message.content, limit=_RESULT_CHARS)
            case _:
                if message.content:
                    yield _line("edgevox › ", "green", message.content)
                for call in message.tool_calls:
                    yield _line(f"  {call.name} ", "yellow", call.arguments)


def _line(label: str, style: str, content: str, *, limit: int | None = None) -> Text:
    # What a stranger's web page brought must not steer the terminal.
    shown = "".join(letter if letter.isprintable() else " " for letter in content)
    if limit is not None and len(shown) > limit:
        shown = f"{shown[:limit]}…"
    return Text.assemble((label, style), shown)


def _when(turn: KeptTurn) -> dt.datetime:
    return dt.datetime.fromtimestamp(turn.at_s).astimezone()
