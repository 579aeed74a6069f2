"""What happens in a soak of the whole program: events, faults, restarts and errors, and which fault explains which."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from edgevox.app.control.client import request
from edgevox.app.control.protocol import SimpleRequest, event_from_note
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import (
    BuiltinCommandRun,
    EngineChanged,
    Event,
    RingEnded,
    RingStarted,
    SpeechDropped,
    TurnEnded,
    TurnStarted,
)
from tests.soak.ledger import Ledger
from tests.soak.processes import ProcessSample

# An engine is loaded again in a few seconds, on a busy machine in a minute.
_RESTARTS_WITHIN_S = 90.0
# Which errors of clients a fault explains, and how long after its end.
_ERRORS: dict[str, tuple[float, re.Pattern[str]]] = {
    kind: (seconds, re.compile(pattern, re.IGNORECASE))
    for kind, seconds, pattern in (
        ("engine killed", 60, r"engine|503|500|no answer|failed|stopped|died"),
        ("engine hung", 60, r"engine|503|500|no answer|failed|stopped|hung|hang"),
        ("microphone pulled out", 20, r"^speech|device|sound"),
        ("sound server killed", 30, r"^speech|device|sound"),
        ("broker killed", 30, r"mqtt|broker|home|lamp"),
        ("broker hangs", 30, r"mqtt|broker|home|lamp"),
        ("MCP server killed", 20, r"greet|mcp|demo"),
        ("queue full", 30, r"429|no answer|too many"),
        ("slow clients", 60, r"429|no answer|too many"),
        ("disk full", 20, r"disk|written|state|write|file|memory"),
        # The program starts its sessions and servers anew: connections end, and it says that it is starting.
        (
            "settings changed",
            20,
            r"^speech|503|shutting down|starting|reload|stopped before|connect|payload|unavailable",
        ),
        ("muted", 10, r"^speech"),
    )
}
_MAX_KEPT_ERRORS = 200
# Above this share of the machine, taken by other programs, a missing answer is no fault of the program.
_BUSY_SHARE = 0.5
# Above this one, neither is a time limit inside it; a crash always is.
_STARVED_SHARE = 0.8
_TIME_LIMIT = re.compile(r"within \d|hung")
STARVED = "other programs took the processor"
ENGINES = ("llm", "stt", "tts")
RELOAD = "settings changed"
MUTE = "muted"
_EXPLAINS = {
    "recorder": ("microphone pulled out", "sound server killed", RELOAD, MUTE),  # a muted microphone is closed
    "pactl": ("microphone pulled out", "sound server killed", RELOAD),
    "mcp": ("MCP server killed", RELOAD),
}


@dataclass
class Fault:
    at_s: float
    kind: str
    target: str = ""
    until_s: float = float("inf")
    has_explained: bool = False


@dataclass(frozen=True, slots=True)
class Restart:
    at_s: float
    role: str
    detail: str
    explained_by: str
    """The kind of the fault, or "" if no fault explains it."""
    others_share: float
    """The part of the machine's processor time that other programs had then."""


