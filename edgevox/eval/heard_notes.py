"""What was heard, kept in a file: speaking and hearing a suite takes hours, asking a model minutes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from edgevox.errors import ConfigError, StateError


@dataclass(frozen=True, slots=True)
class Heard:
    """What the recogniser wrote, and how sure it was; older notes do not say that."""

    text: str
    confidence: float | None


class _Note(BaseModel):
    key: str
    said: str
    heard: str
    confidence: float | None = None


class HeardNotes:
    """Notes in a file that grows line by line; without a path none are kept. Raises ConfigError."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._notes: dict[tuple[str, str], Heard] = {}
        if path is None or not path.exists():
            return
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                note = _Note.model_validate_json(line)
                self._notes[note.key, note.said] = Heard(note.heard, note.confidence)
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} holds no notes of what was heard", hint="name another file") from error

    def heard(self, key: str, said: str) -> Heard | None:
        """What was heard when `said` was said under the conditions of `key`, if that is known."""
        return self._notes.get((key, said))

    def keep(self, key: str, said: str, heard: Heard) -> None:
        """Raises StateError when the file cannot be written."""
        self._notes[key, said] = heard
        if self._path is None:
            return
        note = _Note(key=key, said=said, heard=heard.text, confidence=heard.confidence)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(note.model_dump_json() + "\n")
        except OSError as error:
            raise StateError(
                f"{self._path} cannot be written: {error.strerror}", hint="choose another file"
            ) from error
