"""`edgevox demo`: a spoken question through the whole loop, with its waterfall; it needs no microphone."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.audio.wav_speaker import WavSpeaker
from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.options import add_model_options
from edgevox.cli.session import open_daemon, report_unrecorded
from edgevox.cli.waterfall import waterfall
from edgevox.daemon import Daemon
from edgevox.errors import DeviceUnavailable, EngineFailed
from edgevox.voice import Loudspeaker

_QUESTION = "Turn on the kitchen light."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="*", help=f'what is asked instead of "{_QUESTION}"')
    add_model_options(parser)


def run(args: argparse.Namespace, context: Context) -> int:
    question = " ".join(args.question) or _QUESTION
    daemon = open_daemon(context, ["llama", "piper", "whisper"])
    with tempfile.TemporaryDirectory() as scratch:
        run_until_done(_demonstrate(daemon, question, _loudspeaker(context, Path(scratch))))
    record = daemon.records.last
    if record is None or record.outcome != "answered":
        raise EngineFailed("the demonstration was not answered", hint="edgevox doctor")
    context.out.print(f"[cyan]asked ›[/] {question}")
    context.out.print(f"[cyan]heard ›[/] {record.heard}", markup=True)
    context.out.print(f"[green]answered ›[/] {record.reply}")
    context.out.print(waterfall(record))
    return report_unrecorded(context, daemon)


def _loudspeaker(context: Context, scratch: Path) -> Loudspeaker:
    """The real one, or one that nobody hears: the loop is the same."""
    try:
        return context.speaker()
    except DeviceUnavailable as error:
        context.complain(error)
        return WavSpeaker(scratch / "unheard.wav")


async def _demonstrate(daemon: Daemon, question: str, loudspeaker: Loudspeaker) -> None:
    async with daemon:
        sound = await daemon.voice().sound_of(question)
        await daemon.voice_loop(WavMicrophone(sound), loudspeaker).run()
