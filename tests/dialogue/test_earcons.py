"""What is heard while a reply takes long: an earcon, and later a filler phrase."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from typing import TypeVar

import numpy as np
import pytest

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.agents.tool_loop import Agreement
from edgevox.audio.tones import accepted_tone, error_tone, wake_tone
from edgevox.config import SoundSettings
from edgevox.core.errors import DeviceUnavailable, EdgevoxError, EngineFailed, ModelError
from edgevox.core.events import (
    AttentionChanged,
    Bus,
    ConfirmationRequired,
    EndpointReached,
    Event,
    PlaybackStarted,
    TurnEnded,
)
from edgevox.core.languages import all_phrases
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, ChatModel, ChatReply, ChatRequest, SynthesisRequest
from edgevox.dialogue import BuiltinCommands, ConfirmationDialog, Earcons, Pipeline, Synthesizer, Transcriber
from edgevox.dialogue.earcons import AFTER_CALL_S, AT_ONCE_S, PreparedPhrases
from edgevox.dialogue.replies import ReplyLanguages
from edgevox.dialogue.speculative import SpeculativeTranscript
from edgevox.dialogue.speech_output import SpeakingRate, SpeechOutput, Volume
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.tools import tool
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.sounds import voiced
from tests.dialogue.stage import BOUND_S, Ponderer

E = TypeVar("E", bound=Event)

AFTER_S = 2.5
SOUND = Audio(voiced(0.8), 16_000)
FILLER_PHRASES = {code: own.filler for code, own in all_phrases().items()}
APOLOGIES = {code: own.error for code, own in all_phrases().items()}
ONE_MOMENT, *_ = FILLER_PHRASES["en"]
WHAT = "what is that over there?"
QUESTION = "Unlock the front door?"


class CountingSpeaker(MemorySpeaker):
    """Knows how often it was opened."""

    opened = 0

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        self.opened += 1
        await super().play(chunks, cancel, on_start)


class SlowSynthesizer(ToneSynthesizer):
    """Lets the reply wait, not the phrases."""

    def __init__(self) -> None:
        super().__init__()
        self.may_sound = asyncio.Event()

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        if request.text not in FILLER_PHRASES["en"]:
            await self.may_sound.wait()
        async for sound in super().stream(request, cancel):
            yield sound


class FailingOnce(ToneSynthesizer):
    has_failed = False

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        if not self.has_failed:
            self.has_failed = True
            raise EngineFailed("gone", hint="wait")
        async for sound in super().stream(request, cancel):
            yield sound


class RingingSpeaker(CountingSpeaker):
    """What is played first sounds until the test lets it end."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = asyncio.Event()

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        await super().play(chunks, cancel, on_start)
        if self.opened == 1:
            await self.may_end.wait()


class Unplugged(CountingSpeaker):
    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        self.opened += 1
        raise DeviceUnavailable("unplugged")


class OneAfterTheOther:
    """A model for each turn."""

    def __init__(self, models: Sequence[ChatModel]) -> None:
        self._models = iter(models)

    def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        return next(self._models).stream(request, cancel)


class Hours:
    """A clock that starts at the endpoint, and the sleep of the tasks that use it."""

    def __init__(self) -> None:
        self.now_s = time.monotonic()
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def __call__(self) -> float:
        return self.now_s

    def note(self, event: Event) -> None:
        if isinstance(event, EndpointReached):
            self.now_s = event.at_s

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.now_s + seconds, woken))
        await woken.wait()

    async def pass_by(self, seconds: float) -> None:
        await settle()
        end_s = self.now_s + seconds + 1e-6
        while due := [sleeper for sleeper in self._sleepers if sleeper[0] <= end_s]:
            first = min(due, key=lambda sleeper: sleeper[0])
            self._sleepers.remove(first)
            self.now_s = max(self.now_s, first[0])
            first[1].set()
            await settle()
        self.now_s = end_s


