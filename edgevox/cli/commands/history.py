"""`edgevox history`, `last`, `stats` and `forget`: show and delete past turns."""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import itertools
import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing

from rich.markup import escape
from rich.text import Text

from edgevox.agents.conversation import TurnRecord
from edgevox.agents.forget import Forgotten, forget_all, forget_since, start_of_last
from edgevox.agents.memory_file import MemoryFile
from edgevox.cli.command import JSON, YES, Command, argument, one_of
from edgevox.cli.context import Context, left, plain_table, right
from edgevox.cli.ui.voice_view import waterfall
from edgevox.config import MemorySettings
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.metrics import TurnLog
from edgevox.core.words import past_tense
from edgevox.home import WORD_STORES
from edgevox.speakers.people import PEOPLE_STORE
from edgevox.tools.results import ToolStats

_RESULT_CHARS = 200


@Command(
    "history",
    "Show past turns",
    argument("--limit", type=int, default=10, metavar="N", help="show the last N turns (default: 10)"),
    argument("--search", default="", metavar="TEXT", help="only turns that contain TEXT"),
    JSON,
)
def history(args: argparse.Namespace, context: Context) -> None:
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
        context.write_json({"turns": [_turn_json(turn) for turn in turns], "kept": kept, **rule}, indent=None)
        return
    for turn in turns:
        for line in _turn_lines(turn):
            context.out.print(line, soft_wrap=True)
    context.print(f"{len(turns)} of {kept} turns. {retention(memory)}", style="dim")


def retention(memory: MemorySettings) -> str:
    """Return a sentence about the retention of turns."""
    if not memory.enabled:
        return "New turns are not stored (memory.enabled)."
    days = "a day" if memory.retention_days == 1 else f"{memory.retention_days} days"
    return f"Turns are deleted after {days} (memory.retention_days)."


def _matches(turn: TurnRecord, text: str) -> bool:
    wanted = text.casefold()
    said = (message.content for message in turn.messages)
    done = (f"{call.summary} {call.name} {call.arguments}" for call in turn.calls)
    return any(wanted in part.casefold() for part in itertools.chain(said, done))


def _turn_json(turn: TurnRecord) -> dict[str, object]:
    return dataclasses.asdict(turn) | {"at": _time_text(turn).isoformat(timespec="seconds")}


def _turn_lines(turn: TurnRecord) -> Iterator[Text]:
    ended = "" if turn.finish_reason == "stop" else f" · {turn.finish_reason}"
    yield Text(f"{_time_text(turn):%Y-%m-%d %H:%M:%S} · {turn.source}{ended}", style="bold")
    # A turn that an older version stored has no summaries.
    names = {call.id: past_tense(call.summary) or call.name for call in turn.calls}
    for message in turn.messages:
        match message.role:
            case "user":
                yield _line("you › ", "cyan", message.content)
            case "tool":
                name, content = names.get(message.tool_call_id or "", "tool"), message.content
                cut = f"{content[:_RESULT_CHARS]}…" if len(content) > _RESULT_CHARS else content
                yield _line(f"  {name} → ", "dim", cut)
            case _:
                if message.content:
                    yield _line("edgevox › ", "green", message.content)
                for call in message.tool_calls:
                    if not call.summary:
                        yield _line(f"  {call.name} ", "yellow", call.arguments)


def _line(label: str, style: str, content: str) -> Text:
    # Tool output may contain control characters from a web page.
    return Text.assemble((label, style), "".join(letter if letter.isprintable() else " " for letter in content))


def _time_text(turn: TurnRecord) -> dt.datetime:
    return dt.datetime.fromtimestamp(turn.at_s).astimezone()


@Command("last", "Show the latency of each stage of the last turn", JSON)
def last(args: argparse.Namespace, context: Context) -> None:
    record = TurnLog(context.folders.state, max_bytes=context.settings.records.max_bytes).last()
    if record is None:
        raise StateError("no turn has been recorded yet", hint='edgevox ask "What is a sonnet?"')
    if args.json:
        context.write_json(dataclasses.asdict(record) | {"timings_ms": record.timings_ms}, indent=None)
        return
    context.out.print(f"[bold]{record.preset or record.source}[/] · {record.at} · {record.outcome}")
    if record.heard:
        context.out.print(f"[cyan]you ›[/] {escape(record.heard)}")
    for call in record.calls:
        context.out.print(f"[yellow]  {escape(call)}[/]")
    if record.reply:
        context.out.print(f"[green]edgevox ›[/] {escape(record.reply)}")
    if record.instant_word:
        context.out.print(f"[dim]built-in command, no model: {record.instant_word}[/]")
    context.out.print(waterfall(record))
    context.out.print(
        f"[dim]{record.prompt_tokens} prompt tokens, {record.cached_tokens} of them cached; "
        f"{record.generated_tokens} generated[/]"
    )


