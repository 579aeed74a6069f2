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
from edgevox.eval.scoring import ARTICLES, ModelAnswer, score, word_errors
from edgevox.eval.suite import AS_RECORDED, Case, SpokenInput
from edgevox.eval.synthetic_speech import EvalVoice, Noise, NoiseKind
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.home.resolve.name_correction import correct_entity_names
from edgevox.stt.text_normalizer import words_of


@dataclass(frozen=True, slots=True)
class CachedTranscript:
    """What the recogniser wrote, and how sure it was; older notes do not say that."""

    text: str
    confidence: float | None


class _CacheLine(BaseModel):
    key: str
    said: str
    heard: str
    confidence: float | None = None


class TranscriptCache:
    """Notes in a file that grows line by line; without a path none are kept. Raises ConfigError."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._notes: dict[tuple[str, str], CachedTranscript] = {}
        if path is None or not path.exists():
            return
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                note = _CacheLine.model_validate_json(line)
                self._notes[note.key, note.said] = CachedTranscript(note.heard, note.confidence)
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} holds no notes of what was heard", hint="name another file") from error

    def heard(self, key: str, said: str) -> CachedTranscript | None:
        """What was heard when `said` was said under the conditions of `key`, if that is known."""
        return self._notes.get((key, said))

    def keep(self, key: str, said: str, heard: CachedTranscript) -> None:
        """Raises StateError when the file cannot be written."""
        self._notes[key, said] = heard
        if self._path is None:
            return
        note = _CacheLine(key=key, said=said, heard=heard.text, confidence=heard.confidence)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(note.model_dump_json() + "\n")
        except OSError as error:
            raise StateError(f"{self._path} cannot be written: {error.strerror}", hint="choose another file") from error


CLEAN = "clean"
_TALK_SAMPLES = 24


@dataclass(frozen=True, slots=True)
class SpeechConditions:
    """How the utterances are said: the speeds take turns, and all noises (None is silence) are for each."""

    speeds: tuple[float, ...] = (0.9, 1.0, 1.15)
    snrs_db: tuple[float | None, ...] = (None, 20.0, 10.0, 5.0)
    noise: NoiseKind = "babble"


class SuiteTranscriber:
    """A recogniser that is primed with the names of the home that a case is about, as the assistant's is."""

    def __init__(
        self,
        stt: SttService,
        *,
        language: str | None = None,
        names: tuple[str, ...] = (),
        max_things: int = MAX_ENTITIES,
        notes: TranscriptCache | None = None,
    ) -> None:
        self._stt = stt
        self._language = language
        self._names = names
        self._max_things = max_things
        self._notes = notes or TranscriptCache(None)

    async def hear(
        self, cases: Sequence[Case], voices: Sequence[EvalVoice], conditions: SpeechConditions
    ) -> AsyncGenerator[Case, None]:
        """Every case as it was heard, in every condition. Raises AudioError and EngineFailed."""
        talk = [await voice.say(case.utterance, 1.0) for voice in voices for case in cases[:_TALK_SAMPLES]]
        noise = Noise(conditions.noise, talk)
        for voice in voices:
            for number, case in enumerate(cases):
                speed = conditions.speeds[number % len(conditions.speeds)]
                sound: Audio | None = None
                for snr_db in conditions.snrs_db:
                    key = f"{case.id} {voice.name} {speed:g} {conditions.noise} {noise_name(snr_db)}"
                    heard = self._notes.heard(key, case.utterance)
                    if heard is None:
                        sound = sound or await voice.say(case.utterance, speed)
                        heard = await self._heard(key, noise.behind(sound, snr_db, key), case)
                    yield _case_as_heard(case, heard, voice.name, speed, noise_name(snr_db))

    async def hear_recordings(
        self, cases: Sequence[Case], snrs_db: Sequence[float | None], kind: NoiseKind
    ) -> AsyncGenerator[Case, None]:
        """Every case with a recording as it was heard, without and with noise that is added to it.

        The others of them are the babble. Raises ConfigError and EngineFailed.
        """
        is_babble = kind == "babble" and any(snr_db is not None for snr_db in snrs_db)
        talk = {case.recording: sound_of(case) for case in cases[: _TALK_SAMPLES + 1] if is_babble}
        for case in cases:
            assert case.recording is not None
            others = [sound for recording, sound in talk.items() if recording != case.recording]
            if is_babble and not others:
                raise ConfigError("babble is made of the other recordings, and there is only one", hint="--noise white")
            noise, sound = Noise(kind, others), sound_of(case)
            content = zlib.crc32(sound.samples.tobytes())
            for snr_db in snrs_db:
                name = AS_RECORDED if snr_db is None else noise_name(snr_db)
                key = f"{case.id} {content:08x} {kind} {name}"
                heard = self._notes.heard(key, case.utterance)
                if heard is None:
                    # A recording brings the room before and after the words.
                    mixed = noise.behind(sound, snr_db, key, before_s=0, after_s=0)
                    heard = await self._heard(key, mixed, case)
                yield _case_as_heard(case, heard, case.recording.speaker, None, name)

    async def _heard(self, key: str, sound: Audio, case: Case) -> CachedTranscript:
        """What the recogniser wrote. Names are put right later: notes outlive the way in which it is done."""
        told = case.offer.told_home(max_things=self._max_things)
        transcriber = Transcriber(
            self._stt,
            language=self._language,
            names=lambda: tuple(dict.fromkeys((*self._names, *told.names()))),
        )
        transcript = await transcriber.transcribe(sound, CancelFlag())
        heard = CachedTranscript(transcript.text, transcript.confidence)
        self._notes.keep(key, case.utterance, heard)
        return heard


