"""The room, for a program that is not in it: say something there, hear what is said, have a yes or a no."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

from edgevox.audio.segmenter import Segmenter, Utterance
from edgevox.languages import ENGLISH
from edgevox.settings import AudioSettings
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import CancelFlag
from edgevox.types import Audio
from edgevox.voice.asking import Asking
from edgevox.voice.hearing import Hearing
from edgevox.voice.loop import ANSWER_WITHIN_S, Ear
from edgevox.voice.mouth import Loudspeaker
from edgevox.voice.voice import Voice


class Intercom:
    """Speaks and listens, one after the other. `open_ear` opens the microphone, for one utterance each."""

    def __init__(
        self,
        voice: Voice,
        loudspeaker: Loudspeaker,
        hearing: Hearing,
        open_ear: Callable[[], AbstractAsyncContextManager[Ear]],
        settings: AudioSettings,
        *,
        language: str = ENGLISH,
    ) -> None:
        self._voice = voice
        self._loudspeaker = loudspeaker
        self._hearing = hearing
        self._open_ear = open_ear
        self._settings = settings
        self._language = language
        self._one_at_a_time = asyncio.Lock()

    async def say(self, text: str) -> None:
        """Say it; returns when it was heard. Raises EngineFailed, ModelError and AudioError."""
        cancel = CancelFlag()
        async with self._one_at_a_time, aclosing(self._sounds(text, cancel)) as sounds:
            try:
                await self._loudspeaker.play(sounds, cancel, lambda: None)
            finally:
                cancel.set()

    async def listen(self, within_s: float) -> str | None:
        """What is said next; None when nobody has begun to speak within this time. Raises as `say` does."""
        async with self._one_at_a_time:
            said = await self._utterance(within_s)
            if said is None:
                return None
            return (await self._hearing.transcribe(said, CancelFlag())).text

    @asynccontextmanager
    async def answering(self, asking: Asking) -> AsyncIterator[None]:
        """Questions are asked in the room while the block runs, and answered there by a spoken yes or no."""

        async def answer() -> None:
            while True:
                await asking.until_listening()
                listening = asking.listening
                assert listening is not None
                heard = await self.listen(ANSWER_WITHIN_S)
                if heard is None:
                    listening.hear_nothing()
                else:
                    listening.hear(heard)
                while asking.listening is listening:  # noqa: ASYNC110 - who asked is about to go on
                    await asyncio.sleep(0)

        with asking.speaking(self.say, self._language), asking.answerable("voice"):
            task = asyncio.create_task(answer())
            try:
                yield
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _utterance(self, within_s: float) -> Audio | None:
        segmenter = Segmenter(self._settings)
        listened_s = 0.0
        async with self._open_ear() as ear, aclosing(ear.frames()) as blocks:
            async for block in blocks:
                if isinstance(event := segmenter.feed(block), Utterance):
                    return event.audio
                listened_s += block.duration_s
                if listened_s > within_s and not segmenter.is_in_speech:
                    return None
        rest = segmenter.finish()
        return rest.audio if isinstance(rest, Utterance) else None

    async def _sounds(self, text: str, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        splitter = SentenceSplitter(self._language)
        for sentence in (*splitter.feed(text), *splitter.finish()):
            async with aclosing(self._voice.speak(sentence, cancel, self._language)) as pieces:
                async for piece in pieces:
                    yield piece
