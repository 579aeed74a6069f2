"""Deletes spoken words from every file in the state folder that stores them.

The state files of tools are passed in as `stores`. Each function continues after a failure and raises the first
StateError at the end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from edgevox.agents.memory_file import FILE_NAME as MEMORY_FILE
from edgevox.agents.memory_file import MemoryBroken, MemoryFile
from edgevox.core.errors import StateError
from edgevox.core.files import PROMPTS_FOLDER, crash_files, damaged_files, leftover_partials, replaced_files
from edgevox.core.metrics import FILE_NAME as LOG_FILE
from edgevox.core.metrics import TurnLog
from edgevox.core.state_file import WordStore
from edgevox.core.types import ToolCall
from edgevox.tools.builtin.documents import DOCUMENTS_FILE

_DAY_S = 86_400.0


@dataclass(slots=True)
class Forgotten:
    """Counts of deleted entries; `timers` includes alarms, `things` are list items and titles of the demo home."""

    turns: int = 0
    records: int = 0
    timers: int = 0
    things: int = 0
    files: int = 0

    def __bool__(self) -> bool:
        return any(astuple(self))


class _Failures(list[StateError]):
    """The errors of the steps that failed while the others went on."""

    @contextmanager
    def collected(self) -> Iterator[None]:
        try:
            yield
        except StateError as error:
            self.append(error)

    def raise_first(self) -> None:
        if self:
            raise self[0]


def start_of_last(folder: Path, turns: int) -> float | None:
    """Return the start time of the last `turns` turns, or None if there are none. Raises StateError."""
    moments = _log(folder).moments()
    if file := MemoryFile.open_to_read(folder):
        with closing(file):
            # A turn is stored before it is logged; take the earlier time.
            moments |= {turn.id: turn.at_s for turn in file.turns()}
    newest = sorted(moments.values(), reverse=True)
    return newest[min(turns, len(newest)) - 1] if newest else None


def forget_since(folder: Path, since_s: float, stores: Sequence[WordStore] = ()) -> Forgotten:
    """Delete everything said since then, including the list items and timers created by those turns."""
    done, failures = Forgotten(), _Failures()
    words: set[str] = set()
    with failures.collected():
        words = _delete_turns(folder, done, from_s=since_s)
    with failures.collected():
        done.records = _log(folder).delete(from_s=since_s)
    if words:
        _forget_words(folder, stores, lambda text: _plain(text) in words, done, failures)
    kept = (*_broken(folder, stores), *replaced_files(folder))
    if broken := [path.name for path in kept if _modified_s(path) >= since_s]:
        message = f"a damaged or replaced file may still contain spoken words: {', '.join(broken)} in {folder}"
        failures.append(StateError(message, hint="edgevox forget --all deletes it"))
    failures.raise_first()
    return done


def forget_all(folder: Path, stores: Sequence[WordStore] = ()) -> Forgotten:
    """Delete everything that was said or derived from it."""
    done, failures = Forgotten(), _Failures()
    with failures.collected():
        try:
            _delete_turns(folder, done)
        except MemoryBroken:
            done.files += sum(map(_unlink, folder.glob(f"{MEMORY_FILE}*")))
    with failures.collected():
        done.records = _log(folder).delete()
    _forget_words(folder, stores, bool, done, failures)
    # Last: opening a damaged file sets it aside.
    derived = (*(folder / PROMPTS_FOLDER).glob("*"), *folder.glob(f"{DOCUMENTS_FILE}*"), *crash_files())
    for path in (*_leftover_files(folder, stores), *derived):
        with failures.collected():
            done.files += _unlink(path)
    failures.raise_first()
    return done


def forget_expired(folder: Path, retention_days: int, now_s: float, stores: Sequence[WordStore] = ()) -> Forgotten:
    """Delete turns older than the retention setting. Lists and timers stay."""
    until_s = now_s - retention_days * _DAY_S
    done, failures = Forgotten(), _Failures()
    with failures.collected():
        _delete_turns(folder, done, until_s=until_s)
    with failures.collected():
        done.records = _log(folder).delete(until_s=until_s)
    for path in _leftover_files(folder, stores):
        with failures.collected():
            if _modified_s(path) < until_s:
                done.files += _unlink(path)
    failures.raise_first()
    return done


# --- files


def _delete_turns(folder: Path, done: Forgotten, *, from_s: float = -math.inf, until_s: float = math.inf) -> set[str]:
    """Delete the turns of a period and return the string arguments of their calls."""
    if not (folder / MEMORY_FILE).exists():
        return set()
    with closing(MemoryFile.open(folder)) as file:
        turns = list(file.turns(from_s=from_s, until_s=until_s))
        done.turns = file.delete(from_s=from_s, until_s=until_s)
        if done.turns or until_s == math.inf:  # even if none: an earlier deletion may have been interrupted
            file.wipe()
    return {_plain(text) for turn in turns for text in _texts(turn.calls)} - {""}


def _log(folder: Path) -> TurnLog:
    return TurnLog(folder, max_bytes=0)  # nothing is appended


def _forget_words(
    folder: Path, stores: Sequence[WordStore], is_forgotten: Callable[[str], bool], done: Forgotten, failures: _Failures
) -> None:
    for store in stores:
        if (path := folder / store.file_name).exists():
            with failures.collected():
                count = store.forget_words(path, is_forgotten)
                setattr(done, store.counted_as, getattr(done, store.counted_as) + count)


def _broken(folder: Path, stores: Sequence[WordStore]) -> Iterator[Path]:
    for name in (MEMORY_FILE, *(store.file_name for store in stores)):
        yield from damaged_files(folder / name)


def _leftover_files(folder: Path, stores: Sequence[WordStore]) -> Iterator[Path]:
    """Yield damaged files, files replaced by a restored backup, and temporary files left by a power cut."""
    yield from _broken(folder, stores)
    yield from replaced_files(folder)
    for name in (LOG_FILE, *(store.file_name for store in stores)):
        yield from leftover_partials(folder / name)


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateError(f"{path} cannot be deleted: {error.strerror}", hint="delete it by hand") from error
    return True


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return math.inf


# --- words


def _texts(calls: Iterable[ToolCall]) -> Iterator[str]:
    for call in calls:
        try:
            values: list[object] = [json.loads(call.arguments)]
        except (ValueError, RecursionError):
            continue
        while values:
            match values.pop():
                case str(text):
                    yield text
                case dict(inner):
                    values.extend(inner.values())
                case list(inner):
                    values.extend(inner)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
