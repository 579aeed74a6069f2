from __future__ import annotations

from edgevox.core.events import (
    AudioReady,
    ConfirmationDecided,
    ConfirmationRequired,
    EndpointReached,
    Event,
    ModelFinished,
    ModelStarted,
    PlaybackFinished,
    PlaybackStarted,
    ReplyDelta,
    RingEnded,
    RingStarted,
    SpeechEnded,
    SynthesisStarted,
    TranscriptionStarted,
    TranscriptReady,
    TurnEnded,
    TurnStarted,
)
from edgevox.core.metrics import TurnMetrics, TurnMetricsRecorder


def spoken_turn(turn: str = "t1", zero_s: float = 100.0) -> list[Event]:
    return [
        TurnStarted(turn_id=turn, at_s=zero_s, source="voice", preset="p"),
        SpeechEnded(turn_id=turn, at_s=zero_s, dropped_samples=0),
        EndpointReached(turn_id=turn, at_s=zero_s + 0.1),
        TranscriptionStarted(turn_id=turn, at_s=zero_s + 0.1, audio_s=2.0),
        TranscriptReady(turn_id=turn, at_s=zero_s + 0.4, text="hello", language="en"),
        ModelStarted(turn_id=turn, at_s=zero_s + 0.4),
        ReplyDelta(turn_id=turn, at_s=zero_s + 0.5, text="Hi. "),
        SynthesisStarted(turn_id=turn, at_s=zero_s + 0.55, text="Hi."),
        ReplyDelta(turn_id=turn, at_s=zero_s + 0.6, text="There."),
        AudioReady(turn_id=turn, at_s=zero_s + 0.65, audio_s=0.5),
        PlaybackStarted(turn_id=turn, at_s=zero_s + 0.7),
        ModelFinished(
            turn_id=turn,
            at_s=zero_s + 0.8,
            finish_reason="stop",
            prompt_tokens=40,
            cached_tokens=30,
            generated_tokens=5,
        ),
        AudioReady(turn_id=turn, at_s=zero_s + 0.9, audio_s=0.5),
        PlaybackFinished(turn_id=turn, at_s=zero_s + 1.7),
        TurnEnded(turn_id=turn, at_s=zero_s + 1.75, outcome="answered", reply="Hi. There."),
    ]


def records(events: list[Event]) -> list[TurnMetrics]:
    kept: list[TurnMetrics] = []
    recorder = TurnMetricsRecorder(kept.append)
    for event in events:
        recorder(event)
    return kept


def test_waiting_for_a_yes_is_a_stage_of_its_own_and_not_generating() -> None:
    def finished(at_s: float) -> ModelFinished:
        tokens = {"prompt_tokens": 0, "cached_tokens": 0, "generated_tokens": 1}
        return ModelFinished(turn_id="t1", at_s=at_s, finish_reason="stop", **tokens)

    (record,) = records(
        [
            TurnStarted(turn_id="t1", at_s=0.0, source="text", preset="p"),
            ModelStarted(turn_id="t1", at_s=0.0),
            ReplyDelta(turn_id="t1", at_s=0.2, text="<"),
            finished(0.7),
            ConfirmationRequired(turn_id="t1", at_s=0.6, token="k", name="turn_off", question="Unlock?", level="voice"),
            ConfirmationDecided(turn_id="t1", at_s=9.6, token="k", granted=True, why="yes"),
            ModelStarted(turn_id="t1", at_s=9.7),
            ReplyDelta(turn_id="t1", at_s=9.8, text="Done."),
            finished(9.9),
            TurnEnded(turn_id="t1", at_s=10.0, outcome="answered", reply="Done."),
        ]
    )
    assert record.timings_ms == {"first_token": 200.0, "generate": 400.0, "confirm": 9000.0, "total": 10_000.0}


def test_every_latency_is_the_difference_of_two_events() -> None:
    (record,) = records(spoken_turn())
    assert record.timings_ms == {
        "endpoint": 100.0,
        "transcribe": 300.0,
        "first_token": 100.0,
        "generate": 300.0,
        "first_audio": 100.0,
        "speak": 1000.0,
        "total": 1750.0,
    }
    assert (record.heard, record.reply, record.outcome) == ("hello", "Hi. There.", "answered")
    assert (record.prompt_tokens, record.cached_tokens, record.generated_tokens) == (40, 30, 5)
    assert record.transcribed_early_ms == 0.0


