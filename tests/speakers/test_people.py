"""The enrolled people: who is recognised, what is on the disk, and what `forget` leaves."""

from __future__ import annotations

import json
import re
import stat
import unicodedata
from pathlib import Path

import pytest

from edgevox.agents.forget import forget_all, forget_since
from edgevox.config.secrets import Secret
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.types import GUEST
from edgevox.speakers.people import PEOPLE_FILE, PEOPLE_STORE, People, SpeakerMatcher
from tests.speakers.voices import voice


def test_a_voice_is_recognised_and_another_one_is_a_guest() -> None:
    people = People()
    people.add("Anna", [voice(1)])
    people.add("Ben", [voice(2)])
    matcher = SpeakerMatcher(people.all())
    assert (matcher.match(voice(1)), matcher.match(voice(2)), matcher.match(voice(3))) == ("Anna", "Ben", GUEST)
    assert matcher.match(voice(1)[:0]) == "", "too little speech is not a guest"


def test_people_are_kept_for_the_owner_only_and_enrolled_once(tmp_path: Path) -> None:
    path = tmp_path / PEOPLE_FILE
    People(path).add("Anna", [voice(1)])
    People(path).add("anna", [voice(2), voice(3)])
    (kept,) = People(path).all()
    assert (kept.name, len(kept.embeddings)) == ("anna", 2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["checksum"]
    assert People(path).remove("ANNA")
    assert not People(path).remove("Anna")


@pytest.mark.parametrize("name", ["José", "अनिता", "O'Brien", "Anna-Lena", "x" * 40])
def test_names_of_any_script_are_kept_in_one_form(name: str) -> None:
    people = People()
    people.add(unicodedata.normalize("NFD", name), [voice(1)])
    assert people.find(name)


@pytest.mark.parametrize("name", ["", "guest", "Guest", "../x", "7", "x" * 41])
def test_names_that_would_be_mistaken_are_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        People().add(name, [voice(1)])


def test_with_a_passphrase_nothing_can_be_read_without_it(tmp_path: Path) -> None:
    path = tmp_path / PEOPLE_FILE
    People(path).add("Ben", [voice(2)])
    People(path, Secret("open sesame")).add("Anna", [voice(1)])
    assert not {"Anna", "Ben"} & set(re.findall(r"\w+", path.read_text()))
    assert [person.name for person in People(path, Secret("open sesame")).all()] == ["Anna", "Ben"]
    for passphrase in (None, Secret("wrong")):
        with pytest.raises(StateError):
            People(path, passphrase).all()


def test_forget_all_deletes_the_voices_and_forgetting_turns_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / PEOPLE_FILE
    People(path).add("Anna", [voice(1)])
    forget_since(tmp_path, 0.0, (PEOPLE_STORE,))
    assert People(path).all()
    assert forget_all(tmp_path, (PEOPLE_STORE,))
    assert not path.exists()
