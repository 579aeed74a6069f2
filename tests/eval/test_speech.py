"""Suites by ear: what is said, in what noise, what was heard of it, and how that is scored."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.files import write_wav
from edgevox.core.errors import ConfigError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, TranscribeRequest, Transcript
from edgevox.eval import Case, read_suite
from edgevox.eval.report import Rate, by_group, summarise
from edgevox.eval.scoring import word_errors
from edgevox.eval.speech import (
    SpeechConditions,
    SuiteTranscriber,
    TranscriptCache,
    read_snrs,
    read_speeds,
    run_heard_cases,
    spoken_text,
)
from edgevox.eval.suite import SpokenInput
from edgevox.eval.synthetic_speech import NOISE_KINDS, AssistantVoice, EspeakVoice, Noise, NoiseKind
from edgevox.stt.text_normalizer import words_of
from edgevox.testing import ToneSynthesizer
from tests.eval.rows import LIGHT_ON, ONE_SECOND, calls, recording, row, scripted, write


class Hum:
    """A voice that says everything in the same way, and remembers what and how fast."""

    name = "hum"

    def __init__(self) -> None:
        self.said: list[tuple[str, float]] = []

    async def synthesize(self, text: str, speed: float) -> Audio:
        self.said.append((text, speed))
        return ONE_SECOND


class Ears:
    """A recogniser with given transcripts, which keeps the requests."""

    def __init__(self, hears: Callable[[int], str], confidence: float = 1.0) -> None:
        self._hears = hears
        self._confidence = confidence
        self.requests: list[TranscribeRequest] = []

    async def stream(self, request: TranscribeRequest, _cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        self.requests.append(request)
        text = self._hears(len(self.requests) - 1)
        yield Transcript(text, "en", request.audio.duration_s, confidence=self._confidence)


async def heard(
    cases: tuple[Case, ...],
    ears: Ears,
    conditions: SpeechConditions,
    voice: Hum | None = None,
    notes: TranscriptCache | None = None,
) -> list[Case]:
    listening = SuiteTranscriber(ears, language="en", names=("Anna",), cache=notes)
    return [case async for case in listening.transcribe_synthesized(cases, [voice or Hum()], conditions)]


async def test_every_utterance_is_heard_in_every_noise_and_speeds_take_turns(tmp_path: Path) -> None:
    cases = read_suite(write(tmp_path, row(), row(id="two", utterance="lamp on")))
    voice, ears = Hum(), Ears(lambda _number: "Kitchen light on.")
    got = await heard(cases, ears, SpeechConditions(speeds=(0.9, 1.2), snrs_db=(None, 10.0)), voice)
    assert [(case.id, case.spoken.noise, case.spoken.speed) for case in got if case.spoken] == [
        ("one", "clean", 0.9),
        ("one", "10 dB", 0.9),
        ("two", "clean", 1.2),
        ("two", "10 dB", 1.2),
    ]
    assert voice.said[-2:] == [("kitchen light on", 0.9), ("lamp on", 1.2)]
    assert [case.utterance for case in got] == ["Kitchen light on."] * 4
    assert [case.spoken.word_errors for case in got if case.spoken] == [0, 0, 2, 2]


async def test_the_recogniser_knows_the_names_of_the_cases_home(tmp_path: Path) -> None:
    cabin = {"areas": [{"name": "Boathouse"}]}
    cases = read_suite(write(tmp_path, row(), row(id="two", home=cabin), row(id="three", home="none")))
    ears = Ears(lambda _number: "")
    await heard(cases, ears, SpeechConditions(snrs_db=(None,)))
    demo, own, none = (request.names for request in ears.requests)
    assert {"Anna", "Kitchen Light", "Upstairs"} <= set(demo)
    assert own == ("Anna", "Boathouse")
    assert none == ("Anna",)


async def test_what_was_heard_is_kept_and_not_heard_again(tmp_path: Path) -> None:
    cases = read_suite(write(tmp_path, row()))
    notes = tmp_path / "heard.jsonl"
    first = await heard(cases, Ears(lambda number: f"take {number}"), SpeechConditions(), notes=TranscriptCache(notes))
    deaf = Ears(lambda _number: pytest.fail("it is known"))
    assert await heard(cases, deaf, SpeechConditions(), notes=TranscriptCache(notes)) == first
    more = SpeechConditions(snrs_db=(10.0, 0.0))
    again = await heard(cases, Ears(lambda _number: "new"), more, notes=TranscriptCache(notes))
    assert [case.utterance for case in again] == ["take 2", "new"]


async def test_misheard_names_are_put_right_and_the_notes_keep_what_was_written(tmp_path: Path) -> None:
    cases = read_suite(write(tmp_path, row(home={"areas": [{"name": "Boathouse"}]})))
    notes = tmp_path / "heard.jsonl"
    ears = Ears(lambda _number: "Light on in the boat house.")
    (got,) = await heard(cases, ears, SpeechConditions(snrs_db=(None,)), notes=TranscriptCache(notes))
    assert got.utterance == "Light on in the Boathouse."
    assert "boat house" in notes.read_text(encoding="utf-8")


def test_a_file_of_something_else_is_not_taken_for_notes(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a transcript cache"):
        TranscriptCache(write(tmp_path, row()))


async def test_what_was_heard_alike_is_asked_once_and_nothing_is_not_asked(tmp_path: Path) -> None:
    cases = read_suite(write(tmp_path, row(), row(id="two", utterance="hi", expect={"no_call": True})))
    ears = Ears(lambda number: ["Kitchen light on.", "Kitchen light on.", "Chicken light on.", "", "Hi.", ""][number])
    got = await heard(cases, ears, SpeechConditions(snrs_db=(None, 20.0, 10.0)))
    asked, model = scripted([calls(LIGHT_ON), "Sorry?", "Hello."])
    results = [result async for result in run_heard_cases(asked, got)]
    assert [request.messages[-1].content for request in model.requests] == [
        "Kitchen light on.",
        "Chicken light on.",
        "Hi.",
    ]
    right = {
        (result.case.id, result.case.spoken.noise): result.score.args_ok for result in results if result.case.spoken
    }
    assert right == {
        ("one", "clean"): True,
        ("one", "20 dB"): True,
        ("one", "10 dB"): False,
        ("two", "clean"): True,  # nothing was heard, nothing was done
        ("two", "20 dB"): True,
        ("two", "10 dB"): True,
    }
    noises = by_group(results, lambda result: result.case.spoken.noise if result.case.spoken else "")
    assert (noises["20 dB"].word_errors.ok, noises["20 dB"].word_errors.of) == (0, 4)
    assert (noises["10 dB"].word_errors.ok, noises["10 dB"].word_errors.of) == (2, 4)
    assert str(noises["20 dB"].exact) == "100.0"


async def test_numbers_count_by_their_sound(tmp_path: Path) -> None:
    timer = {"name": "start_timer", "arguments": {"minutes": 5, "name": "twenty one"}}
    cases = read_suite(write(tmp_path, row(expect={"calls": [timer]})))
    got = await heard(cases, Ears(lambda _number: "Timer."), SpeechConditions(snrs_db=(None,)))
    made = {"name": "start_timer", "arguments": {"minutes": 5, "name": "the 21."}}
    asked, _model = scripted([calls(made)])
    (result,) = [result async for result in run_heard_cases(asked, got)]
    assert result.score.args_ok


# --- recordings


async def heard_recordings(
    cases: tuple[Case, ...],
    ears: Ears,
    snrs_db: tuple[float | None, ...] = (None,),
    kind: NoiseKind = "white",
    notes: TranscriptCache | None = None,
) -> list[Case]:
    listening = SuiteTranscriber(ears, cache=notes)
    return [case async for case in listening.transcribe_recordings(cases, snrs_db, kind)]


async def test_a_recording_is_heard_as_it_is_and_with_noise_added(tmp_path: Path) -> None:
    cases = read_suite(write(tmp_path, recording(tmp_path, speaker="Anna")))
    ears = Ears(lambda _number: "Kitten light on.")
    got = await heard_recordings(cases, ears, (None, 10.0))
    assert [case.spoken for case in got] == [
        SpokenInput("kitchen light on", "Anna", None, noise, words=3, word_errors=1, confidence=1.0)
        for noise in ("as recorded", "10 dB")
    ]
    plain, noisy = (request.audio.samples for request in ears.requests)
    assert np.allclose(plain, ONE_SECOND.samples, atol=1e-4)
    assert 10 * np.log10(np.mean(plain**2) / np.mean((noisy - plain) ** 2)) == pytest.approx(10, abs=0.1)
    assert "Kitchen Light" in ears.requests[0].names


async def test_a_recording_without_its_words_has_no_wrong_ones(tmp_path: Path) -> None:
    recording(tmp_path)
    cases = read_suite(write(tmp_path, {"file": "1.wav", "expect": {"calls": [LIGHT_ON]}}))
    (case,) = await heard_recordings(cases, Ears(lambda _number: "Kitchen light on."))
    assert case.utterance == "Kitchen light on."
    assert case.spoken is not None
    assert (case.spoken.words, case.spoken.word_errors) == (0, 0)


async def test_babble_is_made_of_the_other_recordings(tmp_path: Path) -> None:
    rows = [recording(tmp_path, file) for file in ("1.wav", "2.wav")]
    cases = read_suite(write(tmp_path, *rows))
    ears = Ears(lambda _number: "")
    await heard_recordings(cases, ears, (10.0,), "babble")
    assert len(ears.requests) == 2
    with pytest.raises(ConfigError, match="at least two recordings"):
        await heard_recordings(cases[:1], ears, (10.0,), "babble")


async def test_another_sound_in_the_same_file_is_heard_anew(tmp_path: Path) -> None:
    cases, notes = read_suite(write(tmp_path, recording(tmp_path))), tmp_path / "heard.jsonl"
    first = await heard_recordings(cases, Ears(lambda _number: "old", 0.3), notes=TranscriptCache(notes))
    deaf = Ears(lambda _number: pytest.fail("it is known"))
    assert await heard_recordings(cases, deaf, notes=TranscriptCache(notes)) == first
    write_wav(tmp_path / "1.wav", [Audio(ONE_SECOND.samples[::-1], SAMPLE_RATE_HZ)])
    (again,) = await heard_recordings(cases, Ears(lambda _number: "new"), notes=TranscriptCache(notes))
    assert again.utterance == "new"


@pytest.mark.parametrize(
    ("confidence", "reply", "is_asked"),
    [
        (0.3, calls(LIGHT_ON), True),
        (0.5, calls(LIGHT_ON), False),
        (0.3, calls({"name": "get_weather", "arguments": {}}), False),
        (0.3, "Hello.", False),
    ],
)
async def test_an_unsure_command_is_asked_about_and_a_question_is_not(
    tmp_path: Path, confidence: float, reply: str, is_asked: bool
) -> None:
    cases = read_suite(write(tmp_path, recording(tmp_path)))
    got = await heard_recordings(cases, Ears(lambda _number: "Kitchen light on.", confidence))
    asked, _model = scripted([reply])
    (result,) = [result async for result in run_heard_cases(asked, got, ask_below=0.4)]
    assert result.asks_first is is_asked
    assert summarise([result]).asked == Rate(int(is_asked), 1)
    assert summarise([result]).asked_right == Rate(int(is_asked), int(is_asked))


async def test_notes_without_a_confidence_do_not_say_that_nothing_was_asked(tmp_path: Path) -> None:
    cases, notes = read_suite(write(tmp_path, row())), tmp_path / "heard.jsonl"
    old = {"key": "one hum 0.9 babble clean", "said": "kitchen light on", "heard": "Kitchen light on."}
    notes.write_text(json.dumps(old) + "\n", encoding="utf-8")
    deaf = Ears(lambda _number: pytest.fail("it is known"))
    got = await heard(cases, deaf, SpeechConditions(snrs_db=(None,)), notes=TranscriptCache(notes))
    asked, _model = scripted([calls(LIGHT_ON)])
    (result,) = [result async for result in run_heard_cases(asked, got, ask_below=0.4)]
    assert result.asks_first is None


# --- words


@pytest.mark.parametrize(
    ("one", "other"), [("21%", "twenty-one percent"), ("the TV!", "television"), ("what's on", "What is on")]
)
def test_what_sounds_alike_is_alike(one: str, other: str) -> None:
    assert spoken_text(one) == spoken_text(other)


def test_words_are_counted_that_must_change() -> None:
    assert word_errors(words_of("turn on the light"), words_of("Turn on light.")) == 1
    assert word_errors(words_of("a b c"), words_of("x a c d")) == 3


# --- sound


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_noise_is_as_loud_as_it_should_be_and_the_same_again(kind: NoiseKind) -> None:
    noise = Noise(kind, [ONE_SECOND])
    clean = noise.mix(ONE_SECOND, None, "key").samples
    mixed = noise.mix(ONE_SECOND, 10.0, "key").samples
    assert len(mixed) == len(clean) == round(1.8 * SAMPLE_RATE_HZ)
    difference = mixed - clean
    ratio_db = 10 * np.log10(np.mean(ONE_SECOND.samples**2) / np.mean(difference**2))
    assert ratio_db == pytest.approx(10.0, abs=0.1)
    assert np.array_equal(mixed, noise.mix(ONE_SECOND, 10.0, "key").samples)
    assert not np.array_equal(mixed, noise.mix(ONE_SECOND, 10.0, "other").samples)
    assert np.abs(noise.mix(ONE_SECOND, -20.0, "key").samples).max() <= 1.0


async def test_the_assistants_voice_speaks_at_the_recognisers_rate() -> None:
    synthesizer = ToneSynthesizer(rate_hz=22_050)
    sound = await AssistantVoice(synthesizer).synthesize("Set it to 20 °C.", 1.2)
    assert synthesizer.spoken == ["Set it to 20 degrees Celsius."]
    assert sound.rate_hz == SAMPLE_RATE_HZ
    assert sound.duration_s == pytest.approx(0.29, abs=0.02)


async def test_espeak_speaks_faster_when_told_to() -> None:
    if shutil.which("espeak-ng") is None:
        with pytest.raises(ConfigError, match="no espeak-ng"):
            EspeakVoice()
        return
    voice = EspeakVoice()
    slow, fast = await voice.synthesize("turn the lights on", 0.8), await voice.synthesize("turn the lights on", 1.3)
    assert slow.rate_hz == SAMPLE_RATE_HZ
    assert slow.duration_s > 1.2 * fast.duration_s > 0.5


def test_conditions_are_read_from_words() -> None:
    assert read_snrs("clean,20, 5") == (None, 20.0, 5.0)
    assert read_speeds("0.9,1") == (0.9, 1.0)


@pytest.mark.parametrize("text", ["fast", "", "9", "1,,2"])
def test_words_that_are_no_conditions_are_named(text: str) -> None:
    with pytest.raises(ConfigError, match="--speeds takes numbers"):
        read_speeds(text)
    if text != "9":
        with pytest.raises(ConfigError, match="--snr takes clean"):
            read_snrs(text)
