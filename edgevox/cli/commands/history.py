"""`edgevox history`, `last`, `stats` and `forget`: show and delete past turns."""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import itertools
import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from edgevox.agents.conversation import TurnRecord
from edgevox.agents.forget import Forgotten, forget_all, forget_since, start_of_last
from edgevox.agents.memory_file import MemoryFile
from edgevox.cli.command import Command
from edgevox.cli.context import Context
from edgevox.cli.ui.voice_view import waterfall
from edgevox.config import MemorySettings
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.metrics import TurnLog, TurnMetrics
from edgevox.home import WORD_STORES
from edgevox.tools.results import ToolCounts, ToolStats

_DEFAULT_TURNS = 10
_RESULT_CHARS = 200


def add_history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit",
        type=int,
        default=_DEFAULT_TURNS,
        metavar="N",
        help=f"show the last N turns (default: {_DEFAULT_TURNS})",
    )
    parser.add_argument("--search", default="", metavar="TEXT", help="only turns that contain TEXT")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def history_command(args: argparse.Namespace, context: Context) -> int:
    if args.limit < 1:
        raise ConfigError("--limit must be at least 1", hint="edgevox history --limit 10")
    memory = context.settings.memory
    kept = 0
    turns: list[TurnRecord] = []
    if file := MemoryFile.open_to_read(context.folders.state):
        with closing(file):
            kept = file.count()
            found = (turn for turn in file.turns() if _matches(turn, args.search))
            turns = list(itertools.islice(found, args.limit))[::-1]
    if args.json:
        rule = memory.model_dump(include={"enabled", "retention_days"})
        facts = {"turns": [_turn_json(turn) for turn in turns], "kept": kept, **rule}
        context.write(json.dumps(facts, ensure_ascii=False))
        return 0
    for turn in turns:
        for line in _turn_lines(turn):
            context.out.print(line, soft_wrap=True)
    context.out.print(Text(f"{len(turns)} of {kept} turns. {retention(memory)}", style="dim"), soft_wrap=True)
    return 0


def retention(memory: MemorySettings) -> str:
    """Return a sentence about the retention of turns."""
    if not memory.enabled:
        return "New turns are not stored (memory.enabled)."
    days = "a day" if memory.retention_days == 1 else f"{memory.retention_days} days"
    return f"Turns are deleted after {days} (memory.retention_days)."


def _matches(turn: TurnRecord, text: str) -> bool:
    wanted = text.casefold()
    said = (message.content for message in turn.messages)
    done = (f"{call.name} {call.arguments}" for call in turn.calls)
    return any(wanted in part.casefold() for part in itertools.chain(said, done))


def _turn_json(turn: TurnRecord) -> dict[str, object]:
    return dataclasses.asdict(turn) | {"at": _time_text(turn).isoformat(timespec="seconds")}


def _turn_lines(turn: TurnRecord) -> Iterator[Text]:
    ended = "" if turn.finish_reason == "stop" else f" · {turn.finish_reason}"
    yield Text(f"{_time_text(turn):%Y-%m-%d %H:%M:%S} · {turn.source}{ended}", style="bold")
    names = {call.id: call.name for call in turn.calls}
    for message in turn.messages:
        match message.role:
            case "user":
                yield _call_line("you › ", "cyan", message.content)
            case "tool":
                name = names.get(message.tool_call_id or "", "tool")
                yield _call_line(f"  {name} → ", "dim", message.content, limit=_RESULT_CHARS)
            case _:
                if message.content:
                    yield _call_line("edgevox › ", "green", message.content)
                for call in message.tool_calls:
                    yield _call_line(f"  {call.name} ", "yellow", call.arguments)


def _call_line(label: str, style: str, content: str, *, limit: int | None = None) -> Text:
    # Tool output may contain control characters from a web page.
    shown = "".join(letter if letter.isprintable() else " " for letter in content)
    if limit is not None and len(shown) > limit:
        shown = f"{shown[:limit]}…"
    return Text.assemble((label, style), shown)


def _time_text(turn: TurnRecord) -> dt.datetime:
    return dt.datetime.fromtimestamp(turn.at_s).astimezone()


def add_last_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def last_command(args: argparse.Namespace, context: Context) -> int:
    record = TurnLog(context.folders.state, max_bytes=context.settings.records.max_bytes).last()
    if record is None:
        raise StateError("no turn has been recorded yet", hint='edgevox ask "What is a sonnet?"')
    if args.json:
        context.write(json.dumps(dataclasses.asdict(record) | {"timings_ms": record.timings_ms}))
    else:
        _draw_turn(record, context)
    return 0


def _draw_turn(record: TurnMetrics, context: Context) -> None:
    context.out.print(f"[bold]{record.preset or record.source}[/] · {record.at} · {record.outcome}")
    if record.heard:
        context.out.print(f"[cyan]you ›[/] {escape(record.heard)}")
    if record.reply:
        context.out.print(f"[green]edgevox ›[/] {escape(record.reply)}")
    if record.instant_word:
        context.out.print(f"[dim]built-in command, no model: {record.instant_word}[/]")
    context.out.print(waterfall(record))
    context.out.print(
        f"[dim]{record.prompt_tokens} prompt tokens, {record.cached_tokens} of them cached; "
        f"{record.generated_tokens} generated[/]"
    )


