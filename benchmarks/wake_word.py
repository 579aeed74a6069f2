"""Wake words: false accepts per hour, misses, and what listening costs: `python -m benchmarks.wake_word`.

False accepts are counted in more than two hours of sound without the word. Little of that is independent:
ordinary sentences, spoken once each by Piper and by voices of espeak-ng, the recordings of
EDGEVOX_SPEECH_DIR where it is set, and made noise and music; all of it again faster, softer, and with noise
or music over it, until it is long enough. Words close to the wake word are counted apart. Misses are
counted in clean wake phrases of the same voices, alone and with a command in the same breath.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import describe
from benchmarks.nonspeech import sounds_without_speech
from benchmarks.speech_test_set import SENTENCES, SpeechCache, espeak_is_here, say_by_espeak, say_by_piper
from edgevox.audio.dsp import Resampler
from edgevox.audio.files import read_audio
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.audio.wake_word import (
    TARGET_FALSE_PER_HOUR,
    TARGET_MISSED,
    WakeWordDetector,
    WakeWordTrace,
    score_wake_word,
    trace_wake_word,
)
from edgevox.config.sections import wake_words
from edgevox.core.files import user_folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.models import ModelStore, load_manifest
from edgevox.tts.piper import PiperEngine

HOURS = 2.2
_SPEEDS = (1.0, 0.9, 1.12)
_GAINS_DB = (0.0, -14.0, -26.0)
_OVER_BELOW_DB = (None, 15.0, 8.0)
_PAUSE_S = 0.35
_STRETCH_S = 60.0
_VARIED = ": "

PIPER_SPEEDS = (0.8, 0.9, 1.0, 1.15, 1.3, 1.5)
ESPEAK_VOICES = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-us+m3", "en-us+f3", "en-us+f4")
ESPEAK_WORDS_PER_MINUTE = (130, 155, 180)
COMMANDS = ("turn on the kitchen lights", "what time is it", "set a timer for ten minutes")

# Talk that is no command: what is on when nobody speaks to the assistant.
TALK = (
    "the meeting was moved to Thursday because nobody had read the report",
    "she told me that the bakery on the corner closes at three on Sundays",
    "and then the goalkeeper ran all the way to the other side of the field",
    "scientists say that the glacier has lost a third of its ice since the nineties",
    "okay, now listen, I never said that we would be there by noon",
    "hey, are you coming, or do you want to stay here and watch the game",
    "my neighbour plays the trumpet, not well, but with great conviction",
    "the train to Glasgow leaves from platform nine in about a quarter of an hour",
    "I think we should paint the fence before it gets too cold outside",
    "he kept the letters in an old biscuit tin underneath the stairs",
    "a recipe for four people needs two onions, a carrot and half a cabbage",
    "the minister refused to answer, and her spokesman blamed the weather",
    "if you look to the left you can see the harbour and the two lighthouses",
    "nobody knows who built it, but it must have been there before the war",
    "we used to go to the lake every summer when the children were small",
    "could you pass me the salt, please, and maybe a bit more of the soup",
    "the second half of the film is much better than the first, in my opinion",
    "interest rates are expected to stay where they are until next spring",
    "I lost my keys again, and of course they were in the other jacket",
    "it takes about ten minutes by bike, or half an hour if you walk along the river",
)
# What sounds like a wake word and is none, in the flow of speech.
CLOSE = (
    "okay now who is going to do the dishes",
    "okay, nah, boo, I do not want that",
    "a new boat was moored in the bay",
    "hey Travis, how was your day",
    "hey, Jarvis Cocker was on the radio again",
    "they harvest the wheat in August",
    "hey, my craft project is nearly finished",
    "hey Mike, Roft is a small town in the north",
    "Alex, a friend of mine, collects stamps",
    "I bought a Lexus and a lectern at the auction",
    "relax a bit, it is only an election",
    "okay Nadia, but you are driving tonight",
)


# --- sounds without a wake word


def hours_of_sound(piper: PiperEngine, recordings: Path | None, hours: float) -> Iterator[tuple[str, Audio]]:
    """Yield stretches of about a minute, each with a name that says what is in it, for so many hours."""
    cache = SpeechCache()
    speech = list(stretches(spoken(piper, cache, (*SENTENCES, *TALK))))
    if recordings is not None:
        speech += list(stretches(recorded(recordings)))
    speech = list(_mixed(speech))
    noises = [noise for _, noise in sounds_without_speech(recordings)] + [
        Audio(music(seed), SAMPLE_RATE_HZ) for seed in range(6)
    ]
    quiet = [("noise and music", joined(noises, 0.0))]
    total_s = 0.0
    for times in range(1000):
        speed, gain_db = _SPEEDS[times % 3], _GAINS_DB[times // 3 % 3]
        over_db = _OVER_BELOW_DB[(times + times // 3) % 3]
        for number, (name, audio) in enumerate(speech + (quiet if times < 3 else [])):
            over = noises[(number + times) % len(noises)]
            made = varied(audio, speed, gain_db, None if over_db is None else (over, over_db))
            what = f"{_VARIED}{speed:g} times as fast, {gain_db:g} dB" if times else ""
            what += f", something over it {over_db:g} dB softer" if over_db is not None else ""
            yield f"{name}{what}", made
            total_s += made.duration_s
            if total_s >= hours * 3600:
                return


def _mixed(items: Sequence[tuple[str, Audio]]) -> Iterator[tuple[str, Audio]]:
    """The same in an order of chance, so that what is cut off at the end is a bit of everything."""
    for place in np.random.default_rng(11).permutation(len(items)):
        yield items[int(place)]


def spoken(piper: PiperEngine, cache: SpeechCache, texts: Sequence[str]) -> Iterator[tuple[str, Audio]]:
    """Yield every text by Piper, and by as many of espeak-ng's voices as there are."""
    for index, text in enumerate(texts):
        speed = PIPER_SPEEDS[index % len(PIPER_SPEEDS)]
        yield "piper", cache.phrase(f"piper {speed}", text, partial(say_by_piper, piper, speed))
        if espeak_is_here():
            for voice in ESPEAK_VOICES:
                rate = ESPEAK_WORDS_PER_MINUTE[index % len(ESPEAK_WORDS_PER_MINUTE)]
                speak = partial(say_by_espeak, voice, rate)
                yield f"espeak {voice}", cache.phrase(f"espeak {voice} {rate}", text, speak)


