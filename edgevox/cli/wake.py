"""`edgevox wake test`: how often a wake word is heard wrongly, or missed, in recordings of one's own."""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from rich.table import Table

from edgevox.audio.files import read_audio
from edgevox.audio.wake_trial import TARGET_FALSE_PER_HOUR, TARGET_MISSED, Heard, Score, listen, score
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.cli.context import Context
from edgevox.errors import AudioError, ConfigError
from edgevox.settings.wake_section import Threshold, ThresholdName, WakeWordName

_MOST_NAMED = 20
_SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".webm")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="test")
    test = actions.add_parser("test", help="count false accepts per hour and misses in recordings")
    test.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="recordings without the wake word, or folders of them: every detection in them is false",
    )
    test.add_argument(
        "--wake-files",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="the same with the wake word once in each: one without a detection is missed",
    )
    test.add_argument("--word", dest="wake.word", choices=get_args(WakeWordName), help="the trained word")
    test.add_argument("--model", dest="wake.model", metavar="FILE.json", help="or a model of your own")
    test.add_argument(
        "--threshold", dest="wake.threshold", type=_threshold, help="strict, normal, eager or 0 to 1"
    )
    test.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    others, words = list(_sounds(args.files)), list(_sounds(args.wake_files))
    if not others and not words:
        raise ConfigError(
            "there is nothing to listen to",
            hint="edgevox wake test TALK.wav … --wake-files WORD.wav …",
        )
    wake = context.settings.wake
    word = wake.model or wake.word
    known = WakeWordDetector(word).word
    began_s = time.monotonic()
    with context.err.status("listening …"):
        heard_others = [listen(word, str(path), read_audio(path)) for path in others]
        heard_words = [listen(word, str(path), read_audio(path)) for path in words]
    took_s = time.monotonic() - began_s
    chosen = score(heard_words, heard_others, known.cutoff(wake.threshold))
    if args.json:
        context.write(json.dumps(_facts(known.spoken, chosen, heard_words, heard_others), indent=2))
        return 0
    levels: list[Threshold] = list(get_args(ThresholdName))
    if wake.threshold not in levels:
        levels.append(wake.threshold)
    table = _table(
        [(level, score(heard_words, heard_others, known.cutoff(level))) for level in levels], wake.threshold
    )
    heard_s = sum(heard.duration_s for heard in (*heard_words, *heard_others))
    context.out.print(f'"{known.spoken}" in {heard_s / 60:.1f} minutes of sound ({took_s:.1f} s of work)\n')
    context.out.print(table)
    _name_mistakes(context, chosen, heard_words, heard_others)
    return 0


def _threshold(text: str) -> Threshold | str:
    """A number where it is one; the settings say what is wrong with anything else."""
    try:
        return float(text)
    except ValueError:
        return text


def _sounds(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in _SOUNDS)
        if not inside:
            raise AudioError(f"there is no sound file in {path}", hint=f"it looks for {', '.join(_SOUNDS)}")
        yield from inside


def _table(scores: Sequence[tuple[Threshold, Score]], chosen: Threshold) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("threshold", "cut-off", "false accepts", "per hour", "at most (95 %)", "missed"):
        table.add_column(heading, justify="left" if heading == "threshold" else "right", no_wrap=True)
    for level, result in scores:
        table.add_row(
            f"{level}{' *' if level == chosen else ''}",
            f"{result.cutoff:.3f}",
            str(result.false_accepts) if result.hours else "–",
            _number(result.false_per_hour),
            _number(result.false_per_hour_at_most),
            f"{result.missed} of {result.words}" if result.words else "–",
        )
    table.add_row(
        "openWakeWord's target", "", "", f"{TARGET_FALSE_PER_HOUR}", "", f"{TARGET_MISSED:.0%}", style="dim"
    )
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _name_mistakes(context: Context, chosen: Score, words: Sequence[Heard], others: Sequence[Heard]) -> None:
    wrong = [f"{heard.name} at {at_s:.1f} s" for heard in others for at_s in heard.accepts_s(chosen.cutoff)]
    missed = [heard.name for heard in words if not heard.accepts_s(chosen.cutoff)]
    for what, names in (("heard wrongly", wrong), ("missed", missed)):
        if names:
            context.out.print(f"\n{what}:")
        for name in names[:_MOST_NAMED]:
            context.out.print(f"  {name}", markup=False, soft_wrap=True)
        if len(names) > _MOST_NAMED:
            context.out.print(f"  … and {len(names) - _MOST_NAMED} more")


def _facts(spoken: str, chosen: Score, words: Sequence[Heard], others: Sequence[Heard]) -> dict[str, object]:
    return {
        "word": spoken,
        **dataclasses.asdict(chosen),
        "false_per_hour": chosen.false_per_hour,
        "false_per_hour_at_most": chosen.false_per_hour_at_most,
        "missed_share": chosen.missed_share,
        "heard_wrongly": [
            {"file": heard.name, "at_s": round(at_s, 2)}
            for heard in others
            for at_s in heard.accepts_s(chosen.cutoff)
        ],
        "missed_files": [heard.name for heard in words if not heard.accepts_s(chosen.cutoff)],
    }
