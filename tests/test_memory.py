"""How much memory there is: the machine's, or a container's where that is less."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.memory import total_memory_bytes


def test_a_machine_has_memory(tmp_path: Path) -> None:
    assert total_memory_bytes(tmp_path / "no-container") > 100_000_000


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("50000000\n", encoding="ascii")
    assert total_memory_bytes(limit) == 50_000_000


@pytest.mark.parametrize("limit", ["max", str(2**62)])
def test_a_container_without_a_limit_has_the_machines_memory(tmp_path: Path, limit: str) -> None:
    file = tmp_path / "memory.max"
    file.write_text(f"{limit}\n", encoding="ascii")
    assert total_memory_bytes(file) == total_memory_bytes(tmp_path / "no-container")
