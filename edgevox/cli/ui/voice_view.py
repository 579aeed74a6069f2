"""Shows a voice conversation in the terminal: transcripts, replies, latencies and a status line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import assert_never

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from edgevox.core import events
from edgevox.core.metrics import StageSpan, TurnMetrics

_BAR_CHARS = 48


def waterfall(record: TurnMetrics) -> Table:
    """Table with one row per stage and a bar for its start and duration."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", style="dim")
    table.add_column()
    table.add_column(justify="right")
    for stage in record.stages:
        table.add_row(stage.name.replace("_", " "), _bar(stage, record.total_ms), f"{stage.ms:,.0f} ms")
    table.add_row("total", "", f"{record.total_ms:,.0f} ms", style="bold")
    return table


def stage_summary(record: TurnMetrics) -> str:
    """Return the stage durations in one line."""
    return " · ".join(f"{name.replace('_', ' ')} {ms:.0f} ms" for name, ms in record.timings_ms.items())


def _bar(stage: StageSpan, total_ms: float) -> Text:
    scale = _BAR_CHARS / total_ms if total_ms > 0 else 0.0
    start = min(round(stage.start_ms * scale), _BAR_CHARS - 1)
    length = max(1, min(round(stage.ms * scale), _BAR_CHARS - start))
    return Text(" " * start + "█" * length, style="blue")


_REFRESH_HZ = 10
_METER_CHARS = 20
_QUIETEST_DBFS = -60.0
_TALK = ("respond", "nevermind")
_CONFIRMATION_PROMPT = "yes or no?"
_IDLE_LABELS: Mapping[events.Attention, str] = {"awake": "listening", "asleep": "asleep", "muted": "muted"}
_ALARM_END_LABELS: Mapping[events.RingEnd, str] = {
    "stopped": "was stopped",
    "snoozed": "rings again in {minutes} min",
    "answered": "was acknowledged",
    "obeyed": "was carried out",
    "given_up": "ended unacknowledged",
    "cancelled": "was cancelled",
    "shut_down": "ended because the assistant stopped",
}


class EventLines:
    """Turns events into lines: what was said, and notes. Subclasses show them."""

    def __init__(self) -> None:
        self.failed = False
        """Whether the last turn failed."""
        self._transcript = ""
        self._who = "you"

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.TurnStarted(source=source):
                self._who = "timer" if source == "timer" else "you"
            case events.TranscriptReady(text=text) if text:
                self._transcript = text
                self._line(self._who, text)
            case events.BuiltinCommandRun(text=text) if text != self._transcript:
                self._line("you", text)
            case events.ConfirmationRequired(question=question):
                self._line("edgevox", f"{question} (yes or no)")
            case events.ToolFinished(code=None, name=name, summary=summary) if summary and name not in _TALK:
                self._call(summary)
            case events.AnswerHeard(text=text):
                self._line("you", text or "…")
            case events.ConfirmationDecided(granted=False, why=why):
                self._note(f"(not done: {why})")
            case events.TurnEnded(outcome="answered" | "interrupted", reply=reply):
                self.failed = False
                if reply:
                    self._line("edgevox", reply)
                self._timings()
            case events.RingStarted(kind=kind, text=text):
                self._line(kind, text)
            case events.RingEnded() | events.RingTrouble():
                self._note(*alarm_note(event))
            case events.TurnEnded(outcome="dropped", error=reason):
                self._note(f"(dropped: {reason})")
            case events.TurnEnded(outcome="cancelled"):
                self._note("(stopped)")
            case events.TurnEnded(outcome="failed", error=error, hint=hint):
                self.failed = True
                self._note(f"edgevox: {error}\n  → {hint}", "red")
            case events.AttentionChanged(attention=attention):
                self._show_attention(attention)
            case events.EngineChanged(engine=engine, state="restarting", detail=detail):
                self._note(f"{engine} is restarting ({detail})", "yellow")
            case _:
                pass

    def _line(self, who: str, text: str) -> None:
        raise NotImplementedError

    def _note(self, text: str, style: str = "dim") -> None:
        raise NotImplementedError

    def _call(self, summary: str) -> None:
        """Show a call that was made, in words."""
        self._note(f"({summary})")

    def _timings(self) -> None:
        """Show the latencies of the turn that ended."""

    def _show_attention(self, attention: events.Attention) -> None:
        self._note(f"({_IDLE_LABELS[attention]})")


