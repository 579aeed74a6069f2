"""Timers, alarms and reminders when they are due, with a clock that the test sets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, timedelta

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.tones import RATE_HZ, timer_chime
from edgevox.core.errors import DeviceUnavailable, EdgevoxError, EngineFailed, ModelError, StateError
from edgevox.core.events import BuiltinCommandRun, Event, RingEnded, RingStarted, RingTrouble, TurnEnded, TurnStarted
from edgevox.core.hooks import Answer, Hook, Run
from edgevox.core.languages import replying_in
from edgevox.core.turn import LOCAL, Caller, CancelFlag, Turn
from edgevox.core.types import Audio, ChatModel, SynthesisRequest
from edgevox.dialogue import AlarmPlayer, AlarmState, BuiltinCommands, Loudspeaker, Pipeline, Synthesizer
from edgevox.dialogue.alarm_player import (
    LATEST_COMMAND_S,
    LOOK_S,
    PAUSE_S,
    ROUNDS,
    SPEECH_S,
    TURN_S,
    LocalPlace,
    RingPlaces,
)
from edgevox.dialogue.replies import ReplyLanguages
from edgevox.dialogue.speech_output import SpeechOutput
from edgevox.home import AlarmSchedule, DueAlarm, Entity, House
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Condition, Watches
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from tests.dialogue.fake_time import FakeTime
from tests.dialogue.stage import BOUND_S, Ponderer, Unducked

FOR_S = 60.0


class Flaky(AlarmSchedule):
    """An agenda whose file can go out of reach."""

    is_out_of_reach = False
    bug: Exception | None = None
    """What is raised once."""

    def __init__(
        self,
        timers: Timers,
        alarms: Alarms,
        watches: Watches | None = None,
        house: Callable[[], House] = lambda: House(()),
    ) -> None:
        super().__init__(timers, alarms, watches, house)
        self.taken: set[str] = set()
        """Those that another process ends first."""

    def due(self) -> tuple[DueAlarm, ...]:
        self._reach()
        return super().due()

    def done(self, due: DueAlarm) -> bool:
        self._reach()
        return super().done(due) and due.id not in self.taken

    def _reach(self) -> None:
        bug, self.bug = self.bug, None
        if bug is not None:
            raise bug
        if self.is_out_of_reach:
            raise StateError("the disk is gone", hint="put it back")


class Home:
    """A voice assistant with an agenda, a script for its model, and a test that holds the clock."""

    def __init__(
        self,
        replies: Sequence[str] = (),
        *,
        model: ChatModel | None = None,
        speaker: Loudspeaker | None = None,
        voice: Synthesizer | None = None,
        is_mute: bool = False,
        hooks: Sequence[Hook] | None = None,
        languages: ReplyLanguages | None = None,
    ) -> None:
        self.time = FakeTime()
        self.events: list[Event] = []
        self._has_news = asyncio.Event()
        self.timers = Timers(self.time)
        self.alarms = Alarms(self.time, zone=UTC)
        self.agenda = Flaky(self.timers, self.alarms)
        self.speaker = MemorySpeaker()
        self.synthesizer = ToneSynthesizer()
        self.model = ScriptedModel(replies)
        self.alarm_state = AlarmState(snooze_minutes=9)
        self.is_somebody_speaking = False
        self.scopes_now: Callable[[Caller], Caller | None] = lambda caller: caller
        self.places: RingPlaces | None = None
        self.pipeline = Pipeline(
            LLMAgent("test", model=model or self.model, publish=self.note, hooks=hooks),
            preset="p",
            publish=self.note,
            voice=None if is_mute else voice or Synthesizer(self.synthesizer),
            loudspeaker=None if is_mute else speaker or self.speaker,
            words=BuiltinCommands(),
            alarm_state=self.alarm_state,
            languages=languages,
        )

    @asynccontextmanager
    async def ringing(self) -> AsyncIterator[None]:
        alarm_player = AlarmPlayer(
            self.agenda,
            self.pipeline,
            self.alarm_state,
            self.note,
            for_s=FOR_S,
            places=self.places,
            scopes_now=self.scopes_now,
            wall_clock=self.time,
            clock=self.time,
            sleep=self.time.sleep,
        )
        async with alarm_player.running(lambda: self.is_somebody_speaking):
            yield
        assert asyncio.all_tasks() == {asyncio.current_task()}

    def note(self, event: Event) -> None:
        self.events.append(event)
        self._has_news.set()

    async def until(self, kind: type[Event]) -> None:
        """Returns when an event of this kind has been published."""
        async with asyncio.timeout(BOUND_S):
            while not any(isinstance(event, kind) for event in self.events):
                self._has_news.clear()
                await self._has_news.wait()

    async def hear(self, text: str) -> None:
        async with asyncio.timeout(BOUND_S):
            await self.pipeline.answer(text, Turn(), "voice")

    @property
    def sounds(self) -> list[str]:
        return [
            "voice" if sound.rate_hz != RATE_HZ else "chime" if sound is timer_chime() else "alarm"
            for sound in self.speaker.played
        ]

    @property
    def started(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, RingStarted)]

    @property
    def ended(self) -> list[str]:
        return [event.how for event in self.events if isinstance(event, RingEnded)]

    def set_alarm(self, in_s: float) -> None:
        self.alarms.set_in("alarm", in_s)


# --- what is heard


async def test_a_timer_rings_at_its_time_a_few_times_and_is_gone() -> None:
    home = Home()
    home.timers.start(10, name="pasta")
    async with home.ringing():
        await home.time.pass_by(9.9)
        assert home.sounds == []
        await home.time.pass_by(0.1)
        assert home.sounds == ["chime", "voice"]
        assert home.synthesizer.spoken == ["The pasta timer is done."]
        await home.time.pass_by(PAUSE_S - 0.2)
        assert home.sounds == ["chime", "voice"], "now somebody may speak"
        await home.time.pass_by(FOR_S)
    assert home.sounds.count("chime") == ROUNDS
    assert (home.started, home.ended) == (["The pasta timer is done."], ["given_up"])
    assert home.timers.all() == ()


async def test_each_timer_is_announced_in_the_language_in_which_it_was_set() -> None:
    home = Home(["Fine."], languages=ReplyLanguages(voices=("de", "en")))
    home.timers.start(10, name="Tee")  # by the page or an earlier version: in the language of the household
    with replying_in("en"):
        home.timers.start(11, command="open the blinds")
    async with home.ringing():
        await home.time.pass_by(10)
        await home.hear("noch zwei Minuten")
        await home.time.pass_by(2)
    heard = dict(zip(home.synthesizer.spoken, home.synthesizer.languages, strict=True))
    assert (
        heard.items()
        >= {
            "Der Timer Tee ist abgelaufen.": "de",
            "Ich melde mich in 2 Minuten wieder.": "de",
            "It is time to open the blinds.": "en",
        }.items()
    )
    assert home.timers.all()[0].remaining_s(home.time()) == pytest.approx(118, abs=1)


async def test_an_alarm_goes_on_and_grows_louder_until_it_is_given_up() -> None:
    home = Home()
    home.set_alarm(10)
    async with home.ringing():
        await home.time.pass_by(10 + FOR_S - 1)
        assert home.ended == []
        await home.time.pass_by(PAUSE_S + 2)
    alarms = [sound for sound, kind in zip(home.speaker.played, home.sounds, strict=True) if kind == "alarm"]
    assert len(alarms) > 10
    assert np.max(np.abs(alarms[0].samples)) < 0.2 * np.max(np.abs(alarms[-1].samples))
    assert home.ended == ["given_up"]
    assert home.alarms.all() == ()


async def test_an_alarm_of_another_process_is_noticed_within_a_second() -> None:
    home = Home()
    async with home.ringing():
        await home.time.pass_by(100)
        home.timers.start(1)
        await home.time.pass_by(1 + LOOK_S)
        assert len(home.started) == 1


async def test_one_stop_ends_two_alarms_that_are_due_together() -> None:
    home = Home()
    home.timers.start(10, name="pasta")
    home.timers.start(10, name="egg")
    async with home.ringing():
        await home.time.pass_by(10)
        assert home.sounds == ["chime", "voice", "voice"]
        await home.hear("stop")
        await home.time.pass_by(1)
    assert home.ended == ["stopped", "stopped"]


async def test_an_alarm_due_while_another_rings_is_announced_at_once() -> None:
    home = Home()
    home.set_alarm(10)
    home.timers.start(12, name="egg")
    async with home.ringing():
        await home.time.pass_by(12 + LOOK_S)
        assert home.started[1:] == ["The egg timer is done."]
        await home.hear("stop")
        await home.time.pass_by(PAUSE_S)
        assert home.ended == ["stopped", "stopped"]


# --- what was missed


async def test_a_missed_alarm_is_announced_once_at_the_start() -> None:
    home = Home()
    home.set_alarm(10)
    home.timers.start(10, name="pasta")
    home.time.now_s += 3600
    async with home.ringing():
        await home.time.pass_by(2 * PAUSE_S)
    assert home.sounds == ["alarm", "voice", "voice"]
    assert all("ago" in text for text in home.started)
    assert home.ended == ["given_up", "given_up"]


async def test_an_alarm_that_a_crash_cut_short_rings_on() -> None:
    home = Home()
    home.set_alarm(10)
    home.time.now_s += 30
    async with home.ringing():
        await home.time.pass_by(3 * PAUSE_S)
        assert home.sounds.count("alarm") > 1


async def test_shutdown_marks_an_alarm_that_sounded_as_done() -> None:
    home = Home()
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(11)
    assert home.ended == ["shut_down"]
    assert home.timers.all() == ()


async def test_an_alarm_cut_by_shutdown_rings_at_the_next_start() -> None:
    home = Home(speaker=Endless())
    home.timers.start(1)
    async with home.ringing():
        await home.time.skip(1)
        await home.until(RingStarted)
    assert [(event.how, event.rings_again) for event in home.events if isinstance(event, RingEnded)] == [
        ("shut_down", True)
    ]
    assert len(home.timers.all()) == 1


# --- what is said to it


async def test_stop_needs_no_model_and_says_nothing() -> None:
    home = Home()
    home.set_alarm(10)
    async with home.ringing():
        await home.time.pass_by(10)
        spoken = len(home.synthesizer.spoken)
        await home.hear("I'm up.")
        await home.time.pass_by(FOR_S)
    assert home.ended == ["stopped"]
    assert home.sounds == ["alarm", "voice"]
    assert len(home.synthesizer.spoken) == spoken
    assert home.model.requests == []
    assert [event.word for event in home.events if isinstance(event, BuiltinCommandRun)] == ["stop"]
    assert [event.outcome for event in home.events if isinstance(event, TurnEnded)] == ["answered"]


async def test_five_more_minutes_are_five_minutes() -> None:
    home = Home()
    home.set_alarm(10)
    async with home.ringing():
        await home.time.pass_by(10)
        await home.hear("Five more minutes.")
        await home.time.pass_by(1)
        assert home.ended == ["snoozed"]
        assert home.synthesizer.spoken[-1] == "Snoozed for 5 minutes."
        await home.time.pass_by(5 * 60 - 2)
        assert len(home.started) == 1
        await home.time.pass_by(2)
        assert len(home.started) == 2


async def test_snooze_alone_is_as_long_as_the_settings_say() -> None:
    home = Home()
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10)
        await home.hear("Snooze.")
        await home.time.pass_by(1)
    assert [event.snoozed_minutes for event in home.events if isinstance(event, RingEnded)] == [9]
    (timer,) = home.timers.all()
    assert home.timers.remaining_s(timer) > 8.9 * 60


async def test_when_nothing_rings_the_words_are_for_the_model() -> None:
    home = Home(["You are welcome."])
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(5)
        await home.hear("Thank you.")
    assert len(home.model.requests) == 1


async def test_another_request_ends_a_timer() -> None:
    home = Home(["It is noon."])
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10)
        await home.hear("What time is it?")
        await home.time.pass_by(FOR_S)
    assert home.synthesizer.spoken[-1] == "It is noon."
    assert home.sounds.count("chime") == 1
    assert home.ended == ["answered"]


async def test_an_alarm_goes_on_after_another_sentence() -> None:
    home = Home(["It is noon."])
    home.set_alarm(10)
    async with home.ringing():
        await home.time.pass_by(10)
        await home.hear("What time is it?")
        before = home.sounds.count("alarm")
        await home.time.pass_by(PAUSE_S + 3)
        assert home.sounds.count("alarm") > before
        assert home.ended == []


async def test_an_alarm_cancelled_while_it_rings_falls_silent() -> None:
    home = Home()
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10)
        home.timers.cancel(*home.timers.all())
        await home.time.pass_by(FOR_S)
    assert home.sounds.count("chime") == 1
    assert home.ended == ["cancelled"]


async def test_a_typed_stop_cuts_the_sound() -> None:
    home = Home(speaker=Endless())
    home.timers.start(1)
    async with home.ringing():
        await home.time.skip(1)
        await home.until(RingStarted)
        assert home.pipeline.act_on("stop")
        await home.time.pass_by(1)
        assert home.ended == ["stopped"]
    assert home.timers.all() == ()


# --- while something else goes on


async def test_an_alarm_waits_for_speech_up_to_a_limit() -> None:
    home = Home()
    home.timers.start(10)
    async with home.ringing():
        home.is_somebody_speaking = True
        await home.time.pass_by(10 + SPEECH_S - 1)
        assert home.sounds == []
        home.is_somebody_speaking = False
        await home.time.pass_by(0.2)
        assert home.sounds == ["chime", "voice"]
        await home.hear("stop")
        home.is_somebody_speaking = True
        home.timers.start(1)
        await home.time.pass_by(SPEECH_S + 5)
        assert home.sounds.count("chime") == 2


async def test_it_is_heard_through_a_reply_which_then_goes_on() -> None:
    speaker = Stepwise()
    home = Home(["First. Second. Third."], speaker=speaker)
    async with home.ringing():
        answering = asyncio.create_task(home.hear("Tell me something."))
        async with asyncio.timeout(BOUND_S):
            await speaker.until_given(1)
            home.timers.start(1)
            await home.time.skip(1)
            await home.until(RingStarted)
            while not speaker.has_chimed:
                await speaker.go_on()
            speaker.let_go()
            await answering
        kinds = ["voice" if sound.rate_hz != RATE_HZ else "chime" for sound in speaker.given]
    assert kinds.count("chime") == 1
    assert kinds.index("chime") in (1, 2)
    assert kinds[-1] == "voice"
    assert len(kinds) == 3 + 2
    assert [event.reply for event in home.events if isinstance(event, TurnEnded)] == ["First. Second. Third."]


async def test_in_a_silent_turn_it_is_heard_once_and_a_stop_is_for_it() -> None:
    model = Ponderer()
    home = Home(model=model)
    async with home.ringing():
        answering = asyncio.create_task(home.hear("Think about it."))
        await home.time.pass_by(1)
        home.timers.start(1)
        await home.time.pass_by(TURN_S - 1)
        assert home.sounds == ["chime", "voice"]
        assert home.pipeline.act_on("Stop.")
        await home.time.pass_by(1)
        assert home.ended == ["stopped"]
        assert home.pipeline.is_in_turn
        assert home.pipeline.act_on("Stop."), "and the next one is for the turn"
        async with asyncio.timeout(BOUND_S):
            await answering
    assert [event.outcome for event in home.events if isinstance(event, TurnEnded)] == ["cancelled"]


async def test_a_stop_in_a_turn_that_began_while_it_rang_is_for_the_turn() -> None:
    home = Home(model=Ponderer())
    home.set_alarm(10)
    async with home.ringing():
        await home.time.pass_by(10)
        answering = asyncio.create_task(home.hear("Think about it."))
        await home.time.pass_by(1)
        assert home.pipeline.act_on("Stop.")
        async with asyncio.timeout(BOUND_S):
            await answering
        assert home.ended == []


async def test_cancel_is_for_the_turn() -> None:
    home = Home(model=Ponderer())
    async with home.ringing():
        answering = asyncio.create_task(home.hear("Think about it."))
        await home.time.pass_by(1)
        home.timers.start(1)
        await home.time.pass_by(3)
        assert home.pipeline.act_on("Never mind.")
        async with asyncio.timeout(BOUND_S):
            await answering
        assert home.ended == []


# --- timers that do something


async def test_a_schedule_runs_its_command_without_a_chime_and_waits_for_the_next_day() -> None:
    home = Home(["The oven is off."])
    at = home.alarms.now() + timedelta(minutes=5)
    home.alarms.set("schedule", at, label="turn off the oven", repeat=(0, 1, 2, 3, 4, 5, 6))
    async with home.ringing():
        await home.time.pass_by(301)
        await home.until(TurnEnded)
    assert (home.sounds, home.ended) == (["voice"], ["obeyed"])
    assert home.synthesizer.spoken == ["The oven is off."]
    [alarm] = home.alarms.all()
    assert alarm.rings(UTC).date() == at.date() + timedelta(days=1)


async def test_what_a_watch_saw_is_said_once() -> None:
    home = Home()
    house = House((Entity("binary_sensor.door", "Front Door", "binary_sensor", "on", device_class="door"),))
    opens = Condition(
        entity_ids=("binary_sensor.door",), state="open", phrase="the door opens", fact="the door is open"
    )
    watches = Watches(home.time)
    watches.add("tell", opens, opens.fact, is_repeating=False, is_met=False)
    home.agenda = Flaky(home.timers, home.alarms, watches, lambda: house)
    async with home.ringing():
        await home.time.pass_by(FOR_S)
    assert home.synthesizer.spoken == ["The door is open."]
    assert watches.all() == ()


async def test_a_command_that_another_process_has_taken_is_not_run_again() -> None:
    home = Home(["The oven is off."])
    timer = home.timers.start(10, command="turn off the oven")
    home.agenda.taken.add(timer.id)
    async with home.ringing():
        await home.time.pass_by(10)
        await home.until(RingEnded)
    assert (home.ended, home.model.requests) == (["cancelled"], [])


async def test_the_command_of_a_timer_is_announced_and_run_as_a_turn() -> None:
    home = Home(["The lamp is off."])
    home.timers.start(10, command="turn off the lamp")
    async with home.ringing():
        await home.time.pass_by(10)
        await home.until(TurnEnded)
        await home.time.pass_by(FOR_S)
    assert home.synthesizer.spoken == ["It is time to turn off the lamp.", "The lamp is off."]
    assert home.sounds == ["chime", "voice", "voice"]
    assert [event.source for event in home.events if isinstance(event, TurnStarted)] == ["timer"]
    assert home.ended == ["obeyed"]
    assert home.timers.all() == ()


async def test_an_overdue_command_is_announced_and_not_run() -> None:
    home = Home()
    home.timers.start(10, command="turn on the oven")
    home.time.now_s += 10 + LATEST_COMMAND_S + 1
    async with home.ringing():
        await home.time.pass_by(PAUSE_S + 1)
    assert home.started[0].endswith("I have not done it.")
    assert home.model.requests == []
    assert home.timers.all() == ()


PROGRAM = Caller("program", frozenset({"act"}), has_token=True)


async def test_a_command_runs_with_the_scopes_that_its_caller_has_now() -> None:
    callers: list[Caller] = []

    class Noting(Hook):
        async def on_run_start(self, run: Run) -> Answer:
            callers.append(run.caller)
            return Answer("Done.")

    home = Home(hooks=[Noting()])
    home.scopes_now = lambda caller: caller.limited_to(Caller("program", frozenset()))
    home.timers.start(10, command="turn off the lamp", caller=PROGRAM)
    home.timers.start(12, command="turn off the oven")
    async with home.ringing():
        await home.time.pass_by(13)
        await home.time.pass_by(FOR_S)
    assert callers == [Caller("program", frozenset(), has_token=True, is_scheduled=True), LOCAL]


async def test_a_command_of_a_revoked_token_is_announced_logged_and_not_run(caplog: pytest.LogCaptureFixture) -> None:
    home = Home()
    home.scopes_now = lambda _caller: None
    home.timers.start(10, command="turn on the oven", caller=PROGRAM)
    async with home.ringing():
        await home.time.pass_by(10 + PAUSE_S + 1)
    assert home.started[0].endswith("I have not done it.")
    assert home.model.requests == []
    assert "the token of program was revoked" in caplog.text


# --- when something is missing


async def test_without_speech_output_an_alarm_is_published_once() -> None:
    home = Home(is_mute=True)
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10 + FOR_S)
    assert (len(home.started), home.ended) == (1, ["given_up"])


async def test_a_loudspeaker_that_is_gone_is_named_and_does_not_end_the_ringing() -> None:
    home = Home(speaker=Unplugged())
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10 + FOR_S + PAUSE_S)
        assert [event.error for event in home.events if isinstance(event, RingEnded)] == ["unplugged"]
        home.timers.start(1)
        await home.time.pass_by(2)
        assert len(home.started) == 2


async def test_a_timer_rings_on_when_its_loudspeaker_is_back_and_so_does_the_next() -> None:
    speaker = Returning()
    home = Home(speaker=speaker)
    home.timers.start(10, name="pasta")
    async with home.ringing():
        await home.time.pass_by(10 + (ROUNDS + 1) * PAUSE_S)
        assert home.ended == [], "it was not heard yet"
        speaker.is_back = True
        home.timers.start(10, name="egg")
        await home.time.pass_by(FOR_S)
    assert home.synthesizer.spoken.count("The pasta timer is done.") > ROUNDS
    assert speaker.played
    assert [event.error for event in home.events if isinstance(event, RingEnded)] == ["", ""]


async def test_a_timer_rings_on_when_the_satellite_on_which_it_was_set_is_back() -> None:
    home = Home()
    place = home.places = Satellite(home.pipeline)
    home.timers.start(10, caller=Caller("satellite shelf", satellite="shelf"))
    async with home.ringing():
        await home.time.pass_by(10 + (ROUNDS + 1) * PAUSE_S)
        assert home.ended == [], "it was not heard yet"
        place.is_connected = True
        await home.time.pass_by(FOR_S)
    assert home.sounds
    assert [event.error for event in home.events if isinstance(event, RingEnded)] == [""]


@pytest.mark.parametrize("error", [EngineFailed("no voice"), ModelError("the voice is damaged")])
async def test_without_a_voice_the_chime_is_heard(error: EdgevoxError) -> None:
    home = Home(voice=Synthesizer(Hoarse(error)))
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10)
        assert home.sounds == ["chime"]


async def test_an_agenda_that_cannot_be_read_is_told_once_and_rings_when_it_can() -> None:
    home = Home()
    home.timers.start(10)
    home.agenda.is_out_of_reach = True
    async with home.ringing():
        await home.time.pass_by(60)
        assert [event.error for event in home.events if isinstance(event, RingTrouble)] == ["the disk is gone"]
        home.agenda.is_out_of_reach = False
        await home.time.pass_by(1)
        assert len(home.started) == 1


async def test_a_bug_costs_no_later_alarm(caplog: pytest.LogCaptureFixture) -> None:
    home = Home()
    home.timers.start(10)
    home.agenda.bug = ValueError("a bug")
    async with home.ringing():
        await home.time.pass_by(10 + 2 * LOOK_S)
    assert len(home.started) == 1
    assert [record.exc_info is not None for record in caplog.records] == [True]


async def test_an_alarm_that_cannot_be_marked_as_done_does_not_ring_for_ever() -> None:
    home = Home()
    home.timers.start(10)
    async with home.ringing():
        await home.time.pass_by(10)
        home.agenda.is_out_of_reach = True
        await home.hear("stop")
        await home.time.pass_by(1)
        home.agenda.is_out_of_reach = False
        await home.time.pass_by(FOR_S)
    assert home.ended == ["stopped"]
    assert home.sounds.count("chime") == 1


# --- loudspeakers and a voice


class Endless(Unducked):
    """A loudspeaker that plays on until it is cancelled."""

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        async for _chunk in chunks:
            on_start()
            break
        cancelled = asyncio.Event()
        cancel.add_listener(cancelled.set)
        await cancelled.wait()


class Stepwise(Unducked):
    """A loudspeaker that takes the next piece when the test lets it."""

    def __init__(self) -> None:
        self.given: list[Audio] = []
        self._steps = asyncio.Semaphore(1)
        self._is_given = asyncio.Condition()

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        async for chunk in chunks:
            self.given.append(chunk)
            on_start()
            async with self._is_given:
                self._is_given.notify_all()
            await self._steps.acquire()

    async def until_given(self, count: int) -> None:
        async with self._is_given:
            await self._is_given.wait_for(lambda: len(self.given) >= count)

    async def go_on(self) -> None:
        count = len(self.given)
        self._steps.release()
        await self.until_given(count + 1)

    def let_go(self) -> None:
        for _ in range(100):
            self._steps.release()

    @property
    def has_chimed(self) -> bool:
        return any(sound is timer_chime() for sound in self.given)


class Unplugged(Unducked):
    async def play(self, chunks: AsyncIterator[Audio], *_rest: object) -> None:
        await anext(chunks)
        raise DeviceUnavailable("unplugged")


class Returning(MemorySpeaker):
    """A loudspeaker that is lost until the test says that it `is_back`."""

    is_back = False

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        if not self.is_back:
            raise DeviceUnavailable("unplugged")
        await super().play(chunks, cancel, on_start)


class Satellite(LocalPlace):
    """The only loudspeaker of a server, which is away until the test says that it `is_connected`."""

    is_connected = False

    def outputs(self, due: DueAlarm) -> Mapping[str, SpeechOutput]:
        return super().outputs(due) if self.is_connected else {}


class Hoarse(ToneSynthesizer):
    def __init__(self, error: EdgevoxError) -> None:
        super().__init__()
        self._error = error

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        if request.text:
            raise self._error
        yield await anext(super().stream(request, cancel))
