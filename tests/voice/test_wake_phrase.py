"""A phrase at the beginning of what was heard."""

from __future__ import annotations

import pytest

from edgevox.errors import ConfigError
from edgevox.turn import CancelFlag
from edgevox.types import Audio
from edgevox.voice import Hearing
from edgevox.voice.wake_phrase import NOT_CALLED, ONLY_CALLED, CalledHearing, WakePhrase
from edgevox.voice.wakefulness import Wakefulness
from tests.voice.recogniser import Recogniser
from tests.voice.sounds import voiced


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
def test_what_follows_the_phrase_is_the_command(phrase: str, text: str, rest: str | None) -> None:
    assert WakePhrase(phrase).rest_of(text) == rest


def test_the_threshold_says_how_like_it_must_be() -> None:
    heard = "Hey Jervus, good morning"
    assert WakePhrase("hey jarvis", "strict").rest_of(heard) is None
    assert WakePhrase("hey jarvis", "eager").rest_of(heard) == "good morning"
    assert WakePhrase("hey jarvis", 0.99).rest_of("Hey Jarvis, go") == "go"
    assert WakePhrase("hey jarvis", 0.99).rest_of(heard) is None


def test_a_phrase_has_to_be_one() -> None:
    with pytest.raises(ConfigError):
        WakePhrase("…!")


SOUND = Audio(voiced(1.0), 16_000)


def hearing(wakefulness: Wakefulness, *lines: str) -> CalledHearing:
    return CalledHearing(Hearing(Recogniser(list(lines))), WakePhrase("computer"), wakefulness)


async def test_nothing_is_heard_of_what_others_say() -> None:
    wakefulness = Wakefulness("phrase")
    heard = await hearing(wakefulness, "I told her that it was over.").transcribe(SOUND, CancelFlag())
    assert (heard.text, heard.dropped) == ("", NOT_CALLED)
    assert not wakefulness.is_awake


async def test_the_phrase_wakes_it_and_is_no_part_of_the_command() -> None:
    wakefulness = Wakefulness("phrase")
    ear = hearing(wakefulness, "Computer, stop.", "and turn off the light")
    assert (await ear.transcribe(SOUND, CancelFlag())).text == "stop."
    assert wakefulness.is_awake
    assert (await ear.transcribe(SOUND, CancelFlag())).text == "and turn off the light"


async def test_the_phrase_alone_is_no_command() -> None:
    wakefulness = Wakefulness("phrase")
    heard = await hearing(wakefulness, "Computer?").transcribe(SOUND, CancelFlag())
    assert (heard.text, heard.dropped) == ("", ONLY_CALLED)
    assert wakefulness.is_awake


async def test_where_nobody_spoke_nobody_called() -> None:
    heard = await hearing(Wakefulness("phrase"), "").transcribe(SOUND, CancelFlag())
    assert heard.dropped == "no speech"


async def test_muted_it_is_not_woken_by_what_was_said_before() -> None:
    wakefulness = Wakefulness("phrase")
    ear = hearing(wakefulness, "Computer, stop.")
    wakefulness.mute()
    await ear.transcribe(SOUND, CancelFlag())
    wakefulness.unmute()
    assert not wakefulness.is_awake