class Scene:
    """An assistant that is spoken to, one utterance after the other."""

    def __init__(
        self,
        model: ChatModel,
        heard: Sequence[str | EdgevoxError | asyncio.Event] = (WHAT,),
        *,
        language: str = "en",
        languages: ReplyLanguages | None = None,
        synthesizer: ToneSynthesizer | None = None,
        speaker: CountingSpeaker | None = None,
        **settings: object,
    ) -> None:
        self.bus = Bus()
        self.hours = Hours()
        self.events: list[Event] = []
        self.conversation = Conversation()
        self.synthesizer = synthesizer or ToneSynthesizer()
        self.speaker = speaker or CountingSpeaker()
        self.words = BuiltinCommands()
        self.confirmation = ConfirmationDialog(self.bus.publish, channels=frozenset({"keyboard"}))
        self.is_spoken_to = False
        self.hears_over_itself = True

        @tool(side_effects=True, confirm="voice", question=lambda _arguments: QUESTION)
        async def unlock_door() -> str:
            """Unlock the door."""
            return "unlocked"

        agent = LLMAgent(
            "test",
            tools=(unlock_door,),
            model=model,
            parsers=("hermes",),
            conversation=self.conversation,
            confirm=self.confirmation,
            publish=self.bus.publish,
        )
        self.pipeline = Pipeline(
            agent,
            preset="p",
            publish=self.bus.publish,
            transcriber=Transcriber(FakeStt(list(heard), language=language)),
            voice=Synthesizer(self.synthesizer),
            loudspeaker=self.speaker,
            confirmation=self.confirmation,
            words=self.words,
            languages=languages,
        )
        assert self.pipeline.speech_output is not None
        self.earcons = Earcons(
            self.pipeline,
            self.pipeline.speech_output,
            SoundSettings.model_validate({"acknowledge_after_s": AFTER_S, "apologise": False, **settings}),
            languages=languages,
            is_spoken_to=lambda: self.is_spoken_to,
            hears_over_itself=lambda: self.hears_over_itself,
            clock=self.hours,
            sleep=self.hours.sleep,
        )
        self._listening = ExitStack()
        for listener in (self.hours.note, self.events.append, self.earcons):
            self._listening.enter_context(self.bus.listening(listener))

    def say(
        self, turn: Turn | None = None, early: SpeculativeTranscript | None = None
    ) -> asyncio.Task[AgentResult | None]:
        turn = early.turn if early else turn or Turn()
        transcriber = self.pipeline.hear(SOUND, turn, last_voiced_s=time.monotonic(), speculative=early)
        return asyncio.create_task(transcriber)

    async def begin_early(self) -> SpeculativeTranscript:
        early = self.pipeline.transcribe_speculatively(SOUND)
        await early.transcript()
        self.pipeline.reply_speculatively(early)
        await settle()
        return early

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def played(self) -> list[str]:
        """What came out of the loudspeaker."""
        return [self._name(sound) for sound in self.speaker.played]

    def _name(self, sound: Audio) -> str:
        settings = SoundSettings()
        for name, chime in (("heard", accepted_tone), ("failed", error_tone), ("called", wake_tone)):
            if np.array_equal(sound.samples, chime(settings.chime_volume).samples):
                return name
        # A hundredth of a second per character.
        length = round(sound.duration_s * 100)
        return next(text for text in self.synthesizer.spoken if len(text) == length)


async def settle() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def over(task: asyncio.Task[AgentResult | None]) -> AgentResult | None:
    async with asyncio.timeout(BOUND_S):
        return await task


# --- the tone


async def test_a_tone_plays_if_the_reply_is_not_ready() -> None:
    model = Ponderer()
    scene = Scene(model)
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S - 0.01)
    assert scene.played == []
    await scene.hours.pass_by(0.02)
    assert scene.played == ["heard"]
    assert scene.pipeline.silent_since_s == math.inf, "it is not listened to"
    model.may_answer.set()
    await over(turn)
    assert scene.played == ["heard", "At last."]


async def test_the_tone_does_not_open_the_loudspeaker_a_second_time() -> None:
    model = Ponderer()
    scene = Scene(model)
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S)
    model.may_answer.set()
    await over(turn)
    assert scene.speaker.opened == 1


async def test_a_quick_reply_gets_no_tone() -> None:
    scene = Scene(ScriptedModel(["A lamp."]))
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S + AFTER_S)
    await over(turn)
    assert scene.played == ["A lamp."]


async def test_a_speculative_reply_gets_no_tone() -> None:
    scene = Scene(ScriptedModel(["A lamp."]))
    early = await scene.begin_early()
    turn = scene.say(early=early)
    await scene.hours.pass_by(AT_ONCE_S + AFTER_S)
    await over(turn)
    assert scene.played == ["A lamp."]


async def test_an_unfinished_speculative_reply_finds_the_loudspeaker_open() -> None:
    model = Ponderer()
    scene = Scene(model)
    early = await scene.begin_early()
    assert scene.played == []
    turn = scene.say(early=early)
    await scene.hours.pass_by(AT_ONCE_S)
    assert scene.played == ["heard"]
    model.may_answer.set()
    await over(turn)
    assert scene.played == ["heard", "At last."]
    assert scene.speaker.opened == 1


