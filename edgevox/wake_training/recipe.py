"""From a phrase to a trained wake word: synthesise, augment, embed, train, choose thresholds, measure.

Every seventh speaker and every seventh recording of people are kept aside: thresholds and error rates come from them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from edgevox.audio.wake_features import STEP_SAMPLES, EmbeddingNetwork, Floats, embed
from edgevox.audio.wake_head import WINDOW_S, TrainedWord, WakeHead
from edgevox.config.sections import ThresholdName
from edgevox.core.errors import ConfigError
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.tts.speaker_bank import SpeakerBank, edited_phonemes
from edgevox.wake_training import negatives
from edgevox.wake_training.augmentation import Augmenter, speech_of
from edgevox.wake_training.training import Windows, clip_windows, recording_windows, talk_windows, train_head

_KEPT_ASIDE = 7
_STEP_S = STEP_SAMPLES / SAMPLE_RATE_HZ
_ONCE_IN_STEPS = 12
_CUTOFFS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98)
_SPEEDS = (0.75, 1.3)
_PITCHES = (0.5, 1.3)
_MARKS = (".", "!", "?", ",", "")
_PHONEMES = np.array([*"bdfhjklmnpstvwzðŋɑɔəɛɜɡɪɹʃʊʌθæʧʤiuAIOWY"])
# Fewer sounds are in every second sentence.
_LEAST_PHONEMES = 4
_MOST_PHRASE_S = WINDOW_S - 0.3
_PHRASE = re.compile(r"[a-z][a-z' ]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is made. `speakers` are phrases by Kokoro's speakers, `fast` those by hibari's one at many pitches."""

    speakers: int = 74
    fast: int = 120
    near: int = 40
    talk: int = 200
    clips: int = 1500
    talk_clips: int = 300
    steps: int = 1200


QUICK = Plan(speakers=8, fast=40, near=4, talk=40, clips=160, talk_clips=20, steps=200)
"""For a first try, in a minute: it misses more, and has more false accepts."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Speech: the phrase by speakers to train with, the phrase by others, and what is not the phrase."""

    train: list[Floats]
    aside: list[Floats]
    other: list[Floats]


def checked_phrase(text: str) -> str:
    """Raises ConfigError for what is not a few English words."""
    phrase = " ".join(text.split()).casefold()
    if not _PHRASE.fullmatch(phrase):
        raise ConfigError(f"{text!r} is not a phrase of English words", hint='edgevox wake train "hey house"')
    return phrase


def train_wake_word(
    phrase: str,
    bank: SpeakerBank,
    network: EmbeddingNetwork,
    *,
    plan: Plan,
    recordings: Sequence[Floats] = (),
    report: Callable[[str], None] = lambda _text: None,
) -> tuple[TrainedWord, WakeHead]:
    """Train on what the bank says. `recordings` are more audio without the phrase. Raises ConfigError."""
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    random = np.random.default_rng(0)
    phonemes = bank.phonemes(f"{phrase}.").rstrip(".")
    if sum(map(str.isalpha, phonemes)) < _LEAST_PHONEMES:
        raise ConfigError(f'"{phrase}" is too short for a wake word', hint="choose two words, or a longer one")
    phrases = _synthesised(phonemes, bank, plan, random, report)
    known = [*negatives.load(), *(embed(network, samples) for samples in recordings)]
    talk = [part for number, part in enumerate(known) if number % _KEPT_ASIDE]
    talk_aside = known[::_KEPT_ASIDE]
    augmenter = Augmenter(phrases.other, random)
    parts = [recording_windows(embeddings) for embeddings in talk]
    for number in range(plan.clips):
        report(f"augmenting: {number + 1} of {plan.clips} phrases")
        parts.append(clip_windows(network, augmenter.phrase(phrases.train[number % len(phrases.train)])))
    for number in range(plan.talk_clips):
        report(f"augmenting: {number + 1} of {plan.talk_clips} pieces of other speech")
        chosen = [phrases.other[place] for place in random.integers(len(phrases.other), size=5)]
        parts.append(talk_windows(network, augmenter.talk(chosen)))
    head = train_head(Windows.joined(parts), steps=plan.steps, progress=lambda share: report(f"training: {share:.0%}"))
    said = [augmenter.phrase(speech) for speech in phrases.aside for _ in range(3)]
    heard = [(embed(network, clip.samples), clip.end_s) for clip in said]
    cutoffs = _cutoffs(head, talk_aside)
    delays_s = [delay_s for each in heard if (delay_s := _delay_s(head, *each, cutoffs["normal"])) is not None]
    aside_s = sum(map(len, talk_aside)) * _STEP_S
    measured = {
        "missed": len(heard) - len(delays_s),
        "phrases": len(heard),
        "false_accepts": sum(len(accepts(head, part, cutoffs["normal"])) for part in talk_aside),
        "hours": round(aside_s / 3600, 3),
        "of": "synthesised phrases by speakers kept aside; speech of people kept aside",
    }
    training = {
        "plan": asdict(plan),
        "speakers": len(bank),
        "recordings": len(recordings),
        "seconds": round(time.monotonic() - began_s),
        "cpu_seconds": round(time.process_time() - began_cpu_s),
    }
    # A word of many sounds may be recognised before its last one.
    noticed_after_s = max(0.0, round(float(np.median(delays_s)), 2)) if delays_s else 0.2
    word = TrainedWord(
        phrase=phrase, cutoffs=cutoffs, noticed_after_s=noticed_after_s, training=training, measured=measured
    )
    return word, head


