"""Plays and announces due alarms, timers and reminders, with pauses for spoken replies."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from edgevox.audio.tones import alarm_tone, timer_chime
from edgevox.core.errors import EdgevoxError, StateError
from edgevox.core.events import DueAlarm, Publish, RingEnd, RingEnded, RingStarted, RingTrouble
from edgevox.core.languages import say
from edgevox.core.turn import Caller, Turn, background_task, cancel_tasks
from edgevox.core.types import Audio
from edgevox.dialogue.alarm_state import AlarmState
from edgevox.dialogue.pipeline import Pipeline
from edgevox.dialogue.speech_output import SpeechOutput

log = logging.getLogger(__name__)


# The poll interval: another process may add an alarm.
LOOK_S = 1.0
_STEP_S = 0.1
# The pause for a spoken command, since input is dropped while it sounds. It is extended while speech lasts.
PAUSE_S = 3.5
# How often a timer or a reminder sounds. An alarm goes on.
ROUNDS = 4
_ANNOUNCED_EVERY = 3
# Speech is waited for, unless it is the television; so is a turn, up to a limit.
SPEECH_S = 10.0
TURN_S = 30.0
_AFTER_TURN_S = 1.5
# A command that is overdue by more is not run: it may have been done by hand, or no longer be wanted.
LATEST_COMMAND_S = 300.0
# If synthesis takes longer (TTS is busy with a reply), the tone plays first.
_SYNTHESIS_S = 1.0


ScopesNow: TypeAlias = Callable[[Caller], Caller | None]
"""Returns a caller with the scopes that it has now; None if its token was revoked."""


class Schedule(Protocol):
    """Timers, alarms and reminders: edgevox.home.alarms.AlarmSchedule. Every method may raise StateError."""

    def correct_clock_jump(self) -> None: ...
    def observe(self) -> None: ...
    def next_s(self) -> float | None: ...
    def due(self) -> tuple[DueAlarm, ...]: ...
    def announcement(self, due: DueAlarm, now_s: float, language: str) -> str: ...
    def snooze(self, due: DueAlarm, minutes: float) -> None: ...
    def done(self, due: DueAlarm) -> bool: ...


class RingPlaces(Protocol):
    """Where alarms sound, and where their commands run."""

    def outputs(self, due: DueAlarm) -> Mapping[str, SpeechOutput]:
        """By the name of the satellite, "" for this machine."""

    def pipeline(self, due: DueAlarm) -> Pipeline: ...


class LocalPlace:
    """Everything sounds and runs in one pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def outputs(self, _due: DueAlarm) -> Mapping[str, SpeechOutput]:
        output = self._pipeline.speech_output
        return {} if output is None else {"": output}

    def pipeline(self, _due: DueAlarm) -> Pipeline:
        return self._pipeline


@dataclass(slots=True)
class _Ring:
    """A ringing alarm: at most `most_rounds` times, and until `until_s`."""

    due: DueAlarm
    since_s: float
    until_s: float
    most_rounds: float
    runs_command: bool
    rounds: int = 0
    """How often it has sounded."""
    is_announced: bool = False
    is_heard: bool = False
    """Whether it has sounded at least once without an error."""
    error: str = ""
    """Why it has not been heard."""

    @property
    def is_announcement_due(self) -> bool:
        return not self.is_heard or self.rounds % _ANNOUNCED_EVERY == 0

    @property
    def is_silent(self) -> bool:
        """Whether it only runs a command, every day perhaps: the answer to that is heard."""
        return self.runs_command and self.due.kind in ("schedule", "watch")


@dataclass(frozen=True, slots=True)
class _Announcement:
    text: str
    language: str


