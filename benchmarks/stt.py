"""Our Whisper engine beside faster-whisper's own `transcribe`: `python -m benchmarks.stt`.

Both hear every utterance, one after the other, so that the noise of the machine hits both. The words are
compared after the same normalisation. Real recordings are taken from the folder in EDGEVOX_SPEECH_DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.progress import track

from benchmarks.hardware import describe
from benchmarks.nonspeech import sounds_without_speech
from benchmarks.speech_test_set import (
    HOME_NAMES,
    SpeechCache,
    Utterance,
    espeak_is_here,
    recorded,
    spoken_by_espeak,
    spoken_by_piper,
)
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, TranscribeRequest, Transcript
from edgevox.engines.threads import plan_threads
from edgevox.eval.scoring import word_errors
from edgevox.llm.engine import TextScorer
from edgevox.models import ModelStore, open_store
from edgevox.stt.decoding import FULL_WINDOW_S, is_repetition_loop
from edgevox.stt.text_normalizer import words_of
from edgevox.stt.whisper import WhisperEngine
from edgevox.tts.piper import PiperEngine

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

PIPER_VOICE = "piper-en_US-joe-medium"
ADAPTER, ADAPTED_MODEL = "edgevox-hearing-base", "whisper-base"
SHORT_S = 5.0
SPEED_BAR = 2.5
WORSE_BAR_PERCENT = 1.0

Transcribe = Callable[[Audio], Transcript]


@dataclass(frozen=True, slots=True)
class Heard:
    """What one transcriber made of one utterance."""

    source: str
    duration_s: float
    said: str | None
    text: str
    wall_s: float
    window_s: float
    attempts: int

    @property
    def words(self) -> int:
        return len(words_of(self.said or ""))

    @property
    def errors(self) -> int:
        return word_errors(words_of(self.said), words_of(self.text)) if self.said is not None else 0

    @property
    def is_loop(self) -> bool:
        if is_repetition_loop(self.text):
            return True
        return self.said is not None and len(words_of(self.text)) > 2 * self.words + 5


@dataclass(frozen=True, slots=True)
class Summary:
    """One transcriber's figures over a set of utterances."""

    utterances: int
    median_s: float
    p95_s: float
    total_s: float
    words: int
    errors: int
    word_error_percent: float
    loops: int


def summary(heard: Sequence[Heard]) -> Summary:
    seconds = [each.wall_s for each in heard]
    words, errors = sum(each.words for each in heard), sum(each.errors for each in heard)
    return Summary(
        utterances=len(heard),
        median_s=round(statistics.median(seconds), 3),
        p95_s=round(float(np.percentile(seconds, 95)), 3),
        total_s=round(sum(seconds), 1),
        words=words,
        errors=errors,
        word_error_percent=round(100 * errors / words, 2) if words else 0.0,
        loops=sum(each.is_loop for each in heard),
    )


def hear(transcribe: Transcribe, utterance: Utterance) -> Heard:
    started_s = time.perf_counter()
    transcript = transcribe(utterance.audio)
    return Heard(
        source=utterance.source,
        duration_s=round(utterance.audio.duration_s, 2),
        said=utterance.text,
        text=transcript.text,
        wall_s=round(time.perf_counter() - started_s, 3),
        window_s=round(transcript.window_s, 2),
        attempts=transcript.attempts,
    )


def interleaved(transcribers: dict[str, Transcribe], utterances: Sequence[Utterance]) -> dict[str, list[Heard]]:
    """Let every transcriber hear every utterance, taking turns in who comes first."""
    results: dict[str, list[Heard]] = {name: [] for name in transcribers}
    names = list(transcribers)
    for index, utterance in enumerate(track(utterances, "listening")):
        for name in names if index % 2 else reversed(names):
            results[name].append(hear(transcribers[name], utterance))
    return results