def recorded(folder: Path) -> Iterator[tuple[str, Audio]]:
    """Yield the recordings that hold no wake word."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".wav", ".flac") and "wakeword" not in path.parts:
            yield "recorded", read_audio(path)


def stretches(sounds: Iterable[tuple[str, Audio]]) -> Iterator[tuple[str, Audio]]:
    """Join what has the same name to stretches, with a short pause behind each."""
    waiting: dict[str, list[Audio]] = {}
    for name, audio in sounds:
        waiting.setdefault(name, []).append(_loud(audio))
        if sum(piece.duration_s for piece in waiting[name]) >= _STRETCH_S:
            yield name, joined(waiting.pop(name), _PAUSE_S)
    for name, pieces in waiting.items():
        yield name, joined(pieces, _PAUSE_S)


def joined(pieces: Sequence[Audio], pause_s: float) -> Audio:
    pause = np.zeros(round(pause_s * SAMPLE_RATE_HZ), np.float32)
    return Audio(np.concatenate([part for p in pieces for part in (p.samples, pause)]), SAMPLE_RATE_HZ)


def varied(audio: Audio, speed: float, gain_db: float, over: tuple[Audio, float] | None) -> Audio:
    """Faster (and higher), softer, and with another sound over it, so many decibels below."""
    samples = audio.samples
    if speed != 1.0:
        resampler = Resampler(round(SAMPLE_RATE_HZ * speed), SAMPLE_RATE_HZ)
        samples = np.concatenate((resampler.feed(samples), resampler.finish()))
    if over is not None:
        other, below_db = over
        level = _level(samples) / max(_level(other.samples), 1e-6) * 10 ** (-below_db / 20)
        samples = samples + level * np.resize(other.samples, len(samples))
    hiss = 0.0003 * np.random.default_rng(len(samples)).standard_normal(len(samples))
    made = np.clip(samples * 10 ** (gain_db / 20) + hiss, -1.0, 1.0)
    return Audio(made.astype(np.float32), SAMPLE_RATE_HZ)


def music(seed: int, seconds: float = 30.0) -> NDArray[np.float32]:
    """A tune with chords below it and a drum: nobody's, but no noise either."""
    random = np.random.default_rng(seed)
    beat = round(SAMPLE_RATE_HZ * 60 / random.integers(80, 150))
    samples = np.zeros(round(seconds * SAMPLE_RATE_HZ))
    scale_hz = 220 * 2 ** (np.array([0, 2, 4, 5, 7, 9, 11, 12, 14]) / 12)
    for number, start in enumerate(range(0, len(samples) - 4 * beat, beat)):
        voices = [(scale_hz[random.integers(len(scale_hz))] * 2, beat, 0.4)]
        if number % 4 == 0:
            root = random.integers(4)
            voices += [(scale_hz[root + step], 4 * beat, 0.2) for step in (0, 2, 4)]
        for hz, length, loud in voices:
            phase = 2 * np.pi * hz * np.arange(length) / SAMPLE_RATE_HZ
            tone = sum((np.sin(k * phase) / k for k in range(1, 8)), start=np.zeros(length))
            samples[start : start + length] += loud * tone * np.exp(-np.arange(length) / length * 3)
        hit = random.standard_normal(beat // 4) * np.exp(-np.arange(beat // 4) / 400)
        samples[start : start + len(hit)] += 0.4 * hit
    return np.asarray(0.5 * samples / np.abs(samples).max(), dtype=np.float32)


def _loud(audio: Audio) -> Audio:
    """As loud as a person is near a microphone."""
    return Audio(audio.samples * np.float32(0.1 / max(_level(audio.samples), 1e-6)), audio.rate_hz)


def _level(samples: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(samples**2)))


# --- sounds with one