def _synthesised(
    phonemes: str, bank: SpeakerBank, plan: Plan, random: np.random.Generator, report: Callable[[str], None]
) -> Phrases:
    """Say the phrase, what sounds like it, parts of it, and sentences of words by chance."""
    made = Phrases([], [], [])
    aside = {number for number in range(len(bank)) if number % _KEPT_ASIDE == 0}
    for number in range(plan.speakers):
        report(f"synthesising: {number + 1} of {plan.speakers} phrases")
        # The first round is the speakers as they are, later ones are mixtures of two.
        first, second = number % len(bank), int(random.integers(len(bank)))
        share = 0.0 if number < len(bank) or first in aside or second in aside else random.uniform(0.2, 0.5)
        audio = bank.speak(phonemes + random.choice(_MARKS), first, second, share, random.uniform(*_SPEEDS))
        (made.aside if first in aside else made.train).append(speech_of(audio))
    if max(map(len, made.train)) / SAMPLE_RATE_HZ > 1.5 * _MOST_PHRASE_S:
        raise ConfigError("the phrase is too long for a wake word", hint="choose two or three words")
    for _ in range(plan.fast):
        made.train.append(speech_of(_fast(bank, phonemes + random.choice(_MARKS), random)))
    for number, near in enumerate(_near(phonemes, bank, plan, random)):
        report(f"synthesising: {number + 1} of {plan.near} phrases that sound alike")
        first, second = (int(place) for place in random.integers(len(bank), size=2))
        made.other.append(speech_of(bank.speak(near, first, second, random.uniform(0, 0.5), random.uniform(*_SPEEDS))))
    for number in range(plan.talk):
        report(f"synthesising: {number + 1} of {plan.talk} other sentences")
        text = bank.phonemes(" ".join(random.choice(bank.words, 8))) if number % 2 else _edited(phonemes, random)
        made.other.append(speech_of(_fast(bank, text, random)))
    return made


def _fast(bank: SpeakerBank, phonemes: str, random: np.random.Generator) -> Audio:
    return bank.speak_fast(phonemes, random.uniform(*_PITCHES), random.uniform(*_SPEEDS))


def _near(phonemes: str, bank: SpeakerBank, plan: Plan, random: np.random.Generator) -> Iterator[str]:
    """The phrase with other sounds in it, its beginning, its end, and two words by chance, in turn."""
    for number in range(plan.near):
        cut = max(2, round(len(phonemes) * random.uniform(0.4, 0.65)))
        match number % 4:
            case 0 | 1:
                yield _edited(phonemes, random)
            case 2:
                yield phonemes[:cut] if random.random() < 0.5 else phonemes[-cut:]
            case _:
                yield bank.phonemes(" ".join(random.choice(bank.words, 2)))


def _edited(phonemes: str, random: np.random.Generator) -> str:
    sounds = sum(map(str.isalpha, phonemes))
    return edited_phonemes(phonemes, max(2, round(sounds * random.uniform(0.3, 0.5))), random, _PHONEMES)


def _cutoffs(head: WakeHead, talk: Sequence[Floats]) -> dict[ThresholdName, float]:
    """`normal` is the lowest cut-off without a false accept in the speech kept aside."""
    found = (cutoff for cutoff in _CUTOFFS if not any(accepts(head, part, cutoff) for part in talk))
    normal = next(found, _CUTOFFS[-1])
    return {"strict": round(1 - (1 - normal) / 2, 3), "normal": normal, "eager": round(normal - (1 - normal) / 2, 3)}


def accepts(head: WakeHead, embeddings: Floats, cutoff: float) -> list[int]:
    """The steps at which the word would be detected."""
    is_sure = head.confidences(embeddings) > cutoff
    found: list[int] = []
    for step in np.flatnonzero(is_sure & ~np.concatenate([[False], is_sure[:-1]])):
        if not found or step - found[-1] >= _ONCE_IN_STEPS:
            found.append(int(step))
    return found


def _delay_s(head: WakeHead, embeddings: Floats, end_s: float, cutoff: float) -> float | None:
    """How long after its end the phrase is detected; None if it is not."""
    steps = accepts(head, embeddings, cutoff)
    return WINDOW_S + steps[-1] * _STEP_S - end_s if steps else None
