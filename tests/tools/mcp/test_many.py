"""Thirty servers with three hundred tools: the benchmark without its machine-dependent figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.long
def test_thirty_servers_do_not_delay_a_turn_and_the_prompt_stays_bounded(tmp_path: Path) -> None:
    kept = tmp_path / "figures.json"
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.mcp_servers", "--json", str(kept)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=250,
        check=False,
    )
    print(result.stdout)  # the figures, for who reads CI's log
    figures = json.loads(kept.read_text(encoding="utf-8"))
    first, known, faulty = figures["starts"]
    assert [start["ready"] for start in figures["starts"]] == [30, 30, 25]
    assert [start["tools"] for start in figures["starts"]] == [300, 300, 250]
    # What is known needs no waiting, and a silent server delays the others only briefly.
    assert first["start_s"] < 10
    assert known["start_s"] < 10
    assert faulty["start_s"] < 10
    prompt = figures["prompt"]
    assert prompt["tools_offered_max"] <= 12
    assert prompt["chars_offered_max"] <= 12_000
    assert prompt["tools_offered_without_a_sentence"] == 0
    assert prompt["found"] >= 54