async def test_a_sentence_that_is_being_made_is_not_held_up() -> None:
    synthesizer = SlowSynthesizer()
    scene = Scene(ScriptedModel(["A lamp."]), synthesizer=synthesizer)
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S + AFTER_S)
    synthesizer.may_sound.set()
    await over(turn)
    assert scene.played == ["A lamp."]


async def test_a_noise_is_not_understood() -> None:
    scene = Scene(ScriptedModel([]), [""])
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S + AFTER_S)
    await over(turn)
    assert scene.played == []


async def test_without_chimes_there_is_none() -> None:
    model = Ponderer()
    scene = Scene(model, chimes=False)
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S)
    model.may_answer.set()
    await over(turn)
    assert scene.played == ["At last."]


async def test_a_quieter_voice_has_a_quieter_tone() -> None:
    model = Ponderer()
    scene = Scene(model)
    scene.words.volume.step(-1)
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S)
    (tone,) = scene.speaker.played
    assert np.max(np.abs(tone.samples)) == pytest.approx(SoundSettings().chime_volume * 0.562, rel=0.01)
    model.may_answer.set()
    await over(turn)


async def test_no_tone_plays_over_speech() -> None:
    model = Ponderer()
    scene = Scene(model)
    scene.is_spoken_to = True
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S)
    model.may_answer.set()
    await over(turn)
    assert scene.played == ["At last."]


async def test_no_sign_waits_until_something_else_has_rung_and_the_reply_was_heard() -> None:
    model, speaker = Ponderer(), RingingSpeaker()
    scene = Scene(model, speaker=speaker)
    assert scene.pipeline.speech_output is not None
    ringing = asyncio.create_task(scene.pipeline.speech_output.interject((error_tone(0.15),), CancelFlag()))
    await settle()
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S)
    speaker.may_end.set()
    model.may_answer.set()
    await over(turn)
    await ringing
    assert scene.played == ["failed", "At last."]


async def test_nothing_is_heard_of_a_turn_in_another_room() -> None:
    model = Ponderer()
    scene = Scene(model)
    turn = scene.say()
    await settle()
    for event in (EndpointReached(turn_id="other"), TurnEnded(turn_id="other", outcome="failed")):
        scene.bus.publish(event)
    await scene.hours.pass_by(AT_ONCE_S)
    assert scene.played == ["heard"]
    model.may_answer.set()
    await over(turn)


# --- the words


async def test_a_reply_that_takes_long_is_announced_once() -> None:
    model = Ponderer()
    scene = Scene(model)
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S - 0.01)
    assert scene.played == ["heard"]
    await scene.hours.pass_by(0.02)
    assert scene.played == ["heard", ONE_MOMENT]
    await scene.hours.pass_by(60.0)
    assert scene.played == ["heard", ONE_MOMENT]
    model.may_answer.set()
    await over(turn)
    assert scene.played == ["heard", ONE_MOMENT, "At last."]
    assert scene.speaker.opened == 1


async def test_its_words_are_no_part_of_the_reply() -> None:
    model = Ponderer()
    scene = Scene(model)
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S)
    assert scene.of(PlaybackStarted) == []
    model.may_answer.set()
    result = await over(turn)
    assert result is not None
    assert result.reply == scene.words.last_reply == "At last."
    assert [event.reply for event in scene.of(TurnEnded)] == ["At last."]
    assert [message.content for message in scene.conversation.messages()] == [WHAT, "At last."]
    assert len(scene.of(PlaybackStarted)) == 1


async def test_a_reply_that_is_sooner_is_not_announced() -> None:
    model = Ponderer()
    scene = Scene(model)
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S - 0.1)
    model.may_answer.set()
    await over(turn)
    await scene.hours.pass_by(60.0)
    assert scene.played == ["heard", "At last."]


async def test_words_that_were_understood_late_are_not_announced_before_that() -> None:
    model, may_hear = Ponderer(), asyncio.Event()
    scene = Scene(model, [may_hear])
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S + 1.0)
    assert scene.played == []
    may_hear.set()
    await scene.hours.pass_by(AT_ONCE_S)
    assert scene.played == ["heard", ONE_MOMENT]
    model.may_answer.set()
    await over(turn)


async def test_a_turn_that_waits_for_a_yes_is_not_slow() -> None:
    call = f"<tool_call>{json.dumps({'name': 'unlock_door', 'arguments': {}})}</tool_call>"
    scene = Scene(ScriptedModel([call, "All right."]))
    turn = scene.say()
    await scene.hours.pass_by(60.0)
    assert scene.of(ConfirmationRequired)
    assert not turn.done()
    assert scene.played == [QUESTION]
    assert scene.confirmation.open is not None
    scene.confirmation.open.answer(Agreement(granted=False, channel="keyboard"))
    await over(turn)
    await scene.hours.pass_by(60.0)
    assert ONE_MOMENT not in scene.played


