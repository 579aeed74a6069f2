"""What a recogniser is asked, and what is made of its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import numpy as np
import pytest

from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, TranscribeRequest, Transcript
from edgevox.dialogue import Transcriber
from edgevox.home.entities import Entity, House
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.resolve.name_correction import correct_entity_names
from edgevox.home.rules.languages.reader import likeliest_request
from edgevox.home.rules.languages.templates import names_of

SOUND = Audio(np.zeros(1600, np.float32), 16_000)


class Listener:
    def __init__(self, writes: str = "hello", language: str = "en", alternatives: tuple[str, ...] = ()) -> None:
        self._writes = writes
        self._language = language
        self._alternatives = alternatives
        self.requests: list[TranscribeRequest] = []

    async def stream(self, request: TranscribeRequest, _cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        self.requests.append(request)
        yield Transcript(
            self._writes,
            self._language,
            request.audio.duration_s,
            confidence=0.2 if self._alternatives else 1.0,
            alternatives=self._alternatives,
        )


async def test_the_names_of_a_house_that_changed_prime_the_next_utterance() -> None:
    names = ["Desk Lamp"]
    listener = Listener()
    transcriber = Transcriber(listener, language="en", names=lambda: tuple(names))
    await transcriber.transcribe(SOUND, CancelFlag())
    names[:] = ["Moon Lamp"]
    await transcriber.transcribe(SOUND, CancelFlag())
    assert [request.names for request in listener.requests] == [("Desk Lamp",), ("Moon Lamp",)]


async def test_a_misheard_name_that_did_not_prime_the_recogniser_is_put_right() -> None:
    listener = Listener("Turn on the desk ramp.")
    transcriber = Transcriber(
        listener, names=lambda: ("Anna",), correct=lambda text: correct_entity_names(text, ("Desk Lamp",))
    )
    heard = await transcriber.transcribe(SOUND, CancelFlag())
    assert heard == Transcript("Turn on the Desk Lamp.", "en", SOUND.duration_s)
    assert listener.requests[0].names == ("Anna",)


async def test_another_language_is_not_put_right_by_english_ears() -> None:
    transcriber = Transcriber(
        Listener("die Desk Ramp", "de"), correct=lambda text: correct_entity_names(text, ("Desk Lamp",))
    )
    assert (await transcriber.transcribe(SOUND, CancelFlag())).text == "die Desk Ramp"


@pytest.mark.parametrize(
    ("language", "chosen", "confidence"),
    [("de", "Mach den Fernseher aus.", 0.75), ("en", "Nachgeht Fernseher aus.", 0.2)],
)
async def test_an_unsure_transcript_is_read_as_a_request_to_this_home(
    language: str, chosen: str, confidence: float
) -> None:
    """In English the recogniser itself has rescored the hypotheses."""
    listener = Listener("Nachgeht Fernseher aus.", language, ("Nacht geht aus.", "Mach den Fernseher aus."))
    names = names_of(House((Entity("media_player.1", "Fernseher", "media_player", "on"),)))
    transcriber = Transcriber(
        listener, likeliest=lambda texts, language: likeliest_request(texts, language, names, known_tools())
    )
    heard = await transcriber.transcribe(SOUND, CancelFlag())
    assert heard.text == chosen
    assert heard.confidence == pytest.approx(confidence)
