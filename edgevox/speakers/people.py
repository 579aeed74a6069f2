"""The enrolled people: their voice embeddings on disk, and which of them spoke.

The state file is readable by its owner only. With a passphrase the embeddings in it are encrypted (scrypt, AES and
HMAC of the `cryptography` package).
"""

from __future__ import annotations

import base64
import json
import os
import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from edgevox.config.secrets import Secret, read_secret
from edgevox.config.sections import PeopleSettings
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.files import Folders, damaged_files
from edgevox.core.state_file import StateFile, WordStore
from edgevox.core.types import GUEST

PEOPLE_FILE = "people.json"
SENTENCES = (
    "Good morning, please tell me what the weather will be like this afternoon.",
    "Add bread, butter and a dozen eggs to the shopping list for tomorrow.",
    "Turn off all the lights downstairs and wake me at a quarter past seven.",
)
"""What a person reads aloud to be enrolled."""
THRESHOLD = 2.7
"""The least score of an enrolled person (docs/adr/0049-speaker-recognition.md)."""
SAME_VOICE_THRESHOLD = 2.0
"""The least score of two utterances of one voice. It is less than that of a person, enrolled with three sentences."""

_COHORT = Path(__file__).with_name("cohort.npz")
_MOST_PEOPLE = 20
_LEAST_SPREAD = np.float32(0.01)
_LONGEST_NAME = 40
_NAME = re.compile(r"[^\W\d_][\w '.-]*")
_SCRYPT = {"n": 2**14, "r": 8, "p": 1}


class Person(BaseModel):
    """One enrolled person: an embedding of each sentence."""

    model_config = ConfigDict(extra="forbid")

    name: str
    embeddings: list[list[float]]
    added_s: float

    @property
    def embedding(self) -> NDArray[np.float32]:
        """The mean of the embeddings, at length 1."""
        mean = np.mean(np.array(self.embeddings, np.float32), axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)


class _PeopleFile(BaseModel):
    """The file: the people, or with a passphrase their encrypted form and its salt."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    people: list[Person] = Field(default_factory=list)
    salt: str = ""
    sealed: str = ""


_PEOPLE: TypeAdapter[list[Person]] = TypeAdapter(list[Person])


class People:
    """The enrolled people, in a state file or, without a path, in memory."""

    def __init__(self, path: Path | None = None, passphrase: Secret | None = None) -> None:
        self._path = path
        self._file = StateFile(path, _PeopleFile)
        self._passphrase = passphrase
        self._opened: tuple[str, list[Person]] = ("", [])
        """The last sealed content and what it holds: opening takes scrypt's time."""

    @classmethod
    def of(cls, folders: Folders, settings: PeopleSettings) -> People:
        """Raises ConfigError for a passphrase file that is missing or that others can read."""
        path = settings.passphrase_file
        passphrase = read_secret(path) if path else None
        if path and passphrase is None:
            raise ConfigError(
                f"{path} is missing or empty", hint="write the passphrase of people.passphrase_file to it"
            )
        return cls(folders.state / PEOPLE_FILE, passphrase)

    def all(self) -> tuple[Person, ...]:
        """The people by name. Raises StateError, also if the passphrase does not fit or their file was damaged."""
        people = self._read(self._file.read())
        if not people and self._path is not None and not self._path.exists() and (kept := damaged_files(self._path)):
            # As if nobody were enrolled, everybody could do everything.
            raise StateError(
                f"{self._path} was damaged and is kept as {kept[-1].name}",
                hint="restore a backup, enrol again with edgevox people add NAME, or delete that file",
            )
        return tuple(sorted(people, key=lambda person: person.name.casefold()))

    def find(self, name: str) -> Person | None:
        return next((person for person in self.all() if person.name.casefold() == name.casefold()), None)

    def add(self, name: str, embeddings: Sequence[NDArray[np.float32]]) -> Person:
        """Enrol a person, or replace an earlier enrolment. Raises ConfigError and StateError."""
        name = checked_name(name)
        vectors = [[round(float(value), 5) for value in vector] for vector in embeddings]
        person = Person(name=name, embeddings=vectors, added_s=round(time.time(), 1))
        with self._file.changing() as content:
            others = [one for one in self._read(content) if one.name.casefold() != name.casefold()]
            if len(others) >= _MOST_PEOPLE:
                raise ConfigError(f"{_MOST_PEOPLE} people are enrolled already", hint="edgevox people remove NAME")
            self._write(content, [*others, person])
        return person

    def remove(self, name: str) -> bool:
        """Delete a person's embeddings; False if there is no such person. Raises StateError."""
        if self.find(name) is None:
            return False
        with self._file.changing() as content:
            self._write(content, [one for one in self._read(content) if one.name.casefold() != name.casefold()])
        return True

    def _read(self, content: _PeopleFile) -> list[Person]:
        if not content.sealed:
            return content.people
        if self._opened[0] != content.sealed:
            self._opened = content.sealed, _PEOPLE.validate_json(self._unsealed(content))
        return self._opened[1]

    def _write(self, content: _PeopleFile, people: list[Person]) -> None:
        if self._passphrase is None:
            content.people, content.salt, content.sealed = people, "", ""
            return
        # Imported here, as in `_unsealed`: few have a passphrase.
        from cryptography.fernet import Fernet

        content.salt = base64.b64encode(os.urandom(16)).decode()
        key = _key(self._passphrase, content.salt)
        content.sealed = Fernet(key).encrypt(_PEOPLE.dump_json(people)).decode()
        content.people = []

    def _unsealed(self, content: _PeopleFile) -> bytes:
        from cryptography.fernet import Fernet, InvalidToken

        if self._passphrase is None:
            raise StateError(f"{PEOPLE_FILE} is encrypted", hint="set people.passphrase_file to its passphrase")
        try:
            return Fernet(_key(self._passphrase, content.salt)).decrypt(content.sealed)
        except InvalidToken:
            raise StateError(
                f"{PEOPLE_FILE} has another passphrase", hint="correct the file that people.passphrase_file names"
            ) from None


