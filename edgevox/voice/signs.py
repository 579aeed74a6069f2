"""Signs for whoever waits for a reply: a tone, after a while a few words, and an apology if none comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field

from edgevox.errors import DeviceUnavailable, EdgevoxError, EngineFailed
from edgevox.events import (
    AttentionChanged,
    ConfirmationRequired,
    EndpointReached,
    Event,
    SynthesisStarted,
    TranscriptReady,
    TurnEnded,
)
from edgevox.settings import SoundSettings
from edgevox.turn import CancelFlag
from edgevox.types import Audio
from edgevox.voice import chimes
from edgevox.voice.acknowledgement import Acknowledgement
from edgevox.voice.apology import Apology
from edgevox.voice.mouth import Mouth
from edgevox.voice.pipeline import Pipeline
from edgevox.voice.reply_languages import ReplyLanguages

# A reply whose first sentence has begun by then is its own sign. The loudspeaker is open by then and its
# lead-in over, so that a tone is out at once and the reply does not come behind it in a queue.
AT_ONCE_S = 0.25
# Whoever calls and goes on in one breath needs no sign that they may.
AFTER_CALL_S = 0.6


@dataclass(slots=True)
class _Wait:
    """A turn by voice in which somebody waits. `over` ends the signs, not the turn."""

    turn_id: str
    endpoint_s: float
    language: str = ""
    """What the reply will be in."""
    over: CancelFlag = field(default_factory=CancelFlag)
    signs: asyncio.Task[None] | None = None

    def end(self) -> None:
        self.over.set()
        if self.signs is not None:
            self.signs.cancel()


class Signs:
    """A listener on the bus, for the turns of a pipeline. Needs a running loop; `close` it.

    The signs are heard inside the passage that the mouth has opened for the reply, and never before a
    sentence of it that is being made: they are no part of it, nor of what is remembered. While
    `is_spoken_to`, none is given, because nobody is heard while the mouth sounds. That it was called is only
    told where it `hears_over_itself`: what is said into that tone would else be lost.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        mouth: Mouth,
        settings: SoundSettings,
        *,
        languages: ReplyLanguages | None = None,
        is_spoken_to: Callable[[], bool] = lambda: False,
        hears_over_itself: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._pipeline = pipeline
        self._mouth = mouth
        self._settings = settings
        self._languages = languages or ReplyLanguages()
        self._is_spoken_to = is_spoken_to
        self._hears_over_itself = hears_over_itself
        self._clock = clock
        self._sleep = sleep
        self._acknowledgement = Acknowledgement(mouth)
        self._apology = Apology(mouth)
        self._wait: _Wait | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._prepare(self._languages.reply_to(""))

    def __call__(self, event: Event) -> None:
        match event:
            case EndpointReached(turn_id=turn_id, at_s=at_s) if self._pipeline.is_turn_of(turn_id):
                self._wait = _Wait(turn_id, at_s)
            case TranscriptReady(text=text) if text and (wait := self._wait_in(event.turn_id)):
                wait.language = self._languages.reply_to(event.language)
                wait.signs = self._spawn(self._give(wait))
            case AttentionChanged(attention="awake") if self._settings.chimes and self._is_at_rest:
                self._spawn(self._tell_called())
            case SynthesisStarted() | ConfirmationRequired():
                if wait := self._wait_in(event.turn_id):
                    wait.end()
            case TurnEnded() if wait := self._wait_in(event.turn_id):
                wait.end()
                self._wait = None
                self._turn_ended(event, wait)
            case _:
                pass

    async def close(self) -> None:
        """Give no more signs, and wait until nothing is left of those begun."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _wait_in(self, turn_id: str) -> _Wait | None:
        return self._wait if self._wait and self._wait.turn_id == turn_id else None

    @property
    def _is_at_rest(self) -> bool:
        """Whether nothing goes on but what it may have been called for."""
        bell = self._pipeline.bell
        return not self._pipeline.is_in_turn and not (bell and bell.is_ringing)

    async def _tell_called(self) -> None:
        await self._sleep(AFTER_CALL_S)
        if self._is_at_rest and self._hears_over_itself():
            await self._tell(self._tone(chimes.called))

    # --- while the reply is made

    async def _give(self, wait: _Wait) -> None:
        await self._sleep(AT_ONCE_S)
        if self._settings.chimes:
            await self._interject(self._tone(chimes.heard), wait)
        if self._settings.acknowledge_after_s:
            await self._sleep(wait.endpoint_s + self._settings.acknowledge_after_s - self._clock())
            if words := self._acknowledgement.take(wait.language):
                await self._interject(words, wait)

    async def _interject(self, sound: Audio, wait: _Wait) -> None:
        # Alone it would open the loudspeaker, and the reply would have to wait until that is closed again.
        if self._mouth.is_in_passage and not self._is_spoken_to():
            await self._mouth.interject((sound,), wait.over)

    def _tone(self, tone: Callable[[float], Audio]) -> Audio:
        return self._mouth.as_loud_as_voice(tone(self._settings.chime_volume))

    # --- after it

    def _turn_ended(self, event: TurnEnded, wait: _Wait) -> None:
        language = wait.language or self._languages.reply_to("")
        if event.outcome == "failed" and event.error_code != DeviceUnavailable.code:
            is_engine = event.error_code == EngineFailed.code
            words = self._apology.sound(language) if is_engine and self._settings.apologise else None
            if words is None and self._settings.chimes:
                words = self._tone(chimes.failed)
            if words is not None:
                self._spawn(self._tell(words))
        self._prepare(language)

    async def _tell(self, sound: Audio) -> None:
        if self._is_spoken_to():
            return  # they say it again already, or go on
        try:
            await self._mouth.interject((sound,), CancelFlag())
        except EdgevoxError:
            return  # the events have said it, where that can be read

    def _prepare(self, language: str) -> None:
        self._spawn(self._make_words(language))

    async def _make_words(self, language: str) -> None:
        try:
            if self._settings.apologise:
                await self._apology.prepare(language)
            if self._settings.acknowledge_after_s:
                await self._acknowledgement.prepare(language)
        except EdgevoxError:
            return  # nobody waits for this, and it is tried again after the next turn

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
