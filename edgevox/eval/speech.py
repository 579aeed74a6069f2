"""Runs suites by speech: utterances are synthesized or recorded, and the model gets the transcript.

Transcripts are cached in a file: synthesis and recognition of a suite take hours, the model takes minutes.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from edgevox.agents.model_profile import ModelProfile
from edgevox.audio.files import read_audio
from edgevox.core.errors import AudioError, ConfigError, StateError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SttService
from edgevox.dialogue.transcriber import Transcriber
from edgevox.eval.offered_tools import OfferedTools
from edgevox.eval.runner import Result, run_cases
from edgevox.eval.scoring import ModelAnswer, score, word_errors
from edgevox.eval.suite import AS_RECORDED, Case, SpokenInput
from edgevox.eval.synthetic_speech import EvalVoice, Noise, NoiseKind
from edgevox.eval.values import ARTICLES
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.home.resolve.name_correction import correct_entity_names
from edgevox.stt.text_normalizer import words_of


class CachedTranscript(BaseModel):
    """The transcript of `said` under the conditions of `key`; older cache files lack the confidence."""

    key: str
    said: str
    heard: str
    confidence: float | None = None


class TranscriptCache:
    """Transcripts in an append-only file; without a path only in memory. Raises ConfigError."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: dict[tuple[str, str], CachedTranscript] = {}
        if path is None or not path.exists():
            return
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = CachedTranscript.model_validate_json(line)
                self._entries[entry.key, entry.said] = entry
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is not a transcript cache", hint="choose another file") from error

    def get(self, key: str, said: str) -> CachedTranscript | None:
        """Return the cached transcript of `said` under the conditions of `key`."""
        return self._entries.get((key, said))

    def put(self, entry: CachedTranscript) -> None:
        """Store a transcript. Raises StateError when the file cannot be written."""
        self._entries[entry.key, entry.said] = entry
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(entry.model_dump_json() + "\n")
        except OSError as error:
            raise StateError(f"{self._path} cannot be written: {error.strerror}", hint="choose another file") from error


CLEAN = "clean"
_BABBLE_SAMPLES = 24


@dataclass(frozen=True, slots=True)
class SpeechConditions:
    """Speaking rates, used in turn, and noise levels (None is silence), all applied to each utterance."""

    speeds: tuple[float, ...] = (0.9, 1.0, 1.15)
    snrs_db: tuple[float | None, ...] = (None, 20.0, 10.0, 5.0)
    noise: NoiseKind = "babble"


class SuiteTranscriber:
    """Transcribes cases, with the entity names of each case's home as hotwords, as in the assistant."""

    def __init__(
        self,
        stt: SttService,
        *,
        language: str | None = None,
        names: tuple[str, ...] = (),
        max_things: int = MAX_ENTITIES,
        cache: TranscriptCache | None = None,
    ) -> None:
        self._stt = stt
        self._language = language
        self._names = names
        self._max_things = max_things
        self._cache = cache or TranscriptCache(None)

    async def transcribe_synthesized(
        self, cases: Sequence[Case], voices: Sequence[EvalVoice], conditions: SpeechConditions
    ) -> AsyncGenerator[Case, None]:
        """Yield every case with its transcript under every condition. Raises AudioError and EngineFailed."""
        babble = [await voice.synthesize(case.utterance, 1.0) for voice in voices for case in cases[:_BABBLE_SAMPLES]]
        noise = Noise(conditions.noise, babble)
        for voice in voices:
            for number, case in enumerate(cases):
                speed = conditions.speeds[number % len(conditions.speeds)]
                sound: Audio | None = None
                for snr_db in conditions.snrs_db:
                    key = f"{case.id} {voice.name} {speed:g} {conditions.noise} {noise_name(snr_db)}"
                    transcript = self._cache.get(key, case.utterance)
                    if transcript is None:
                        sound = sound or await voice.synthesize(case.utterance, speed)
                        transcript = await self._transcribe(key, noise.mix(sound, snr_db, key), case)
                    yield _with_transcript(case, transcript, voice.name, speed, noise_name(snr_db))

    async def transcribe_recordings(
        self, cases: Sequence[Case], snrs_db: Sequence[float | None], kind: NoiseKind
    ) -> AsyncGenerator[Case, None]:
        """Yield every recorded case with its transcript, at every level of added noise.

        Babble noise consists of the other recordings. Raises ConfigError and EngineFailed.
        """
        is_babble = kind == "babble" and any(snr_db is not None for snr_db in snrs_db)
        babble = {case.recording: sound_of(case) for case in cases[: _BABBLE_SAMPLES + 1] if is_babble}
        for case in cases:
            assert case.recording is not None
            others = [sound for recording, sound in babble.items() if recording != case.recording]
            if is_babble and not others:
                raise ConfigError("babble noise needs at least two recordings", hint="use --noise white")
            noise, sound = Noise(kind, others), sound_of(case)
            content = zlib.crc32(sound.samples.tobytes())
            for snr_db in snrs_db:
                name = AS_RECORDED if snr_db is None else noise_name(snr_db)
                key = f"{case.id} {content:08x} {kind} {name}"
                transcript = self._cache.get(key, case.utterance)
                if transcript is None:
                    # A recording already contains room noise before and after the words.
                    mixed = noise.mix(sound, snr_db, key, before_s=0, after_s=0)
                    transcript = await self._transcribe(key, mixed, case)
                yield _with_transcript(case, transcript, case.recording.speaker, None, name)

    async def _transcribe(self, key: str, sound: Audio, case: Case) -> CachedTranscript:
        """Transcribe and cache. Entity names are corrected later, so that the cache outlives that algorithm."""
        home_prompt = case.offer.home_prompt(max_things=self._max_things)
        transcriber = Transcriber(
            self._stt,
            language=self._language,
            names=lambda: tuple(dict.fromkeys((*self._names, *home_prompt.names()))),
            likeliest=case.offer.likeliest,
        )
        result = await transcriber.transcribe(sound, CancelFlag())
        entry = CachedTranscript(key=key, said=case.utterance, heard=result.text, confidence=result.confidence)
        self._cache.put(entry)
        return entry


