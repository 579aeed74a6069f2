"""The memory of conversations: loads what is recent, and writes every turn from a thread of its own.

A turn costs an fsync, which may take a second on a memory card: the event loop, which the sound depends on,
must not wait for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
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
"""Told, from any thread, of what goes wrong, and with None that it is well again."""


class ConversationStore:
    """All conversations. Where nothing can be kept they work just the same, and end with the process.

    `problem` is the first thing that is wrong, if any; a full disk is so until there is room again. Close
    it, so that the last turn is written.
    """

    def __init__(
        self,
        settings: MemorySettings,
        *,
        clock: Clock = time.time,
        on_change: OnChange = lambda _problem: None,
    ) -> None:
        """A store without a file; `open` makes one that lasts."""
        self.problem: StateError | None = None
        self._may_pass = False
        """Whether the problem is over as soon as something can be written."""
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
        """Open the memory in the state folder, and delete what is too old there and in the files of `stores`.

        Blocks for milliseconds.
        """
        store = cls(settings, clock=clock, on_change=on_change)
        try:
            if settings.enabled:
                store._open(folder)
            forget_expired(folder, settings.retention_days, clock(), stores)
        except StateError as error:
            store._report(error)
        return store

    def conversation(self, name: str = "default", *, max_turns: int | None = None) -> Conversation:
        """The conversation of that name; it goes on where it was, unless it ended too long ago.

        The model is told of `max_turns` of it where that is less than the settings say.
        """
        if name not in self._conversations:
            settings = self._settings
            if max_turns is not None and max_turns < settings.max_turns:
                settings = settings.model_copy(update={"max_turns": max_turns})
            turns, summary = self._recent(name, settings.max_turns)
            self._conversations[name] = Conversation(
                name,
                settings=settings,
                clock=self._clock,
                journal=self._journal,
                turns=turns,
                summary=summary,
            )
        return self._conversations[name]

    def try_again(self) -> None:
        """Find out whether what went wrong is over. Returns at once."""
        if self._journal and self._may_pass:
            self._journal.probe()

    def flush(self) -> None:
        """Wait until what has been kept is on the disk, or the disk takes too long. Blocks."""
        if self._journal:
            self._journal.flush()

    def close(self) -> None:
        """Write what is still to be written, within the same bound. Blocks."""
        if self._journal:
            self._journal.close()

    def __enter__(self) -> ConversationStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, folder: Path) -> None:
        file = MemoryFile.open(folder)
        if file.set_aside:
            self._report(
                StateError(
                    f"{file.path} was broken: it is kept as {file.set_aside}, and a new one was begun",
                    hint="edgevox forget --all deletes both",
                )
            )
        self._journal = _FileJournal(file, file.reader(), self._write_ended)

    def _recent(self, name: str, max_turns: int) -> tuple[tuple[TurnRecord, ...], Summary | None]:
        """What a conversation goes on from: the turns since its last long silence."""
        if self._journal is None:
            return (), None
        silence_s = self._settings.continue_minutes * 60
        try:
            turns, summary = self._journal.reader.last_turns(name, max_turns)
            recent: list[TurnRecord] = []
            next_s = self._clock()
            for turn in reversed(turns):
                if abs(next_s - turn.at_s) > silence_s:
                    return tuple(recent), None
                recent.insert(0, turn)
                next_s = turn.at_s
            summarised_s = self._journal.reader.at_s(summary.last_id) if summary else None
        except StateError as error:
            self._report(error)
            return (), None
        goes_on = summarised_s is not None and abs(next_s - summarised_s) <= silence_s
        return tuple(recent), summary if goes_on else None

    def _report(self, error: StateError) -> None:
        if self.problem is None:
            self.problem = error
            self._on_change(error)

    def _write_ended(self, error: StateError | None) -> None:
        """Something was written, or could not be."""
        if error is not None:
            self._may_pass = self._may_pass or self.problem is None
            self._report(error)
        elif self._may_pass:
            self._may_pass = False
            self.problem = None
            self._on_change(None)


class _FileJournal:
    """Hands turns to the thread that alone writes; reads, which never wait in SQLite's WAL, are done here."""

    def __init__(self, file: MemoryFile, reader: MemoryFile, write_ended: OnChange) -> None:
        self.reader = reader
        self._file = file
        self._old_reader: MemoryFile | None = None
        """Of the file that was deleted: whoever uses it in this moment may end."""
        self._write_ended = write_ended
        self._jobs: SimpleQueue[_Job | threading.Event | None] = SimpleQueue()
        self._unwritten: set[str] = set()
        self._known_forgettings = 0
        self._forgettings_before = 0
        """Those of the files before this one."""
        self._thread = threading.Thread(target=self._write, name="memory", daemon=True)
        self._thread.start()

    def flush(self) -> None:
        written = threading.Event()
        self._jobs.put(written)
        written.wait(_WRITE_WITHIN_S)

    def close(self) -> None:
        for reader in filter(None, (self._old_reader, self.reader)):
            reader.close()  # first: only a connection that may write can empty the log when it is the last
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
            self._write_ended(error)
        return self._known_forgettings

    def surviving(self, turn_ids: Collection[str]) -> Collection[str]:
        unwritten = set(self._unwritten)  # before the file: in between they are written
        try:
            return self.reader.surviving(turn_ids) | unwritten
        except StateError as error:
            self._write_ended(error)
            return unwritten  # what may have been deleted is not told again

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
                self._write_ended(error)
            else:
                self._write_ended(None)
        self._file.close()

    def _open_new_file(self) -> None:
        """Somebody has deleted the file: what is said from now on is kept in another. Raises StateError.

        What was in it is not written again. The conversation that is under way goes on.
        """
        path = self._file.path
        file = MemoryFile.open(path.parent)
        log.warning("%s was deleted: it is begun anew", path)
        self._write_ended(StateError(f"{path} was deleted: it is begun anew", hint="what was said before is gone"))
        if self._old_reader is not None:
            self._old_reader.close()
        self._forgettings_before = self._known_forgettings
        self._old_reader, self.reader = self.reader, file.reader()
        self._file.close()
        self._file = file
