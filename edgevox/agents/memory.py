"""The store of conversations: loads recent turns, and writes every turn on a separate thread.

A turn costs an fsync, up to a second on a memory card, and the event loop that drives audio must not wait for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

from edgevox.agents.conversation import Clock, Conversation, Summary, TurnRecord
from edgevox.agents.forget import forget_expired
from edgevox.agents.memory_file import MemoryFile
from edgevox.config import MemorySettings
from edgevox.core.errors import StateError
from edgevox.core.state_file import WordStore

log = logging.getLogger(__name__)

_WRITE_WITHIN_S = 5.0

_Job: TypeAlias = Callable[[MemoryFile], None]
OnChange: TypeAlias = Callable[[StateError | None], None]
"""Called from any thread with an error, and with None once it has cleared."""


class ConversationStore:
    """All conversations. If nothing can be stored, they work in memory and end with the process.

    `problem` is the first current error; a full disk counts until there is space again. Call `close` so that the last
    turn is written.
    """

    def __init__(self, settings: MemorySettings, clock: Clock, on_change: OnChange) -> None:
        self.problem: StateError | None = None
        self._clears_on_write = False
        """True if the problem ends with the next successful write."""
        self._on_change = on_change
        self._settings = settings
        self._clock = clock
        self._conversations: dict[str, Conversation] = {}
        self._journal: _FileJournal | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        settings: MemorySettings,
        *,
        clock: Clock = time.time,
        on_change: OnChange = lambda _problem: None,
        stores: Sequence[WordStore] = (),
    ) -> ConversationStore:
        """Open the memory in the state folder, and delete expired turns there and in the files of `stores`.

        Blocks for milliseconds.
        """
        store = cls(settings, clock, on_change)
        try:
            if settings.enabled:
                store._open(folder)
            forget_expired(folder, settings.retention_days, clock(), stores)
        except StateError as error:
            store._report(error)
        return store

    def conversation(self, name: str = "default", *, max_turns: int | None = None) -> Conversation:
        """Return the named conversation, restored unless it ended too long ago.

        `max_turns` can lower the number of turns in the prompt below the setting.
        """
        if name not in self._conversations:
            settings = self._settings
            if max_turns is not None and max_turns < settings.max_turns:
                settings = settings.model_copy(update={"max_turns": max_turns})
            turns, summary = self._recent(name, settings.max_turns)
            self._conversations[name] = Conversation(
                name, settings=settings, clock=self._clock, journal=self._journal, turns=turns, summary=summary
            )
        return self._conversations[name]

    def forgettings(self) -> int:
        """Return a number that changes whenever turns are deleted."""
        return self._journal.forgettings() if self._journal else 0

    def retry(self) -> None:
        """Check whether the problem has cleared. Returns at once."""
        if self._journal and self._clears_on_write:
            self._journal.probe()

    def flush(self) -> None:
        """Wait until every stored turn is on the disk, or the disk takes too long. Blocks."""
        if self._journal:
            self._journal.flush()

    def close(self) -> None:
        """Write outstanding turns within the bound of `flush`. Blocks."""
        if self._journal:
            self._journal.close()

    def __enter__(self) -> ConversationStore:
        return self

    def __exit__(self, *_exc_info: object) -> None:
        self.close()

    def _open(self, folder: Path) -> None:
        file = MemoryFile.open(folder)
        if file.set_aside:
            damaged = f"{file.path} was damaged: it was moved to {file.set_aside}, and a new file was created"
            self._report(StateError(damaged, hint="edgevox forget --all deletes both"))
        self._journal = _FileJournal(file, self._record_write)

    def _recent(self, name: str, max_turns: int) -> tuple[tuple[TurnRecord, ...], Summary | None]:
        """Return the turns since the last long silence, and the summary."""
        if self._journal is None:
            return (), None
        silence_s = self._settings.continue_minutes * 60
        try:
            turns, summary, summarised_s = self._journal.reader.last_turns(name, max_turns)
        except StateError as error:
            self._report(error)
            return (), None
        next_s = self._clock()
        for number, turn in enumerate(reversed(turns)):
            if abs(next_s - turn.at_s) > silence_s:
                return turns[len(turns) - number :], None
            next_s = turn.at_s
        return turns, summary if abs(next_s - summarised_s) <= silence_s else None

    def _report(self, error: StateError) -> None:
        if self.problem is None:
            self.problem = error
            self._on_change(error)

    def _record_write(self, error: StateError | None) -> None:
        """Record whether a write succeeded."""
        if error is not None:
            self._clears_on_write = self._clears_on_write or self.problem is None
            self._report(error)
        elif self._clears_on_write:
            self._clears_on_write = False
            self.problem = None
            self._on_change(None)


class _FileJournal:
    """Passes turns to the writer thread. Reads run here, since SQLite's WAL never blocks a reader."""

    def __init__(self, file: MemoryFile, record_write: OnChange) -> None:
        self.reader = file.reader()
        self._file = file
        self._old_reader: MemoryFile | None = None
        """A reader of the deleted file, kept open for calls in progress on other threads."""
        self._record_write = record_write
        self._jobs: SimpleQueue[_Job | threading.Event | None] = SimpleQueue()
        self._unwritten: set[str] = set()
        self._known_forgettings = 0
        self._forgettings_before = 0
        """The deletions counted in earlier files."""
        self._thread = threading.Thread(target=self._write, name="memory", daemon=True)
        self._thread.start()

    def flush(self) -> None:
        written = threading.Event()
        self._jobs.put(written)
        written.wait(_WRITE_WITHIN_S)

    def close(self) -> None:
        for reader in filter(None, (self._old_reader, self.reader)):
            reader.close()  # first: the last connection must be a writer, or the log is not emptied
        self._jobs.put(None)
        self._thread.join(_WRITE_WITHIN_S)

    def probe(self) -> None:
        self._jobs.put(lambda file: file.probe())

    def write_turn(self, turn: TurnRecord) -> None:
        self._unwritten.add(turn.id)

        def job(file: MemoryFile) -> None:
            try:
                file.add(turn)
            finally:
                self._unwritten.discard(turn.id)

        self._jobs.put(job)

    def amend_turn(self, turn: TurnRecord) -> None:
        self._jobs.put(lambda file: file.amend(turn))

    def write_summary(self, conversation: str, summary: Summary) -> None:
        self._jobs.put(lambda file: file.summarise(conversation, summary))

    def forgettings(self) -> int:
        try:
            self._known_forgettings = self._forgettings_before + self.reader.forgettings()
        except StateError as error:
            self._record_write(error)
        return self._known_forgettings

    def surviving(self, turn_ids: Collection[str]) -> Collection[str]:
        unwritten = set(self._unwritten)  # before the file is read: they may be written in between
        try:
            return self.reader.surviving(turn_ids) | unwritten
        except StateError as error:
            self._record_write(error)
            return unwritten  # turns that may have been deleted are left out

    def _write(self) -> None:
        while (job := self._jobs.get()) is not None:
            if isinstance(job, threading.Event):
                job.set()
                continue
            try:
                if self._file.is_deleted:
                    self._open_new_file()
                job(self._file)
            except StateError as error:  # the disk may be full now and free for the next turn
                self._record_write(error)
            else:
                self._record_write(None)
        self._file.close()

    def _open_new_file(self) -> None:
        """Create a new file because the old one was deleted. Raises StateError.

        Earlier turns are not written again. The current conversation continues.
        """
        path = self._file.path
        file = MemoryFile.open(path.parent)
        log.warning("%s was deleted: created a new one", path)
        error = StateError(f"{path} was deleted: a new one was created", hint="earlier conversations are lost")
        self._record_write(error)
        if self._old_reader is not None:
            self._old_reader.close()
        self._forgettings_before = self._known_forgettings
        self._old_reader, self.reader = self.reader, file.reader()
        self._file.close()
        self._file = file
