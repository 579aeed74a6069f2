"""The satellites of one server: which are connected, which one answers a wake word, and which are muted."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from edgevox.audio.tones import error_tone
from edgevox.core.errors import EdgevoxError, StateError
from edgevox.core.events import DueAlarm
from edgevox.core.languages import ENGLISH, all_phrases
from edgevox.core.state_file import StateFile
from edgevox.core.turn import LOCAL, Caller, CancelFlag
from edgevox.core.types import Audio, JsonObject
from edgevox.dialogue import Pipeline, VoiceLoop
from edgevox.dialogue.speech_output import SpeechOutput

_log = logging.getLogger(__name__)

SatelliteKind: TypeAlias = Literal["edgevox", "wyoming", "esphome"]
MUTED_FILE = "satellites.json"
WAKE_WINDOW_S = 0.3
"""How long the first satellite that hears the wake word waits for others that hear it too."""
SAME_WORD_S = 0.4
"""Two satellites hear the same word within this time; their detectors need different amounts of it."""
LATE_S = 1.0
"""How long after the decision another one stays silent, if it cannot tell when it heard the word."""
REMEMBERED_S = 10.0
"""How long a decision counts for reports that tell it: the network may have held one back."""
LOST_WITHIN_S = 600.0
"""A satellite that comes back within this time says so, if it was lost in the middle of a turn."""
# A tie-breaker: at the moment of the detection the probability has just passed the threshold, near or far.
_SCORE_DB = 3.0


@dataclass(frozen=True, slots=True)
class Wake:
    """How well a satellite has heard the wake word: mean probability of the model, and level above the room's noise.

    `heard_s` is the monotonic time of this machine at which it heard it, if the satellite can tell.
    """

    score: float
    level_db: float
    heard_s: float | None = None

    @property
    def quality_db(self) -> float:
        return self.level_db + _SCORE_DB * self.score


@dataclass(eq=False)
class SatelliteLink:
    """A connected satellite. `mute` closes or opens its microphone; `is_in_turn` until its last reply was played."""

    name: str
    room: str
    kind: SatelliteKind
    loop: VoiceLoop
    mute: Callable[[bool], None] = lambda _is_muted: None
    state: Callable[[], str] = lambda: "listening"
    is_in_turn: Callable[[], bool] = lambda: False
    since_s: float = field(default_factory=time.monotonic)
    announcements: set[CancelFlag] = field(default_factory=set)
    """Those that are being played."""

    def stop_announcements(self) -> None:
        for cancel in self.announcements:
            cancel.set()

    @property
    def speech_output(self) -> SpeechOutput | None:
        return self.loop.pipeline.speech_output


class _Muted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    names: list[str] = Field(default_factory=list)


@dataclass(eq=False)
class _Contest:
    """Satellites that heard the same wake word. Once it is `over`, the best one answers."""

    wakes: list[tuple[SatelliteLink, Wake]] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    over_s: float = math.inf

    @property
    def winner(self) -> SatelliteLink:
        return max(self.wakes, key=lambda one: one[1].quality_db)[0]

    def has_same_word(self, wake: Wake, now_s: float) -> bool:
        """Whether the word can be the one of this contest, by its time or by that of its report."""
        times_s = [one.heard_s for _, one in self.wakes if one.heard_s is not None]
        if wake.heard_s is None or not times_s:
            return now_s < self.over_s + LATE_S
        return min(abs(wake.heard_s - heard_s) for heard_s in times_s) <= SAME_WORD_S


class SatelliteHub:
    """Used in one event loop. `path` keeps the names of muted satellites, so that a restart unmutes none."""

    def __init__(self, path: Path | None = None, *, window_s: float = WAKE_WINDOW_S, chime_volume: float = 0.0) -> None:
        """`chime_volume` is the peak of the earcons; 0 for none."""
        self._file = StateFile(path, _Muted)
        self._links: dict[str, SatelliteLink] = {}
        self._contests: list[_Contest] = []
        """Those of the last seconds."""
        self._window_s = window_s
        self._chime_volume = chime_volume
        self._lost_s: dict[str, float] = {}
        """When satellites were lost in the middle of a turn."""
        self.local: Callable[[], Pipeline | None] = lambda: None
        """The pipeline of this machine's own microphone and loudspeaker."""
        self._speaking: set[asyncio.Task[bool]] = set()
        self.configured: Callable[[], dict[str, JsonObject]] = dict
        """The satellites that the server connects to, by name, with their room, kind and problem."""

    @property
    def links(self) -> tuple[SatelliteLink, ...]:
        return tuple(self._links.values())

    def find(self, name: str) -> SatelliteLink | None:
        return self._links.get(name)

    @contextmanager
    def connected(self, link: SatelliteLink, *, was_away: bool = False) -> Iterator[None]:
        """List the satellite during the block; a later connection of the same name replaces it.

        One that `was_away`, or that was lost in the middle of a turn, says that it is back.
        """
        if (before := self._links.get(link.name)) is not None:
            self.note_lost(before)  # half open
        self._links[link.name] = link
        was_lost = time.monotonic() - self._lost_s.pop(link.name, float("-inf")) < LOST_WITHIN_S
        _log.info("satellite %s is connected (%s)", link.name, link.room or "no room")
        if self.is_muted(link.name):
            _mute(link, is_muted=True)
        if was_away or was_lost:
            self._spawn(self._report_back(link))
        try:
            yield
        finally:
            if self._links.get(link.name) is link:
                self.note_lost(link)
                del self._links[link.name]
                _log.info("satellite %s is disconnected", link.name)

    def note_lost(self, link: SatelliteLink) -> None:
        """The connection is gone; to be called before a turn of this satellite is cancelled for that reason."""
        if link.is_in_turn() and self._links.get(link.name) is link:
            self._lost_s[link.name] = time.monotonic()

    async def _report_back(self, link: SatelliteLink) -> bool:
        """An earcon and a sentence: what was asked for before may be lost."""
        phrases = all_phrases()
        back = phrases.get(link.loop.pipeline.own_language, phrases[ENGLISH]).back
        earcons = (error_tone(self._chime_volume),) if self._chime_volume else ()
        return await _say_there(link, back, *earcons)

    # --- muting

    def is_muted(self, name: str) -> bool:
        try:
            return name in self._file.read().names
        except StateError as error:
            _log.warning("%s", error.message)
            return False

    def mute(self, name: str, *, is_muted: bool) -> None:
        """Mute or unmute a satellite, connected or not. Raises StateError."""
        with self._file.changing() as content:
            content.names = sorted({*content.names, name} if is_muted else {*content.names} - {name})
        if link := self._links.get(name):
            _mute(link, is_muted=is_muted)

    def report(self) -> list[JsonObject]:
        """All satellites that are known, as `GET /v1/satellites` shows them."""
        known = self.configured()
        names = sorted({*known, *self._links, *self._muted_names()})
        return [self._entry(name, known.get(name, {})) for name in names]

    def _muted_names(self) -> list[str]:
        try:
            return self._file.read().names
        except StateError:
            return []

    def _entry(self, name: str, known: JsonObject) -> JsonObject:
        link = self._links.get(name)
        return {
            "name": name,
            "room": link.room if link else known.get("room", ""),
            "kind": link.kind if link else known.get("kind", "edgevox"),
            "is_connected": link is not None,
            "is_muted": self.is_muted(name),
            "state": link.state() if link else None,
            "connected_s": round(time.monotonic() - link.since_s) if link else None,
            "problem": None if link else known.get("problem"),
        }

    # --- who answers

    async def wins(self, link: SatelliteLink, wake: Wake) -> bool:
        """Whether this satellite answers the wake word that it has just heard: the one that heard it best.

        Takes at most the window, and no time where it is the only one that could have heard it.
        """
        now_s = time.monotonic()
        self._contests = [one for one in self._contests if now_s < one.over_s + REMEMBERED_S]
        contest = next((one for one in reversed(self._contests) if one.has_same_word(wake, now_s)), None)
        if contest is not None and contest.over.is_set() and contest.winner is link:
            contest = None  # called again
        others = {other for other in self.links if other is not link and not self.is_muted(other.name)}
        if contest is None:
            if not others:
                return True
            contest = _Contest()
            self._contests.append(contest)
            asyncio.get_running_loop().call_later(self._window_s, self._decide, contest)
        if contest.over.is_set():
            return False  # its report was held back
        contest.wakes.append((link, wake))
        if others <= {one for one, _ in contest.wakes}:
            self._decide(contest)  # no other can come
        await contest.over.wait()
        return contest.winner is link

    def _decide(self, contest: _Contest) -> None:
        if not contest.over.is_set():
            contest.over.set()
            contest.over_s = time.monotonic()

    # --- speaking

    def is_spoken_to(self) -> bool:
        return any(link.loop.is_in_speech for link in self.links)

    def announce(self, text: str, caller: Caller) -> int:
        """Speak everywhere, also on this machine's loudspeaker, but not where the caller is.

        Returns at once with the number of places.
        """
        links = [link for link in self.links if link.name != caller.satellite and link.speech_output is not None]
        work = [_say_there(link, text) for link in links]
        local = self.local()
        if caller != LOCAL and local is not None and local.speech_output is not None:
            work.append(_say("this machine", local, CancelFlag(), text))
        for one in work:
            self._spawn(one)
        return len(work)

    def _spawn(self, work: Coroutine[Any, Any, bool]) -> None:
        task = asyncio.create_task(work)
        self._speaking.add(task)
        task.add_done_callback(self._speaking.discard)

    async def say(self, text: str, *names: str) -> int:
        """Speak on these satellites, or on all; returns the number of those that have played it."""
        links = [link for link in self.links if not names or link.name in names]
        return sum(await asyncio.gather(*(_say_there(link, text) for link in links)))


