"""How long a pause has to be, by the words before it."""

from __future__ import annotations

import pytest

from edgevox.core.types import Transcript
from edgevox.dialogue.turn_completion import TurnCompletion, completion_of, hangovers


def pause(finished: TurnCompletion | None, *, is_transcribing: bool = False, is_ready: bool = True) -> float:
    return hangovers(finished, is_transcribing=is_transcribing, is_ready=is_ready)


def heard(text: str, language: str = "en") -> Transcript:
    return Transcript(text, language, 1.0, dropped=None if text else "no speech")


def test_the_less_is_said_the_longer_it_is_waited_for() -> None:
    assert pause("certain") < pause("whole") < pause("unclear") < pause("unfinished")


def test_words_that_are_not_understood_end_no_sooner_than_whole_ones() -> None:
    assert pause("whole") <= pause(None) < pause("unfinished")


def test_a_short_command_has_never_the_longest_pause() -> None:
    assert pause("certain", is_ready=False) < pause("whole", is_ready=False) < pause("unfinished")


def test_while_nothing_could_be_done_the_person_has_time() -> None:
    assert pause("whole", is_ready=False) > pause("whole", is_ready=True)
    assert pause(None, is_transcribing=True, is_ready=False) > pause(None)


@pytest.mark.parametrize("nothing", [None, heard("schalte das", "de")])
def test_what_is_not_understood_says_nothing(nothing: Transcript | None) -> None:
    assert completion_of(nothing) is None


def test_who_was_not_understood_yet_is_waited_for() -> None:
    assert completion_of(heard("")) == "unfinished"


def test_words_say_whether_they_are_whole() -> None:
    assert completion_of(heard("Turn on the")) == "unfinished"
    assert completion_of(heard("Turn on the lamp.")) == "whole"
