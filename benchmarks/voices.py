"""Compares voices: `python -m benchmarks.voices --mos-python PYTHON [--language de] [--voices ID …]`.

Thirty answers of an assistant, in other languages commands of tests/eval, are spoken by each voice in an engine process
of its own, taking turns:

- naturalness: the opinion score that DistillMOS predicts (PyPI distillmos, in an environment of its own with torch);
- intelligibility: the words that Whisper reads back wrong, with numbers written as words on both sides;
- the time to the first sound of each answer, processor time per second of speech, and memory of the process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soxr  # type: ignore[import-untyped]  # it has neither stubs nor py.typed

from benchmarks.hardware import describe
from edgevox.audio.files import write_wav
from edgevox.config import TtsSettings
from edgevox.core.files import user_folders
from edgevox.core.languages import ENGLISH, LANGUAGES
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, Engine, SynthesisRequest, TranscribeRequest
from edgevox.engines import EngineLimits, HostedEngine, SupervisedEngine
from edgevox.engines.threads import plan_threads
from edgevox.eval.scoring import word_errors
from edgevox.models import ModelStore, open_store
from edgevox.stt.whisper import WhisperEngine
from edgevox.tts.engines import TtsContext, choose_tts, create_tts
from edgevox.tts.normalize import normalize_text
from edgevox.tts.sentences import SentenceSplitter

VOICES = ("piper-en_US-joe-medium", "hibari-en_US-heart", "kokoro-en_US-heart")
ANSWERS = (
    "Okay.",
    "The kitchen light is on.",
    "It is 7:45.",
    "Good morning, Rachel.",
    "I did not understand that. Please say it again.",
    "It is 21.5 degrees in the living room, and 19 in the bedroom.",
    "The timer for the pasta has 4 minutes and 30 seconds left.",
    "I added butter, two lemons and a loaf of bread to the shopping list.",
    "Yes, the front door is locked.",
    "The garage door is still open. Shall I close it?",
    "Tomorrow will be mostly cloudy in Berlin, with a high of 18 degrees and a light wind from the west.",
    "Your alarm is set for 6:30 tomorrow morning.",
    "There are three lights on: the desk lamp, the hallway light and the lamp on the porch.",
    "A marathon is 42.2 kilometers, which is about 26 miles.",
    "The thermostat is set to 20 degrees.",
    "On Friday, March 3rd, you have a dentist appointment at 10:15.",
    "The washing machine used 1.2 kilowatt hours today.",
    "15% of 240 dollars is 36 dollars.",
    "I cannot reach the bedroom speaker. Is it switched on?",
    "The blinds in the children's room are half closed.",
    "Playing music in the kitchen.",
    "Dr. Miller called at noon and asked you to call her back.",
    "The capital of Australia is Canberra, not Sydney.",
    "Which lamp do you mean, the one on the desk or the one beside the sofa?",
    "The robot vacuum is cleaning the dining room. It will be done in about half an hour.",
    "Nobody is at home, the alarm is armed, and all the windows are closed.",
    "Water boils at 100 degrees Celsius, or 212 degrees Fahrenheit.",
    "Your parcel arrived at 14:20.",
    "I turned off everything downstairs except the light in the hall.",
    "Sorry, something went wrong. Please try again later.",
)
READER = "whisper-base"
# Longer than a child waits before it counts as idle and returns freed memory.
IDLE_S = 2.5
MOS_PROGRAM = """
import json, sys, wave
import numpy, torch, torchaudio, distillmos
model = distillmos.ConvTransformerSQAModel().eval()
scores = {}
for path in sys.argv[1:]:
    with wave.open(path) as file:
        rate = file.getframerate()
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype("float32") / 32768
    sound = torchaudio.functional.resample(torch.from_numpy(samples)[None], rate, 16000)
    with torch.no_grad():
        scores[path] = float(model(sound))
