"""Speech output: synthesis, volume and playback, one passage at a time."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal

from edgevox.audio.io.speaker import Loudspeaker, OnStart
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag, cancel_tasks, next_item
from edgevox.core.types import Audio, SynthesisRequest, TtsService
from edgevox.tts.normalize import normalize_text
from edgevox.tts.sentences import SentenceSplitter

# Steps that are heard as such, up to the limits of what is well understood.
_SPEED_STEP = 1.15
_SLOWEST, _FASTEST = 0.5, 2.0
_MOST_SEMITONES = 4.0


class SpeakingRate:
    """The speed of the voice, relative to its natural one."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed

    def step(self, by: Literal[-1, 1]) -> bool:
        """Change the speed by one step; False at the limit."""
        before = self.speed
        stepped = round(before * _SPEED_STEP**by, 2)
        # A setting beyond the limits stays, and can only come nearer.
        self.speed = min(max(stepped, min(before, _SLOWEST)), max(before, _FASTEST))
        return self.speed != before


class Pitch:
    """The pitch of the voice in semitones, relative to its natural one."""

    def __init__(self, semitones: float = 0.0) -> None:
        self.semitones = semitones

    def step(self, by: Literal[-1, 1]) -> bool:
        """Change the pitch by one semitone; False at the limit."""
        before = self.semitones
        self.semitones = min(max(before + by, -_MOST_SEMITONES), _MOST_SEMITONES)
        return self.semitones != before


class Synthesizer:
    """Normalizes and synthesizes sentences; `pitch` is that of the settings until a command changes it."""

    def __init__(self, synthesizer: TtsService, *, speed: float = 1.0) -> None:
        self._synthesizer = synthesizer
        self.rate = SpeakingRate(speed)
        self.pitch: Pitch | None = None

    async def prepare(self, language: str) -> None:
        """Load the voice of another language. Raises what `speak` raises."""
        if language != ENGLISH:
            nothing = SynthesisRequest("", self.rate.speed, language)
            async with aclosing(self._synthesizer.stream(nothing, CancelFlag())) as pieces:
                async for _ in pieces:
                    pass

    async def speak(self, sentence: str, cancel: CancelFlag, language: str = ENGLISH) -> AsyncGenerator[Audio, None]:
        """The audio of one sentence; nothing if it holds no words.

        Raises EngineFailed, and ModelError if the voice of the language cannot be used.
        """
        text = normalize_text(sentence, language)
        if text:
            semitones = self.pitch.semitones if self.pitch else None
            request = SynthesisRequest(text, self.rate.speed, language, semitones)
            async with aclosing(self._synthesizer.stream(request, cancel)) as pieces:
                async for piece in pieces:
                    yield piece

    async def speak_text(self, text: str, cancel: CancelFlag, language: str = ENGLISH) -> AsyncGenerator[Audio, None]:
        """The audio of a text, sentence by sentence. Raises what `speak` raises."""
        splitter = SentenceSplitter(language)
        for sentence in (*splitter.feed(text), *splitter.finish()):
            async with aclosing(self.speak(sentence, cancel, language)) as pieces:
                async for piece in pieces:
                    yield piece

    async def sound_of(self, sentence: str, language: str = ENGLISH) -> Audio:
        """The whole audio of one sentence, which must hold words. Raises what `speak` raises."""
        pieces = [piece async for piece in self.speak(sentence, CancelFlag(), language)]
        return Audio.joined(pieces)


_STEP_DB = 5.0
_QUIETEST_DB = -25.0
_LOUDEST_DB = 10.0


class Volume:
    """The volume of the voice, as a gain relative to the synthesizer's output."""

    def __init__(self, gain_db: float = 0.0) -> None:
        self.gain_db = gain_db

    def step(self, by: Literal[-1, 1]) -> bool:
        """Change the volume by one step; False at the limit."""
        before_db = self.gain_db
        self.gain_db = min(max(before_db + by * _STEP_DB, _QUIETEST_DB), _LOUDEST_DB)
        return self.gain_db != before_db

    def applied(self, sound: Audio) -> Audio:
        """The sound with the gain applied, soft-clipped."""
        return sound.amplified(10 ** (self.gain_db / 20)) if self.gain_db else sound


# A person who says more than "mhm" is transcribed by then; without a microphone nobody would end the pause.
LONGEST_HOLD_S = 8.0
# Playback may lag by the device buffer, the lead-in and CPU load.
_MARGIN_S = 0.6


@dataclass(frozen=True, slots=True)
class _Interjection:
    """Sounds to play inside a passage."""

    sounds: Sequence[Audio]
    cancel: CancelFlag
    is_given: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def end(self, *, is_given: bool) -> None:
        if not self.is_given.done():
            self.is_given.set_result(is_given)


