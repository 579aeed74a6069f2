"""How many people who pause in the middle of a sentence are cut off, and how long everybody else waits.

`python -m benchmarks.pauses`: utterances with a pause of 300 to 700 ms at a place of chance between two
words, and whole ones, clean and with babble of 20, 10 and 5 dB behind them, through segmenter and recogniser.

The two halves are synthesised apart, so that the first half sounds like one. The time is that of the sound: a
transcript is there as long after its pause as it took to make, and the reply `--reply-ms` after that; 0 is
the strictest, because then a sentence that seems to be whole ends as soon as it may. Beside it the same with
a fixed hangover, as if nobody knew the words. What the microphone and the loop add is in neither.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import describe
from benchmarks.speech_set import SENTENCES
from edgevox.audio.segmenter import Paused, Resumed, Segmenter, Utterance
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.daemon import Daemon
from edgevox.eval.listening import noise_name, read_snrs
from edgevox.eval.noise import NOISE_KINDS, Noise
from edgevox.eval.voices import EspeakSpeaking, PiperSpeaking, Speaking
from edgevox.folders import Folders, user_folders
from edgevox.modelstore import open_store
from edgevox.settings import AudioSettings, load_settings
from edgevox.turn import CancelFlag
from edgevox.types import WHISPER_RATE_HZ, Audio, Transcript
from edgevox.voice import Hearing
from edgevox.voice.patience import completeness, hangovers

BAR_PERCENT = 2.0
PAUSES_S = (0.3, 0.7)
LEAST_WORDS = 4
# Long enough to know the room, and for the longest pause.
BEFORE_S, AFTER_S = 3.0, 4.0
_BLOCK_S = BLOCK_SAMPLES / WHISPER_RATE_HZ
# What is quieter than this below the loudest is not heard as speech.
_AUDIBLE_DB = 35.0


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance, without silence around it."""

    text: str
    audio: Audio
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Words:
    """What the recogniser has made of a pause: it has it from `ready_s` on, and the reply from `reply_s`."""

    heard: Transcript
    ready_s: float
    reply_s: float

    def hangovers(self, now_s: float) -> float:
        is_transcribing = now_s < self.ready_s
        finished = None if is_transcribing else completeness(self.heard)
        return hangovers(finished, is_transcribing=is_transcribing, is_ready=now_s >= self.reply_s)


