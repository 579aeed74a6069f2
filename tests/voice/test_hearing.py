"""What a recogniser is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import numpy as np

from edgevox.turn import CancelFlag
from edgevox.types import Audio, TranscribeRequest, Transcript
from edgevox.voice import Hearing


class Listener:
    def __init__(self) -> None:
        self.requests: list[TranscribeRequest] = []

    async def stream(
        self, request: TranscribeRequest, _cancel: CancelFlag
    ) -> AsyncGenerator[Transcript, None]:
        self.requests.append(request)
        yield Transcript("hello", "en", request.audio.duration_s)


async def test_the_names_of_a_house_that_changed_prime_the_next_utterance() -> None:
    names = ["Desk Lamp"]
    listener = Listener()
    hearing = Hearing(listener, language="en", names=lambda: tuple(names))
    sound = Audio(np.zeros(1600, np.float32), 16_000)
    await hearing.transcribe(sound, CancelFlag())
    names[:] = ["Moon Lamp"]
    await hearing.transcribe(sound, CancelFlag())
    assert [request.names for request in listener.requests] == [("Desk Lamp",), ("Moon Lamp",)]