print(json.dumps(scores))
"""


@dataclass
class Spoken:
    """What one voice made of the answers."""

    first_sound_ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    speech_s: float = 0.0
    idle_mb: list[float] = field(default_factory=list)
    most_mb: float = 0.0
    words: int = 0
    wrong: int = 0
    misread: list[str] = field(default_factory=list)
    mos: list[float] = field(default_factory=list)

    def row(self) -> dict[str, float]:
        return {
            "mos_mean": round(statistics.mean(self.mos), 2) if self.mos else 0.0,
            "mos_lowest": round(min(self.mos), 2) if self.mos else 0.0,
            "words_wrong_percent": round(100 * self.wrong / self.words, 1),
            "words_wrong": self.wrong,
            "words": self.words,
            "first_sound_ms_median": round(statistics.median(self.first_sound_ms)),
            "first_sound_ms_p95": round(float(np.percentile(self.first_sound_ms, 95))),
            "cpu_s_per_s_of_speech": round(self.cpu_s / self.speech_s, 3),
            "speech_s": round(self.speech_s, 1),
            "idle_mb_median": round(statistics.median(self.idle_mb)),
            "most_mb": round(self.most_mb),
        }


TtsProcess = SupervisedEngine[SynthesisRequest, Audio]


def engine_of(voice: str, store: ModelStore) -> TtsProcess:
    return SupervisedEngine("tts", local_engine(voice, store), limits=EngineLimits())


def local_engine(voice: str, store: ModelStore) -> Engine[SynthesisRequest, Audio]:
    settings, limits = TtsSettings(voice=voice), EngineLimits()
    choice = choose_tts(settings, store.manifest)
    files = {language: store.pull(each) for language, each in choice.model_ids.items()}
    context = TtsContext(settings, plan_threads().tts, limits, choice.voices, files, next(iter(choice.voices)))
    engine = create_tts(choice, context)
    assert not isinstance(engine, HostedEngine), "a local engine"
    return engine


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def answers(language: str, most: int) -> tuple[str, ...]:
    """What is spoken: the answers above, or the first commands of each category of the language's suite."""
    if language == ENGLISH:
        return ANSWERS[:most]
    suite = Path(__file__).parents[1] / "tests" / "eval" / f"{LANGUAGES[language].lower()}.jsonl"
    rows = [json.loads(line) for line in suite.read_text(encoding="utf-8").splitlines()]
    texts = [row["utterance"] for row in rows if "utterance" in row]
    return tuple(f"{text[:1].upper()}{text[1:]}." for text in texts[:: max(1, len(texts) // most)][:most])


def sentences(answer: str, language: str) -> list[str]:
    splitter = SentenceSplitter()
    return [normalize_text(each, language) for each in (*splitter.feed(answer), *splitter.finish())]


async def speak(engine: TtsProcess, answer: str, language: str, spoken: Spoken) -> Audio:
    assert engine.pid is not None
    spoken.idle_mb.append(anonymous_bytes(engine.pid) / 1e6)
    begun_cpu_s, begun_s = cpu_s(engine.pid), time.monotonic()
    chunks: list[Audio] = []
    for sentence in sentences(answer, language):
        async for chunk in engine.stream(SynthesisRequest(sentence, language=language), CancelFlag()):
            if not chunks:
                spoken.first_sound_ms.append(1000 * (time.monotonic() - begun_s))
            chunks.append(chunk)
    spoken.most_mb = max(spoken.most_mb, anonymous_bytes(engine.pid) / 1e6)
    spoken.cpu_s += cpu_s(engine.pid) - begun_cpu_s
    sound = Audio.joined(chunks)
    spoken.speech_s += sound.duration_s
    return sound


async def speak_all(
    voices: list[str], store: ModelStore, folder: Path, said: tuple[str, ...], language: str
) -> tuple[dict[str, Spoken], dict[Path, Audio]]:
    spoken = {voice: Spoken() for voice in voices}
    sounds: dict[Path, Audio] = {}
    engines = {voice: engine_of(voice, store) for voice in voices}
    try:
        for engine in engines.values():
            await engine.start()
        for number, answer in enumerate(said):
            for voice in voices:
                await asyncio.sleep(IDLE_S)
                path = folder / f"{voice}-{number:02}.wav"
                sounds[path] = await speak(engines[voice], answer, language, spoken[voice])
                write_wav(path, [sounds[path]])
    finally:
        for engine in engines.values():
            await engine.close()
    return spoken, sounds


# Whisper writes a time as 7:45, 7.45, 7-45 or 745.
TIME = re.compile(r"\b(\d{1,2})[:.-](\d{2})\b(?!\d|%| (?:kilo|degree|dollar))")


def plain_words(text: str, language: str = ENGLISH) -> list[str]:
    """The words, with numbers and units as they are spoken, and times as four digits."""
    plain = normalize_text(TIME.sub(r"\1\2", text), language).casefold().replace("'", "").replace("-", " ")
    return re.findall(r"[^\W_]+", plain)


def read_back(
    voices: list[str],
    store: ModelStore,
    sounds: dict[Path, Audio],
    spoken: dict[str, Spoken],
    said: tuple[str, ...],
    language: str,
) -> None:
    reader = WhisperEngine(store.pull(READER), threads=plan_threads().stt)
    reader.load()
    paths = iter(sounds)
    for answer in said:
        for voice in voices:
            sound = sounds[next(paths)]
            silence = np.zeros(SAMPLE_RATE_HZ // 4, np.float32)
            samples = soxr.resample(sound.samples, sound.rate_hz, SAMPLE_RATE_HZ)
            audio = Audio(np.concatenate([silence, samples, silence]), SAMPLE_RATE_HZ)
            (heard,) = [
                reply
                for reply in reader.run(TranscribeRequest(audio, language), CancelFlag())
                if hasattr(reply, "text")
            ]
            meant, read = plain_words(answer, language), plain_words(heard.text, language)
            wrong = word_errors(meant, read)
            spoken[voice].words += len(meant)
            spoken[voice].wrong += wrong
            if wrong:
                spoken[voice].misread.append(f"{answer} → {heard.text}")


def rate(voices: list[str], sounds: dict[Path, Audio], spoken: dict[str, Spoken], python: str) -> None:
    done = subprocess.run(
        [python, "-c", MOS_PROGRAM, *map(str, sounds)], check=True, capture_output=True, text=True, timeout=3600
    )
    scores = json.loads(done.stdout.splitlines()[-1])
    for number, path in enumerate(sounds):
        spoken[voices[number % len(voices)]].mos.append(scores[str(path)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--voices", nargs="+", default=list(VOICES), metavar="ID")
    parser.add_argument("--language", default=ENGLISH, metavar="CODE", help="the language of the voices")
    parser.add_argument("--most", type=int, default=len(ANSWERS), metavar="N", help="sentences")
    parser.add_argument("--mos-python", metavar="PYTHON", help="an interpreter that has distillmos; without, no scores")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the sounds there")
    parser.add_argument("--results", type=Path, metavar="FILE.json")
    args = parser.parse_args()
    store, load = open_store(user_folders()), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        said = answers(args.language, args.most)
        spoken, sounds = asyncio.run(speak_all(args.voices, store, folder, said, args.language))
        read_back(args.voices, store, sounds, spoken, said, args.language)
        if args.mos_python:
            rate(args.voices, sounds, spoken, args.mos_python)
    results = {
        "hardware": f"{describe()}; load average {load:.1f} at the start",
        "language": args.language,
        "answers": len(said),
        "voices": {voice: {**each.row(), "misread": each.misread} for voice, each in spoken.items()},
    }
    text = json.dumps(results, indent=2, ensure_ascii=False)
    print(text)
    if args.results:
        args.results.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