def ours(engine: WhisperEngine, names: tuple[str, ...] = ()) -> Transcribe:
    def transcribe(audio: Audio) -> Transcript:
        return next(iter(engine.run(TranscribeRequest(audio, "en", names), CancelFlag())))

    return transcribe


def text_scorer(store: ModelStore, threads: int) -> TextScorer:
    """The default language model, as the product gives it to its recogniser."""
    folders = user_folders()
    settings = load_settings(folders, flags={"preset": "home"}, environ={})
    models = AssistantRuntime(settings, folders, store, ("llm", "stt")).models
    store.ensure(models.needed())
    models.prepare(print)
    path = models.text_scorer()
    assert path is not None, "the home preset has no text scorer"
    return TextScorer(path, threads=threads)


def faster_whisper(model_dir: Path, threads: int) -> WhisperModel:
    # Not at the top of the file: our engine first decides how CTranslate2's threads wait, for both of them.
    from faster_whisper import WhisperModel

    return WhisperModel(str(model_dir), device="cpu", compute_type="int8", cpu_threads=threads)


def theirs(model: WhisperModel, beam_size: int) -> Transcribe:
    def transcribe(audio: Audio) -> Transcript:
        segments, _ = model.transcribe(audio.samples, language="en", beam_size=beam_size)
        return Transcript(" ".join(part.text.strip() for part in segments), "en", audio.duration_s, window_s=30)

    return transcribe


def utterances(store: ModelStore, recordings: Path | None) -> Iterator[Utterance]:
    cache = SpeechCache()
    piper = PiperEngine(store.pull(PIPER_VOICE))
    piper.load()
    yield from spoken_by_piper(piper, cache)
    if espeak_is_here():
        yield from spoken_by_espeak(cache)
    else:
        print("espeak-ng is not installed: its voices are left out")
    if recordings is not None:
        yield from recorded(recordings)
    else:
        print("EDGEVOX_SPEECH_DIR is not set: real recordings are left out")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=ADAPTED_MODEL, help="id of a Whisper model in the store")
    parser.add_argument("--plain", action="store_true", help="without the adapter that the product has")
    parser.add_argument("--threads", type=int, default=plan_threads().stt)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each Nth utterance only")
    parser.add_argument("--beam-5", action="store_true", help="also run faster-whisper with its own beam of 5")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()

    speech_dir = os.environ.get("EDGEVOX_SPEECH_DIR")
    recordings = Path(speech_dir) if speech_dir else None
    store = open_store(user_folders())
    model_dir = store.pull(args.model)
    chosen = list(utterances(store, recordings))[:: args.every]
    # It has learnt on the weights of this one.
    adapter_id = ADAPTER if args.model == ADAPTED_MODEL and not args.plain else None
    adapter = store.pull(adapter_id) if adapter_id else None
    engine = WhisperEngine(
        model_dir, threads=args.threads, adapter=adapter, rescoring=True, text_scorer=text_scorer(store, args.threads)
    )
    engine.load()
    model = faster_whisper(model_dir, args.threads)

    print(f"hardware: {describe()}")
    print(f"model {args.model}, int8, {args.threads} threads, beam {engine.beam_size}, {len(chosen)} utterances")
    transcribers = {"edgevox": ours(engine), "faster-whisper": theirs(model, engine.beam_size)}
    if args.beam_5:
        transcribers["faster-whisper, beam 5"] = theirs(model, 5)
    results = interleaved(transcribers, chosen)
    figures = report(results)
    figures["without speech"] = report_inventions(transcribers, recordings)
    if recordings is not None:
        figures["names"] = report_names(engine, recordings)
    if args.json:
        kept = {
            "hardware": describe(),
            "model": args.model,
            "adapter": adapter_id,
            "threads": args.threads,
            "beam_size": engine.beam_size,
            **figures,
            "utterances": {name: [asdict(each) for each in heard] for name, heard in results.items()},
        }
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def report(results: dict[str, list[Heard]]) -> dict[str, object]:
    """Print times, word errors and loops by source, and hold them to the bars."""
    figures: dict[str, object] = {}
    sources = ["all", *dict.fromkeys(each.source for each in results["edgevox"])]
    print(f"\n{'':22}{'source':20}{'n':>5}{'median s':>10}{'p95 s':>8}{'errors':>8}{'WER %':>8}{'loops':>7}")
    for name, heard in results.items():
        by_source = {source: summary([each for each in heard if source in ("all", each.source)]) for source in sources}
        for source, each in by_source.items():
            print(
                f"{name:22}{source:20}{each.utterances:5}{each.median_s:10.3f}{each.p95_s:8.3f}"
                f"{each.errors:8}{each.word_error_percent:8.2f}{each.loops:7}"
            )
        figures[name] = {source: asdict(each) for source, each in by_source.items()}
    short = {name: [each.wall_s for each in heard if each.duration_s <= SHORT_S] for name, heard in results.items()}
    of_medians = statistics.median(short["faster-whisper"]) / statistics.median(short["edgevox"])
    of_sums = sum(short["faster-whisper"]) / sum(short["edgevox"])
    all_ours, all_theirs = summary(results["edgevox"]), summary(results["faster-whisper"])
    worse = all_ours.word_error_percent - all_theirs.word_error_percent
    kept = Counter(
        f"{each.attempts} tried, {'full' if each.window_s >= FULL_WINDOW_S else 'short'} window kept"
        for each in results["edgevox"]
    )
    print(
        f"\nspeed up to {SHORT_S:.0f} s ({len(short['edgevox'])} utterances): {of_medians:.2f} times as fast "
        f"by the medians, {of_sums:.2f} times over all (bar: {SPEED_BAR})"
    )
    print(f"words: {worse:+.2f} wrong words per hundred (bar: {WORSE_BAR_PERCENT:+.0f})")
    print(f"loops: {all_ours.loops} (bar: 0; faster-whisper {all_theirs.loops})")
    print(f"attempts: {dict(kept.most_common())}")
    return {
        **figures,
        "speed ratio up to 5 s": {"of medians": round(of_medians, 2), "of sums": round(of_sums, 2)},
        "more wrong words per hundred": round(worse, 2),
        "attempts": dict(kept.most_common()),
    }


