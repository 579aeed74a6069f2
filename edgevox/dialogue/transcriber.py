"""Transcribes utterances with hotwords, corrects entity names, and filters by wake phrase."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from difflib import SequenceMatcher

from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.audio.wake_gate import WakeState
from edgevox.config.sections import Threshold, ThresholdName
from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SttService, TranscribeRequest, Transcript
from edgevox.dialogue.builtin_commands import plain_words


class Transcriber:
    """Transcribes utterances. `language` None means automatic detection.

    `names` returns the hotwords, the most important first; the STT engine takes as many as fit its prompt. `correct`
    corrects misrecognised entity names in an English transcript. `likeliest` chooses among the hypotheses of an unsure
    transcript in another language, given with its language and the most probable first, and says by which ratio what
    it has read makes the choice likelier.
    """

    def __init__(
        self,
        stt: SttService,
        *,
        language: str | None = None,
        names: Callable[[], tuple[str, ...]] = lambda: (),
        correct: Callable[[str], str] = lambda text: text,
        likeliest: Callable[[Sequence[str], str], tuple[str, float]] = lambda texts, _language: (texts[0], 1.0),
    ) -> None:
        self._stt = stt
        self._language = language
        self._names = names
        self._correct = correct
        self._likeliest = likeliest

    async def transcribe(self, audio: Audio, cancel: CancelFlag) -> Transcript:
        """Transcribe `audio`; no text if the turn is cancelled first. Raises EngineFailed."""
        request = TranscribeRequest(audio, self._language, self._names())
        async with aclosing(self._stt.stream(request, cancel)) as transcripts:
            async for transcript in transcripts:
                if transcript.language == ENGLISH:
                    return dataclasses.replace(transcript, text=self._correct(transcript.text))
                if not transcript.alternatives or cancel.is_set():
                    return transcript
                hypotheses = (transcript.text, *transcript.alternatives)
                chosen, ratio = await asyncio.to_thread(self._likeliest, hypotheses, transcript.language)
                likely = ratio * transcript.confidence
                confidence = likely / (likely + 1 - transcript.confidence)
                return dataclasses.replace(transcript, text=chosen, confidence=confidence)
        return Transcript("", self._language or "", audio.duration_s, dropped="cancelled")


class TranscriptTap(Transcriber):
    """Passes each transcript of another transcriber to a callback, speculative ones included."""

    def __init__(self, transcriber: Transcriber, on_transcript: Callable[[Transcript], None]) -> None:
        self._transcriber = transcriber
        self._on_transcript = on_transcript

    async def transcribe(self, audio: Audio, cancel: CancelFlag) -> Transcript:
        transcript = await self._transcriber.transcribe(audio, cancel)
        if not cancel.is_set():
            self._on_transcript(transcript)
        return transcript


class SpeakerTranscriber(Transcriber):
    """Recognises the speaker while another transcriber transcribes."""

    def __init__(self, transcriber: Transcriber, recognizer: SpeakerRecognizer) -> None:
        self._transcriber = transcriber
        self._recognizer = recognizer

    async def transcribe(self, audio: Audio, cancel: CancelFlag) -> Transcript:
        if not self._recognizer.is_active:
            return await self._transcriber.transcribe(audio, cancel)
        recognising = asyncio.create_task(self._recognizer.recognise(audio, cancel))
        try:
            transcript = await self._transcriber.transcribe(audio, cancel)
            speaker, voice = await recognising
            return dataclasses.replace(transcript, speaker=speaker, voice=voice)
        finally:
            recognising.cancel()


NO_WAKE_PHRASE = "no wake phrase"
WAKE_PHRASE_ONLY = "wake phrase only"

# The least similarity of letters: "hey Jarves" is 0.89 of "hey jarvis", "okay now" 0.67 of "okay nabu".
_LIKENESS: Mapping[ThresholdName, float] = {"strict": 0.9, "normal": 0.75, "eager": 0.65}
# The least similarity that confirms a detected wake word: "javas" is 0.73 of "jarvis", "dogs are sick" 0.46.
_CONFIRMED = 0.6
# STT may split one word into two or three: "compute her" is as similar to "computer" as "compute", within a margin.
_MOST_MORE_WORDS = 2
_SIMILARITY_MARGIN = 0.05
# Said before a name, whether part of the phrase or not.
_GREETINGS = frozenset({"hey", "hi", "hello", "okay", "ok", "oh", "so", "um", "uh"})


class WakePhrase:
    """A wake phrase with its similarity threshold."""

    def __init__(self, phrase: str, threshold: Threshold = "normal") -> None:
        """Raises ConfigError."""
        words = plain_words(phrase)
        if not words:
            raise ConfigError(f"{phrase!r} holds no words", hint="set wake.phrase to one or a few words")
        self._letters = "".join(words)
        self._most_words = len(words) + _MOST_MORE_WORDS
        self._is_greeting = words[0] in _GREETINGS
        self._likeness = _LIKENESS[threshold] if isinstance(threshold, str) else threshold

    def rest_of(self, text: str) -> str | None:
        """The text after the phrase; None if `text` does not begin with it."""
        words = list(re.finditer(r"[^\W_]+(?:['’][^\W_]+)*", text))
        while words and not self._is_greeting and words[0].group().casefold() in _GREETINGS:
            del words[0]
        if not words or words[0].group()[0].casefold() != self._letters[0]:
            return None
        ends = [word.end() for word in words[: self._most_words]]
        likenesses = [self._likeness_of(text[words[0].start() : end]) for end in ends]
        best = max(likenesses)
        if best < self._likeness:
            return None
        least = best if best == 1 else max(self._likeness, best - _SIMILARITY_MARGIN)
        longest = max(place for place, likeness in enumerate(likenesses) if likeness >= least)
        return re.sub(r"^[\W_]+", "", text[ends[longest] :])

    def is_in(self, text: str) -> bool:
        """Whether some words of the text sound about like the phrase."""
        words = plain_words(text)
        spans = (words[start:end] for start in range(len(words)) for end in range(start + 1, len(words) + 1))
        return any(self._likeness_of(" ".join(span)) >= _CONFIRMED for span in spans if len(span) <= self._most_words)

    def _likeness_of(self, text: str) -> float:
        return SequenceMatcher(None, "".join(plain_words(text)), self._letters, autojunk=False).ratio()


class WakeWordConfirmer:
    """Reads the audio of a detected wake word, and puts the assistant back to sleep if it is another word.

    It listens meanwhile: a command in the same breath is not delayed, and dropped if the word is not confirmed.
    """

    def __init__(self, transcriber: Transcriber, phrase: WakePhrase, wake_state: WakeState) -> None:
        self._transcriber = transcriber
        self._phrase = phrase
        self._wake_state = wake_state
        self._check: asyncio.Task[bool] | None = None
        wake_state.on_word = self._begin

    async def is_confirmed(self) -> bool:
        """Whether the wake word that is being read is one; after that the wake state says it."""
        return self._check is None or self._check.done() or await asyncio.shield(self._check)

    def _begin(self, word: Audio) -> None:
        self._check = asyncio.create_task(self._read(word))

    async def _read(self, word: Audio) -> bool:
        try:
            transcript = await self._transcriber.transcribe(word, CancelFlag())
        except EngineFailed:  # the turn reports it
            return True
        is_confirmed = self._phrase.is_in(transcript.text)
        if not is_confirmed:
            self._wake_state.sleep()
        return is_confirmed


class WakePhraseFilter(Transcriber):
    """Strips the wake phrase from transcripts, and drops those without it while asleep."""

    def __init__(
        self,
        transcriber: Transcriber,
        phrase: WakePhrase,
        wake_state: WakeState,
        confirmer: WakeWordConfirmer | None = None,
    ) -> None:
        self._transcriber = transcriber
        self._phrase = phrase
        self._wake_state = wake_state
        self._confirmer = confirmer

    async def transcribe(self, audio: Audio, cancel: CancelFlag) -> Transcript:
        is_awake = self._wake_state.is_awake
        if self._confirmer is not None and not await self._confirmer.is_confirmed():
            return Transcript("", "", audio.duration_s, dropped=NO_WAKE_PHRASE)
        transcript = await self._transcriber.transcribe(audio, cancel)
        if not transcript.text:
            return transcript
        rest = self._phrase.rest_of(transcript.text)
        if rest is None:
            # Privacy: speech that is not addressed to the assistant is not kept.
            return transcript if is_awake else dataclasses.replace(transcript, text="", dropped=NO_WAKE_PHRASE)
        if self._wake_state.is_listening and not cancel.is_set():
            self._wake_state.call()
        return dataclasses.replace(transcript, text=rest, dropped=None if rest else WAKE_PHRASE_ONLY)