def sound_of(case: Case) -> Audio:
    """Read the recording of a case. Raises ConfigError that names the row."""
    assert case.recording is not None
    try:
        return read_audio(case.recording.path)
    except AudioError as error:
        raise ConfigError(f"row {case.id} of {case.suite}: {error.message}", hint=error.hint) from error


async def run_heard_cases(
    model: ModelProfile,
    cases: Sequence[Case],
    *,
    instructions: str = "",
    max_things: int = MAX_ENTITIES,
    ask_below: float = 0.0,
) -> AsyncGenerator[Result, None]:
    """Yield the result of every transcribed case; equal transcripts of a case run once. Raises EngineFailed.

    `asks_first` says whether the assistant would have asked for confirmation because the confidence of the
    transcript is below `ask_below`. The calls are scored as if the answer was yes.
    """
    groups: dict[tuple[OfferedTools, str, str], list[Case]] = {}
    for case in cases:
        if case.utterance:
            groups.setdefault(_key(case), []).append(case)
        else:
            no_answer = await score(case, ModelAnswer((), "", is_own_words=False, is_valid=True))
            yield Result(case, (), "", no_answer, 0.0, 0, 0, was_cached=False, asks_first=False)
    distinct = [group[0] for group in groups.values()]
    distinct_results = run_cases(model, distinct, instructions=instructions, max_things=max_things, normal=spoken_text)
    async with aclosing(distinct_results) as results:
        async for result in results:
            for case in groups[_key(result.case)]:
                yield dataclasses.replace(result, case=case, asks_first=_asks_first(case, result, ask_below))


def _asks_first(case: Case, result: Result, ask_below: float) -> bool | None:
    """Return whether "Did you say …?" comes before the calls; read-only calls need no confirmation."""
    if case.spoken is None or case.spoken.confidence is None:
        return None
    tools = case.offer.registry
    acts = any(call.name in tools and tools.get(call.name).side_effects for call in result.calls)
    return acts and case.spoken.confidence < ask_below


def _key(case: Case) -> tuple[OfferedTools, str, str]:
    return case.offer, case.id, case.utterance


def spoken_text(text: str) -> str:
    """Normalise a transcript: numbers in words, no punctuation, no articles."""
    words = words_of(text)
    return " ".join([word for word in words if word not in ARTICLES] or words)


def noise_name(snr_db: float | None) -> str:
    return CLEAN if snr_db is None else f"{snr_db:g} dB"


def read_snrs(text: str) -> tuple[float | None, ...]:
    """Parse noise levels such as "clean,20,10". Raises ConfigError."""
    try:
        return tuple(None if part.strip() == CLEAN else float(part) for part in text.split(","))
    except ValueError as error:
        raise ConfigError(f"--snr takes {CLEAN} and decibels, not {text}", hint="clean,20,10,5") from error


def read_speeds(text: str) -> tuple[float, ...]:
    """Parse speaking rates such as "0.9,1.0". Raises ConfigError."""
    try:
        speeds = tuple(map(float, text.split(",")))
    except ValueError:
        speeds = ()
    if not speeds or not all(0.25 <= speed <= 4 for speed in speeds):
        raise ConfigError(f"--speeds takes numbers from 0.25 to 4, not {text}", hint="0.9,1.0,1.15")
    return speeds


def _with_transcript(case: Case, transcript: CachedTranscript, voice: str, speed: float | None, noise: str) -> Case:
    text = correct_entity_names(transcript.heard, case.offer.home_prompt().all_names())
    said = words_of(case.utterance)
    spoken = SpokenInput(
        text=case.utterance,
        voice=voice,
        speed=speed,
        noise=noise,
        words=len(said),
        word_errors=word_errors(said, words_of(text)) if said else 0,
        confidence=transcript.confidence,
    )
    return dataclasses.replace(case, utterance=text, spoken=spoken)