def alarm_note(event: events.RingEnded | events.RingTrouble) -> tuple[str, str]:
    """Return how an alarm or timer ended, or why it could not ring, and a style."""
    match event:
        case events.RingEnded(kind=kind, how=how, snoozed_minutes=minutes, error=error):
            unheard = f" without sound: {error}" if error else ""
            text = f"(the {kind} {_ALARM_END_LABELS[how].format(minutes=minutes)}{unheard})"
            return text, "red" if error else "dim"
        case events.RingTrouble(error=error, hint=hint):
            return f"edgevox: {error}\n  → {hint}", "red"
        case _:
            assert_never(event)


class PlainView(EventLines):
    """One printed line per event, for logs and pipes."""

    def __init__(self, out: Console, err: Console, last_record: Callable[[], TurnMetrics | None]) -> None:
        super().__init__()
        self._out = out
        self._err = err
        self._last_record = last_record

    def prompt(self, text: str) -> None:
        """Ask for an answer to a confirmation again."""
        self._line("edgevox", text)

    def _line(self, who: str, text: str) -> None:
        self._out.print(Text.assemble((f"{who} ›", "bold"), f" {text}"), soft_wrap=True)

    def _note(self, text: str, style: str = "dim") -> None:
        self._err.print(Text(text, style), soft_wrap=True)

    def _timings(self) -> None:
        if record := self._last_record():
            self._note(stage_summary(record))


class LiveView(PlainView):
    """For a terminal: adds a latency waterfall per turn and a live status line."""

    def __init__(
        self, out: Console, err: Console, last_record: Callable[[], TurnMetrics | None], level_dbfs: Callable[[], float]
    ) -> None:
        # Lines must pass through the console of the status line, which it clears and redraws around them.
        super().__init__(err if out.is_terminal else out, err, last_record)
        self._level_dbfs = level_dbfs
        self._idle_label = self._state = _IDLE_LABELS["awake"]
        self._is_asking = False
        self._ringing: set[str] = set()

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Show the status line at the bottom while the block runs."""
        with Live(get_renderable=self._status, console=self._err, refresh_per_second=_REFRESH_HZ, transient=True):
            yield

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.SpeechStarted():
                self._state = "hearing"
            case events.TranscriptionStarted():
                self._state = "transcribing"
            case events.ModelStarted():
                self._state = "thinking"
            case events.PlaybackStarted():
                self._state = "speaking"
            case events.ConfirmationRequired():
                self._is_asking = True
                self._state = _CONFIRMATION_PROMPT
            case events.PlaybackFinished() if self._is_asking:
                self._state = _CONFIRMATION_PROMPT
            case events.ConfirmationDecided():
                self._is_asking = False
                self._state = "working"
            case events.RingStarted():
                self._ringing.add(event.ring_id)
                self._state = "ringing"
            case events.RingEnded():
                self._ringing.discard(event.ring_id)
                self._state = "ringing" if self._ringing else self._idle_label
            case events.TurnEnded() | events.SpeechDropped():
                self._state = "ringing" if self._ringing else self._idle_label
            case _:
                pass
        super().__call__(event)

    def _show_attention(self, attention: events.Attention) -> None:
        if self._state == self._idle_label:
            self._state = _IDLE_LABELS[attention]
        self._idle_label = _IDLE_LABELS[attention]

    def _timings(self) -> None:
        if record := self._last_record():
            self._err.print(waterfall(record))

    def _status(self) -> Text:
        pulse = "●" if int(time.monotonic() * 2) % 2 else "○"
        return Text.assemble(
            (f"{pulse} {self._state:<14}", "cyan"), meter(self._level_dbfs()), ("  Ctrl-C quits", "dim")
        )


def meter(level_dbfs: float) -> Text:
    """Return the level as a bar."""
    loudness = 1 - max(level_dbfs, _QUIETEST_DBFS) / _QUIETEST_DBFS
    filled = round(loudness * _METER_CHARS)
    return Text.assemble(("▮" * filled, "green"), ("▯" * (_METER_CHARS - filled), "dim"))
