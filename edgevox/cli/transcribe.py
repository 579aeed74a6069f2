"""`edgevox transcribe FILE`: what is said in a sound file."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from edgevox.audio.files import read_audio
from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.session import open_daemon
from edgevox.daemon import Daemon
from edgevox.turn import CancelFlag
from edgevox.types import Audio, Transcript


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="WAV, FLAC, MP3, OGG and what else FFmpeg reads")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--language", dest="stt.language", help='such as "de", or "auto" to find out')
    parser.add_argument("--model", dest="stt.model", metavar="ID", help="whisper-base or whisper-tiny.en")


def run(args: argparse.Namespace, context: Context) -> int:
    audio = read_audio(args.file)
    transcript, ms = run_until_done(_transcribe(open_daemon(context, ["whisper"]), audio))
    if args.json:
        result = {
            "text": transcript.text,
            "language": transcript.language,
            "duration_s": round(transcript.duration_s, 3),
            "ms": ms,
        }
        context.write(json.dumps(result, ensure_ascii=False))
    elif transcript.text:
        context.write(transcript.text)
    else:
        context.err.print(f"nobody speaks in {args.file} ({transcript.dropped})")
    return 0


async def _transcribe(daemon: Daemon, audio: Audio) -> tuple[Transcript, float]:
    async with daemon:
        started_s = time.monotonic()
        transcript = await daemon.hearing().transcribe(audio, CancelFlag())
        return transcript, round((time.monotonic() - started_s) * 1000, 1)
