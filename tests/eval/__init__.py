"""Tests of edgevox.eval and of the `eval` command, and the published suites."""

from __future__ import annotations
