"""The log goes on, whatever happens to its file."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgevox.app.service_unit import LOG_FILE_NAME, LogFile, tail


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def log(folder: Path) -> Iterator[logging.Logger]:
    log = logging.getLogger("edgevox.test_log_file")
    log.setLevel(logging.INFO)
    file = LogFile(folder, max_bytes=1000)
    log.addHandler(file)
    yield log
    log.removeHandler(file)
    file.close()


def test_it_never_grows_beyond_its_files(log: logging.Logger, folder: Path) -> None:
    for number in range(200):
        log.info("line %d", number)
    assert sorted(path.name for path in folder.iterdir()) == [
        LOG_FILE_NAME, f"{LOG_FILE_NAME}.1", f"{LOG_FILE_NAME}.2", f"{LOG_FILE_NAME}.3",
    ]  # fmt: skip
    assert all(path.stat().st_size <= 1000 for path in folder.iterdir())


def test_the_tail_reads_over_the_rotated_files(log: logging.Logger, folder: Path) -> None:
    for number in range(200):
        log.info("line %d", number)
    assert [line.rpartition(" ")[2] for line in tail(folder, 30)] == [str(n) for n in range(170, 200)]


def test_a_folder_that_was_deleted_is_made_again(log: logging.Logger, folder: Path) -> None:
    log.info("before")
    shutil.rmtree(folder)
    log.info("after")
    assert [line.rpartition(" ")[2] for line in tail(folder, 10)] == ["after"]


def test_where_nothing_can_be_written_nothing_is_raised(log: logging.Logger, folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    log.info("lost")
    folder.unlink()
    log.info("kept")
    assert len(tail(folder, 10)) == 1


def test_no_log_has_no_lines(folder: Path) -> None:
    assert tail(folder, 10) == []
