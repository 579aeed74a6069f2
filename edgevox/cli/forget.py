"""`edgevox forget`: deletes what was said, in every place where words are kept."""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sys
import time

from rich.text import Text

from edgevox.agents.forgetting import Forgotten, forget_all, forget_since, start_of_last
from edgevox.cli.context import Context
from edgevox.errors import ConfigError

_SPAN = re.compile(r"(\d+)\s*(m|min|h|d)")
_UNIT_S = {"m": 60, "min": 60, "h": 3600, "d": 86_400}
_DECLINED = 1
_UNASKED_HINT = "edgevox forget … --yes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--last", type=int, metavar="N", help="the last N turns")
    what.add_argument(
        "--since", metavar="WHEN", help="what was said since then: 30m, 2h, 3d, today, 14:30, 2026-01-31"
    )
    what.add_argument("--all", action="store_true", help="everything, in lists, timers and alarms too")
    parser.add_argument("--yes", action="store_true", help="do not ask first")


def run(args: argparse.Namespace, context: Context) -> int:
    folder = context.folders.state
    if args.all:
        since_s, what = None, "everything that was said, all list items, the names of timers and alarms"
    elif args.last is not None:
        if args.last < 1:
            raise ConfigError(f"--last {args.last} deletes nothing", hint="edgevox forget --last 1")
        since_s = start_of_last(folder, args.last)
        if since_s is None:
            context.out.print("nothing was kept")
            return 0
        what = f"what was said since {_shown(since_s)}"
    else:
        since_s = moment(args.since, time.time())
        what = f"what was said since {_shown(since_s)}"
    if not args.yes and not _agreed(context, what):
        context.out.print("nothing was deleted")
        return _DECLINED
    done = forget_all(folder) if since_s is None else forget_since(folder, since_s)
    context.out.print(_told(done), soft_wrap=True)
    return 0


def moment(text: str, now_s: float) -> float:
    """The moment that a person means: so long ago, today, a time of today, a date. Raises ConfigError."""
    words = text.strip().lower()
    now = dt.datetime.fromtimestamp(now_s).astimezone()
    if span := _SPAN.fullmatch(words):
        return now_s - int(span[1]) * _UNIT_S[span[2]]
    if words in ("today", "yesterday"):
        day = now.date() - dt.timedelta(days=words == "yesterday")
        return dt.datetime.combine(day, dt.time()).astimezone().timestamp()
    # A time alone is one of today.
    written = f"{now.date()}T{words}" if re.fullmatch(r"\d\d:\d\d", words) else text.strip()
    try:
        return dt.datetime.fromisoformat(written).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise ConfigError(
            f"{text!r} is no moment", hint="30m, 2h, 3d, today, yesterday, 14:30 or 2026-01-31T14:30"
        ) from None


def _agreed(context: Context, what: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(f"this would delete {what}", hint=f"say so: {_UNASKED_HINT}")
    try:
        answer = context.err.input(Text(f"Delete {what}, for good? [y/N] "))
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


def _told(done: Forgotten) -> str:
    counts = (
        (done.turns, "turn", "turns"),
        (done.records, "record in the log", "records in the log"),
        (done.timers, "timer's or alarm's words", "timers' or alarms' words"),
        (done.things, "list item or title", "list items or titles"),
        (done.files, "file", "files"),
    )
    parts = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return f"deleted: {', '.join(parts)}" if parts else "nothing was kept"


def _shown(since_s: float) -> str:
    return f"{dt.datetime.fromtimestamp(since_s).astimezone():%Y-%m-%d %H:%M:%S}"
