"""`edgevox setup`, `devices`, `wake` and `people`: sound, a wake word's quality, and whose voices are known."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime as dt
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from edgevox.audio.endpointing import Endpointer, SpeechSegment
from edgevox.audio.files import read_audio
from edgevox.audio.io.devices import Device, Direction, choose_device, list_devices
from edgevox.audio.io.microphone import Microphone
from edgevox.audio.wake_features import MODEL_ID as EMBEDDING_MODEL_ID
from edgevox.audio.wake_features import EmbeddingNetwork
from edgevox.audio.wake_head import save_word
from edgevox.audio.wake_word import (
    TARGET_FALSE_PER_HOUR,
    TARGET_MISSED,
    WakeWordDetector,
    WakeWordScore,
    score_wake_word,
    trace_wake_word,
)
from edgevox.cli.command import JSON, Command, argument, setting
from edgevox.cli.context import Context, left, plain_table, right, run_until_done
from edgevox.cli.ui.progress import pull_progress
from edgevox.cli.ui.sound_check import devices_table
from edgevox.config import TtsSettings
from edgevox.config.editing import save_answers
from edgevox.config.sections import TRAINED_WORDS_FOLDER, Threshold, ThresholdName, wake_words
from edgevox.core.errors import AudioError, ConfigError, DeviceUnavailable
from edgevox.core.turn import CancelFlag
from edgevox.core.types import GUEST, Audio
from edgevox.models import open_store
from edgevox.speakers.ge2e import MODEL_ID, Ge2eEngine
from edgevox.speakers.people import SENTENCES, People, SpeakerMatcher, checked_name


@Command("devices", "List audio devices", JSON)
def devices(args: argparse.Namespace, context: Context) -> int:
    settings = context.settings.audio
    found = list_devices()
    microphone = _device_in_use(found, settings.microphone, "input", context)
    speaker = _device_in_use(found, settings.speaker, "output", context)
    if args.json:
        context.write_json(
            [
                dataclasses.asdict(device)
                | {"used_as_microphone": device == microphone, "used_as_speaker": device == speaker}
                for device in found
            ]
        )
    elif found:
        context.out.print(devices_table(found, microphone, speaker))
        context.print("\nChoose by number, name or part of a name with edgevox setup, or run --mic and --speaker.")
    return 0 if microphone and speaker else DeviceUnavailable.exit_code


def _device_in_use(
    devices: Sequence[Device], wanted: str | None, direction: Direction, context: Context
) -> Device | None:
    try:
        return choose_device(devices, wanted, direction)
    except DeviceUnavailable as error:
        context.report_error(error)
        return None


@Command(
    "setup",
    "Set up everything in one guided conversation",
    argument("steps", nargs="*", metavar="STEP", help="only these steps, such as microphone or home"),
    argument("--mic", metavar="NAME", help="propose this microphone"),
    argument("--speaker", metavar="NAME", help="propose this loudspeaker"),
    argument("--yes", "--save", action="store_true", help="ask nothing: take every default, test and save"),
)
def setup(args: argparse.Namespace, context: Context) -> int:
    if not args.yes and not sys.stdin.isatty():
        raise ConfigError(
            "edgevox setup asks questions: run it in a terminal",
            hint="for scripts: edgevox config set NAME VALUE, or edgevox setup --yes, which takes all defaults",
        )
    # Imported here: the setup uses most other commands, which takes a second.
    from edgevox.cli.setup.flow import run_setup
    from edgevox.cli.setup.machine import LocalMachine
    from edgevox.cli.setup.session import SetupSession
    from edgevox.cli.ui.questions import Questions

    proposed: dict[Direction, str] = {}
    proposed |= {"input": args.mic} if args.mic else {}
    proposed |= {"output": args.speaker} if args.speaker else {}
    questions = Questions(context.err, is_unattended=args.yes)
    return run_setup(SetupSession(context, questions, LocalMachine(), proposed), args.steps)


_MAX_NAMED = 20
_AUDIO_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".webm")


WAKE = Command("wake", "Train a wake word of your own, and measure wake words in recordings")


@WAKE.action(
    "test",
    "count false accepts per hour and misses in recordings",
    argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="recordings (or folders) without the wake word: every detection is a false accept",
    ),
    argument(
        "--wake-files",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="recordings (or folders) with the wake word once in each: no detection is a miss",
    ),
    setting("--word", "wake.word", None, "built-in wake word", choices=[*wake_words()]),
    setting("--model", "wake.model", "FILE.json", "your own wake-word model"),
    setting("--threshold", "wake.threshold", None, "strict, normal, eager, or a number from 0 to 1"),
    JSON,
)
def _test(args: argparse.Namespace, context: Context) -> None:
    others, words = list(_audio_files(args.files)), list(_audio_files(args.wake_files))
    if not others and not words:
        raise ConfigError("no recordings given", hint="edgevox wake test TALK.wav … --wake-files WORD.wav …")
    wake = context.settings.wake
    word = wake.model or wake.word
    wake_word = WakeWordDetector(word).word
    began_s = time.monotonic()
    with context.err.status("processing …"):
        other_traces = [trace_wake_word(word, str(path), read_audio(path)) for path in others]
        word_traces = [trace_wake_word(word, str(path), read_audio(path)) for path in words]
    took_s = time.monotonic() - began_s
    chosen = score_wake_word(word_traces, other_traces, wake_word.cutoff(wake.threshold))
    wrong = [(trace.name, at_s) for trace in other_traces for at_s in trace.accepts_s(chosen.cutoff)]
    missed = [trace.name for trace in word_traces if not trace.accepts_s(chosen.cutoff)]
    if args.json:
        context.write_json(
            {
                "word": wake_word.phrase,
                **dataclasses.asdict(chosen),
                "false_per_hour": chosen.false_per_hour,
                "false_per_hour_at_most": chosen.false_per_hour_at_most,
                "missed_share": chosen.missed_share,
                "heard_wrongly": [{"file": name, "at_s": round(at_s, 2)} for name, at_s in wrong],
                "missed_files": missed,
            }
        )
        return
    levels: list[Threshold] = list(dict.fromkeys((*get_args(ThresholdName), wake.threshold)))
    scores = [(level, score_wake_word(word_traces, other_traces, wake_word.cutoff(level))) for level in levels]
    audio_s = sum(trace.duration_s for trace in (*word_traces, *other_traces))
    context.print(f'"{wake_word.phrase}" in {audio_s / 60:.1f} minutes of audio (processed in {took_s:.1f} s)\n')
    context.out.print(_score_table(scores, wake.threshold))
    mistakes = {"false accepts": [f"{name} at {at_s:.1f} s" for name, at_s in wrong], "missed": missed}
    for what, names in mistakes.items():
        if names:
            context.print(f"\n{what}:", *(f"  {name}" for name in names[:_MAX_NAMED]))
        if len(names) > _MAX_NAMED:
            context.print(f"  … and {len(names) - _MAX_NAMED} more")


@WAKE.action(
    "train",
    "train a wake word of your own, from synthesised speech",
    argument("phrase", metavar="PHRASE", help='a few English words, such as "hey house"'),
    argument(
        "--negatives",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="recordings (or folders) without the phrase, of your rooms and people: fewer false accepts",
    ),
    argument("--quick", action="store_true", help="a first try in a minute or two, with more errors"),
    argument("--use", action="store_true", help="make it the wake word: wake.mode and wake.word"),
    JSON,
)
def _train(args: argparse.Namespace, context: Context) -> None:
    # Imported late: other commands do without onnxruntime.
    from edgevox.tts.speaker_bank import MODEL_ID as SPEAKERS
    from edgevox.tts.speaker_bank import SpeakerBank
    from edgevox.wake_training.recipe import QUICK, Plan, checked_phrase, train_wake_word

    phrase = checked_phrase(args.phrase)
    recordings = [read_audio(path).samples for path in _audio_files(args.negatives)]
    store, voice = open_store(context.folders), TtsSettings().voice
    with pull_progress(context.err) as progress:
        store.ensure([EMBEDDING_MODEL_ID, SPEAKERS, voice], progress)
    bank = SpeakerBank(store.path(SPEAKERS).parent, store.path(voice), threads=os.cpu_count() or 1)
    network = EmbeddingNetwork.read(store.path(EMBEDDING_MODEL_ID))
    with context.err.status("synthesising …") as status:
        word, head = train_wake_word(
            phrase, bank, network, plan=QUICK if args.quick else Plan(), recordings=recordings, report=status.update
        )
    name = phrase.replace(" ", "_").replace("'", "")
    path = context.folders.state / TRAINED_WORDS_FOLDER / f"{name}.json"
    save_word(path, head, word)
    if args.use:
        # With the recogniser as the second opinion, the detector may be eager.
        chosen = {"mode": "word", "word": name, "model": None, "confirm": True, "threshold": "eager"}
        save_answers(context.settings, context.folders, {f"wake.{key}": value for key, value in chosen.items()})
    if args.json:
        context.write_json({"name": name, "file": str(path), **word.model_dump()})
        return
    missed, false = word.measured, word.measured["false_accepts"]
    context.print(
        f'"{phrase}" is trained: {path}',
        f"  missed {missed['missed']} of {missed['phrases']} synthesised phrases of speakers kept aside",
        f"  {false} false accepts in {missed['hours'] * 60:.0f} minutes of people's speech kept aside",
        f"  {word.training['seconds'] / 60:.1f} minutes, {word.training['cpu_seconds'] / 60:.1f} of processor time",
    )
    if not args.use:
        context.print(f"\nUse it: edgevox config set wake.word {name}, and wake.mode word")
    context.print(f"Measure it on recordings of people: edgevox wake test TALK.wav --wake-files WORD.wav --word {name}")


def _audio_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in _AUDIO_SUFFIXES)
        if not inside:
            raise AudioError(f"no audio files in {path}", hint=f"supported suffixes: {', '.join(_AUDIO_SUFFIXES)}")
        yield from inside


def _score_table(scores: Sequence[tuple[Threshold, WakeWordScore]], chosen: Threshold) -> Table:
    headings = ("cut-off", "false accepts", "per hour", "at most (95 %)", "missed")
    table = plain_table(left("threshold"), *map(right, headings))
    for level, result in scores:
        table.add_row(
            f"{level}{' *' if level == chosen else ''}",
            f"{result.cutoff:.3f}",
            str(result.false_accepts) if result.hours else "–",
            _number(result.false_per_hour),
            _number(result.false_per_hour_at_most),
            f"{result.missed} of {result.words}" if result.words else "–",
        )
    table.add_row("openWakeWord's target", "", "", f"{TARGET_FALSE_PER_HOUR}", "", f"{TARGET_MISSED:.0%}", style="dim")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


PEOPLE = Command("people", "Enrol voices, so that the assistant knows who speaks")
_NAME = argument("name", metavar="NAME", help="the name of the person")
_FROM = argument(
    "--from", dest="files", type=Path, nargs="+", metavar="FILE", help="recordings instead of speaking now"
)
_LISTEN_S = 20.0


@PEOPLE.action("add", "enrol a person by three spoken sentences, or by recordings", _NAME, _FROM)
def _add_person(args: argparse.Namespace, context: Context) -> None:
    name, people = checked_name(args.name), People.of(context.folders, context.settings.people)
    people.all()  # before a person speaks: the file may be encrypted with another passphrase
    if not args.files and not sys.stdin.isatty():
        raise ConfigError("edgevox people add records you: run it in a terminal", hint="or use --from FILE")
    engine = _engine(context)
    recordings = [read_audio(path) for path in args.files] if args.files else _spoken(context, SENTENCES)
    embeddings = [_embedding(engine, audio) for audio in recordings]
    people.add(name, embeddings)
    context.print(f"{name} is enrolled with {len(embeddings)} recordings.")
    context.note("A voice is not a password: a recording of it is recognised too.", style="dim")


@PEOPLE.action("list", "list the enrolled people", JSON)
def _list_people(args: argparse.Namespace, context: Context) -> None:
    people = People.of(context.folders, context.settings.people).all()
    rows = [
        (person.name, len(person.embeddings), dt.datetime.fromtimestamp(person.added_s).astimezone())
        for person in people
    ]
    if args.json:
        context.write_json([{"name": name, "recordings": count, "added_at": added} for name, count, added in rows])
    elif not rows:
        context.print("Nobody is enrolled: edgevox people add NAME")
    else:
        table = plain_table(left("name"), right("recordings"), left("added"), left("scopes"))
        scopes = {name.casefold(): given for name, given in context.settings.people.scopes.items()}
        for name, count, added in rows:
            table.add_row(name, str(count), f"{added:%Y-%m-%d}", ", ".join(scopes.get(name.casefold(), ("*",))))
        table.add_row(GUEST, "", "", ", ".join(context.settings.people.guest_scopes), style="dim")
        context.out.print(table)


@PEOPLE.action("remove", "delete a person's voice", _NAME)
def _remove_person(args: argparse.Namespace, context: Context) -> None:
    if not People.of(context.folders, context.settings.people).remove(args.name):
        raise ConfigError(f"nobody called {args.name} is enrolled", hint="edgevox people list shows all")
    context.print(f"The voice of {args.name} is deleted.")


@PEOPLE.action("test", "say who is recognised in a spoken sentence, or in recordings", _FROM, JSON)
def _test_people(args: argparse.Namespace, context: Context) -> None:
    settings = context.settings.people
    enrolled = People.of(context.folders, settings).all()
    if not enrolled:
        raise ConfigError("nobody is enrolled", hint="edgevox people add NAME")
    engine, matcher = _engine(context), SpeakerMatcher(enrolled, settings.threshold)
    sources = [(str(path), read_audio(path)) for path in args.files or ()]
    results: list[dict[str, object]] = []
    for source, audio in sources or _labelled(_spoken(context, ("Anything you like.",))):
        embedding = _embedding(engine, audio)
        speaker, scores = matcher.match(embedding), matcher.scores(embedding)
        results.append({"source": source, "speaker": speaker, "scores": scores})
        if not args.json:
            shown = ", ".join(f"{name} {score:.1f}" for name, score in scores.items())
            context.print(f"{source}: {speaker} ({shown}; needed {settings.threshold:g})")
    if args.json:
        context.write_json(results)


def _labelled(spoken: Iterator[Audio]) -> Iterator[tuple[str, Audio]]:
    return (("microphone", audio) for audio in spoken)


def _engine(context: Context) -> Ge2eEngine:
    """The voice encoder, downloaded if needed. Raises ModelError."""
    store = open_store(context.folders)
    with pull_progress(context.err) as progress:
        store.ensure([MODEL_ID], progress)
    engine = Ge2eEngine(store.path(MODEL_ID))
    engine.load()
    return engine


def _embedding(engine: Ge2eEngine, audio: Audio) -> NDArray[np.float32]:
    """Raises AudioError if there is too little speech."""
    (embedding,) = engine.run(audio, CancelFlag())
    if not len(embedding.vector):
        raise AudioError("a recording holds too little speech", hint="speak a whole sentence")
    return embedding.vector


def _spoken(context: Context, sentences: Sequence[str]) -> Iterator[Audio]:
    """Record each sentence from the microphone. Raises AudioError and DeviceUnavailable."""
    for number, sentence in enumerate(sentences, start=1):
        context.note(f"{number} of {len(sentences)}, please say:", f"  {sentence}")
        utterance = run_until_done(_utterance(context))
        if utterance is None:
            raise AudioError("nothing was said", hint="edgevox setup microphone tests the microphone")
        yield utterance


async def _utterance(context: Context) -> Audio | None:
    """The next utterance; None if none begins in time."""
    audio = context.settings.audio
    endpointer = Endpointer(audio)
    try:
        async with (
            asyncio.timeout(_LISTEN_S),
            Microphone(audio.microphone) as microphone,
            aclosing(microphone.frames()) as blocks,
        ):
            async for block in blocks:
                if isinstance(event := endpointer.feed(block), SpeechSegment):
                    return event.audio
    except TimeoutError:
        return None
    return None
