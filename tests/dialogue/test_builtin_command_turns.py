"""Words that need no model, in a conversation: between turns, and while the model works."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.core.events import (
    AudioReady,
    BuiltinCommandRun,
    ModelStarted,
    PlaybackStarted,
    ReplyDelta,
    SpeechDropped,
    TurnEnded,
)
from edgevox.core.turn import Turn
from edgevox.core.types import ChatModel
from edgevox.dialogue import BuiltinCommands, Loudspeaker, Pipeline, Synthesizer, Transcriber
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from tests.dialogue.stage import BOUND_S, HeldSpeaker, Listener, Ponderer, Stage, after


class Talk:
    """A conversation whose recogniser and model follow a script."""

    def __init__(
        self,
        stage: Stage,
        heard: Sequence[str],
        model: ChatModel,
        *,
        speaker: Loudspeaker | None = None,
        is_mute: bool = False,
    ) -> None:
        self.listener = Listener(heard)
        self.synthesizer = ToneSynthesizer()
        self.conversation = Conversation()
        self.words = BuiltinCommands(["lights out in the office"])
        self.pipeline = Pipeline(
            LLMAgent("test", model=model, conversation=self.conversation, publish=stage.note),
            preset="p",
            publish=stage.note,
            transcriber=Transcriber(self.listener),
            voice=None if is_mute else Synthesizer(self.synthesizer),
            loudspeaker=None if is_mute else speaker or MemorySpeaker(),
            words=self.words,
        )


def words_of(stage: Stage) -> list[str]:
    return [event.word for event in stage.events if isinstance(event, BuiltinCommandRun)]


# --- between turns


async def test_a_word_between_turns_is_answered_without_the_model_and_not_remembered() -> None:
    stage = Stage(cues=[after(TurnEnded, 1), after(TurnEnded, 2)], turns=3)
    model = ScriptedModel(["It is noon."])
    talk = Talk(stage, ["what time is it", "Repeat that.", "Louder."], model)
    await stage.play(talk.pipeline)
    assert len(model.requests) == 1
    assert talk.synthesizer.spoken == ["It is noon.", "It is noon.", "Louder."]
    assert [(record.heard, record.reply, record.instant_word) for record in stage.records] == [
        ("what time is it", "It is noon.", ""),
        ("Repeat that.", "It is noon.", "repeat"),
        ("Louder.", "Louder.", "louder"),
    ]
    assert words_of(stage) == ["repeat", "louder"]
    assert [message.content for message in talk.conversation.messages()] == ["what time is it", "It is noon."]


async def test_quieter_makes_what_follows_quieter() -> None:
    stage = Stage(cues=[after(TurnEnded)], turns=2)
    speaker = MemorySpeaker()
    talk = Talk(stage, ["Quieter.", "what time is it"], ScriptedModel(["It is noon."]), speaker=speaker)
    await stage.play(talk.pipeline)
    acknowledged, answered = (float(np.max(np.abs(sound.samples))) for sound in speaker.played)
    assert 0.5 < acknowledged < 0.6, "the tone has a peak of 1, a step is 5 dB"
    assert 0.5 < answered < 0.6


async def test_help_tells_of_this_home() -> None:
    stage = Stage()
    talk = Talk(stage, ["What can you do?"], ScriptedModel([]))
    await stage.play(talk.pipeline)
    assert "lights out in the office" in " ".join(talk.synthesizer.spoken)


async def test_a_stop_with_nothing_to_stop_is_let_go_in_silence() -> None:
    stage = Stage()
    talk = Talk(stage, ["Stop."], ScriptedModel([]))
    await stage.play(talk.pipeline)
    assert [(record.outcome, record.reply) for record in stage.records] == [("dropped", "")]
    assert talk.synthesizer.spoken == []


async def test_what_is_for_the_home_goes_to_the_model() -> None:
    stage = Stage()
    model = ScriptedModel(["The music is off."])
    await stage.play(Talk(stage, ["Stop the music."], model).pipeline)
    assert len(model.requests) == 1
    assert words_of(stage) == []


async def test_a_typed_word_is_answered_in_the_event_stream() -> None:
    stage = Stage()
    talk = Talk(stage, [], ScriptedModel([]), is_mute=True)
    result = await talk.pipeline.answer("help", Turn())
    assert result.reply == "".join(event.text for event in stage.events if isinstance(event, ReplyDelta))
    assert isinstance(stage.events[-1], TurnEnded)


async def test_without_the_words_everything_is_the_models() -> None:
    stage = Stage()
    model = ScriptedModel(["How can I help?"])
    pipeline = Pipeline(LLMAgent("test", model=model), preset="p", publish=stage.note)
    assert (await pipeline.answer("help", Turn())).reply == "How can I help?"
    assert not pipeline.act_on("stop")


# --- while the model works


async def test_stop_while_the_model_works_ends_the_turn() -> None:
    stage = Stage(cues=[after(ModelStarted)])
    model = Ponderer()
    talk = Talk(stage, ["tell me a story", "Stop."], model)
    await stage.play(talk.pipeline)
    assert [(record.outcome, record.heard, record.instant_word) for record in stage.records] == [
        ("cancelled", "tell me a story", "stop")
    ]
    assert talk.synthesizer.spoken == []
    assert talk.conversation.messages() == ()


async def test_after_a_stop_the_next_turn_is_answered() -> None:
    stage = Stage(cues=[after(ModelStarted), after(TurnEnded)], turns=2)
    model = Ponderer()
    talk = Talk(stage, ["tell me a story", "Never mind.", "and now?"], model)
    await stage.play(talk.pipeline)
    assert [record.outcome for record in stage.records] == ["cancelled", "answered"]


async def test_what_is_no_word_does_not_disturb_the_turn_and_is_answered_next() -> None:
    stage = Stage(cues=[after(ModelStarted)], turns=2)
    model = Ponderer()
    talk = Talk(stage, ["tell me a story", "It is raining again."], model)
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    model.may_answer.set()
    await playing
    assert [(record.outcome, record.heard, record.reply) for record in stage.records] == [
        ("answered", "tell me a story", "At last."),
        ("answered", "It is raining again.", "At last."),
    ]
    assert len(talk.listener.heard) == 2


async def test_louder_while_the_model_works_is_done_at_once() -> None:
    stage = Stage(cues=[after(ModelStarted)])
    model = Ponderer()
    talk = Talk(stage, ["tell me a story", "Louder."], model)
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.until(AudioReady)
        model.may_answer.set()
        await playing
    assert talk.words.volume.gain_db > 0
    assert talk.synthesizer.spoken == ["Louder.", "At last."]
    assert [record.reply for record in stage.records] == ["At last."]


async def test_a_long_speech_during_a_turn_is_not_transcribed_before_it_is_over() -> None:
    stage = Stage(cues=[after(ModelStarted)], aside_s=4.0, turns=2)
    model = Ponderer()
    talk = Talk(stage, ["tell me a story", "and then tell me another one"], model)
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    assert len(talk.listener.heard) == 1
    model.may_answer.set()
    await playing
    assert [record.heard for record in stage.records] == ["tell me a story", "and then tell me another one"]


async def test_turns_do_not_pile_up_for_a_speaker_who_never_stops() -> None:
    stage = Stage(cues=[after(ModelStarted) for _ in range(6)], turns=3)
    model = Ponderer()
    talk = Talk(stage, ["tell me a story", *["it is raining again"] * 9], model)
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    model.may_answer.set()
    await playing
    assert len(stage.records) == 3
    assert "busy" in [event.reason for event in stage.events if isinstance(event, SpeechDropped)]


async def test_while_it_speaks_it_does_not_hear_itself() -> None:
    stage = Stage(cues=[after(PlaybackStarted)])
    speaker = HeldSpeaker()
    talk = Talk(stage, ["tell me a story", "Stop."], ScriptedModel(["Once upon a time."]), speaker=speaker)
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.said_everything.wait()
    speaker.may_end.set()
    await playing
    assert [record.outcome for record in stage.records] == ["answered"]
    assert len(talk.listener.heard) == 1


async def test_a_typed_stop_works_while_it_speaks() -> None:
    stage = Stage(turns=1)
    speaker = HeldSpeaker()
    talk = Talk(stage, ["tell me a story"], ScriptedModel(["Once upon a time."]), speaker=speaker)
    playing = asyncio.create_task(stage.play(talk.pipeline))
    async with asyncio.timeout(BOUND_S):
        await stage.until(PlaybackStarted)
        assert not talk.pipeline.act_on("tell me more")
        assert not talk.pipeline.act_on("repeat that"), "it waits until the answer is over"
        assert talk.pipeline.act_on("stop")
        await playing
    assert [record.outcome for record in stage.records] == ["cancelled"]
    assert not talk.pipeline.act_on("stop"), "there is nothing to stop any more"
