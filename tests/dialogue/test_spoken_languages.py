"""Turns in other languages: the prompt of the model, and the voice of each reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence

import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.core.events import Event
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.dialogue import BuiltinCommands, ConfirmationDialog, Pipeline, ReplyLanguages, Synthesizer, Transcriber
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.tools import Speech, tool
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.sounds import voiced

BOUND_S = 10
INSTRUCTIONS = "You are a voice assistant."
QUESTION = "Unlock the front door?"
CALL = f"<tool_call>{json.dumps({'name': 'unlock_door', 'arguments': {}})}</tool_call>"
IN_GERMAN = "(system: answer in German.)"


class Voices(ToneSynthesizer):
    """Remembers who was asked to say what."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str]] = []

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(language, text) for language, text in self.asked if text]

    def stream(self, request: SynthesisRequest, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        self.asked.append((request.language, request.text))
        return super().stream(request, cancel)


class Talk:
    """A user who speaks one language after the other, with a scripted model."""

    def __init__(self, lines: Sequence[str], languages: ReplyLanguages) -> None:
        self.model = ScriptedModel(lines)
        self.voices = Voices()
        self.conversation = Conversation()
        self.is_unlocked = False
        self.recogniser = FakeStt([])
        events: list[Event] = []
        confirmation = ConfirmationDialog(events.append)

        @tool(side_effects=True, confirm="voice", question=lambda _arguments: QUESTION)
        async def unlock_door() -> Speech:
            """Unlock the door."""
            self.is_unlocked = True
            return Speech("It is open.")

        self.pipeline = Pipeline(
            LLMAgent(
                "test",
                instructions=INSTRUCTIONS,
                tools=(unlock_door,),
                model=self.model,
                parsers=("hermes",),
                conversation=self.conversation,
                confirm=confirmation,
            ),
            preset="p",
            publish=events.append,
            transcriber=Transcriber(self.recogniser),
            voice=Synthesizer(self.voices),
            loudspeaker=MemorySpeaker(),
            confirmation=confirmation,
            words=BuiltinCommands(),
            languages=languages,
        )

    async def say(self, text: str, language: str) -> None:
        self.recogniser.script.append(text)
        self.recogniser.language = language
        async with asyncio.timeout(BOUND_S):
            await self.pipeline.hear(Audio(voiced(0.5), 16_000), Turn(), last_voiced_s=0.0)

    async def say_early(self, text: str, language: str) -> None:
        """Likewise, and the reply is begun before it is certain that this is all."""
        self.recogniser.script.append(text)
        self.recogniser.language = language
        async with asyncio.timeout(BOUND_S):
            early = self.pipeline.transcribe_speculatively(Audio(voiced(0.5), 16_000))
            await early.transcript()
            self.pipeline.reply_speculatively(early)
            await self.pipeline.hear(Audio(voiced(0.5), 16_000), early.turn, last_voiced_s=0.0, speculative=early)

    def told(self, request: int = -1) -> list[str]:
        return [message.content for message in self.model.requests[request].messages]


ENGLISH_AND_GERMAN = ReplyLanguages(voices=("en", "de"))


async def test_a_reply_is_spoken_by_the_voice_for_the_language_spoken() -> None:
    talk = Talk(["Es ist 21 Uhr, z. B. Gute Nacht! Bis 3. Mai.", "It is 9 p.m."], ENGLISH_AND_GERMAN)
    await talk.say("Wie spät ist es?", "de")
    await talk.say("What time is it?", "en")
    # Abbreviations and dates are written out in German, and the sentences are split as Germans do.
    assert talk.voices.said[:-1] == [("de", "Es ist 21 Uhr, zum Beispiel Gute Nacht!"), ("de", "Bis dritte Mai.")]
    assert talk.voices.said[-1][0] == "en"


async def test_the_model_is_told_the_language_behind_the_question_and_does_not_remember_it() -> None:
    talk = Talk(["Es ist spät.", "It is late."], ENGLISH_AND_GERMAN)
    await talk.say("Wie spät ist es?", "de")
    assert talk.told() == [INSTRUCTIONS, "Wie spät ist es?", IN_GERMAN]
    await talk.say("What time is it?", "en")
    assert talk.told() == [INSTRUCTIONS, "Wie spät ist es?", "Es ist spät.", "What time is it?"]


async def test_a_reply_that_is_begun_early_is_in_the_language_too() -> None:
    talk = Talk(["Es ist spät."], ENGLISH_AND_GERMAN)
    await talk.say_early("Wie spät ist es?", "de")
    assert talk.told() == [INSTRUCTIONS, "Wie spät ist es?", IN_GERMAN]
    assert talk.voices.said == [("de", "Es ist spät.")]


async def test_where_there_is_no_voice_the_model_is_told_to_answer_in_english() -> None:
    talk = Talk(["It is late."], ENGLISH_AND_GERMAN)
    await talk.say("Quelle heure est-il ?", "fr")
    assert talk.told()[-1] == "(system: answer in English.)"
    assert talk.voices.said == [("en", "It is late.")]


async def test_a_model_of_english_alone_is_told_nothing_and_heard_in_english() -> None:
    talk = Talk(["Done."], ReplyLanguages(model=("en",), voices=("en", "de")))
    await talk.say("Mach das Licht an.", "de")
    assert talk.told() == [INSTRUCTIONS, "Mach das Licht an."]
    assert talk.voices.said == [("en", "Done.")]


async def test_the_voice_for_another_language_is_made_ready_before_the_first_sentence() -> None:
    talk = Talk(["It is late.", "Es ist spät."], ENGLISH_AND_GERMAN)
    await talk.say("What time is it?", "en")
    await talk.say("Wie spät ist es?", "de")
    assert talk.voices.asked == [("en", "It is late."), ("de", ""), ("de", "Es ist spät.")]


async def test_repeat_is_said_by_the_voice_that_said_it() -> None:
    talk = Talk(["Es ist spät."], ENGLISH_AND_GERMAN)
    await talk.say("Wie spät ist es?", "de")
    await talk.say("Louder.", "en")
    await talk.say("Repeat that.", "en")
    assert talk.voices.said == [("de", "Es ist spät."), ("en", "Louder."), ("de", "Es ist spät.")]


@pytest.mark.parametrize(
    ("language", "answer", "is_unlocked"),
    [
        ("de", "Ja, bitte.", True),
        ("de", "Yes.", True),
        ("de", "Nein.", False),
        ("en", "Ja.", False),  # after English this is no yes
    ],
)
async def test_a_question_is_asked_in_english_and_answered_in_the_language_spoken(
    language: str, answer: str, is_unlocked: bool
) -> None:
    talk = Talk([CALL, "Gut."], ENGLISH_AND_GERMAN)
    confirmation = talk.pipeline.confirmation

    async def answered() -> None:
        for _ in range(2):  # what is not clear is asked for once more
            await confirmation.until_listening()
            if confirmation.listening:
                confirmation.listening.hear(answer)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    with confirmation.answerable("voice"):
        answering = asyncio.create_task(answered())
        await talk.say("Mach die Tür auf." if language == "de" else "Open the door.", language)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
    assert talk.is_unlocked is is_unlocked
    assert ("en", QUESTION) in talk.voices.said
    if language == "de":
        # What a tool, or a refusal, has to say in English is put into German by the model.
        assert talk.voices.said[-1] == ("de", "Gut.")
        assert talk.told()[-1] == IN_GERMAN