def _key(passphrase: Secret, salt: str) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    kdf = Scrypt(salt=base64.b64decode(salt), length=32, **_SCRYPT)
    return base64.urlsafe_b64encode(kdf.derive(passphrase.reveal().encode()))


def checked_name(name: str) -> str:
    """The name with single spaces. Raises ConfigError."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    # Vowel signs, as of Hindi and Thai, are no word characters to `re`.
    plain = "".join(letter for letter in name if not unicodedata.category(letter).startswith("M"))
    if _NAME.fullmatch(plain) is None or len(name) > _LONGEST_NAME or name.casefold() == GUEST:
        raise ConfigError(f"{name!r} cannot be the name of a person", hint="use a first name, such as Anna")
    return name


def forget_people(path: Path, is_forgotten: Callable[[str], bool]) -> int:
    """Delete the file if everything is to be forgotten; single turns contain no voices. Raises StateError."""
    content = json.dumps("voices")
    if not is_forgotten(content) or not path.exists():
        return 0
    try:
        path.unlink()
    except OSError as error:
        raise StateError(f"{path} cannot be deleted: {error.strerror}", hint="delete it by hand") from error
    return 1


PEOPLE_STORE = WordStore(PEOPLE_FILE, "things", forget_people)


class SpeakerMatcher:
    """Finds the person who spoke, by normalised scores.

    A plain similarity depends on microphone and room. So each is compared with the similarities of that embedding to
    a cohort of other voices (symmetric score normalisation), whose spread is the unit of the score.
    """

    def __init__(self, people: Sequence[Person], threshold: float = THRESHOLD) -> None:
        self._people = people
        self._threshold = threshold

    @cached_property
    def _voices(self) -> NDArray[np.float32]:
        return np.stack([person.embedding for person in self._people])

    def scores(self, embedding: NDArray[np.float32]) -> dict[str, float]:
        """The score of each person."""
        if not self._people:
            return {}
        scores = normalised_scores(self._voices, embedding[None])[:, 0]
        return {person.name: float(score) for person, score in zip(self._people, scores, strict=True)}

    def match(self, embedding: NDArray[np.float32]) -> str:
        """The name of the person, GUEST for another voice, "" without an embedding."""
        if not len(embedding):
            return ""
        scores = self.scores(embedding)
        best = max(scores, key=scores.__getitem__, default=GUEST)
        return best if scores.get(best, -np.inf) >= self._threshold else GUEST


def is_same_voice(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether two utterances have the same voice, by their embeddings."""
    return bool(normalised_scores(one[None], other[None])[0, 0] >= SAME_VOICE_THRESHOLD)


def normalised_scores(
    ones: NDArray[np.float32], others: NDArray[np.float32], cohort: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """The scores of every pair of two sets of embeddings, one row for each of `ones`."""
    cohort = _cohort() if cohort is None else cohort
    similarities = ones @ others.T
    (mean_ones, spread_ones), (mean_others, spread_others) = (_statistics(set_, cohort) for set_ in (ones, others))
    by_ones = (similarities - mean_ones[:, None]) / spread_ones[:, None]
    by_others = (similarities - mean_others[None]) / spread_others[None]
    return np.asarray((by_ones + by_others) / 2, np.float32)


def _statistics(
    embeddings: NDArray[np.float32], cohort: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    similarities = embeddings @ cohort.T
    return similarities.mean(axis=1), np.maximum(similarities.std(axis=1), _LEAST_SPREAD)


@lru_cache(maxsize=1)
def _cohort() -> NDArray[np.float32]:
    with np.load(_COHORT) as stored:
        return np.asarray(stored["embeddings"], np.float32)
