from __future__ import annotations

import dataclasses
import json
import resource
from pathlib import Path

import pytest

from edgevox.core.errors import StateError
from edgevox.core.metrics import FILE_NAME, StageSpan, TurnLog, TurnMetrics

RECORD = TurnMetrics(
    turn_id="t",
    at="2026-01-01T00:00:00.000+00:00",
    source="text",
    preset="p",
    heard="What is “this”?",
    reply="A täst.",
    outcome="answered",
    error_code=None,
    total_ms=12.5,
    prompt_tokens=3,
    cached_tokens=2,
    generated_tokens=1,
    stages=(StageSpan("first_token", 1.0, 5.0), StageSpan("generate", 5.0, 12.5)),
)


def numbered(number: int) -> TurnMetrics:
    return dataclasses.replace(RECORD, turn_id=str(number))


def test_a_record_survives_a_round_trip(tmp_path: Path) -> None:
    log = TurnLog(tmp_path / "state", max_bytes=100_000)
    record = dataclasses.replace(RECORD, reply="Two\u2028lines.")
    log.append(record)
    assert log.last() == record


def test_the_log_never_grows_beyond_its_cap_and_keeps_the_newest(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=4000)
    for number in range(200):
        log.append(numbered(number))
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 4000
    assert log.last() == numbered(199)


def test_a_truncated_line_is_skipped(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=100_000)
    log.append(numbered(1))
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('{"turn_id": "2", "at": "20')
    assert log.last() == numbered(1)


def test_text_is_omitted_if_the_settings_say_so(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=100_000, keep_text=False)
    log.append(RECORD)
    assert "täst" not in (tmp_path / FILE_NAME).read_text(encoding="utf-8")


def test_an_empty_log_has_no_last_turn(tmp_path: Path) -> None:
    assert TurnLog(tmp_path, max_bytes=100_000).last() is None


@pytest.mark.parametrize("folder", ["/proc/edgevox", "/dev/null/edgevox"])
def test_an_unwritable_folder_raises_an_error_with_a_hint(folder: str) -> None:
    with pytest.raises(StateError, match="could not be recorded") as caught:
        TurnLog(Path(folder), max_bytes=100_000).append(RECORD)
    assert "EDGEVOX_STATE_DIR" in caught.value.hint


def at(number: int, minute: int) -> TurnMetrics:
    return dataclasses.replace(numbered(number), at=f"2026-01-01T00:{minute:02}:00.000+00:00")


def test_the_records_of_a_period_are_deleted_from_both_files(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=2500)
    for minute in range(4):
        log.append(at(minute, minute))
    assert len(list(tmp_path.iterdir())) == 2
    moments = log.moments()
    assert log.delete(from_s=moments["1"], until_s=moments["3"]) == 2
    assert list(log.moments()) == ["0", "3"]
    assert log.last() == at(3, 3)


def test_unreadable_lines_are_deleted_with_the_first_deletion(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=100_000)
    log.append(at(1, 1))
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('{"heard": "täst')
    assert log.delete(from_s=log.moments()["1"] + 1) == 1
    assert log.last() == at(1, 1)
    assert (tmp_path / FILE_NAME).read_text(encoding="utf-8").count("\n") == 1


def test_a_record_that_could_not_be_written_is_written_later_without_text(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_text("a file where the folder should be")
    log = TurnLog(state, max_bytes=100_000)
    for number in (1, 2):
        with pytest.raises(StateError):
            log.append(numbered(number))
    state.unlink()
    log.append(numbered(3))
    lines = [json.loads(line) for line in (state / FILE_NAME).read_text(encoding="utf-8").splitlines()]
    assert [(line["turn_id"], line["reply"]) for line in lines] == [("1", ""), ("2", ""), ("3", "A täst.")]


def test_a_line_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=100_000)
    log.append(numbered(1))
    whole = (tmp_path / FILE_NAME).read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, hard))
    try:
        with pytest.raises(StateError, match="No space left"):
            log.append(numbered(2))
        assert (tmp_path / FILE_NAME).read_bytes() == whole
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    log.catch_up()
    last = log.last()
    assert last is not None
    assert last.turn_id == "2"


def test_the_turns_of_a_period_are_sorted_oldest_first(tmp_path: Path) -> None:
    log = TurnLog(tmp_path, max_bytes=100_000)
    days = [f"2026-01-0{day}T12:00:00.000+00:00" for day in (1, 2, 3)]
    for day in days:
        log.append(dataclasses.replace(RECORD, turn_id=day, at=day))
    noon_s = 1767268800.0 + 86_400  # of the second
    assert [record.at for record in log.between(noon_s - 1, noon_s + 86_401)] == days[1:]
    assert [record.at for record in log.between(noon_s, noon_s + 86_400)] == days[1:2]