def add_stats_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def stats_command(args: argparse.Namespace, context: Context) -> int:
    summary = ToolStats(context.folders.state).summary()
    if args.json:
        facts = {name: dataclasses.asdict(counts) | {"mean_s": counts.mean_s} for name, counts in summary.items()}
        context.write(json.dumps(facts, indent=2))
    elif summary:
        context.out.print(_stats_table(summary))
        context.out.print("\nCounted on this machine only; nothing is sent anywhere and no words are stored.")
    else:
        context.out.print("No tool has been offered to the model yet.")
    return 0


def _stats_table(summary: dict[str, ToolCounts]) -> Table:
    """Table of the tools, most used first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", no_wrap=True)
    for heading in ("offered", "chosen", "refused", "failed", "timed out", "mean", "longest"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, counts in sorted(summary.items(), key=lambda item: (-item[1].chosen, -item[1].offered, item[0])):
        numbers = (counts.offered, counts.chosen, counts.refused, counts.failed, counts.timed_out)
        times = (_ms(counts.mean_s), _ms(counts.longest_s)) if counts.chosen else ("", "")
        table.add_row(Text(name), *(str(number) if number else "" for number in numbers), *times)
    return table


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


_SPAN = re.compile(r"(\d+)\s*(m|min|h|d)")
_UNIT_S = {"m": 60, "min": 60, "h": 3600, "d": 86_400}
_DECLINED = 1
_CONFIRM_HINT = "edgevox forget … --yes"


def add_forget_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--last", type=int, metavar="N", help="delete the last N turns")
    what.add_argument("--since", metavar="WHEN", help="delete turns since 30m, 2h, 3d, today, 14:30 or 2026-01-31")
    what.add_argument("--all", action="store_true", help="delete all turns, list items, and names of timers and alarms")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def forget_command(args: argparse.Namespace, context: Context) -> int:
    folder = context.folders.state
    if args.all:
        since_s, what = None, "all turns, all list items, and the names of timers and alarms"
    elif args.last is not None:
        if args.last < 1:
            raise ConfigError("--last must be at least 1", hint="edgevox forget --last 1")
        since_s = start_of_last(folder, args.last)
        if since_s is None:
            context.out.print("nothing to delete")
            return 0
        what = f"all turns since {_time_shown(since_s)}"
    else:
        since_s = parse_time(args.since, time.time())
        what = f"all turns since {_time_shown(since_s)}"
    if not args.yes and not _confirmed(context, what):
        context.out.print("nothing deleted")
        return _DECLINED
    done = forget_all(folder, WORD_STORES) if since_s is None else forget_since(folder, since_s, WORD_STORES)
    context.out.print(_print_deleted(done), soft_wrap=True)
    return 0


def parse_time(text: str, now_s: float) -> float:
    """Parse a duration before now, a time of today, or a date, as seconds. Raises ConfigError."""
    words = text.strip().lower()
    now = dt.datetime.fromtimestamp(now_s).astimezone()
    if span := _SPAN.fullmatch(words):
        return now_s - int(span[1]) * _UNIT_S[span[2]]
    if words in ("today", "yesterday"):
        day = now.date() - dt.timedelta(days=words == "yesterday")
        return dt.datetime.combine(day, dt.time()).astimezone().timestamp()
    # A time without a date means today.
    written = f"{now.date()}T{words}" if re.fullmatch(r"\d\d:\d\d", words) else text.strip()
    try:
        return dt.datetime.fromisoformat(written).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise ConfigError(
            f"invalid time: {text!r}", hint="use 30m, 2h, 3d, today, yesterday, 14:30 or 2026-01-31T14:30"
        ) from None


def _confirmed(context: Context, what: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(f"this would delete {what}", hint=f"confirm with {_CONFIRM_HINT}")
    try:
        answer = context.err.input(Text(f"Permanently delete {what}? [y/N] "))
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _print_deleted(done: Forgotten) -> str:
    counts = (
        (done.turns, "turn", "turns"),
        (done.records, "log record", "log records"),
        (done.timers, "timer or alarm name", "timer or alarm names"),
        (done.things, "list item or title", "list items or titles"),
        (done.files, "file", "files"),
    )
    parts = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return f"deleted: {', '.join(parts)}" if parts else "nothing to delete"


def _time_shown(since_s: float) -> str:
    return f"{dt.datetime.fromtimestamp(since_s).astimezone():%Y-%m-%d %H:%M:%S}"


COMMANDS = (
    Command("history", "Show past turns", history_command, add_history_arguments),
    Command("last", "Show the latency of each stage of the last turn", last_command, add_last_arguments),
    Command("stats", "Show tool usage and latencies", stats_command, add_stats_arguments),
    Command("forget", "Delete past turns from all stores", forget_command, add_forget_arguments),
)
