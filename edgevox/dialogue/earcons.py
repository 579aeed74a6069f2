"""Earcons, filler phrases and error replies: short sounds while a reply is awaited."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from edgevox.audio.tones import accepted_tone, error_tone, wake_tone
from edgevox.config import SoundSettings
from edgevox.core import events
from edgevox.core.errors import DeviceUnavailable, EdgevoxError, EngineFailed
from edgevox.core.events import Event
from edgevox.core.languages import all_phrases
from edgevox.core.turn import CancelFlag, cancel_tasks
from edgevox.core.types import Audio
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.replies import ReplyLanguages
from edgevox.dialogue.speech_output import SpeechOutput


class PreparedPhrases:
    """Phrases by language, each synthesized once between turns and used in rotation."""

    def __init__(self, speech_output: SpeechOutput, phrases: Mapping[str, tuple[str, ...]]) -> None:
        self._speech_output = speech_output
        self._phrases = phrases
        self._ready: defaultdict[str, deque[Audio]] = defaultdict(deque)
        """By language, the next one first, at the synthesizer's volume."""
        self._speed = speech_output.voice.rate.speed

    async def prepare(self, language: str) -> None:
        """Synthesize the next missing phrase, if any, and all anew after a change of speed. Raises EngineFailed."""
        if self._speed != (speed := self._speech_output.voice.rate.speed):
            self._speed = speed
            self._ready.clear()
        ready = self._ready[language]
        count = len(ready)
        for phrase in self._phrases.get(language, ())[count : count + 1]:
            sound = await self._speech_output.voice.sound_of(phrase, language)
            if len(ready) == count:  # no other task has added it meanwhile
                ready.appendleft(sound)

    def take(self, language: str) -> Audio | None:
        """The next phrase at the current volume; None if none is ready."""
        ready = self._ready[language]
        if not ready:
            return None
        ready.rotate(-1)
        return self._speech_output.at_voice_volume(ready[-1])


# No earcon if the first sentence has begun by then. The device is open by then and its lead-in over, so that
# a tone plays at once and does not delay the reply.
AT_ONCE_S = 0.25
# No earcon if the command follows the wake word within this time.
AFTER_CALL_S = 0.6


@dataclass(slots=True)
class _Wait:
    """A voice turn before its reply. `over` cancels the earcons, not the turn."""

    turn_id: str
    endpoint_s: float
    language: str = ""
    """The language of the reply."""
    over: CancelFlag = field(default_factory=CancelFlag)
    earcons: asyncio.Task[None] | None = None

    def end(self) -> None:
        self.over.set()
        if self.earcons is not None:
            self.earcons.cancel()


class Earcons:
    """A bus listener that plays earcons for the turns of a pipeline. Needs a running loop; `close` it.

    Earcons play inside the reply's passage, never once a sentence is being synthesized, and are not stored in the
    conversation. None plays while `is_spoken_to`. The wake tone plays only with full duplex (`hears_over_itself`):
    otherwise speech during the tone would be lost.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        speech_output: SpeechOutput,
        settings: SoundSettings,
        *,
        languages: ReplyLanguages | None = None,
        is_spoken_to: Callable[[], bool] = lambda: False,
        hears_over_itself: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._pipeline = pipeline
        self._speech_output = speech_output
        self._settings = settings
        self._languages = languages or ReplyLanguages()
        self._is_spoken_to = is_spoken_to
        self._hears_over_itself = hears_over_itself
        self._clock = clock
        self._sleep = sleep
        # A language without phrases has only tones.
        phrases = all_phrases()
        self._filler_phrases = PreparedPhrases(speech_output, {code: own.filler for code, own in phrases.items()})
        error_replies = {code: (own.error,) for code, own in phrases.items()}
        self._error_replies = PreparedPhrases(speech_output, error_replies)
        self._wait: _Wait | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._spawn(self._prepare(self._languages.reply_to("")))

    def __call__(self, event: Event) -> None:
        match event:
            case events.EndpointReached(turn_id=turn_id, at_s=at_s) if self._pipeline.is_turn_of(turn_id):
                self._wait = _Wait(turn_id, at_s)
            case events.TranscriptReady(text=text) if text and (wait := self._wait_in(event.turn_id)):
                wait.language = self._languages.reply_to(event.language)
                wait.earcons = self._spawn(self._give(wait))
            case events.AttentionChanged(attention="awake") if self._settings.chimes and self._is_at_rest:
                self._spawn(self._play_wake_tone())
            case events.SynthesisStarted() | events.ConfirmationRequired():
                if wait := self._wait_in(event.turn_id):
                    wait.end()
            case events.TurnEnded() if wait := self._wait_in(event.turn_id):
                wait.end()
                self._wait = None
                self._turn_ended(event, wait)
            case _:
                pass

    async def close(self) -> None:
        await cancel_tasks(*self._tasks)

    def _wait_in(self, turn_id: str) -> _Wait | None:
        return self._wait if self._wait and self._wait.turn_id == turn_id else None

    @property
    def _is_at_rest(self) -> bool:
        """Whether no turn runs and no alarm rings."""
        return not self._pipeline.is_in_turn and not self._pipeline.is_ringing

    async def _play_wake_tone(self) -> None:
        await self._sleep(AFTER_CALL_S)
        if self._is_at_rest and self._hears_over_itself():
            await self._play_alone(self._tone(wake_tone))

    # --- while the reply is generated

    async def _give(self, wait: _Wait) -> None:
        await self._sleep(AT_ONCE_S)
        if self._settings.chimes:
            await self._interject(self._tone(accepted_tone), wait)
        if self._settings.acknowledge_after_s:
            await self._sleep(wait.endpoint_s + self._settings.acknowledge_after_s - self._clock())
            if words := self._filler_phrases.take(wait.language):
                await self._interject(words, wait)

    async def _interject(self, sound: Audio, wait: _Wait) -> None:
        # Outside a passage it would open the device, and the reply would wait until it is closed again.
        if self._speech_output.is_in_passage and not self._is_spoken_to():
            await self._speech_output.interject((sound,), wait.over)

    def _tone(self, tone: Callable[[float], Audio]) -> Audio:
        return self._speech_output.at_voice_volume(tone(self._settings.chime_volume))

    # --- after the turn

    def _turn_ended(self, event: events.TurnEnded, wait: _Wait) -> None:
        language = wait.language or self._languages.reply_to("")
        if event.outcome == "failed" and event.error_code != DeviceUnavailable.code:
            is_engine = event.error_code == EngineFailed.code
            words = self._error_replies.take(language) if is_engine and self._settings.apologise else None
            if words is None and self._settings.chimes:
                words = self._tone(error_tone)
            if words is not None:
                self._spawn(self._play_alone(words))
        self._spawn(self._prepare(language))

    async def _play_alone(self, sound: Audio) -> None:
        if not self._is_spoken_to():  # else the user is already repeating it
            with suppress(EdgevoxError):  # reported by the device events
                await self._speech_output.interject((sound,), CancelFlag())

    async def _prepare(self, language: str) -> None:
        with suppress(EdgevoxError):  # tried again after the next turn
            if self._settings.apologise:
                await self._error_replies.prepare(language)
            if self._settings.acknowledge_after_s:
                await self._filler_phrases.prepare(language)

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