class Listener:
    """Finds the ends of what is said, as the voice loop does. Without `hearing` the hangover is fixed."""

    def __init__(self, settings: AudioSettings, reply_s: float, hearing: Hearing | None) -> None:
        self._settings = settings
        self._reply_s = reply_s
        self._hearing = hearing

    async def utterances(self, sound: Audio) -> list[Utterance]:
        segmenter = Segmenter(self._settings)
        words: Words | None = None
        free_s = 0.0
        found = []
        for number in range(len(sound.samples) // BLOCK_SAMPLES):
            now_s = number * _BLOCK_S
            if words is not None:
                segmenter.end_after(words.hangovers(now_s))
            block = sound.samples[number * BLOCK_SAMPLES : (number + 1) * BLOCK_SAMPLES]
            match segmenter.feed(Audio(block, sound.rate_hz)):
                case Paused(audio=audio) if self._hearing is not None and now_s >= free_s:
                    words = await self._words(self._hearing, audio, now_s)
                    free_s = words.ready_s
                case Resumed():
                    words = None
                case Utterance() as utterance:
                    words = None
                    found.append(utterance)
                case _:
                    pass
        return found

    async def _words(self, hearing: Hearing, audio: Audio, now_s: float) -> Words:
        started_s = time.monotonic()
        heard = await hearing.transcribe(audio, CancelFlag())
        ready_s = now_s + time.monotonic() - started_s
        return Words(heard, ready_s, ready_s + self._reply_s)


async def with_pauses(
    voice: Speaking, texts: Sequence[str], random: np.random.Generator
) -> AsyncIterator[Said]:
    for text in texts:
        words = text.split()
        place = int(random.integers(1, len(words)))
        pause_s = float(random.uniform(*PAUSES_S))
        first, second = [
            trimmed(await voice.say(" ".join(part), 1.0)) for part in (words[:place], words[place:])
        ]
        silence = np.zeros(round(pause_s * WHISPER_RATE_HZ), np.float32)
        yield Said(
            f"{' '.join(words[:place])} | {' '.join(words[place:])}",
            Audio(np.concatenate([first, silence, second]), WHISPER_RATE_HZ),
            pause_s,
        )


async def whole(voice: Speaking, texts: Sequence[str]) -> AsyncIterator[Said]:
    for text in texts:
        yield Said(text, Audio(trimmed(await voice.say(text, 1.0)), WHISPER_RATE_HZ))


def trimmed(audio: Audio) -> NDArray[np.float32]:
    """Without what is not heard around it: voices leave silence there, which would make a pause longer."""
    frame = WHISPER_RATE_HZ // 100
    frames = audio.samples[: len(audio.samples) // frame * frame].reshape(-1, frame)
    levels_db = 10 * np.log10(np.mean(np.square(frames, dtype=np.float64), axis=1) + 1e-12)
    loud = np.flatnonzero(levels_db > levels_db.max() - _AUDIBLE_DB)
    return audio.samples[loud[0] * frame : (loud[-1] + 1) * frame]


async def measure_condition(
    listener: Listener, paused: Sequence[Said], finished: Sequence[Said], noise: Noise, snr_db: float | None
) -> dict[str, object]:
    """What happens at one loudness of the noise."""
    cut = [said for said in paused if await is_cut_off(listener, said, noise, snr_db)]
    delays = [await delay_s(listener, said, noise, snr_db) for said in finished]
    ended = [delay for delay in delays if delay is not None]
    return {
        "paused": len(paused),
        "cut_off": len(cut),
        "cut_off_percent": round(100 * len(cut) / len(paused), 1),
        "cut_off_texts": [said.text for said in cut],
        "whole": len(delays),
        "ended": len(ended),
        "endpoint_median_ms": round(1000 * statistics.median(ended)) if ended else None,
        "endpoint_p95_ms": round(1000 * float(np.percentile(ended, 95))) if ended else None,
    }


async def is_cut_off(listener: Listener, said: Said, noise: Noise, snr_db: float | None) -> bool:
    heard = in_room(said, noise, snr_db)
    return any(
        # A tenth of a second before its end nothing is missing that could be understood.
        BEFORE_S + 0.1 < utterance.ended_at_s < BEFORE_S + said.audio.duration_s - 0.1
        for utterance in await listener.utterances(heard)
    )


async def delay_s(listener: Listener, said: Said, noise: Noise, snr_db: float | None) -> float | None:
    """From the last audible sample to the endpoint; None where it did not come, or nothing was heard."""
    over_s = BEFORE_S + said.audio.duration_s
    utterances = await listener.utterances(in_room(said, noise, snr_db))
    ends = [u.ended_at_s for u in utterances if u.started_at_s < over_s and u.ended_at_s >= over_s - 0.1]
    return ends[0] - over_s if ends else None


def in_room(said: Said, noise: Noise, snr_db: float | None) -> Audio:
    key = f"{said.text} {said.pause_s} {noise_name(snr_db)}"
    heard = noise.behind(said.audio, snr_db, key, before_s=BEFORE_S, after_s=AFTER_S)
    # Nowhere is there no sound at all.
    hiss = np.random.default_rng(5).standard_normal(len(heard.samples)) * 1e-4
    return Audio(heard.samples + hiss.astype(np.float32), heard.rate_hz)


async def measure(folders: Folders, args: argparse.Namespace) -> dict[str, object]:
    store = open_store(folders)
    settings = load_settings(folders, flags={}, environ={})
    daemon = Daemon(settings, folders, store, ["piper", "whisper"])
    store.ensure(daemon.needed_models())
    texts = [text for text in SENTENCES if len(text.split()) >= LEAST_WORDS][: args.count]
    async with daemon:
        voice: Speaking = EspeakSpeaking() if args.voice == "espeak" else PiperSpeaking(daemon.synthesizer)
        paused = [said async for said in with_pauses(voice, texts, np.random.default_rng(args.seed))]
        finished = [said async for said in whole(voice, texts)]
        noise = Noise(args.noise, [said.audio for said in finished])
        listeners = {
            "by words": Listener(settings.audio, args.reply_ms / 1000, daemon.hearing()),
            "fixed": Listener(settings.audio, 0.0, None),
        }
        results: dict[str, object] = {}
        for snr_db in read_snrs(args.snr):
            for name, listener in listeners.items():
                result = await measure_condition(listener, paused, finished, noise, snr_db)
                results[f"{noise_name(snr_db)}, {name}"] = result
                print(line(noise_name(snr_db), name, result), flush=True)
    return {
        "hardware": describe(),
        "voice": args.voice,
        "noise": args.noise,
        "hangover_ms": settings.audio.hangover_ms,
        "reply_ms": args.reply_ms,
        "bar_percent": BAR_PERCENT,
        "results": results,
    }


def line(noise: str, name: str, result: dict[str, object]) -> str:
    return (
        f"{noise:>6} {name:>8}: {result['cut_off']} of {result['paused']} cut off "
        f"({result['cut_off_percent']} %); {result['ended']} of {result['whole']} whole ones ended, "
        f"median {result['endpoint_median_ms']} ms, p95 {result['endpoint_p95_ms']} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Pauses inside and behind what is said.")
    parser.add_argument("--count", type=int, default=len(SENTENCES))
    parser.add_argument("--voice", choices=("piper", "espeak"), default="piper")
    parser.add_argument("--noise", choices=NOISE_KINDS, default="babble")
    parser.add_argument("--snr", default="clean,20,10,5", help="clean, and decibels")
    parser.add_argument("--reply-ms", type=float, default=0.0, help="from the words to a reply that is ready")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        result = asyncio.run(measure(folders, args))
    print(f"bar: at most {BAR_PERCENT} % cut off, clean and by words")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
