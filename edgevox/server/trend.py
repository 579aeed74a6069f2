"""How long turns took over a day: the median of each stage, hour by hour."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from edgevox.metrics import TurnRecord
from edgevox.types import JsonObject


def hourly(records: Sequence[TurnRecord]) -> list[JsonObject]:
    """Only the hours in which somebody asked for something; what rings is not asked for."""
    hours: defaultdict[int, list[TurnRecord]] = defaultdict(list)
    for record in records:
        if record.source != "ring" and record.outcome != "dropped":
            hours[dt.datetime.fromisoformat(record.at).astimezone().hour].append(record)
    return [
        {
            "hour": hour,
            "turns": len(turns),
            "failed": sum(turn.outcome == "failed" for turn in turns),
            "median_ms": _medians([turn for turn in turns if turn.outcome == "answered"]),
        }
        for hour, turns in sorted(hours.items())
    ]


def _medians(turns: Sequence[TurnRecord]) -> JsonObject:
    timings: defaultdict[str, list[float]] = defaultdict(list)
    for turn in turns:
        for name, ms in turn.timings_ms.items():
            timings[name].append(ms)
    return {name: round(median(values), 1) for name, values in timings.items()}