class AlarmPlayer:
    """Polls the schedule while `running`, and plays due alarms for `for_s` at most.

    An alarm sounds at once, also inside a spoken reply, but waits while the user speaks. Commands to it arrive in
    `alarm_state`. The command of a timer becomes a turn of the caller that scheduled it. Without speech output there
    are only events.
    """

    def __init__(
        self,
        schedule: Schedule,
        pipeline: Pipeline,
        alarm_state: AlarmState,
        publish: Publish,
        *,
        for_s: float,
        places: RingPlaces | None = None,
        scopes_now: ScopesNow = lambda caller: caller,
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._schedule = schedule
        self._pipeline = pipeline
        self._alarm_state = alarm_state
        self._publish = publish
        self._for_s = for_s
        self._places = places or LocalPlace(pipeline)
        self._scopes_now = scopes_now
        self._wall_clock = wall_clock
        self._clock = clock
        self._sleep = sleep
        self._is_spoken_to: Callable[[], bool] = lambda: False
        self._rings: dict[str, _Ring] = {}
        self._unnoted: set[DueAlarm] = set()
        """Alarms that have rung but could not be marked as done."""
        self._trouble = ""
        self._next_s = math.inf
        self._looked_s = -math.inf
        self._sounded_s = -math.inf
        self._turn_seen_s = -math.inf
        self._command_tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self, is_spoken_to: Callable[[], bool] = lambda: False) -> AsyncIterator[None]:
        """Ring while the block runs; `is_spoken_to` returns whether the user is speaking."""
        self._is_spoken_to = is_spoken_to
        try:
            async with background_task(self._keep_working()):
                yield
        finally:
            await cancel_tasks(*self._command_tasks)

    async def _keep_working(self) -> None:
        """Begin again after a bug: the next alarm must ring."""
        while True:
            async with background_task(self._work()) as working:
                await asyncio.wait((working,))
            log.error("the alarm player failed and begins again", exc_info=working.exception())
            await self._sleep(LOOK_S)

    async def _work(self) -> None:
        try:
            while True:
                await self._look()
                await self._settle()
                if self._rings and self._may_sound():
                    await self._sound()
                else:
                    await self._wait()
        finally:
            self._shut_down()

    # --- what is due

    async def _look(self) -> None:
        """Add alarms that have become due and drop cancelled ones."""
        if self._clock() - self._looked_s < LOOK_S and self._rings:
            return
        self._looked_s = self._clock()
        try:
            self._schedule.observe()
            due, self._next_s = await asyncio.to_thread(self._due)
        except StateError as error:
            self._complain(error)
            self._next_s = math.inf
            return
        self._trouble = ""
        self._unnoted.intersection_update(due)
        now = {one.id: one for one in due if one not in self._unnoted}
        for ring in [ring for ring in self._rings.values() if ring.due.id not in now]:
            self._drop(ring, "cancelled")
        for one in now.values():
            if one.id not in self._rings:
                self._rings[one.id] = self._ring_of(one)

    def _due(self) -> tuple[tuple[DueAlarm, ...], float]:
        """The due alarms, and the time of the next one."""
        self._schedule.correct_clock_jump()
        next_s = self._schedule.next_s()
        return self._schedule.due(), math.inf if next_s is None else next_s

    def _ring_of(self, due: DueAlarm) -> _Ring:
        late_s = self._wall_clock() - due.due_s
        most_rounds = {"alarm": math.inf, "watch": 1}.get(due.kind, ROUNDS)
        return _Ring(
            due,
            since_s=self._clock(),
            until_s=self._clock() + self._for_s,
            # One that would be over by now sounds once.
            most_rounds=1 if late_s > self._for_s else most_rounds,
            runs_command=bool(due.command) and late_s <= LATEST_COMMAND_S and self._is_permitted(due),
        )

    def _is_permitted(self, due: DueAlarm) -> bool:
        """Whether the caller that scheduled the command still has scopes here."""
        if due.caller is None or self._scopes_now(due.caller) is not None:
            return True
        log.warning("the %s %s is not run: the token of %s was revoked", due.kind, due.id, due.caller.name)
        return False

    # --- when it sounds

    def _may_sound(self) -> bool:
        now_s, is_spoken_to = self._clock(), self._is_spoken_to()
        if self._pipeline.is_in_turn:
            self._turn_seen_s = now_s
        new = [ring.since_s for ring in self._rings.values() if not ring.is_announced]
        if new:
            return not is_spoken_to or now_s - min(new) > SPEECH_S
        silent_s = now_s - self._sounded_s
        if silent_s < PAUSE_S or (is_spoken_to and silent_s < PAUSE_S + SPEECH_S):
            return False
        return silent_s > TURN_S or now_s - self._turn_seen_s > _AFTER_TURN_S

    async def _wait(self) -> None:
        if self._rings:
            await self._sleep(_STEP_S)
            if self._pipeline.is_in_turn:
                for ring in self._rings.values():
                    ring.until_s += _STEP_S
        else:
            await self._sleep(min(max(self._next_s - self._wall_clock(), 0.0), LOOK_S))

    async def _sound(self) -> None:
        """Play one round: the tone and the announcements."""
        for ring in [ring for ring in self._rings.values() if ring.is_silent]:
            self._announced(ring)
            await self._end(ring, "obeyed")
        rings = list(self._rings.values())
        if not rings:
            return
        self._alarm_state.ring([ring.due for ring in rings])
        announcements = {ring.due.id: self._announced(ring) for ring in rings if ring.is_announcement_due}
        if announcements:
            said = [*announcements.values()]
            self._pipeline.has_said(" ".join(one.text for one in said), said[0].language)
        places: dict[SpeechOutput, list[_Ring]] = {}
        for ring in rings:
            for output in self._places.outputs(ring.due).values():
                places.setdefault(output, []).append(ring)
        sounded = await asyncio.gather(*(self._sound_at(place, own, announcements) for place, own in places.items()))
        # A sound that was cut by the end of a turn is repeated at once.
        is_cut = any(one is False for one in sounded)
        self._sounded_s = -math.inf if is_cut else self._clock()
        for ring in rings:
            here = [one for one, own in zip(sounded, places.values(), strict=True) if ring in own]
            # An error counts as a round: a command is run, heard or not.
            ring.rounds += False not in here
            # Without any loudspeaker programs show it, but who set it on a satellite waits for a sound there.
            is_away = not here and bool(ring.due.satellite)
            ring.is_heard = ring.is_heard or True in here or not (here or is_away)
            reasons = (f"the satellite {ring.due.satellite} is not connected",) if is_away else here
            ring.error = "" if ring.is_heard else next((one for one in reasons if isinstance(one, str)), "")
            if ring.runs_command and ring.rounds:
                await self._end(ring, "obeyed")

    async def _sound_at(
        self, output: SpeechOutput, rings: Sequence[_Ring], announcements: Mapping[str, _Announcement]
    ) -> bool | str:
        """Play one round in one place; returns whether all was played, or why it could not be."""
        alarms = [ring.rounds for ring in rings if ring.due.kind == "alarm"]
        texts = [announcements[ring.due.id] for ring in rings if ring.due.id in announcements]
        try:
            return await self._play(output, alarm_tone(min(alarms)) if alarms else timer_chime(), texts)
        except EdgevoxError as lost:
            return lost.message

    def _announced(self, ring: _Ring) -> _Announcement:
        now_s = self._wall_clock()
        language = self._pipeline.phrases_language(ring.due.language)
        text = self._schedule.announcement(ring.due, now_s, language)
        if ring.due.command and not ring.runs_command:
            text = f"{text} {say('ring_not_run', language)}"
        if not ring.is_announced:
            ring.is_announced = True
            late_s = max(0.0, now_s - ring.due.due_s)
            started = RingStarted(
                ring_id=ring.due.id,
                kind=ring.due.kind,
                text=text,
                late_s=late_s,
                satellites=tuple(filter(None, self._places.outputs(ring.due))),
            )
            self._alarm_state.announced[ring.due.id] = started
            self._publish(started)
        return _Announcement(text, language)

    async def _play(self, speech_output: SpeechOutput, tone: Audio, announcements: Sequence[_Announcement]) -> bool:
        """Play the tone and the announcements; returns whether all were played. Raises DeviceUnavailable."""
        cut = self._alarm_state.cut
        async with background_task(_speech(speech_output, announcements)) as speech:
            await asyncio.wait((speech,), timeout=_SYNTHESIS_S)
            if speech.done():
                return await speech_output.interject((tone, *speech.result()), cut)
            return await speech_output.interject((tone,), cut) and await speech_output.interject(await speech, cut)

    # --- how it ends

    async def _settle(self) -> None:
        """End alarms that were stopped or snoozed, or have rung long enough."""
        is_busy = self._pipeline.is_in_turn or self._is_spoken_to()
        for ring in list(self._rings.values()):
            if ring.is_announced and (how := self._end_of(ring, is_busy=is_busy)):
                await self._end(ring, how)
        if self._alarm_state.command is not None or not self._rings:
            self._alarm_state.clear()
        if not is_busy:
            self._alarm_state.is_ignored = False

    def _end_of(self, ring: _Ring, *, is_busy: bool) -> RingEnd | None:
        if command := self._alarm_state.command:
            return "stopped" if command.word == "stop" else "snoozed"
        if is_busy:
            return None
        if self._alarm_state.is_ignored and ring.due.kind != "alarm":
            return "answered"
        # One that was not heard, because the loudspeaker is lost, goes on for the whole time.
        is_over = (ring.is_heard and ring.rounds >= ring.most_rounds) or self._clock() >= ring.until_s
        return "given_up" if is_over and self._clock() - self._sounded_s >= PAUSE_S else None

    async def _end(self, ring: _Ring, how: RingEnd) -> None:
        due, command = ring.due, self._alarm_state.command
        minutes = (command.minutes if command and how == "snoozed" else None) or 0
        try:
            if minutes:
                await asyncio.to_thread(self._schedule.snooze, due, minutes)
            elif not await asyncio.to_thread(self._schedule.done, due) and how == "obeyed":
                how = "cancelled"  # another process runs the command
        except StateError as error:
            self._complain(error)
            if how == "snoozed":
                ring.is_announced = False  # ring again rather than lose the alarm
                return
            self._unnoted.add(due)
        self._drop(ring, how, minutes)
        if how == "obeyed":
            task = asyncio.create_task(self._run_command(due))
            self._command_tasks.add(task)
            task.add_done_callback(self._command_tasks.discard)

    def _drop(self, ring: _Ring, how: RingEnd, minutes: int = 0, *, rings_again: bool = False) -> None:
        due = ring.due
        del self._rings[due.id]
        self._alarm_state.announced.pop(due.id, None)
        if ring.is_announced:
            ended = RingEnded(ring_id=due.id, kind=due.kind, how=how, snoozed_minutes=minutes, error=ring.error)
            self._publish(replace(ended, rings_again=rings_again))

    async def _run_command(self, due: DueAlarm) -> None:
        caller = self._scopes_now(due.caller) if due.caller else None
        if due.caller and caller is None:
            return  # revoked since it began to ring
        turn = Turn(caller=replace(caller, is_scheduled=True) if caller else None)
        pipeline = self._places.pipeline(due)
        with suppress(EdgevoxError), pipeline.confirmation.agreed(turn, due.agreed):  # reported by TurnEnded
            await pipeline.answer(due.command, turn, "timer", due.language)

    def _shut_down(self) -> None:
        """Mark alarms that sounded as done; the others ring at the next start."""
        for ring in list(self._rings.values()):
            rings_again = not ring.is_heard
            if ring.is_heard:
                try:
                    self._schedule.done(ring.due)
                except StateError as error:
                    self._complain(error)
                    rings_again = True
            self._drop(ring, "shut_down", rings_again=rings_again)
        self._alarm_state.clear()

    def _complain(self, error: StateError) -> None:
        if error.message != self._trouble:
            self._trouble = error.message
            self._publish(RingTrouble(error=error.message, hint=error.hint))


async def _speech(speech_output: SpeechOutput, announcements: Sequence[_Announcement]) -> list[Audio]:
    try:
        return [await speech_output.sound_of(one.text, one.language) for one in announcements]
    except EdgevoxError as error:  # the engine, or the voice of that language
        log.warning("cannot speak the announcement: %s", error.message)
        return []  # the tone still plays, and RingStarted carries the text
