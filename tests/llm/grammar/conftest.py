"""The vocabulary for grammar tests, loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.grammar.engines import GrammarChecker


@pytest.fixture(scope="session")
def checker(smollm2_path: Path) -> Iterator[GrammarChecker]:
    one = GrammarChecker(smollm2_path)
    yield one
    one.close()
