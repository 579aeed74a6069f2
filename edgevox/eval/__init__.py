"""Evaluation: suites of cases, run through the agent, scored and summarized."""

from __future__ import annotations

from edgevox.eval.report import Rate, Summary, by_group, summarise
from edgevox.eval.runner import Result, run_cases
from edgevox.eval.suite import Call, Case, Expectation, read_suite

__all__ = [
    "Call",
    "Case",
    "Expectation",
    "Rate",
    "Result",
    "Summary",
    "by_group",
    "read_suite",
    "run_cases",
    "summarise",
]
