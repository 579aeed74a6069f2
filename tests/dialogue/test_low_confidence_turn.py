"""Words that may have been misheard: the person is asked before anything is done for them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from edgevox.agents import LLMAgent
from edgevox.core.events import ConfirmationRequired, PlaybackFinished, Publish, TranscriptReady
from edgevox.core.turn import CancelFlag
from edgevox.core.types import TranscribeRequest, Transcript
from edgevox.dialogue import BuiltinCommands, ConfirmationDialog, Pipeline, Synthesizer, Transcriber
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from edgevox.tools import tool
from tests.dialogue.stage import Stage, after

UNSURE, SURE = 0.2, 0.9


def call(name: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


@dataclass
class UnsureListener:
    """Hears each line with a confidence."""

    lines: Sequence[tuple[str, float]]
    heard: int = field(default=0)

    async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        text, confidence = self.lines[self.heard]
        self.heard += 1
        yield Transcript(text, "en", request.audio.duration_s, confidence=confidence)


class House:
    """A lamp, a clock, and a model that calls what the test says."""

    def __init__(
        self,
        publish: Publish,
        heard: Sequence[tuple[str, float]],
        calls: str,
        *,
        ask_below: float = 0.5,
        is_mute: bool = False,
    ) -> None:
        self.done: list[str] = []
        self.synthesizer = ToneSynthesizer()
        confirmation = ConfirmationDialog(publish)

        @tool(side_effects=True)
        async def switch(thing: str) -> str:
            """Switch something on."""
            self.done.append(thing)
            return "done"

        @tool
        async def tell_time() -> str:
            """Tell the time."""
            self.done.append("clock")
            return "noon"

        agent = LLMAgent(
            "test",
            tools=(switch, tell_time),
            model=ScriptedModel((calls, "That was that.")),
            parsers=("hermes",),
            confirm=confirmation,
            publish=publish,
        )
        self.pipeline = Pipeline(
            agent,
            preset="p",
            publish=publish,
            transcriber=Transcriber(UnsureListener(heard)),
            voice=None if is_mute else Synthesizer(self.synthesizer),
            loudspeaker=None if is_mute else MemorySpeaker(),
            confirmation=confirmation,
            words=BuiltinCommands(),
            ask_below=ask_below,
        )


async def test_nothing_is_done_for_doubtful_words_without_a_yes() -> None:
    stage = Stage(cues=[after(PlaybackFinished)])
    house = House(stage.note, [("Turn on the lamb.", UNSURE), ("No.", SURE)], call("switch", thing="lamb"))
    await stage.play(house.pipeline)
    assert house.done == []
    assert house.synthesizer.spoken[:1] == ["Did you say: Turn on the lamb?"]


async def test_a_yes_to_the_words_does_all_that_they_asked_for() -> None:
    stage = Stage(cues=[after(PlaybackFinished)])
    house = House(
        stage.note,
        [("Turn on the lamp and the fan.", UNSURE), ("Yes.", SURE)],
        call("switch", thing="lamp") + call("switch", thing="fan"),
    )
    await stage.play(house.pipeline)
    assert house.done == ["lamp", "fan"]
    assert len(stage.of(ConfirmationRequired)) == 1


async def test_a_question_is_answered_without_asking_back() -> None:
    stage = Stage()
    house = House(stage.note, [("What time is it?", UNSURE)], call("tell_time"))
    await stage.play(house.pipeline)
    assert house.done == ["clock"]
    assert not stage.of(ConfirmationRequired)


async def test_words_that_were_heard_well_are_acted_on_at_once() -> None:
    stage = Stage()
    house = House(stage.note, [("Turn on the lamp.", SURE)], call("switch", thing="lamp"))
    await stage.play(house.pipeline)
    assert house.done == ["lamp"]
    (ready,) = stage.of(TranscriptReady)
    assert isinstance(ready, TranscriptReady)
    assert ready.confidence == SURE


async def test_without_a_voice_nobody_is_asked() -> None:
    stage = Stage()
    house = House(stage.note, [("Turn on the lamp.", UNSURE)], call("switch", thing="lamp"), is_mute=True)
    await stage.play(house.pipeline)
    assert house.done == ["lamp"]
