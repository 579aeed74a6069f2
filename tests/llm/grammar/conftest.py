"""The vocabulary for grammar tests, loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from edgevox.llm.grammar.check import GrammarChecker


@pytest.fixture(scope="session")
def checker(smollm2_path: Path) -> Iterator[GrammarChecker]:
    with GrammarChecker(smollm2_path) as one:
        yield one
