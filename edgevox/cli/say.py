"""`edgevox say TEXT [-o FILE]`: speak a text, or write it to a WAV file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from edgevox.audio.files import write_wav
from edgevox.audio.speaker import Speaker
from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.session import open_daemon
from edgevox.cli.with_running import say_running
from edgevox.daemon import Daemon
from edgevox.errors import ConfigError
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import CancelFlag
from edgevox.types import Audio


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help='what to say; "-" reads standard input')
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a WAV file")
    parser.add_argument("--voice", dest="tts.voice", metavar="ID", help="another voice (edgevox models list)")
    parser.add_argument("--speed", dest="tts.speed", type=float, metavar="X", help="above 1 speaks faster")


def run(args: argparse.Namespace, context: Context) -> int:
    text = sys.stdin.read() if args.text == ["-"] else " ".join(args.text)
    if not any(char.isalnum() for char in text):
        raise ConfigError("there is nothing to say in that text", hint='edgevox say "Hello."')
    is_wanted_here = args.output is not None
    sounds = run_until_done(say_running(context, text, is_wanted_here=is_wanted_here))
    if sounds is not None:
        if is_wanted_here:
            write_wav(args.output, sounds)
            context.err.print(f"wrote {args.output}")
        return 0
    # Asked before anything is downloaded: without a loudspeaker the way out is -o.
    speaker = None if args.output else context.speaker()
    daemon = open_daemon(context, ["piper"])
    if speaker is None:
        write_wav(args.output, run_until_done(_collect(daemon, text)))
        context.err.print(f"wrote {args.output}")
    else:
        run_until_done(_play(daemon, text, speaker))
    return 0


async def _collect(daemon: Daemon, text: str) -> list[Audio]:
    async with daemon, aclosing(_sounds(daemon, text, CancelFlag())) as sounds:
        return [sound async for sound in sounds]


async def _play(daemon: Daemon, text: str, speaker: Speaker) -> None:
    cancel = CancelFlag()
    try:
        async with daemon, aclosing(_sounds(daemon, text, cancel)) as sounds:
            await speaker.play(sounds, cancel)
    finally:
        cancel.set()


async def _sounds(daemon: Daemon, text: str, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
    language = daemon.engines.voice_languages[0]
    splitter = SentenceSplitter(language)
    voice = daemon.voice()
    for sentence in (*splitter.feed(text), *splitter.finish()):
        async with aclosing(voice.speak(sentence, cancel, language)) as pieces:
            async for piece in pieces:
                yield piece
