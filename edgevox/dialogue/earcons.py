"""Earcons, filler phrases and error replies: short sounds while a reply is awaited, and alarm tones."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

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

RATE_HZ = 22_050
# E6 and C6, a falling third; and a rising major chord, above most of the energy of a voice.
CHIME_HZ = (1318.5, 1046.5)
ALARM_HZ = (784.0, 987.8, 1174.7)

_CHIME_PEAK = 0.6
_ALARM_PEAK = 0.85
_CHIME_STEP_S = 0.28
_ALARM_STEP_S = 0.16
_ALARM_REPEATS = 3
_RING_OUT_S = 0.7
# The partials of a small bell: frequency factor, amplitude, decay time.
_PARTIALS = ((1.0, 1.0, 0.22), (2.0, 0.35, 0.12), (3.0, 0.12, 0.06))
_ATTACK_S = 0.004
# An alarm starts softly and reaches full volume after about half a minute.
_SOFTEST_DB = -20.0
_LOUDER_DB = 4.0


@cache
def timer_chime() -> Audio:
    """Two tones, for a timer or a reminder."""
    return _struck(CHIME_HZ, _CHIME_STEP_S, _CHIME_PEAK)


def alarm_tone(times_before: int) -> Audio:
    """A rising figure that gets louder with `times_before`."""
    gain_db = min(_SOFTEST_DB + _LOUDER_DB * times_before, 0.0)
    return _struck(ALARM_HZ * _ALARM_REPEATS, _ALARM_STEP_S, _ALARM_PEAK * 10 ** (gain_db / 20))


def _struck(tones_hz: Sequence[float], step_s: float, peak: float) -> Audio:
    """Overlapping bell tones, one every `step_s`."""
    step = round(step_s * RATE_HZ)
    samples = np.zeros(step * (len(tones_hz) - 1) + round(_RING_OUT_S * RATE_HZ))
    for place, tone_hz in enumerate(tones_hz):
        tone = _bell_tone(tone_hz)
        samples[place * step : place * step + len(tone)] += tone
    samples *= peak / np.max(np.abs(samples))
    return Audio(samples.astype(np.float32), RATE_HZ)


def _bell_tone(tone_hz: float) -> NDArray[np.float64]:
    t_s = np.arange(round(_RING_OUT_S * RATE_HZ)) / RATE_HZ
    sound = sum(
        loudness * np.exp(-t_s / decay_s) * np.sin(2 * np.pi * tone_hz * above * t_s)
        for above, loudness, decay_s in _PARTIALS
    )
    # Fade in and out, against clicks.
    edges = np.minimum(1.0, t_s / _ATTACK_S) * np.minimum(1.0, (t_s[-1] - t_s) / 0.05)
    return np.asarray(sound * edges)


# A5; and a falling fourth below it. All are lower than the alarm tones, so that they are not confused.
HEARD_HZ = (880.0,)
FAILED_HZ = (622.3, 466.2)
# The same fourth, rising, as in "yes?".
CALLED_HZ = (466.2, 622.3)

# A reply may wait for the end of the first: it is as short as a tone without a click can be.
_HEARD_S = 0.09
_FAILED_S = 0.14
_EDGE_S = 0.03
# An octave above, or it sounds like a hearing test.
_OVERTONE = 0.25


def _tones(tones_hz: Sequence[float], seconds: float, peak: float) -> Audio:
    samples = np.concatenate([_tone(tone_hz, seconds / len(tones_hz)) for tone_hz in tones_hz])
    samples *= peak / np.max(np.abs(samples))
    return Audio(samples.astype(np.float32), RATE_HZ)


def _tone(tone_hz: float, seconds: float) -> NDArray[np.float64]:
    t_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * tone_hz * t_s
    sound = np.sin(phase) + _OVERTONE * np.sin(2 * phase)
    # A raised cosine at both ends, against clicks.
    from_end_s = np.minimum(t_s, t_s[-1] - t_s)
    return np.asarray(sound * (0.5 - 0.5 * np.cos(np.pi * np.minimum(1.0, from_end_s / _EDGE_S))))


# For a detected wake word, an accepted utterance and a failed turn, each with its peak as argument.
wake_tone = cache(partial(_tones, CALLED_HZ, _FAILED_S))
accepted_tone = cache(partial(_tones, HEARD_HZ, _HEARD_S))
error_tone = cache(partial(_tones, FAILED_HZ, _FAILED_S))


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