def phrases(piper: PiperEngine, word: str, after: str, recordings: Path | None) -> Iterator[tuple[str, Audio]]:
    """Yield the wake word in every voice and at every speed, with `after` in the same breath."""
    cache, text = SpeechCache(), f"{wake_words()[word].phrase}{after}"
    for speed in PIPER_SPEEDS:
        yield (f"piper {speed}", _loud(cache.phrase(f"piper {speed}", text, partial(say_by_piper, piper, speed))))
    for voice in ESPEAK_VOICES if espeak_is_here() else ():
        for rate in ESPEAK_WORDS_PER_MINUTE:
            name = f"espeak {voice} {rate}"
            yield name, _loud(cache.phrase(name, text, partial(say_by_espeak, voice, rate)))
    if recordings is not None and not after:
        for path in sorted((recordings / "wakeword" / word).glob("*.wav")):
            yield f"recorded {path.name}", read_audio(path)


def all_phrases(piper: PiperEngine, word: str, recordings: Path | None) -> Mapping[str, list[WakeWordTrace]]:
    """The same heard by the word's model, by the kind of voice: alone, and in one breath with a command."""
    heard: dict[str, list[WakeWordTrace]] = {}
    for kind, afters in (("alone", ("",)), ("in one breath", tuple(f" {command}" for command in COMMANDS))):
        for after in afters:
            for name, audio in phrases(piper, word, after, recordings):
                heard.setdefault(f"{name.split()[0]} {kind}", []).append(trace_wake_word(word, name, audio))
    return heard


# --- the trial


def microseconds_per_block(word: str) -> float:
    """Processor time that one block of 20 ms costs."""
    detector = WakeWordDetector(word)
    samples = (0.01 * np.random.default_rng(0).standard_normal(BLOCK_SAMPLES)).astype(np.float32)
    block, count = Audio(samples, SAMPLE_RATE_HZ), 3000
    began_s = time.process_time()
    for _ in range(count):
        detector.feed(block)
    return (time.process_time() - began_s) / count * 1e6


def measure(words: Sequence[str], hours: float, recordings: Path | None) -> dict[str, object]:
    store = ModelStore(user_folders().models, load_manifest())
    piper = PiperEngine(store.pull("piper-en_US-joe-medium"), threads=1)
    piper.load()
    began_s = time.monotonic()
    others: dict[str, list[WakeWordTrace]] = {word: [] for word in words}
    for name, audio in hours_of_sound(piper, recordings, hours):
        for word in words:
            others[word].append(trace_wake_word(word, name, audio))
    close = [audio for _, audio in spoken(piper, SpeechCache(), CLOSE)]
    results: dict[str, object] = {}
    for word in words:
        heard_close = [trace_wake_word(word, "close", _loud(audio)) for audio in close]
        said = all_phrases(piper, word, recordings)
        per_block = microseconds_per_block(word)
        results[word] = {
            "thresholds": {
                level: _facts(others[word], heard_close, said, cutoff)
                for level, cutoff in wake_words()[word].cutoffs.items()
            },
            "us_per_block": round(per_block, 1),
            "percent_of_a_core": round(per_block / 20_000 * 100, 2),
        }
    heard_s = sum(heard.duration_s for heard in others[words[0]])
    distinct_s = sum(heard.duration_s for heard in others[words[0]] if _VARIED not in heard.name)
    return {
        "hours": round(heard_s / 3600, 2),
        "hours_before_variation": round(distinct_s / 3600, 2),
        "times_real_time": round(heard_s * len(words) / (time.monotonic() - began_s), 1),
        "words": results,
    }


def _facts(
    others: Sequence[WakeWordTrace],
    close: Sequence[WakeWordTrace],
    said: Mapping[str, Sequence[WakeWordTrace]],
    cutoff: float,
) -> Mapping[str, object]:
    result = score_wake_word((), others, cutoff)
    missed = {kind: score_wake_word(heard, (), cutoff) for kind, heard in said.items()}
    return {
        "cutoff": cutoff,
        "false_accepts": result.false_accepts,
        "false_per_hour": round(result.false_per_hour or 0.0, 2),
        "false_per_hour_at_most": round(result.false_per_hour_at_most or 0.0, 2),
        "in": sorted(heard.name for heard in others if heard.accepts_s(cutoff)),
        "close_words_accepted": f"{score_wake_word((), close, cutoff).false_accepts} of {len(close)}",
        "missed": {kind: f"{found.missed} of {found.words}" for kind, found in missed.items()},
        "voices_missed": sorted(
            {heard.name for every in said.values() for heard in every if not heard.accepts_s(cutoff)}
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="False accepts and misses of the wake words.")
    parser.add_argument("--word", choices=[*wake_words()], action="append", help="all, unless named")
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    folder = os.environ.get("EDGEVOX_SPEECH_DIR")
    if not folder:
        print("EDGEVOX_SPEECH_DIR is not set: no recordings, only synthesised speech")
    words: Sequence[str] = args.word or [*wake_words()]
    result = {
        "hardware": describe(),
        "target": {"false_per_hour": TARGET_FALSE_PER_HOUR, "missed": TARGET_MISSED},
        **measure(words, args.hours, Path(folder) if folder else None),
    }
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
