"""The utterances of the speech benchmarks: written here, spoken by Piper and espeak-ng, plus real recordings.

What is synthesised is kept in a folder of the system's temporary folder, so that a second run starts at once.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.files import read_audio, write_wav
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.tts.piper import PiperEngine

Speak = Callable[[str], Audio]

_PIPER_SPEEDS = (0.85, 1.0, 1.25)
ESPEAK_VOICES = ("en-us", "en-gb", "en-gb-x-rp", "en-gb-scotland")
_ESPEAK_WORDS_PER_MINUTE = (130, 160, 190)
_ESPEAK_TIMES = 2
_NOISY_EVERY = 3
_NOISE_BELOW_SPEECH_DB = 20.0
_HISS_BELOW_SPEECH_DB = 60.0
_QUIET_BEFORE_S = 0.25
_QUIET_AFTER_S = 0.6
_OUT_OF_DOMAIN = "oov_"
# What is quieter than this below the loudest is not heard as speech.
_AUDIBLE_DB = 35.0
# The room of a recording is louder than the silence of a synthesiser.
RECORDED_AUDIBLE_DB = 20.0


@dataclass(frozen=True, slots=True)
class Utterance:
    """One recording at 16 kHz, and what was said in it: None where nobody wrote it down."""

    source: str
    text: str | None
    audio: Audio


@dataclass(frozen=True, slots=True)
class SpeechCache:
    """A folder with what was spoken before."""

    folder: Path = Path(tempfile.gettempdir()) / "edgevox-speech-set"

    def spoken(self, voice: str, text: str, speak: Speak) -> Audio:
        """The text in a voice, spoken only once; at 16 kHz."""
        path = self.folder / f"{hashlib.sha256(f'{voice} {text}'.encode()).hexdigest()[:20]}.wav"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_wav(path, [speak(text)])
        return read_audio(path)


def spoken_by_piper(piper: PiperEngine, cache: SpeechCache) -> Iterator[Utterance]:
    """Yield every sentence at one of several speeds, a third of them with noise over it."""
    random = np.random.default_rng(7)
    for index, text in enumerate(SENTENCES):
        speed = _PIPER_SPEEDS[index % len(_PIPER_SPEEDS)]
        audio = cache.spoken(f"piper {speed}", text, partial(say_by_piper, piper, speed))
        if index % _NOISY_EVERY == 0:
            yield Utterance("piper in noise", text, _as_heard(audio, random, _NOISE_BELOW_SPEECH_DB))
        else:
            yield Utterance("piper", text, _as_heard(audio, random, _HISS_BELOW_SPEECH_DB))


def spoken_by_espeak(cache: SpeechCache) -> Iterator[Utterance]:
    """Yield every sentence in two of several voices, at one of several speeds."""
    random = np.random.default_rng(8)
    for index, text in enumerate(SENTENCES):
        rate = _ESPEAK_WORDS_PER_MINUTE[index % len(_ESPEAK_WORDS_PER_MINUTE)]
        for place in range(index, index + _ESPEAK_TIMES):
            voice = ESPEAK_VOICES[place % len(ESPEAK_VOICES)]
            audio = cache.spoken(f"espeak {voice} {rate}", text, partial(say_by_espeak, voice, rate))
            yield Utterance(f"espeak {voice}", text, _as_heard(audio, random, _HISS_BELOW_SPEECH_DB))


def recorded(folder: Path) -> Iterator[Utterance]:
    """Yield the recordings of `folder`/home-commands; the file name is what is said."""
    for path in sorted((folder / "home-commands").glob("*.wav")):
        out_of_domain = path.stem.startswith(_OUT_OF_DOMAIN)
        yield Utterance(
            "out of domain" if out_of_domain else "recorded", None if out_of_domain else path.stem, read_audio(path)
        )


def trimmed(audio: Audio, audible_db: float = _AUDIBLE_DB) -> NDArray[np.float32]:
    """Without what is not heard around it: voices leave silence there, which would make a pause longer.

    What is `audible_db` below the loudest is not heard; in a recording less is (RECORDED_AUDIBLE_DB).
    """
    frame = audio.rate_hz // 100
    frames = audio.samples[: len(audio.samples) // frame * frame].reshape(-1, frame)
    levels_db = 10 * np.log10(np.mean(np.square(frames, dtype=np.float64), axis=1) + 1e-12)
    loud = np.flatnonzero(levels_db > levels_db.max() - audible_db)
    return audio.samples[loud[0] * frame : (loud[-1] + 1) * frame]


def say_by_piper(piper: PiperEngine, speed: float, text: str) -> Audio:
    """The text in the voice of an engine that is loaded."""
    pieces = list(piper.run(SynthesisRequest(text, speed), CancelFlag()))
    return Audio(np.concatenate([piece.samples for piece in pieces]), pieces[0].rate_hz)


def say_by_espeak(voice: str, words_per_minute: int, text: str) -> Audio:
    """The text in a voice of espeak-ng, at 16 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spoken.wav"
        command = ["espeak-ng", "-v", voice, "-s", str(words_per_minute), "-w", str(path), text]
        subprocess.run(command, check=True, timeout=30)
        return read_audio(path)