def sound_of(case: Case) -> Audio:
    """The sound of a case's recording. Raises ConfigError that names the row."""
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
    """The result of every case that was heard; what was heard alike is asked once. Raises EngineFailed.

    Each says whether the assistant, less sure than `ask_below` of what it heard, would have asked before it
    acted. The calls are scored as if the answer was yes.
    """
    alike: dict[tuple[OfferedTools, str, str], list[Case]] = {}
    for case in cases:
        if case.utterance:
            alike.setdefault(_key(case), []).append(case)
        else:
            nothing = await score(case, ModelAnswer((), "", is_own_words=False, is_valid=True))
            yield Result(case, (), "", nothing, 0.0, 0, 0, was_cached=False, is_asked=False)
    asked = [group[0] for group in alike.values()]
    results_of_asked = run_cases(model, asked, instructions=instructions, max_things=max_things, normal=spoken_text)
    async with aclosing(results_of_asked) as results:
        async for result in results:
            for case in alike[_key(result.case)]:
                yield dataclasses.replace(result, case=case, is_asked=_is_asked(case, result, ask_below))


def _is_asked(case: Case, result: Result, ask_below: float) -> bool | None:
    """Whether "Did you say …?" comes before the calls; questions are answered without."""
    if case.spoken is None or case.spoken.confidence is None:
        return None
    tools = case.offer.registry
    acts = any(call.name in tools and tools.get(call.name).side_effects for call in result.calls)
    return acts and case.spoken.confidence < ask_below


def _key(case: Case) -> tuple[OfferedTools, str, str]:
    return case.offer, case.id, case.utterance


def spoken_text(text: str) -> str:
    """One spelling of what sounds alike: numbers in words, no punctuation, no articles."""
    words = words_of(text)
    return " ".join([word for word in words if word not in ARTICLES] or words)


def noise_name(snr_db: float | None) -> str:
    return CLEAN if snr_db is None else f"{snr_db:g} dB"


def read_snrs(text: str) -> tuple[float | None, ...]:
    """The noise levels of "clean,20,10". Raises ConfigError."""
    try:
        return tuple(None if part.strip() == CLEAN else float(part) for part in text.split(","))
    except ValueError as error:
        raise ConfigError(f"--snr takes {CLEAN} and decibels, not {text}", hint="clean,20,10,5") from error


def read_speeds(text: str) -> tuple[float, ...]:
    """The speeds of "0.9,1.0". Raises ConfigError."""
    try:
        speeds = tuple(map(float, text.split(",")))
    except ValueError:
        speeds = ()
    if not speeds or not all(0.25 <= speed <= 4 for speed in speeds):
        raise ConfigError(f"--speeds takes numbers from 0.25 to 4, not {text}", hint="0.9,1.0,1.15")
    return speeds


def _case_as_heard(case: Case, heard: CachedTranscript, voice: str, speed: float | None, noise: str) -> Case:
    text = correct_entity_names(heard.text, case.offer.told_home().all_names())
    said = words_of(case.utterance)
    spoken = SpokenInput(
        text=case.utterance,
        voice=voice,
        speed=speed,
        noise=noise,
        words=len(said),
        word_errors=word_errors(said, words_of(text)) if said else 0,
        confidence=heard.confidence,
    )
    return dataclasses.replace(case, utterance=text, spoken=spoken)