@Command("stats", "Show tool usage and latencies", JSON)
def stats(args: argparse.Namespace, context: Context) -> None:
    summary = ToolStats(context.folders.state).summary()
    if args.json:
        context.write_json(
            {name: dataclasses.asdict(counts) | {"mean_s": counts.mean_s} for name, counts in summary.items()}
        )
        return
    if not summary:
        context.print("No tool has been offered to the model yet.")
        return
    headings = ("offered", "chosen", "refused", "failed", "timed out", "mean", "longest")
    rows = []
    for name, counts in sorted(summary.items(), key=lambda item: (-item[1].chosen, -item[1].offered, item[0])):
        numbers = (counts.offered, counts.chosen, counts.refused, counts.failed, counts.timed_out)
        times = (_ms(counts.mean_s), _ms(counts.longest_s)) if counts.chosen else ("", "")
        rows.append((name, *(str(number) if number else "" for number in numbers), *times))
    # Empty columns would crowd out the others on a narrow terminal.
    shown = [0, *(column for column in range(1, len(headings) + 1) if any(row[column] for row in rows))]
    table = plain_table(left("tool"), *(right(headings[column - 1]) for column in shown[1:]))
    for row in rows:
        table.add_row(*(Text(row[column]) for column in shown))
    context.out.print(table)
    context.print("\nCounted on this machine only; nothing is sent anywhere and no words are stored.")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


_SPAN = re.compile(r"(\d{1,9})\s*(m|min|h|d)")
_UNIT_S = {"m": 60, "min": 60, "h": 3600, "d": 86_400}
_DECLINED = 1


@Command(
    "forget",
    "Delete past turns from all stores",
    one_of(
        argument("--last", type=int, metavar="N", help="delete the last N turns"),
        argument("--since", metavar="WHEN", help="delete turns since 30m, 2h, 3d, today, 14:30 or 2026-01-31"),
        argument("--all", action="store_true", help="delete all turns, list items, and names of timers and alarms"),
        required=True,
    ),
    YES,
)
def forget(args: argparse.Namespace, context: Context) -> int:
    folder = context.folders.state
    since_s: float | None = None
    what = "all turns, all list items, and the names of timers and alarms"
    if args.last is not None:
        if args.last < 1:
            raise ConfigError("--last must be at least 1", hint="edgevox forget --last 1")
        since_s = start_of_last(folder, args.last)
        if since_s is None:
            context.print("nothing to delete")
            return 0
    elif args.since is not None:
        since_s = parse_time(args.since, time.time())
    if since_s is not None:
        what = f"all turns since {dt.datetime.fromtimestamp(since_s).astimezone():%Y-%m-%d %H:%M:%S}"
    if not args.yes:
        if not sys.stdin.isatty():
            raise ConfigError(f"this would delete {what}", hint="confirm with edgevox forget … --yes")
        if not context.confirm(f"Permanently delete {what}?"):
            context.print("nothing deleted")
            return _DECLINED
    done = (
        forget_all(folder, (*WORD_STORES, PEOPLE_STORE))
        if since_s is None
        else forget_since(folder, since_s, WORD_STORES)
    )
    context.print(_deleted_text(done))
    return 0


def parse_time(text: str, now_s: float) -> float:
    """Parse a duration before now, a time of today, or a date, as seconds. Raises ConfigError."""
    words = text.strip().lower()
    now = dt.datetime.fromtimestamp(now_s).astimezone()
    if span := _SPAN.fullmatch(words):
        return max(0.0, now_s - int(span[1]) * _UNIT_S[span[2]])
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


def _deleted_text(done: Forgotten) -> str:
    counts = (
        (done.turns, "turn", "turns"),
        (done.records, "log record", "log records"),
        (done.timers, "timer or alarm name", "timer or alarm names"),
        (done.things, "list item or title", "list items or titles"),
        (done.files, "file", "files"),
    )
    parts = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return f"deleted: {', '.join(parts)}" if parts else "nothing to delete"
