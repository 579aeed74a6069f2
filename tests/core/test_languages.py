"""Language codes: all of Whisper's, and suggestions for unknown ones; the phrases of each reply language."""

from __future__ import annotations

from typing import get_args

import pytest
from faster_whisper.tokenizer import _LANGUAGE_CODES

from edgevox.core.languages import LANGUAGES, all_phrases, checked_language
from edgevox.dialogue.builtin_commands import BuiltinCommand, plain_words


def test_the_languages_are_those_of_whisper() -> None:
    assert set(LANGUAGES) == set(_LANGUAGE_CODES)
    assert all(LANGUAGES.values())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("DE", "de"), ("German", "de"), ("ger", "de"), ("deu", "de"), ("de-AT", "de"), ("germna", "de")),
        *(("en_US", "en"), ("eng", "en"), ("spa", "es"), ("fra", "fr"), ("Haitian", "ht")),
    ],
)
def test_the_nearest_language_is_suggested(written: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean {meant} "):
        checked_language(written)


@pytest.mark.parametrize("written", ["xx", "klingon", "", "…"])
def test_a_distant_name_gets_no_suggestion(written: str) -> None:
    with pytest.raises(ValueError, match="use a code such as"):
        checked_language(written)


def test_phrases_are_written_as_they_are_compared() -> None:
    assert all_phrases().keys() <= LANGUAGES.keys()
    for code, own in all_phrases().items():
        commands = [phrase for phrases in own.commands.values() for phrase in phrases]
        understood = (*own.yes, *own.no, *own.polite, *own.idioms, *own.command_polite, *commands)
        assert own.commands.keys() <= {*get_args(BuiltinCommand)}, code
        assert [phrase for phrase in understood if phrase != " ".join(plain_words(phrase))] == [], code
        assert own.filler, code
        assert own.sound_check, code
        assert own.ready, code
        assert own.yes, code
        assert not {*own.yes} & {*own.no}, code
