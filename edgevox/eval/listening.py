"""Suites by ear: every utterance is said and written down again, and the model gets what was heard."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from edgevox.agents.asked_model import AskedModel
from edgevox.errors import ConfigError
from edgevox.eval.comparing import ARTICLES
from edgevox.eval.examination import Result, examine
from edgevox.eval.heard_notes import HeardNotes
from edgevox.eval.noise import Noise, NoiseKind
from edgevox.eval.offer import Offer
from edgevox.eval.scoring import Given, score
from edgevox.eval.suite import Case, Spoken
from edgevox.eval.voices import Speaking
from edgevox.eval.word_errors import word_errors, words_of
from edgevox.tools.home.heard_names import as_named
from edgevox.tools.home.told_home import MAX_THINGS
from edgevox.turn import CancelFlag
from edgevox.types import Audio, Transcriber
from edgevox.voice.hearing import Hearing

CLEAN = "clean"
_TALK_SAMPLES = 24


@dataclass(frozen=True, slots=True)
class Conditions:
    """How the utterances are said: the speeds take turns, and all noises (None is silence) are for each."""

    speeds: tuple[float, ...] = (0.9, 1.0, 1.15)
    snrs_db: tuple[float | None, ...] = (None, 20.0, 10.0, 5.0)
    noise: NoiseKind = "babble"


class Listening:
    """A recogniser that is primed with the names of the home that a case is about, as the assistant's is."""

    def __init__(
        self,
        transcriber: Transcriber,
        *,
        language: str | None = None,
        names: tuple[str, ...] = (),
        max_things: int = MAX_THINGS,
        notes: HeardNotes | None = None,
    ) -> None:
        self._transcriber = transcriber
        self._language = language
        self._names = names
        self._max_things = max_things
        self._notes = notes or HeardNotes(None)

    async def hear(
        self, cases: Sequence[Case], voices: Sequence[Speaking], conditions: Conditions
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
                        heard = await self._heard(noise.behind(sound, snr_db, key), case)
                        self._notes.keep(key, case.utterance, heard)
                    heard = as_named(heard, case.offer.told_home().all_names())
                    yield dataclasses.replace(
                        case, utterance=heard, spoken=_spoken(case, heard, voice.name, speed, snr_db)
                    )

    async def _heard(self, sound: Audio, case: Case) -> str:
        """What the recogniser wrote. Names are put right later: notes outlive the way in which it is done."""
        told = case.offer.told_home(max_things=self._max_things)
        hearing = Hearing(
            self._transcriber,
            language=self._language,
            names=lambda: tuple(dict.fromkeys((*self._names, *told.names()))),
        )
        return (await hearing.transcribe(sound, CancelFlag())).text


async def examine_heard(
    model: AskedModel, cases: Sequence[Case], *, instructions: str = "", max_things: int = MAX_THINGS
) -> AsyncGenerator[Result, None]:
    """The result of every case that was heard; what was heard alike is asked once. Raises EngineFailed."""
    alike: dict[tuple[Offer, str, str], list[Case]] = {}
    for case in cases:
        if case.utterance:
            alike.setdefault(_key(case), []).append(case)
        else:
            nothing = await score(case, Given((), "", is_own_words=False, is_valid=True))
            yield Result(case, (), "", nothing, 0.0, 0, 0, was_cached=False)
    asked = [group[0] for group in alike.values()]
    results_of_asked = examine(
        model, asked, instructions=instructions, max_things=max_things, normal=spoken_text
    )
    async with aclosing(results_of_asked) as results:
        async for result in results:
            for case in alike[_key(result.case)]:
                yield dataclasses.replace(result, case=case)


def _key(case: Case) -> tuple[Offer, str, str]:
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


def _spoken(case: Case, heard: str, voice: str, speed: float, snr_db: float | None) -> Spoken:
    said = words_of(case.utterance)
    return Spoken(
        text=case.utterance,
        voice=voice,
        speed=speed,
        noise=noise_name(snr_db),
        words=len(said),
        word_errors=word_errors(said, words_of(heard)),
    )