def _mute(link: SatelliteLink, *, is_muted: bool) -> None:
    if is_muted:
        link.loop.drop_speech()
        link.loop.wake_state.mute()
    else:
        link.loop.wake_state.unmute()
    link.mute(is_muted)


async def _say_there(link: SatelliteLink, text: str, *earcons: Audio) -> bool:
    cancel = CancelFlag()
    link.announcements.add(cancel)
    try:
        return await _say(link.name, link.loop.pipeline, cancel, text, *earcons)
    finally:
        link.announcements.discard(cancel)


async def _say(name: str, pipeline: Pipeline, cancel: CancelFlag, text: str, *earcons: Audio) -> bool:
    if (output := pipeline.speech_output) is None:
        return False
    try:
        tones = [output.at_voice_volume(earcon) for earcon in earcons]
        return await output.interject((*tones, await output.sound_of(text, pipeline.own_language)), cancel)
    except EdgevoxError as error:
        _log.warning("%s said nothing: %s", name, error.message)
        return False


class SatelliteRings:
    """Alarms ring on the satellite on which they were set, else on this machine, else everywhere."""

    def __init__(self, hub: SatelliteHub, local: Pipeline) -> None:
        self._hub = hub
        self._local = local

    def outputs(self, due: DueAlarm) -> Mapping[str, SpeechOutput]:
        link = self._hub.find(due.satellite)
        if link is not None and link.speech_output is not None:
            return {link.name: link.speech_output}
        if self._local.speech_output is not None:
            return {"": self._local.speech_output}
        return {link.name: link.speech_output for link in self._hub.links if link.speech_output is not None}

    def pipeline(self, due: DueAlarm) -> Pipeline:
        link = self._hub.find(due.satellite)
        return link.loop.pipeline if link else self._local