class Journal:
    """All times count from the start of the run."""

    def __init__(self, state: Path) -> None:
        self.ledger = Ledger(state)
        self.outcomes: Counter[str] = Counter()
        self.explained_errors: Counter[str] = Counter()
        self.slow_answers: Counter[str] = Counter()
        self.errors: list[dict[str, object]] = []
        self.faults: list[Fault] = []
        self.restarts: list[Restart] = []
        self.samples: list[ProcessSample] = []
        self.others_share = 0.0
        self.answered_speech = 0
        self.ring_texts: set[str] = set()
        self.loading: set[str] = set()
        """Engines that are being restarted."""
        self._voice_turns: set[str] = set()
        self._restarting: set[str] = set()
        self._pids: dict[str, int] = {}
        self._started_s = time.monotonic()

    @property
    def now_s(self) -> float:
        return time.monotonic() - self._started_s

    @contextmanager
    def fault(self, kind: str, target: str = "") -> Iterator[None]:
        """Something is broken on purpose during the block."""
        fault = Fault(round(self.now_s, 1), kind, target)
        self.faults.append(fault)
        try:
            yield
        finally:
            fault.until_s = round(self.now_s, 1)

    def error(self, what: str, begun_s: float, detail: str, *, is_timeout: bool = False) -> None:
        if fault := self._cause(begun_s, f"{what}: {detail}"):
            self.explained_errors[f"{fault.kind} explains {what}: {detail[:100]}"] += 1
        elif (is_timeout and self.others_share > _BUSY_SHARE) or self._is_starved(detail):
            self.slow_answers[what] += 1
        elif len(self.errors) < _MAX_KEPT_ERRORS:
            others = round(self.others_share, 2)
            self.errors.append(
                {"at_s": round(begun_s, 1), "what": what, "detail": detail[:300], "others_share": others}
            )

    def take(self, event: Event) -> None:
        """One event of the program's own bus."""
        match event:
            case TurnStarted(turn_id=turn_id, source="voice"):
                self._voice_turns.add(turn_id)
            case TurnEnded(turn_id=turn_id) if turn_id in self._voice_turns:
                self._voice_turns.discard(turn_id)
                self.answered_speech += 1
            case BuiltinCommandRun() | SpeechDropped() | RingEnded():
                self.answered_speech += 1
            case RingStarted(text=text):
                self.ring_texts.add(text)
            case EngineChanged(engine=engine, state="restarting", detail=detail):
                self._restarting.add(engine)
                self.loading.add(engine)
                self._restarted(engine, detail)
            case EngineChanged(engine=engine, state="ready"):
                self.loading.discard(engine)
            case _:
                pass
        self.ledger(event)

    def take_samples(self, samples: list[ProcessSample]) -> None:
        """Keep them, and find processes that were replaced without an event."""
        self.samples += samples
        for sample in samples:
            if sample.role not in ("main", *ENGINES, *_EXPLAINS):
                continue
            before = self._pids.get(sample.role, sample.pid)
            self._pids[sample.role] = sample.pid
            if before == sample.pid:
                continue
            if sample.role in self._restarting:
                self._restarting.discard(sample.role)
            else:
                self._restarted(sample.role, "found in the list of processes")

    def program_ended(self, exit_code: int) -> None:
        self._restarted("main", f"exit code {exit_code}")

    async def watch(self, runtime: Path) -> None:
        """Follow the events over the control socket, until cancelled."""
        while True:
            try:
                async with request(runtime, SimpleRequest(do="watch")) as watching:
                    async for note in watching.notes():
                        if note["kind"] == "event" and (event := event_from_note(note)) is not None:
                            self.take(event)
            except EdgevoxError:
                await asyncio.sleep(0.2)

    def unexplained_restarts(self) -> list[dict[str, object]]:
        return [asdict(restart) for restart in self.restarts if not restart.explained_by]

    def _is_starved(self, detail: str) -> bool:
        return self.others_share > _STARVED_SHARE and _TIME_LIMIT.search(detail) is not None

    def _cause(self, begun_s: float, text: str) -> Fault | None:
        """The last fault that was there since the request, and after which such errors come."""
        for fault in reversed(self.faults):
            seconds, pattern = _ERRORS[fault.kind]
            if fault.until_s + seconds >= begun_s and pattern.search(text):
                return fault
        return None

    def _restarted(self, role: str, detail: str) -> None:
        now_s = self.now_s
        explained_by = ""
        for fault in reversed(self.faults):
            is_near = fault.at_s <= now_s <= fault.until_s + _RESTARTS_WITHIN_S
            if is_near and role in _EXPLAINS and fault.kind in _EXPLAINS[role]:
                explained_by = fault.kind
                break
            if is_near and fault.target == role and not fault.has_explained:
                fault.has_explained = True  # one blow, one restart
                explained_by = fault.kind
                break
        if not explained_by and self._is_starved("hung" if role in ("recorder", "pactl") else detail):
            explained_by = STARVED
        self.restarts.append(Restart(round(now_s, 1), role, detail, explained_by, round(self.others_share, 2)))
