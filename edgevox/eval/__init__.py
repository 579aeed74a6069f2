"""Evaluation: suites of cases, run through the agent, scored and summarized."""

from __future__ import annotations

from edgevox.eval.expectation import Call
from edgevox.eval.report import summarise
from edgevox.eval.runner import Result, run_cases
from edgevox.eval.suite import Case, read_suite

__all__ = ["Call", "Case", "Result", "read_suite", "run_cases", "summarise"]
