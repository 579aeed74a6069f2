"""How fast Piper is, and what our session settings buy: `python -m benchmarks.tts`.

Real-time factor (seconds of work per second of speech) with one and two threads, alone and beside busy
processes; the time to the first chunk of a sentence, against the whole graph run in one go; the time to the
first sound of a reply; the time to stop; the time to load and the memory, beside a session of onnxruntime as
it comes and beside the whole graph. Rows to be compared take turns in one run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import onnxruntime

from benchmarks.hardware import describe
from edgevox.core.files import user_folders
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SynthesisRequest
from edgevox.models import open_store
from edgevox.tts.normalize import normalize_text
from edgevox.tts.piper import PiperEngine
from edgevox.tts.sentences import SentenceSplitter
from edgevox.tts.vits import SinglePassVits, StoppableSession, StopSwitch

Row: TypeAlias = dict[str, float | int | str]

REPLY = (
    "Tomorrow will be mostly cloudy in Berlin, with a high of 18.5°C and a light wind from the west. "
    "Take an umbrella, since there may be some rain after 3:30 pm. "
    "The evening stays dry! I have set your alarm for 7:15."
)
SENTENCES = (
    "Yes, of course I can.",
    "The kitchen light is on now, and the hall is dark.",
    "Tomorrow will be mostly cloudy in Berlin, with a high of eighteen degrees and a light wind from "
    "the west in the evening.",
)
LONG_SENTENCE = "so the light in the hall is on and the light in the kitchen is off " * 3
SPAWN = multiprocessing.get_context("spawn")


def sentences(text: str) -> list[str]:
    splitter = SentenceSplitter()
    return [normalize_text(each) for each in (*splitter.feed(text), *splitter.finish())]


def whole_engine(voice: Path, threads: int) -> PiperEngine:
    """The engine as it was before voices were cut: one session, one run for a sentence."""
    engine = PiperEngine(voice, threads=threads)
    engine.load()
    engine._loaded[voice]._speech = SinglePassVits(voice, threads=threads, switch=StopSwitch())
    return engine


def synthesis_s(engine: PiperEngine, text: str) -> tuple[float, float]:
    """Seconds of work, and of speech."""
    started_s = time.monotonic()
    speech_s = sum(chunk.duration_s for chunk in engine.run(SynthesisRequest(text), CancelFlag()))
    return time.monotonic() - started_s, speech_s


def first_sound_s(engine: PiperEngine, text: str) -> float:
    started_s = time.monotonic()
    next(engine.run(SynthesisRequest(text), CancelFlag()))
    return time.monotonic() - started_s


def stop_s(engine: PiperEngine, after_s: float) -> float:
    """Seconds from the cancel flag to the end of the run."""
    cancel = CancelFlag()
    set_s: list[float] = []

    def stop() -> None:
        set_s.append(time.monotonic())
        cancel.set()

    timer = threading.Timer(after_s, stop)
    timer.start()
    for _ in engine.run(SynthesisRequest(LONG_SENTENCE), cancel):
        pass
    ended_s = time.monotonic()
    if not set_s:
        timer.cancel()
        raise RuntimeError("the run ended before it was stopped")
    return ended_s - set_s[0]


def spin() -> None:
    while True:
        pass


@contextmanager
def busy(count: int) -> Iterator[None]:
    """As many processes as that, each with a core's worth of work."""
    processes = [SPAWN.Process(target=spin, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def real_time_factors(voice: Path, rounds: int) -> list[Row]:
    engines = {threads: PiperEngine(voice, threads=threads) for threads in (1, 2)}
    for engine in engines.values():
        engine.load()
    rows: list[Row] = []
    for beside in (0, 1, 2):
        factors: dict[int, list[float]] = {threads: [] for threads in engines}
        processor: dict[int, list[float]] = {threads: [] for threads in engines}
        with busy(beside):
            for _ in range(rounds):
                for threads, engine in engines.items():
                    processor_s = time.process_time()
                    work_s, speech_s = synthesis_s(engine, normalize_text(REPLY))
                    factors[threads].append(work_s / speech_s)
                    processor[threads].append((time.process_time() - processor_s) / speech_s)
        rows.extend(
            {
                "busy processes beside it": beside,
                "threads": threads,
                "real-time factor, median": round(statistics.median(factors[threads]), 3),
                "best": round(min(factors[threads]), 3),
                "processor seconds per second of speech": round(statistics.median(processor[threads]), 3),
            }
            for threads in engines
        )
    return rows


def first_chunks(voice: Path, rounds: int) -> list[Row]:
    whole, chunked = whole_engine(voice, 2), PiperEngine(voice, threads=2)
    chunked.load()
    rows: list[Row] = []
    for sentence in SENTENCES:
        whole_s: list[float] = []
        first_s: list[float] = []
        all_s: list[float] = []
        for _ in range(rounds):
            work_s, speech_s = synthesis_s(whole, sentence)
            whole_s.append(work_s)
            all_s.append(synthesis_s(chunked, sentence)[0])
            first_s.append(first_sound_s(chunked, sentence))
        whole_ms, first_ms, all_ms = (1000 * statistics.median(each) for each in (whole_s, first_s, all_s))
        rows.append(
            {
                "sentence (s)": round(speech_s, 1),
                "whole (ms)": round(whole_ms),
                "first chunk (ms)": round(first_ms),
                "all chunks (ms)": round(all_ms),
                "first chunk / whole": round(first_ms / whole_ms, 2),
            }
        )
    return rows


def first_sounds(voice: Path, rounds: int) -> list[Row]:
    engine = PiperEngine(voice)
    engine.load()
    whole, first = normalize_text(REPLY), sentences(REPLY)[0]
    whole_s: list[float] = []
    first_s: list[float] = []
    for _ in range(rounds):
        whole_s.append(synthesis_s(engine, whole)[0])
        first_s.append(first_sound_s(engine, first))
    stops_s = [stop_s(engine, after_s=0.1 * number) for number in range(1, rounds + 1)]
    whole_ms, first_ms = (1000 * statistics.median(each) for each in (whole_s, first_s))
    return [
        {"what": "whole reply synthesised before it is played (ms)", "value": round(whole_ms)},
        {"what": f"first piece, {first!r} (ms)", "value": round(first_ms)},
        {"what": "ratio", "value": round(whole_ms / first_ms, 1)},
        {"what": "from the cancel flag to the end of a run, worst (ms)", "value": round(1000 * max(stops_s), 1)},
    ]


def plain_session_s(voice: Path) -> float:
    started_s = time.monotonic()
    onnxruntime.InferenceSession(str(voice), providers=["CPUExecutionProvider"])
    return time.monotonic() - started_s


def our_session_s(voice: Path) -> float:
    started_s = time.monotonic()
    StoppableSession(voice, threads=1, switch=StopSwitch())
    return time.monotonic() - started_s


def load_s(voice: Path) -> float:
    started_s = time.monotonic()
    PiperEngine(voice, threads=2).load()
    return time.monotonic() - started_s


def memory_mb(voice: Path) -> float:
    """What the process holds after the longest that one run may speak."""
    engine = PiperEngine(voice, threads=2)
    engine.load()
    for text in (REPLY, LONG_SENTENCE):
        synthesis_s(engine, text)
    return anonymous_bytes(os.getpid()) / 1e6


def loads(voice: Path, rounds: int) -> list[Row]:
    measured: dict[str, list[float]] = {}
    with ProcessPoolExecutor(1, mp_context=SPAWN, max_tasks_per_child=1) as pool:
        for _ in range(rounds):
            for measure in (plain_session_s, our_session_s, load_s, memory_mb):
                measured.setdefault(measure.__name__, []).append(pool.submit(measure, voice).result())
    plain, ours, load = (statistics.median(measured[f.__name__]) for f in (plain_session_s, our_session_s, load_s))
    return [
        {"what": "session with onnxruntime's own settings (s)", "value": round(plain, 2)},
        {"what": "our session of the whole graph (s)", "value": round(ours, 2)},
        {"what": "ratio", "value": round(plain / ours, 1)},
        {"what": "engine: import, cut, three sessions, two words (s)", "value": round(load, 2)},
        {"what": "anonymous memory of the process after speaking (MB)", "value": round(max(measured["memory_mb"]))},
    ]


def table(rows: list[Row]) -> str:
    head = [*rows[0]]
    lines = [head, ["---"] * len(head), *([str(row[key]) for key in head] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--voice", type=Path, metavar="FILE.onnx", help="another voice")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="keep the result as tts.json and tts.md")
    args = parser.parse_args()
    voice = args.voice or open_store(user_folders()).pull("piper-en_US-joe-medium")
    load_average = os.getloadavg()[0]
    results: dict[str, list[Row]] = {
        "Load and memory, each time in a new process": loads(voice, args.rounds),
        "First chunk of a sentence, two threads": first_chunks(voice, args.rounds),
        "Threads": real_time_factors(voice, args.rounds),
        "First sound and stop, one thread": first_sounds(voice, args.rounds),
    }
    machine = f"{describe()}; load average {load_average:.1f} at the start"
    parts = [f"# Text to speech\n\n{voice.name} on {machine}; medians of {args.rounds} rounds."]
    parts += [f"## {title}\n\n{table(rows)}" for title, rows in results.items()]
    report = "\n\n".join(parts) + "\n"
    print(report)
    if args.results:
        args.results.mkdir(parents=True, exist_ok=True)
        (args.results / "tts.md").write_text(report, encoding="utf-8")
        kept = {"hardware": machine, "voice": voice.name, "rounds": args.rounds, **results}
        (args.results / "tts.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
