"""`make soak`: a thousand turns and more with faults; `--json FILE` keeps the result with its hardware.

With `--minutes N` it is the whole program with its real engines for that long, instead of simulated ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.hardware import describe
from tests.soak.soak import WARM_AFTER_TURNS, Result, soak
from tests.soak.whole import soak_whole_program


def growth(result: Result) -> dict[str, float]:
    """What there is more at the end than when it was warm: the means of the first and the last samples."""
    warm = [sample for sample in result.samples if sample.turns >= WARM_AFTER_TURNS] or result.samples[-1:]
    share = max(1, len(warm) // 5)
    first, last = warm[:share], warm[-share:]
    return {
        name: round(
            sum(getattr(sample, name) for sample in last) / len(last)
            - sum(getattr(sample, name) for sample in first) / len(first),
            2,
        )
        for name in ("rss_mb", "descriptors", "threads", "tasks")
    }


def _written(report: dict[str, object], result: Result) -> str:
    """JSON with a line for each sample."""
    head = json.dumps({name: value for name, value in report.items() if name != "samples"}, indent=2)
    samples = ",\n".join(f"    {json.dumps(asdict(sample))}" for sample in result.samples)
    return f'{head[:-2]},\n  "samples": [\n{samples}\n  ]\n}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--within-s", type=float, default=7200.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--minutes", type=float, help="the whole program with its real engines for so long")
    args = parser.parse_args()
    if args.minutes:
        whole = asyncio.run(soak_whole_program(args.minutes, args.seed, args.json))
        print(json.dumps(whole, indent=1))
        return 0 if whole["verdict"]["is_passed"] else 1
    logging.disable(logging.ERROR)  # hundreds of engines that die are reported below
    with tempfile.TemporaryDirectory(prefix="edgevox-soak-") as folder:
        result = asyncio.run(soak(Path(folder), turns=args.turns, within_s=args.within_s, seed=args.seed))
    report = {"hardware": describe(), "growth": growth(result), **result.as_json()}
    if args.json:
        args.json.write_text(_written(report, result), encoding="utf-8")
    print(json.dumps({**report, "samples": f"{len(result.samples)} of them"}, indent=2))
    return 1 if result.complaints or result.turns < args.turns else 0


if __name__ == "__main__":
    sys.exit(main())