class SpeechOutput:
    """Plays one passage at a time; other sounds can be interjected into it."""

    def __init__(
        self,
        voice: Synthesizer,
        loudspeaker: Loudspeaker,
        volume: Volume,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.voice = voice
        self._clock = clock
        self._loudspeaker = loudspeaker
        self._volume = volume
        self._one_at_a_time = asyncio.Lock()
        self._interjections: deque[_Interjection] | None = None
        """Interjections still to play; None outside a passage."""
        self._on_interjection = asyncio.Event()
        self._silent_since_s = -math.inf
        self._sounds_until_s: float | None = None
        """When the audio passed to the loudspeaker ends; None outside a passage."""
        self._held_since_s: float | None = None
        self._hold_timer: asyncio.TimerHandle | None = None
        self._unheard_s = 0.0
        self._given: list[tuple[float, bool]] = []
        """The duration of each sound of the passage, and whether it is its own or an interjection."""
        self._on_own_start: OnStart | None = None

    @property
    def silent_since_s(self) -> float:
        """When playback ended, on the monotonic clock; infinity during playback."""
        if self._sounds_until_s is None:
            return self._silent_since_s
        if self._held_since_s is not None:
            return math.inf
        over_s = self._sounds_until_s + _MARGIN_S
        return over_s if self._clock() >= over_s else math.inf

    @property
    def is_sounding(self) -> bool:
        return self.silent_since_s == math.inf

    def duck(self, is_ducked: bool) -> None:
        self._loudspeaker.duck(is_ducked)

    def hold(self, is_held: bool) -> None:
        """Pause the passage, or go on with it; a pause counts as playback, and ends by itself."""
        self._loudspeaker.hold(is_held)
        self._stop_hold_timer()
        if is_held:
            self._hold_timer = asyncio.get_running_loop().call_later(LONGEST_HOLD_S, self.hold, False)
        held_since_s, now_s = self._held_since_s, self._clock()
        self._held_since_s = now_s if is_held else None
        if held_since_s is not None and self._sounds_until_s is not None:
            self._sounds_until_s += now_s - held_since_s

    def _stop_hold_timer(self) -> None:
        if self._hold_timer is not None:
            self._hold_timer.cancel()
            self._hold_timer = None

    @property
    def is_in_passage(self) -> bool:
        """Whether the device is open, so that an interjection plays at once."""
        return self._interjections is not None

    async def play(self, sounds: AsyncIterator[Audio], cancel: CancelFlag, on_start: OnStart) -> float:
        """Play a passage until its last sample or a cancel; returns how many seconds of its own were played.

        `on_start` is called with its first own sound. Raises DeviceUnavailable.
        """
        async with self._one_at_a_time:
            self._interjections = deque()
            try:
                await self._play(self._with_interjections(sounds), cancel, on_start)
            finally:
                self._refuse_interjections()
            return self._own_heard_s(self._loudspeaker.heard_s if cancel.is_set() else math.inf)

    async def interject(self, sounds: Sequence[Audio], cancel: CancelFlag) -> bool:
        """Play sounds between two pieces of the passage, or alone; returns whether all were played.

        The volume is not applied. Raises DeviceUnavailable.
        """
        interjection = _Interjection(sounds, cancel)
        if self._interjections is not None:
            self._interjections.append(interjection)
            self._on_interjection.set()
            return await interjection.is_given
        async with self._one_at_a_time:
            await self._play(self._interjected(interjection), cancel, lambda: None)
        return not cancel.is_set()

    async def sound_of(self, sentence: str, language: str = ENGLISH) -> Audio:
        """A sentence at the current volume, to interject. Raises EngineFailed."""
        return self.at_voice_volume(await self.voice.sound_of(sentence, language))

    def at_voice_volume(self, sound: Audio) -> Audio:
        return self._volume.applied(sound)

    # --- playback

    async def _play(self, sounds: AsyncGenerator[Audio, None], cancel: CancelFlag, on_start: OnStart) -> None:
        def started() -> None:
            self._sounds_until_s = self._clock() + self._unheard_s
            self._report_own_start()

        self._unheard_s = 0.0
        self._given.clear()
        self._on_own_start = on_start
        try:
            async with aclosing(sounds):
                await self._loudspeaker.play(sounds, cancel, started)
        finally:
            if self._sounds_until_s is not None:
                self._silent_since_s = self._clock()
            self._sounds_until_s = self._held_since_s = None
            self._stop_hold_timer()

    async def _with_interjections(self, sounds: AsyncIterator[Audio]) -> AsyncGenerator[Audio, None]:
        following = next_item(sounds)
        try:
            while True:
                while self._interjections:
                    async with aclosing(self._interjected(self._interjections.popleft())) as interjected:
                        async for sound in interjected:
                            yield sound
                if not following.done():  # wait until the passage continues or something is interjected
                    self._on_interjection.clear()
                    following.add_done_callback(lambda _done: self._on_interjection.set())
                    await self._on_interjection.wait()
                    continue
                own = following.result()
                if own is None:
                    self._refuse_interjections()
                    return
                self._give(own, is_own=True)
                self._report_own_start()
                yield self._volume.applied(own)
                following = next_item(sounds)
        finally:
            await cancel_tasks(following)

    async def _interjected(self, interjection: _Interjection) -> AsyncGenerator[Audio, None]:
        try:
            for sound in interjection.sounds:
                if interjection.cancel.is_set():
                    return
                self._give(sound)
                yield sound
            interjection.end(is_given=True)
        finally:
            interjection.end(is_given=False)

    def _refuse_interjections(self) -> None:
        interjections, self._interjections = self._interjections or (), None
        for interjection in interjections:
            interjection.end(is_given=False)

    def _own_heard_s(self, heard_s: float) -> float:
        """How much of the first `heard_s` of the passage was its own."""
        own_s = 0.0
        for given_s, is_own in self._given:
            part_s = min(heard_s, given_s)
            own_s += part_s if is_own else 0.0
            heard_s -= part_s
        return own_s

    def _report_own_start(self) -> None:
        """Call `on_start` once, when playback runs and a sound of the passage's own was passed on."""
        if self._on_own_start and self._sounds_until_s is not None and any(is_own for _, is_own in self._given):
            on_start, self._on_own_start = self._on_own_start, None
            on_start()

    def _give(self, sound: Audio, *, is_own: bool = False) -> None:
        self._given.append((sound.duration_s, is_own))
        if self._sounds_until_s is None:
            self._unheard_s += sound.duration_s
        else:
            self._sounds_until_s = max(self._sounds_until_s, self._clock()) + sound.duration_s