def report_inventions(transcribers: dict[str, Transcribe], recordings: Path | None) -> dict[str, object]:
    """Print what is written where nobody speaks."""
    sounds = dict(sounds_without_speech(recordings))
    invented = {
        name: {sound: text for sound, audio in sounds.items() if (text := transcribe(audio).text)}
        for name, transcribe in transcribers.items()
    }
    print(f"\n{len(sounds)} sounds without speech")
    for name, texts in invented.items():
        print(f"  {name:22} wrote words for {len(texts)}: {texts}")
    return {"sounds": list(sounds), "invented": invented}


def report_names(engine: WhisperEngine, recordings: Path) -> dict[str, object]:
    """Print what priming with the home's names does to real commands, and to talk that holds none of them."""
    clips = list(recorded(recordings))
    plain = [hear(ours(engine), clip) for clip in clips]
    primed = [hear(ours(engine, HOME_NAMES), clip) for clip in clips]
    before, after = summary(plain), summary(primed)
    print(f"\n{len(clips)} recordings, primed with {len(HOME_NAMES)} names of the home")
    print(f"  without names: {before.errors} of {before.words} words wrong, median {before.median_s:.3f} s")
    print(f"  with names:    {after.errors} of {after.words} words wrong, median {after.median_s:.3f} s")
    changed = [(a.said, a.text, b.text) for a, b in zip(plain, primed, strict=True) if a.text != b.text]
    for said, without, with_names in changed:
        print(f"    {said or '(out of domain)'}: {without!r} → {with_names!r}")
    return {"without": asdict(before), "with": asdict(after)}


if __name__ == "__main__":
    main()