def heard_early(began_s: float, ready_s: float) -> TurnMetrics:
    """The record of a turn whose endpoint was half a second after the last voice."""
    (record,) = records(
        [
            TurnStarted(turn_id="t", at_s=0.0, source="voice", preset="p"),
            SpeechEnded(turn_id="t", at_s=0.0, dropped_samples=0),
            EndpointReached(turn_id="t", at_s=0.5),
            TranscriptionStarted(turn_id="t", at_s=began_s, audio_s=2.0, early=True),
            TranscriptReady(turn_id="t", at_s=ready_s, text="hello", language="en"),
            TurnEnded(turn_id="t", at_s=1.0, outcome="answered", reply="Hi."),
        ]
    )
    return record


def test_only_the_part_of_an_early_transcription_after_the_endpoint_counts() -> None:
    record = heard_early(began_s=0.2, ready_s=0.6)
    assert record.timings_ms == {"endpoint": 500.0, "transcribe": 100.0, "total": 1000.0}
    assert record.transcribed_early_ms == 300.0


def test_a_transcript_ready_before_the_endpoint_takes_no_time() -> None:
    record = heard_early(began_s=0.2, ready_s=0.45)
    assert record.timings_ms == {"endpoint": 500.0, "transcribe": 0.0, "total": 1000.0}
    assert record.transcribed_early_ms == 250.0
    assert [stage.start_ms for stage in record.stages] == [0.0, 500.0]


def test_a_failed_early_transcription_saves_nothing() -> None:
    (record,) = records(
        [
            TurnStarted(turn_id="t", at_s=0.0, source="voice", preset="p"),
            SpeechEnded(turn_id="t", at_s=0.0, dropped_samples=0),
            EndpointReached(turn_id="t", at_s=0.5),
            TranscriptionStarted(turn_id="t", at_s=0.2, audio_s=2.0, early=True),
            TranscriptionStarted(turn_id="t", at_s=0.7, audio_s=2.3),
            TranscriptReady(turn_id="t", at_s=0.9, text="hello", language="en"),
            TurnEnded(turn_id="t", at_s=1.0, outcome="answered", reply="Hi."),
        ]
    )
    assert record.timings_ms["transcribe"] == 400.0
    assert record.transcribed_early_ms == 0.0


def test_overlapping_turns_are_recorded_separately() -> None:
    first, second = spoken_turn("a", 0.0), spoken_turn("b", 50.0)
    mixed = [event for pair in zip(first, second, strict=True) for event in pair]
    assert [(r.turn_id, r.total_ms) for r in records(mixed)] == [("a", 1750.0), ("b", 1750.0)]


def test_a_turn_that_failed_early_has_a_record_without_the_stages_it_never_reached() -> None:
    (record,) = records(
        [
            TurnStarted(turn_id="t", at_s=1.0, source="text", preset="p"),
            ModelStarted(turn_id="t", at_s=1.1),
            TurnEnded(turn_id="t", at_s=1.2, outcome="failed", error_code="engine_failed"),
        ]
    )
    assert record.stages == ()
    assert (record.outcome, record.error_code) == ("failed", "engine_failed")


def test_late_events_of_a_finished_turn_change_nothing() -> None:
    late: list[Event] = [
        ReplyDelta(turn_id="t1", at_s=999.0, text="late"),
        TurnEnded(turn_id="t1", at_s=999.0, outcome="answered", reply="late"),
    ]
    assert [record.reply for record in records(spoken_turn() + late)] == ["Hi. There."]


def test_a_ring_is_recorded_with_its_outcome() -> None:
    (record,) = records(
        [
            RingStarted(ring_id="r", at_s=100.0, kind="alarm", text="It is half past six."),
            RingEnded(ring_id="r", at_s=220.0, kind="alarm", how="given_up", error="unplugged"),
        ]
    )
    assert (record.source, record.reply, record.outcome) == ("ring", "It is half past six.", "given_up")
    assert (record.total_ms, record.error_code) == (120_000, "unheard")


def test_a_ring_that_a_reload_interrupts_is_recorded_once() -> None:
    started = RingStarted(ring_id="r", kind="timer", text="The pasta timer is done.")
    cut = RingEnded(ring_id="r", kind="timer", how="shut_down", rings_again=True)
    ended = RingEnded(ring_id="r", kind="timer", how="stopped")
    assert [record.outcome for record in records([started, cut, started, ended])] == ["stopped"]