async def test_a_turn_that_was_cancelled_gives_no_more_signs() -> None:
    scene = Scene(Ponderer())
    turn = Turn()
    transcriber = scene.say(turn)
    await scene.hours.pass_by(AT_ONCE_S)
    turn.cancel.set()
    await over(transcriber)
    await scene.hours.pass_by(60.0)
    assert scene.played == ["heard"]


async def test_without_a_time_nothing_is_announced_or_made() -> None:
    model = Ponderer()
    scene = Scene(model, acknowledge_after_s=0)
    turn = scene.say()
    await scene.hours.pass_by(60.0)
    model.may_answer.set()
    await over(turn)
    assert scene.synthesizer.spoken == ["At last."]


async def test_the_phrases_take_turns_and_each_is_made_once_before_it_is_needed() -> None:
    count = len(FILLER_PHRASES["en"]) + 1
    models = [Ponderer() for _ in range(count)]
    scene = Scene(OneAfterTheOther(models), [WHAT] * count)
    said = []
    for place, model in enumerate(models):
        await settle()
        made = len(scene.synthesizer.spoken)
        turn = scene.say()
        await scene.hours.pass_by(AFTER_S)
        assert len(scene.synthesizer.spoken) == made, f"turn {place} had to wait for the voice"
        said.append(scene.played[-1])
        model.may_answer.set()
        await over(turn)
    assert said == [*FILLER_PHRASES["en"], ONE_MOMENT]
    assert [text for text in scene.synthesizer.spoken if text == ONE_MOMENT] == [ONE_MOMENT]


async def test_after_a_change_of_speed_the_phrases_are_made_anew() -> None:
    synthesizer, rate = ToneSynthesizer(), SpeakingRate()
    voice = Synthesizer(synthesizer)
    voice.rate = rate
    phrases = PreparedPhrases(SpeechOutput(voice, MemorySpeaker(), Volume()), {"en": (ONE_MOMENT,)})
    for _ in range(2):
        await phrases.prepare("en")
    assert synthesizer.spoken == [ONE_MOMENT]
    assert rate.step(-1)
    await phrases.prepare("en")
    assert synthesizer.spoken == [ONE_MOMENT] * 2


@pytest.mark.parametrize(
    ("language", "played"), [("de", ["heard", FILLER_PHRASES["de"][0]]), ("is", ["heard"])], ids=["de", "is"]
)
async def test_it_is_said_in_the_language_of_the_voice_or_not_at_all(language: str, played: list[str]) -> None:
    model = Ponderer()
    scene = Scene(model, language=language, languages=ReplyLanguages(voices=(language,)))
    turn = scene.say()
    await scene.hours.pass_by(AFTER_S)
    assert scene.played == played
    model.may_answer.set()
    await over(turn)


async def test_who_speaks_another_language_than_usual_does_not_hear_the_usual_one() -> None:
    models = [Ponderer(), Ponderer()]
    languages = ReplyLanguages(voices=("en", "de"))
    scene = Scene(OneAfterTheOther(models), [WHAT] * 2, language="de", languages=languages)
    for model, played in zip(models, (["heard"], ["heard", FILLER_PHRASES["de"][0]]), strict=True):
        turn = scene.say()
        await scene.hours.pass_by(AFTER_S)
        assert scene.played[-len(played) :] == played
        model.may_answer.set()
        await over(turn)
        await settle()


async def test_a_voice_that_fails_is_tried_again_after_the_turn() -> None:
    models = [Ponderer(), Ponderer()]
    scene = Scene(OneAfterTheOther(models), [WHAT] * 2, synthesizer=FailingOnce())
    for model, played in zip(models, (["heard"], ["heard", "At last.", "heard", ONE_MOMENT]), strict=True):
        turn = scene.say()
        await scene.hours.pass_by(AFTER_S)
        assert scene.played == played
        model.may_answer.set()
        await over(turn)
        await settle()


# --- when it fails


async def test_a_turn_that_fails_in_silence_ends_with_a_tone() -> None:
    scene = Scene(ScriptedModel([EngineFailed("gone", hint="wait")]))
    turn = scene.say()
    with pytest.raises(EngineFailed):
        await over(turn)
    await settle()
    assert scene.played == ["failed"]


async def test_a_recogniser_that_fails_too() -> None:
    scene = Scene(ScriptedModel([]), [EngineFailed("gone", hint="wait")])
    turn = scene.say()
    with pytest.raises(EngineFailed):
        await over(turn)
    await settle()
    assert scene.played == ["failed"]


