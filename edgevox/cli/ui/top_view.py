"""The screen of `edgevox top`: state, engines, devices, recent events and the last turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from edgevox.cli.ui.voice_view import EventLines, meter, waterfall
from edgevox.core.events import Event, ReplyDelta, SoundChanged, StateChanged, ToolFinished, TurnEnded
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import JsonObject

_REFRESH_HZ = 8
_LINES_KEPT = 200
# Lines besides the transcript: state, engines, devices, rules, waterfall and the footer.
_OTHER_LINES = 22
_MIN_LINES = 4


class TopView(EventLines):
    """The current state; `showing` redraws it periodically."""

    def __init__(self) -> None:
        super().__init__()
        self.status: JsonObject | None = None
        self.level_dbfs = -100.0
        self.record: TurnMetrics | None = None
        self._lines: deque[Text] = deque(maxlen=_LINES_KEPT)
        self._reply = ""

    @contextmanager
    def showing(self, console: Console) -> Iterator[None]:
        """Use the full screen while the block runs, then restore it."""
        with Live(
            get_renderable=lambda: self.render(console.size.height),
            console=console,
            screen=True,
            refresh_per_second=_REFRESH_HZ,
        ):
            yield

    def __call__(self, event: Event) -> None:
        match event:
            case ReplyDelta(text=text):
                self._reply += text
            case TurnEnded():
                self._reply = ""
            case ToolFinished(name=name, code=code, elapsed_s=elapsed_s, summary=summary):
                outcome = f"{summary or name}: {code}" if code else summary or name
                self._note(f"{outcome}, {elapsed_s * 1000:.0f} ms", "magenta")
            case SoundChanged(is_there=False, detail=detail) | StateChanged(detail=detail) if detail:
                self._note(f"problem: {detail}", "yellow")
            case _:
                pass
        super().__call__(event)

    def render(self, height: int) -> RenderableType:
        """Return the screen for a terminal of this height."""
        if self.status is None:
            return Text("…")
        said = [*self._lines, _line("edgevox", f"{self._reply} …")] if self._reply else list(self._lines)
        shown = said[-max(_MIN_LINES, height - _OTHER_LINES) :]
        parts: list[RenderableType] = [_state(self.status, self.level_dbfs), _health(self.status)]
        parts += [Rule(style="dim"), *shown]
        if self.record is not None:
            parts += [Rule("last turn", style="dim"), waterfall(self.record)]
        parts.append(Text("q quits", style="dim"))
        return Group(*parts)

    def _line(self, who: str, text: str) -> None:
        self._lines.append(_line(who, text))

    def _call(self, summary: str) -> None:
        """It is shown with its duration."""

    def _note(self, text: str, style: str = "dim") -> None:
        self._lines.append(Text(f"  {text}", style=style, no_wrap=True, overflow="ellipsis"))


def _line(who: str, text: str) -> Text:
    return Text.assemble((f"{who} › ", "bold"), text, no_wrap=True, overflow="ellipsis")


def _state(status: JsonObject, level_dbfs: float) -> Text:
    attention = status["attention"]
    state = status["state"] if attention in ("awake", None) else attention
    return Text.assemble(
        (f"● {state:<14}", "cyan"),
        meter(level_dbfs),
        (f"  {status['preset']}, {status['turns']} turns, {status['failed_turns']} failed", "dim"),
        no_wrap=True,
        overflow="ellipsis",
    )


def _health(status: JsonObject) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, engine in status["engines"].items():
        restarts = f"restarted {engine['restarts']} times" if engine["restarts"] else ""
        style = "green" if engine["state"] == "ready" else "yellow"
        table.add_row(name, Text(engine["state"], style=style), Text(restarts, style="dim"))
    for kind, device in status["devices"].items():
        is_there = device["is_there"]
        table.add_row(
            kind,
            Text("ok" if is_there else "missing", style="green" if is_there else "yellow"),
            Text(device["name"] if is_there else device["detail"], style="dim"),
        )
    if trouble := status["trouble"]:
        table.add_row("problem", Text("now", style="red"), Text(trouble["message"]))
    return table
