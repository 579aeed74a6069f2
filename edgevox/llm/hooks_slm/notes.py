"""What a hook remembers of one turn: hooks are shared by turns, so it lives in the turn's notes."""

from __future__ import annotations

from typing import TypeVar

from edgevox.hooks import Hook, Run

NoteT = TypeVar("NoteT")


def kept(run: Run, hook: Hook, kind: type[NoteT]) -> NoteT:
    """The hook's own note of this turn, made when it is first asked for."""
    note = run.notes.setdefault(hook.name, kind())
    assert isinstance(note, kind)
    return note
