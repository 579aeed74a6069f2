"""Confirmation answers: who may grant them, through which channels, and what counts as no."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import numpy as np
import pytest

from edgevox.agents.tool_loop import Agreement
from edgevox.audio.files import WavMicrophone
from edgevox.config import AudioSettings
from edgevox.core.errors import DeviceUnavailable, ToolDenied
from edgevox.core.events import AnswerHeard, Event
from edgevox.core.turn import Turn
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, ToolCall
from edgevox.dialogue import Synthesizer, Transcriber
from edgevox.dialogue.confirm import AnswerListener, ConfirmationDialog, Intercom
from edgevox.testing import MemorySpeaker, ToneSynthesizer
from edgevox.tools.calls import resolve_call
from edgevox.tools.policy import LOCAL, Caller, Channel, PendingConfirmation
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.sounds import silent, voiced

BOUND_S = 10
BY_KEYBOARD = Agreement(granted=True, channel="keyboard")


def pending(**changes: object) -> PendingConfirmation:
    question = PendingConfirmation(
        token="token",
        resolved=resolve_call(ToolCall("1", "turn_off", "{}"), None),
        question="Unlock the front door?",
        level="voice",
        origin=LOCAL,
        turn_id="turn",
        expires_s=time.monotonic() + BOUND_S,
    )
    return replace(question, **changes)  # type: ignore[arg-type]  # the fields of PendingConfirmation


class Person:
    """Hears every question to its end and then says the next line; None is silence."""

    def __init__(self, *lines: str | None, channels: frozenset[Channel] = frozenset({"voice"})) -> None:
        self.events: list[Event] = []
        self.confirmation = ConfirmationDialog(self.events.append, channels=channels)
        self.said_to_me: list[str] = []
        self._lines = list(lines)

    async def hear(self, text: str) -> None:
        assert self.confirmation.listening is None, "it listens while it speaks"
        self.said_to_me.append(text)

    async def answers(self, question: PendingConfirmation, turn: Turn | None = None) -> Agreement:
        speaking = asyncio.create_task(self._speak())
        try:
            async with asyncio.timeout(BOUND_S):
                with self.confirmation.speaking(self.hear):
                    return await self.confirmation(question, turn or Turn())
        finally:
            speaking.cancel()
            assert self.confirmation.open is None

    async def _speak(self) -> None:
        answered: AnswerListener | None = None
        while True:
            await self.confirmation.until_listening()
            if (listening := self.confirmation.listening) is not answered and listening and self._lines:
                answered = listening
                line = self._lines.pop(0)
                listening.hear(line)
            await asyncio.sleep(0)


async def test_a_clear_yes_grants() -> None:
    person = Person("Yes, please.")
    agreement = await person.answers(pending())
    assert (agreement.granted, agreement.by, agreement.channel) == (True, LOCAL, "voice")
    assert person.said_to_me == ["Unlock the front door?"]
    assert [(e.text, e.answer) for e in person.events if isinstance(e, AnswerHeard)] == [("Yes, please.", "yes")]


async def test_no_denies_and_is_not_asked_again() -> None:
    person = Person("No.")
    agreement = await person.answers(pending())
    assert (agreement.granted, agreement.why) == (False, "the user said no")
    assert len(person.said_to_me) == 1


@pytest.mark.parametrize("doubtful", ["Yes, but not now", "I guess", "Yeah, no", "", "Sure?", "Who is there"])
async def test_an_unclear_answer_is_asked_again_once_then_denied(doubtful: str) -> None:
    person = Person(doubtful, "Hm, well", "Yes.")
    agreement = await person.answers(pending())
    assert (agreement.granted, agreement.why) == (False, "the answer was not a clear yes")
    assert person.said_to_me == ["Unlock the front door?", "Please say yes or no. Unlock the front door?"]


async def test_a_clear_yes_to_the_repeated_question_grants() -> None:
    assert (await Person("Hm.", "Yes.").answers(pending())).granted


@pytest.mark.parametrize("lines", [(None,), ("Hm.", None)])
async def test_silence_denies(lines: tuple[str | None, ...]) -> None:
    agreement = await Person(*lines).answers(pending())
    assert (agreement.granted, agreement.why) == (False, "no answer came in time")


class Unheard(Person):
    async def hear(self, text: str) -> None:
        raise DeviceUnavailable(f"nothing plays {text}")


async def test_a_question_that_cannot_be_spoken_is_denied_unless_another_channel_answers() -> None:
    agreement = await Unheard().answers(pending())
    assert (agreement.granted, agreement.why) == (False, "nobody could be asked")
    person = Unheard(channels=frozenset({"voice", "keyboard"}))
    answering = asyncio.create_task(person.answers(pending()))
    for _ in range(5):
        await asyncio.sleep(0)
    assert person.confirmation.open is not None
    person.confirmation.open.answer(BY_KEYBOARD)
    assert (await answering).granted


async def test_the_microphone_may_be_back_for_the_next_question() -> None:
    said = Audio(np.concatenate([silent(0.3), voiced(0.6)]), SAMPLE_RATE_HZ)
    microphones = [WavMicrophone(said)]
    missing = [DeviceUnavailable("there is no microphone")]

    def microphone() -> WavMicrophone:
        if missing:
            raise missing.pop()
        return microphones.pop()

    confirmation = ConfirmationDialog()
    intercom = Intercom(
        Synthesizer(ToneSynthesizer()), MemorySpeaker(), Transcriber(FakeStt(["yes"])), microphone, AudioSettings()
    )
    async with asyncio.timeout(BOUND_S), intercom.answering(confirmation):
        assert (await confirmation(pending(), Turn())).why == "no answer came in time"
        assert (await confirmation(pending(), Turn())).granted


async def test_an_expired_question_is_denied() -> None:
    agreement = await Person().answers(pending(expires_s=time.monotonic() + 0.05))
    assert (agreement.granted, agreement.why) == (False, "no answer came in time")


async def test_without_channels_no_question_is_asked() -> None:
    person = Person(channels=frozenset())
    agreement = await person.answers(pending())
    assert (agreement.granted, agreement.why) == (False, "nobody could be asked")
    assert person.said_to_me == []


async def test_a_cancelled_turn_ends_the_question() -> None:
    person, turn = Person(), Turn()
    confirmation = asyncio.create_task(person.answers(pending(), turn))
    async with asyncio.timeout(BOUND_S):
        await person.confirmation.until_listening()
        turn.cancel.set()
        agreement = await confirmation
    assert (agreement.granted, agreement.why) == (False, "the turn was cancelled")
    turn.cancel.set()  # the microphone is closed


async def test_a_turn_that_is_cancelled_already_asks_nothing() -> None:
    turn = Turn()
    turn.cancel.set()
    assert not (await Person("Yes.").answers(pending(), turn)).granted


async def test_the_first_answer_counts() -> None:
    person = Person(channels=frozenset({"voice", "keyboard"}))
    confirmation = asyncio.create_task(person.answers(pending()))
    async with asyncio.timeout(BOUND_S):
        await person.confirmation.until_listening()
        question, listening = person.confirmation.open, person.confirmation.listening
        assert question is not None
        assert listening is not None
        assert question.answer(Agreement(granted=False, channel="keyboard", why="typed"))
        listening.hear("Yes.")
        assert not question.answer(BY_KEYBOARD)
        agreement = await confirmation
    assert (agreement.granted, agreement.why) == (False, "typed")


async def answered_elsewhere(question: PendingConfirmation, *answers: Agreement) -> Agreement:
    """What comes of answers on the keyboard or through the API; one that is denied leaves it open."""
    person = Person(channels=frozenset({"voice", "api"}))
    confirmation = asyncio.create_task(person.answers(question))
    async with asyncio.timeout(BOUND_S):
        await person.confirmation.until_listening()
        assert person.confirmation.open is not None
        for answer in answers[:-1]:
            with pytest.raises(ToolDenied):
                person.confirmation.open.answer(answer)
        person.confirmation.open.answer(answers[-1])
        return await confirmation


async def test_a_client_neither_confirms_its_own_call_nor_keeps_others_from_it() -> None:
    page = Caller("page", frozenset({"act", "confirm"}))
    phone = Caller("phone", frozenset({"confirm"}))
    agreement = await answered_elsewhere(
        pending(origin=page),
        Agreement(granted=True, by=page, channel="api"),
        Agreement(granted=True, by=phone, channel="api"),
    )
    assert agreement.by == phone


async def test_a_caller_without_the_right_can_neither_grant_nor_deny() -> None:
    stranger = Caller("stranger", frozenset({"act"}))
    agreement = await answered_elsewhere(
        pending(),
        Agreement(granted=True, by=stranger, channel="api"),
        Agreement(granted=False, by=stranger, channel="api"),
        BY_KEYBOARD,
    )
    assert agreement.granted


async def test_the_caller_may_withdraw_its_own_call() -> None:
    page = Caller("page", frozenset({"act"}))
    took_back = Agreement(granted=False, by=page, channel="api", why="taken back")
    assert (await answered_elsewhere(pending(origin=page), took_back)).why == "taken back"


# --- more than a voice


async def test_a_screen_confirmation_is_denied_if_voice_is_the_only_channel() -> None:
    person = Person("Yes.")
    agreement = await person.answers(pending(level="screen"))
    assert (agreement.granted, agreement.why) == (False, "this needs more than a spoken yes")
    assert person.said_to_me == ["Unlock the front door? A spoken yes is not enough for that, so I leave it."]


async def test_a_spoken_yes_does_not_grant_a_screen_confirmation() -> None:
    person = Person("Yes.", "Yes.", channels=frozenset({"voice", "keyboard"}))
    agreement = await person.answers(pending(level="screen", expires_s=time.monotonic() + 0.3))
    assert (agreement.granted, agreement.why) == (False, "no answer came in time")
    assert person.said_to_me == [
        "Unlock the front door? I need your answer on the screen for that.",
        "I need your answer on the screen for that.",
    ]


async def test_a_spoken_no_counts_everywhere() -> None:
    person = Person("No!", channels=frozenset({"voice", "keyboard"}))
    assert (await person.answers(pending(level="screen"))).why == "the user said no"


async def test_the_keyboard_is_enough_for_the_screen() -> None:
    assert (await answered_elsewhere(pending(level="screen"), BY_KEYBOARD)).granted


async def test_a_yes_given_before_grants_the_same_question_of_its_turn_only() -> None:
    dialog, turn = ConfirmationDialog(), Turn()
    with dialog.agreed(turn, "Unlock the front door?"):
        assert (await dialog(pending(), turn)).granted
        assert not (await dialog(pending(question="Open the garage door?"), turn)).granted
        assert not (await dialog(pending(level="screen"), turn)).granted
        assert not (await dialog(pending(), Turn())).granted
    assert not (await dialog(pending(), turn)).granted
