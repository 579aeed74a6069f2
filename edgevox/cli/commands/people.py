"""`edgevox people`: enrols voices, so that the assistant knows who speaks."""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.endpointing import Endpointer, SpeechSegment
from edgevox.audio.files import read_audio
from edgevox.audio.io.microphone import Microphone
from edgevox.cli.command import JSON, Command, argument
from edgevox.cli.context import Context, left, plain_table, right, run_until_done
from edgevox.cli.ui.progress import pull_progress
from edgevox.core.errors import AudioError, ConfigError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import GUEST, Audio
from edgevox.models import open_store
from edgevox.speakers.ge2e import MODEL_ID, Ge2eEngine
from edgevox.speakers.people import SENTENCES, People, SpeakerMatcher, checked_name

PEOPLE = Command("people", "Enrol voices, so that the assistant knows who speaks")
_NAME = argument("name", metavar="NAME", help="the name of the person")
_FROM = argument(
    "--from", dest="files", type=Path, nargs="+", metavar="FILE", help="recordings instead of speaking now"
)
_LISTEN_S = 20.0


@PEOPLE.action("add", "enrol a person by three spoken sentences, or by recordings", _NAME, _FROM)
def _add_person(args: argparse.Namespace, context: Context) -> None:
    name, people = checked_name(args.name), People.of(context.folders, context.settings.people)
    people.all()  # before somebody speaks: the file may be encrypted with another passphrase
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