def espeak_is_here() -> bool:
    return shutil.which("espeak-ng") is not None


def _as_heard(audio: Audio, random: np.random.Generator, noise_below_db: float) -> Audio:
    """Put the quiet around the words that a segmenter leaves, and noise over all of it."""
    before, after = (np.zeros(round(s * audio.rate_hz), np.float32) for s in (_QUIET_BEFORE_S, _QUIET_AFTER_S))
    samples = np.concatenate([before, audio.samples, after])
    level = np.sqrt(np.mean(audio.samples**2)) * 10 ** (-noise_below_db / 20)
    return Audio(samples + (random.standard_normal(len(samples)) * level).astype(np.float32), audio.rate_hz)


SENTENCES = (
    "turn on the kitchen lights",
    "turn off the lights in the living room",
    "dim the bedroom lamp to thirty percent",
    "set the thermostat to twenty one degrees",
    "set a timer for ten minutes",
    "set a timer for half an hour called pasta",
    "how much time is left on my timer",
    "cancel the egg timer",
    "pause",
    "stop",
    "yes",
    "no thanks",
    "yes please",
    "thank you",
    "never mind",
    "good morning",
    "good night",
    "louder",
    "a bit quieter please",
    "mute the television",
    "next song",
    "skip this track",
    "play some jazz in the kitchen",
    "what is the weather like tomorrow",
    "will it rain this afternoon",
    "do I need an umbrella today",
    "what time is it",
    "what day is it today",
    "how warm is it in the nursery",
    "is the front door locked",
    "lock the back door",
    "unlock the garage",
    "open the garage door",
    "close the blinds in the office",
    "raise the curtains halfway",
    "is anybody in the garden",
    "show me the camera at the gate",
    "switch on the coffee machine",
    "switch off everything downstairs",
    "start the vacuum cleaner",
    "send the vacuum back to its dock",
    "add milk and eggs to the shopping list",
    "what is on my shopping list",
    "remove butter from the list",
    "remind me to call my mother at six o'clock",
    "remind me to water the plants every Sunday",
    "wake me up at half past seven",
    "turn off the alarm",
    "make the hallway light blue",
    "set the brightness to one hundred percent",
    "turn the heating down by two degrees",
    "what is the temperature outside",
    "what is the humidity in the bathroom",
    "is the washing machine finished",
    "how long until the dishwasher is done",
    "start the dryer",
    "turn on the fan",
    "set the fan to high",
    "did I leave the oven on",
    "turn off the oven in twenty minutes",
    "activate movie night",
    "run the bedtime scene",
    "I am leaving the house",
    "I am home",
    "who is at the door",
    "tell me a joke",
    "what is the capital of Portugal",
    "how many ounces are in a pound",
    "how do you spell necessary",
    "what is seventeen times four",
    "convert five miles to kilometres",
    "what is the square root of eighty one",
    "who wrote Pride and Prejudice",
    "how far away is the moon",
    "when did the first man walk on the moon",
    "tell me something about the history of bread",
    "why is the sky blue",
    "what can I cook with rice and tomatoes",
    "how long should I boil an egg",
    "read me the news",
    "what is on my calendar today",
    "when is my next appointment",
    "am I free on Thursday afternoon",
    "move my dentist appointment to Friday",
    "send a message to Anna that I will be late",
    "find my phone",
    "turn on the lamp next to the sofa",
    "turn off the lamp on my desk and the one in the corner",
    "turn on the lights in the kitchen and close the blinds in the living room",
    "set the bedroom to nineteen degrees and turn off the television",
    "when the sun goes down turn on the light on the porch",
    "if nobody is home turn off all of the lights",
    "make it a little warmer in here",
    "it is too bright in the study",
    "is there any milk left in the fridge",
    "which windows are still open",
    "are all of the doors locked",
    "how much electricity did we use yesterday",
    "is the car fully charged",
    "start charging the car at midnight",
    "water the garden for fifteen minutes",
    "turn on the sprinklers on the front lawn",
    "what is the name of this song",
    "play the radio in the bathroom at a low volume",
    "resume the audiobook where I left off",
    "set the volume to four",
    "please repeat that",
    "what did you just say",
    "please speak more slowly",
    "could you turn the music down a little while I am on the phone with my sister",
    "I would like the lights in the hallway to go on every evening at seven and off again at eleven",
    "before I go to bed please check that the front door is locked and that the oven and the lights are off",
)

# What a home might hand over: it has the names in the recordings, and more that are in none of them.
HOME_NAMES = (
    "Kitchen",
    "Living Room",
    "Office",
    "Garage Door",
    "Standing Light",
    "EcoBee",
    "Shopping List",
    "Party Time",
    "TV",
    "New York",
    "Nursery",
    "Roomba",
    "Porch Lamp",
    "Movie Night",
)
