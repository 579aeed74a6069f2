"""How well a model does: suites of cases, asked as the assistant asks, scored and put in figures."""

from __future__ import annotations

from edgevox.eval.examination import Result, examine
from edgevox.eval.suite import Call, Case, Expectation, read_suite
from edgevox.eval.summary import Rate, Summary, by_group, summarise

__all__ = [
    "Call",
    "Case",
    "Expectation",
    "Rate",
    "Result",
    "Summary",
    "by_group",
    "examine",
    "read_suite",
    "summarise",
]