async def test_a_loudspeaker_that_is_gone_is_not_asked_for_it() -> None:
    speaker = Unplugged()
    scene = Scene(ScriptedModel(["A lamp."]), speaker=speaker)
    turn = scene.say()
    with pytest.raises(DeviceUnavailable):
        await over(turn)
    await settle()
    assert speaker.opened == 1


async def test_who_typed_reads_what_went_wrong() -> None:
    scene = Scene(ScriptedModel([EngineFailed("gone", hint="wait")]))
    with pytest.raises(EngineFailed):
        await scene.pipeline.answer(WHAT, Turn())
    await settle()
    assert scene.played == []


async def test_nothing_is_left_of_them_when_they_are_closed() -> None:
    scene = Scene(Ponderer())
    turn = scene.say()
    await scene.hours.pass_by(AT_ONCE_S)
    async with asyncio.timeout(BOUND_S):
        await scene.earcons.close()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
    assert asyncio.all_tasks() == {asyncio.current_task()}


# --- the apology


class Mute(ToneSynthesizer):
    """Dies once it has made what is made beforehand."""

    async def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        if request.text not in (*FILLER_PHRASES["en"], APOLOGIES["en"]):
            raise EngineFailed("tts is gone", hint="it is being restarted")
        async for sound in super().stream(request, cancel):
            yield sound


async def fail(scene: Scene) -> None:
    await settle()
    with pytest.raises(EdgevoxError):
        await over(scene.say())
    await settle()


async def test_an_engine_failure_is_followed_by_an_error_reply() -> None:
    scene = Scene(ScriptedModel([EngineFailed("llm is gone", hint="wait")]), apologise=True)
    await fail(scene)
    assert scene.played == [APOLOGIES["en"]]
    assert not scene.conversation.messages(), "it is no part of the conversation"


async def test_a_tts_failure_is_followed_by_an_error_reply() -> None:
    scene = Scene(ScriptedModel(["A lamp."]), apologise=True, synthesizer=Mute())
    await fail(scene)
    assert scene.played == [APOLOGIES["en"]]


async def test_an_stt_failure_is_followed_by_an_error_reply() -> None:
    scene = Scene(ScriptedModel([]), [EngineFailed("stt is gone", hint="wait")], apologise=True)
    await fail(scene)
    assert scene.played == [APOLOGIES["en"]]


async def test_it_is_said_in_the_language_of_the_reply_once_that_is_known() -> None:
    gone = EngineFailed("llm is gone", hint="wait")
    languages = ReplyLanguages(voices=("en", "de"))
    scene = Scene(ScriptedModel([gone, gone]), [WHAT, WHAT], language="de", languages=languages, apologise=True)
    await fail(scene)
    await fail(scene)
    assert scene.played == ["failed", APOLOGIES["de"]]


async def test_no_error_reply_plays_over_speech() -> None:
    scene = Scene(ScriptedModel([EngineFailed("llm is gone", hint="wait")]), apologise=True)
    scene.is_spoken_to = True
    await fail(scene)
    assert scene.played == []


async def test_another_error_is_followed_by_a_tone() -> None:
    scene = Scene(ScriptedModel([ModelError("too long", hint="say less")]), apologise=True)
    await fail(scene)
    assert scene.played == ["failed"]


# --- that it was called


async def call(scene: Scene) -> None:
    scene.bus.publish(AttentionChanged(attention="awake"))
    await scene.hours.pass_by(AFTER_CALL_S)


async def test_the_wake_tone_plays_after_a_wake_word_alone() -> None:
    scene = Scene(ScriptedModel([]))
    scene.bus.publish(AttentionChanged(attention="awake"))
    await scene.hours.pass_by(AFTER_CALL_S - 0.01)
    assert scene.played == []
    await scene.hours.pass_by(0.02)
    assert scene.played == ["called"]


async def test_no_wake_tone_if_the_command_follows_at_once() -> None:
    scene = Scene(ScriptedModel([]))
    scene.is_spoken_to = True
    await call(scene)
    assert scene.played == []


async def test_no_wake_tone_in_half_duplex() -> None:
    scene = Scene(ScriptedModel([]))
    scene.hears_over_itself = False
    await call(scene)
    assert scene.played == []


async def test_a_turn_that_keeps_it_awake_is_no_call() -> None:
    model = Ponderer()
    scene = Scene(model, acknowledge_after_s=0)
    turn = scene.say()
    await settle()
    await call(scene)
    model.may_answer.set()
    await over(turn)
    assert scene.played == ["heard", "At last."]
