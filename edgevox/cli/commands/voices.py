"""`edgevox voices`: list the voices, hear one, and choose one."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from edgevox.audio.files import write_wav
from edgevox.cli.assistant import open_runtime
from edgevox.cli.command import JSON, Command, argument, setting
from edgevox.cli.commands.ask import collect_speech, play_speech
from edgevox.cli.context import Context, folded, left, plain_table, right, run_until_done
from edgevox.cli.ui.progress import pull_progress
from edgevox.config.sections import AUTO
from edgevox.models import open_store, size_text
from edgevox.tts.voices import find_voice, list_voices, sample_text, save_voice

VOICES = Command("voices", "List the voices, hear one, and choose one")

_ID = argument("id", metavar="ID", help="a voice of edgevox voices list")


@VOICES.action(
    "list",
    "list the voices, and which are used and downloaded",
    argument("--language", metavar="CODE", help='only voices of this language, such as "de"'),
    JSON,
)
def _list(args: argparse.Namespace, context: Context) -> None:
    voices = [
        voice
        for voice in list_voices(context.settings, open_store(context.folders))
        if args.language in (None, voice.language)
    ]
    if args.json:
        context.write_json([dataclasses.asdict(voice) for voice in voices])
        return
    table = plain_table(
        left("voice"), left("language"), left("engine"), right("size"), left("local"), left("used"), folded("licence")
    )
    for voice in voices:
        local, used = ("yes" if is_so else "" for is_so in (voice.is_installed, voice.is_used))
        size = size_text(voice.size_bytes)
        table.add_row(voice.id, voice.language_name, voice.engine, size, local, used, voice.licence)
    context.out.print(table)
    context.note("edgevox voices try ID lets you hear one, edgevox voices use ID chooses it")


@VOICES.action(
    "try",
    "speak a sentence with a voice, which is downloaded first where necessary",
    _ID,
    argument("text", nargs="*", metavar="TEXT", help="what it says (default: a sentence in its language)"),
    argument("-o", "--out", type=Path, metavar="FILE", help="write a WAV file instead"),
    setting("--speed", "tts.speed", "X", "speaking rate; 1.0 is normal, higher is faster"),
)
def _try(args: argparse.Namespace, context: Context) -> None:
    voice = find_voice(open_store(context.folders).manifest, args.id)
    speaker = None if args.out else context.speaker()
    # A voice of its own engine, on this machine, whatever the settings say of others.
    own = context.with_flags({"tts.voice": voice.id, "tts.voices": {}, "tts.engine": AUTO, "tts.remote": None})
    text = " ".join(args.text) or sample_text(voice.spoken_language)
    runtime = open_runtime(own, ["tts"])
    if speaker:
        run_until_done(play_speech(runtime, text, speaker))
        return
    write_wav(args.out, run_until_done(collect_speech(runtime, text, voice.spoken_language)))
    context.note(f"wrote {args.out}")


@VOICES.action("use", "let a voice speak its language, which is downloaded first where necessary", _ID)
def _use(args: argparse.Namespace, context: Context) -> None:
    store = open_store(context.folders)
    voice = find_voice(store.manifest, args.id)
    with pull_progress(context.err) as progress:
        store.ensure([voice.id], progress)
    changed = save_voice(context.settings, context.folders, store.manifest, voice)
    context.note(f"wrote {changed} to {context.folders.config_file}; edgevox reload applies it")
