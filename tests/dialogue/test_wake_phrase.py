"""A phrase at the beginning of what was heard."""

from __future__ import annotations

import pytest

from edgevox.audio.wake_gate import WakeState
from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.dialogue import Transcriber
from edgevox.dialogue.transcriber import (
    NO_WAKE_PHRASE,
    WAKE_PHRASE_ONLY,
    WakePhrase,
    WakePhraseFilter,
    WakeWordConfirmer,
)
from tests.audio.test_wake_state import SILENCE, FakeSpotter
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.sounds import voiced


@pytest.mark.parametrize(
    ("phrase", "text", "rest"),
    [
        ("computer", "Computer, turn on the light.", "turn on the light."),
        ("computer", "Computer. Turn on the light.", "Turn on the light."),
        ("computer", "Computer!", ""),
        ("Computer", " compute her, what time is it?", "what time is it?"),
        ("computer", "Hey computer, stop", "stop"),
        ("hey house", "Hey, House: open the door", "open the door"),
        ("hey jarvis", "Hey Jarves, good morning", "good morning"),
        ("okay nabu", "OK Nabu, turn on the light", "turn on the light"),
        ("okay nabu", "Okay, nah boo, turn on the light", "turn on the light"),
        ("hey jarvis", "Hey Jarvis, I am home", "I am home"),
        ("okay nabu", "Okay, now turn on the light", None),
        ("computer", "The computer is slow today", None),
        ("computer", "I bought a new computer", None),
        ("computer", "Compare the two", None),
        ("computer", "", None),
        ("computer", "…", None),
    ],
)
def test_the_text_after_the_wake_phrase_is_the_command(phrase: str, text: str, rest: str | None) -> None:
    assert WakePhrase(phrase).rest_of(text) == rest


def test_the_threshold_sets_the_required_similarity() -> None:
    heard = "Hey Jervus, good morning"
    assert WakePhrase("hey jarvis", "strict").rest_of(heard) is None
    assert WakePhrase("hey jarvis", "eager").rest_of(heard) == "good morning"
    assert WakePhrase("hey jarvis", 0.99).rest_of("Hey Jarvis, go") == "go"
    assert WakePhrase("hey jarvis", 0.99).rest_of(heard) is None


def test_a_wake_phrase_without_words_is_refused() -> None:
    with pytest.raises(ConfigError):
        WakePhrase("…!")


SOUND = Audio(voiced(1.0), 16_000)


def transcriber(wake_state: WakeState, *lines: str) -> WakePhraseFilter:
    return WakePhraseFilter(Transcriber(FakeStt(list(lines))), WakePhrase("computer"), wake_state)


async def test_speech_without_the_wake_phrase_is_dropped() -> None:
    wake_state = WakeState("phrase")
    heard = await transcriber(wake_state, "I told her that it was over.").transcribe(SOUND, CancelFlag())
    assert (heard.text, heard.dropped) == ("", NO_WAKE_PHRASE)
    assert not wake_state.is_awake


async def test_the_wake_phrase_wakes_and_is_removed_from_the_command() -> None:
    wake_state = WakeState("phrase")
    audio_source = transcriber(wake_state, "Computer, stop.", "and turn off the light")
    assert (await audio_source.transcribe(SOUND, CancelFlag())).text == "stop."
    assert wake_state.is_awake
    assert (await audio_source.transcribe(SOUND, CancelFlag())).text == "and turn off the light"


async def test_the_wake_phrase_alone_is_not_a_command() -> None:
    wake_state = WakeState("phrase")
    heard = await transcriber(wake_state, "Computer?").transcribe(SOUND, CancelFlag())
    assert (heard.text, heard.dropped) == ("", WAKE_PHRASE_ONLY)
    assert wake_state.is_awake


async def test_silence_does_not_wake() -> None:
    heard = await transcriber(WakeState("phrase"), "").transcribe(SOUND, CancelFlag())
    assert heard.dropped == "no speech"


async def test_speech_from_before_muting_does_not_wake() -> None:
    wake_state = WakeState("phrase")
    audio_source = transcriber(wake_state, "Computer, stop.")
    wake_state.mute()
    await audio_source.transcribe(SOUND, CancelFlag())
    wake_state.unmute()
    assert not wake_state.is_awake


@pytest.mark.parametrize(
    ("text", "is_in"),
    [
        ("Javas.", True),
        ("and then, Jarvis, we go", True),
        ("Jar, of his", True),
        ("Dogs are sick.", False),
        ("", False),
    ],
)
def test_a_wake_word_is_confirmed_by_words_that_sound_like_it(text: str, is_in: bool) -> None:
    assert WakePhrase("jarvis").is_in(text) == is_in


def confirmed(*script: str | EngineFailed) -> tuple[WakeState, WakePhraseFilter]:
    """A wake word that has just been detected, and how the STT reads it and what follows."""
    wake_state, phrase = WakeState("word", FakeSpotter(at=(1,))), WakePhrase("jarvis")
    stt = Transcriber(FakeStt([*script]))
    filtered = WakePhraseFilter(stt, phrase, wake_state, WakeWordConfirmer(stt, phrase, wake_state))
    wake_state.feed(SILENCE, is_engaged=False, is_in_speech=False)
    assert wake_state.is_awake
    return wake_state, filtered


async def test_a_command_after_a_confirmed_word_is_heard() -> None:
    wake_state, filtered = confirmed("Jarvis.", "turn on the light")
    assert (await filtered.transcribe(SOUND, CancelFlag())).text == "turn on the light"
    assert wake_state.is_awake


async def test_a_command_after_another_word_is_dropped_and_it_sleeps_again() -> None:
    wake_state, filtered = confirmed("Dogs are sick.", "turn on the light")
    heard = await filtered.transcribe(SOUND, CancelFlag())
    assert (heard.text, heard.dropped) == ("", NO_WAKE_PHRASE)
    assert not wake_state.is_awake


async def test_a_key_still_wakes_it_after_a_word_that_was_not_confirmed() -> None:
    wake_state, filtered = confirmed("Dogs are sick.", "turn on the light")
    await filtered.transcribe(SOUND, CancelFlag())
    wake_state.talk()
    assert (await filtered.transcribe(SOUND, CancelFlag())).text == "turn on the light"


async def test_a_word_that_cannot_be_read_counts_as_confirmed() -> None:
    wake_state, filtered = confirmed(EngineFailed("the STT engine died"), "turn on the light")
    assert (await filtered.transcribe(SOUND, CancelFlag())).text == "turn on the light"
    assert wake_state.is_awake
