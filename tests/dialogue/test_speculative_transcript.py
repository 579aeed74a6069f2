"""Transcribed at a pause, before it is certain that the person has finished: what is kept of it."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from edgevox.agents import LLMAgent
from edgevox.audio.endpointing import Endpointer
from edgevox.config import AudioSettings
from edgevox.core.errors import EngineFailed
from edgevox.core.events import EndpointReached, TranscriptionStarted, TranscriptReady, TurnEnded, TurnEvent
from edgevox.dialogue import Pipeline, Synthesizer, Transcriber, VoiceLoop
from edgevox.testing import MemorySpeaker, ScriptedModel, ToneSynthesizer
from tests.dialogue.fake_stt import FakeStt
from tests.dialogue.room import Room
from tests.dialogue.sounds import silent, voiced

BOUND_S = 10
WORD_S = 0.8
# Longer than the pause at which transcription begins, shorter than the one that ends an utterance.
SHORT_PAUSE_S = 0.34
# Longer than any that does not.
LONG_PAUSE_S = 1.4


def sentence(*parts: np.ndarray) -> np.ndarray:
    return np.concatenate([silent(0.4), *parts, silent(LONG_PAUSE_S)])


def loop(
    room: Room,
    recogniser: FakeStt,
    model: ScriptedModel,
    *,
    names: tuple[str, ...] = (),
    settings: AudioSettings | None = None,
) -> VoiceLoop:
    pipeline = Pipeline(
        LLMAgent("test", model=model, publish=room.note),
        preset="p",
        publish=room.note,
        transcriber=Transcriber(recogniser, language="en", names=lambda: names),
        voice=Synthesizer(ToneSynthesizer()),
        loudspeaker=MemorySpeaker(),
    )
    return VoiceLoop(room, Endpointer(settings or AudioSettings()), pipeline, room.note)


async def talk(room: Room, recogniser: FakeStt, model: ScriptedModel) -> None:
    async with asyncio.timeout(BOUND_S):
        await loop(room, recogniser, model).run()


async def test_what_was_transcribed_at_the_pause_is_not_transcribed_again() -> None:
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt(["lights on"])
    await talk(room, recogniser, ScriptedModel(["Done."]))
    assert len(recogniser.requests) == 1
    (record,) = room.records
    assert (record.heard, record.reply, record.outcome) == ("lights on", "Done.", "answered")
    (began,), (ready,) = map(room.of, (TranscriptionStarted, TranscriptReady))
    assert record.timings_ms["transcribe"] == 0.0
    assert record.transcribed_early_ms == pytest.approx((ready.at_s - began.at_s) * 1000, abs=0.1)


async def test_the_events_say_what_really_happened() -> None:
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt(["lights on"])
    await talk(room, recogniser, ScriptedModel(["Done."]))
    (began,), (ready,), (endpoint,) = map(room.of, (TranscriptionStarted, TranscriptReady, EndpointReached))
    assert isinstance(began, TranscriptionStarted)
    assert began.early
    assert began.audio_s == recogniser.requests[0].audio.duration_s
    assert began.at_s <= ready.at_s < endpoint.at_s
    assert {event.turn_id for event in room.events if isinstance(event, TurnEvent)} == {began.turn_id}


async def test_the_names_and_the_language_prime_it_as_ever() -> None:
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt(["EcoBee on"])
    async with asyncio.timeout(BOUND_S):
        await loop(room, recogniser, ScriptedModel(["Done."]), names=("EcoBee",)).run()
    assert [(r.names, r.language) for r in recogniser.requests] == [(("EcoBee",), "en")]


async def test_a_person_who_goes_on_is_heard_as_a_whole() -> None:
    sound = sentence(voiced(WORD_S), silent(SHORT_PAUSE_S), voiced(WORD_S))
    room, recogniser = Room(sound), FakeStt(["turn off", "turn off the light"])
    model = ScriptedModel(["Done."])
    await talk(room, recogniser, model)
    assert [record.heard for record in room.records] == ["turn off the light"]
    assert len(model.requests) == 1
    first, second = recogniser.requests
    assert second.audio.duration_s > first.audio.duration_s + WORD_S
    assert recogniser.flags[0].is_set(), "the first was not told to stop"
    assert len(room.of(TranscriptionStarted)) == 1, "of what was thrown away there is no event in a turn"


async def test_one_that_is_still_working_keeps_the_next_from_beginning() -> None:
    sound = sentence(voiced(WORD_S), silent(SHORT_PAUSE_S), voiced(WORD_S), silent(SHORT_PAUSE_S), voiced(WORD_S))
    stuck = asyncio.Event()
    room, recogniser = Room(sound), FakeStt([stuck, "all of it"])
    await talk(room, recogniser, ScriptedModel(["Done."]))
    assert [record.heard for record in room.records] == ["all of it"]
    # The second is the one after the endpoint.
    assert len(recogniser.requests) == 2
    assert [event.early for event in room.events if isinstance(event, TranscriptionStarted)] == [False]
    assert recogniser.working == 0, "what was stuck is left behind"


async def test_a_pause_in_which_an_older_one_still_works_is_transcribed_when_that_is_over() -> None:
    room = Room(sentence(voiced(WORD_S), silent(SHORT_PAUSE_S), voiced(WORD_S)))
    older = asyncio.Event()
    recogniser = FakeStt([older, "all of it"])

    async def end_older_in_the_last_pause() -> None:
        in_the_pause_s = 0.4 + 2 * WORD_S + SHORT_PAUSE_S + 0.3
        while room.heard_s < in_the_pause_s:  # noqa: ASYNC110  (the room goes on while this waits)
            await asyncio.sleep(0)
        older.set()

    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        group.create_task(end_older_in_the_last_pause())
        group.create_task(talk(room, recogniser, ScriptedModel(["Done."])))
    assert [record.heard for record in room.records] == ["all of it"]
    assert [event.early for event in room.events if isinstance(event, TranscriptionStarted)] == [True]


async def test_a_slow_one_is_waited_for_and_only_the_wait_counts() -> None:
    allowed = asyncio.Event()
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt([allowed])
    run = asyncio.create_task(talk(room, recogniser, ScriptedModel(["Done."])))
    async with asyncio.timeout(BOUND_S):
        await room.endpoint.wait()
    allowed.set()
    await run
    (record,) = room.records
    (began,), (ready,), (endpoint,) = map(room.of, (TranscriptionStarted, TranscriptReady, EndpointReached))
    assert record.heard == "late"
    assert len(recogniser.requests) == 1
    assert record.timings_ms["transcribe"] == pytest.approx((ready.at_s - endpoint.at_s) * 1000, abs=0.2)
    assert record.transcribed_early_ms == pytest.approx((endpoint.at_s - began.at_s) * 1000, abs=0.2)


async def test_an_engine_that_fails_early_is_asked_again_after_the_endpoint() -> None:
    failure = EngineFailed("gone", hint="wait")
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt([failure, "lights on"])
    await talk(room, recogniser, ScriptedModel(["Done."]))
    (record,) = room.records
    assert (record.heard, record.outcome, record.transcribed_early_ms) == ("lights on", "answered", 0.0)
    assert [event.early for event in room.events if isinstance(event, TranscriptionStarted)] == [True, False]


async def test_an_engine_that_fails_twice_fails_the_turn() -> None:
    failure = EngineFailed("gone", hint="wait")
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt([failure, failure])
    await talk(room, recogniser, ScriptedModel([]))
    assert [(r.outcome, r.error_code) for r in room.records] == [("failed", "engine_failed")]


async def test_a_failure_in_what_is_thrown_away_harms_nothing() -> None:
    sound = sentence(voiced(WORD_S), silent(SHORT_PAUSE_S), voiced(WORD_S))
    room, recogniser = Room(sound), FakeStt([EngineFailed("gone"), "all of it"])
    await talk(room, recogniser, ScriptedModel(["Done."]))
    assert [(r.heard, r.outcome) for r in room.records] == [("all of it", "answered")]


async def test_what_is_no_speech_is_dropped_with_the_reason_found_early() -> None:
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt([""])
    await talk(room, recogniser, ScriptedModel([]))
    (ended,) = room.of(TurnEnded)
    assert isinstance(ended, TurnEnded)
    assert (ended.outcome, ended.error) == ("dropped", "no speech")
    assert len(recogniser.requests) == 1


async def test_every_turn_has_a_transcription_of_its_own() -> None:
    said = sentence(voiced(WORD_S))
    room, recogniser = Room(said, said), FakeStt(["first", "second"])
    await talk(room, recogniser, ScriptedModel(["One.", "Two."]))
    assert [(record.heard, record.reply) for record in room.records] == [("first", "One."), ("second", "Two.")]


async def test_what_was_heard_early_in_one_turn_is_not_heard_again_in_the_next() -> None:
    # With the 300 ms before it, it is cut where it has gone on for 2 s, without a pause.
    too_long = sentence(voiced(1.75))
    room, recogniser = Room(sentence(voiced(WORD_S)), too_long), FakeStt(["first", "second"])
    talking = loop(room, recogniser, ScriptedModel(["One.", "Two."]), settings=AudioSettings(max_utterance_s=2.0))
    async with asyncio.timeout(BOUND_S):
        await talking.run()
    assert [record.heard for record in room.records] == ["first", "second"]
    assert [event.early for event in room.events if isinstance(event, TranscriptionStarted)] == [True, False]


async def test_a_loop_that_is_ended_at_the_pause_leaves_nothing_at_work() -> None:
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt([asyncio.Event()])
    run = asyncio.create_task(talk(room, recogniser, ScriptedModel([])))
    async with asyncio.timeout(BOUND_S):
        await recogniser.begun.wait()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    assert recogniser.working == 0
    assert room.records == []


async def test_a_loop_that_is_ended_while_the_transcript_is_waited_for_closes_the_turn() -> None:
    room, recogniser = Room(sentence(voiced(WORD_S))), FakeStt([asyncio.Event()])
    run = asyncio.create_task(talk(room, recogniser, ScriptedModel([])))
    async with asyncio.timeout(BOUND_S):
        await room.endpoint.wait()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    assert recogniser.working == 0
    assert recogniser.flags[0].is_set()
    assert [record.outcome for record in room.records] == ["cancelled"]
