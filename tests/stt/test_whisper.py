from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path

import av
import numpy as np
import pytest

from edgevox.core.errors import ConfigError, ModelError, ModelMissing
from edgevox.core.files import data_path
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, SynthesisRequest, TranscribeRequest, Transcript
from edgevox.stt import whisper_decoder
from edgevox.stt.decoding import DEFAULT_DECODE_OPTIONS, NO_SPEECH
from edgevox.stt.silero_vad import at_whisper_rate
from edgevox.stt.whisper import WhisperEngine
from edgevox.tts.piper import PiperEngine

Speak = Callable[[str], Audio]


@pytest.fixture(scope="module")
def base(whisper_base_dir: Path) -> WhisperEngine:
    engine = WhisperEngine(whisper_base_dir, threads=1, language="en")
    engine.load()
    return engine


@pytest.fixture(scope="module")
def adapter_options(whisper_base_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> WhisperEngine:
    """With the adapter that ships; its copy does not take the place of another one."""
    folder = tmp_path_factory.mktemp("taught")
    for path in whisper_base_dir.iterdir():
        if path.is_file():
            (folder / path.name).symlink_to(path)
    adapter = data_path("models", "edgevox-hearing-base.lora.gguf")
    engine = WhisperEngine(folder, threads=1, language="en", adapter=adapter)
    engine.load()
    return engine


@pytest.fixture(scope="module")
def speak(piper_voice_path: Path) -> Speak:
    piper = PiperEngine(piper_voice_path)
    piper.load()

    def spoken(text: str) -> Audio:
        pieces = list(piper.run(SynthesisRequest(text), CancelFlag()))
        return Audio(np.concatenate([piece.samples for piece in pieces]), pieces[0].rate_hz)

    return spoken


def hear(engine: WhisperEngine, audio: Audio, *, names: tuple[str, ...] = ()) -> Transcript:
    (transcript,) = engine.run(TranscribeRequest(audio, names=names), CancelFlag())
    return transcript


def words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.lower()).split()


def likeness(said: str, heard: str) -> float:
    """How much of the letters is the same: one word of a synthetic voice may be heard as another."""
    return SequenceMatcher(None, " ".join(words(said)), " ".join(words(heard))).ratio()


# --- without a model


def test_an_engine_travels_to_its_process_before_it_is_loaded() -> None:
    engine = pickle.loads(pickle.dumps(WhisperEngine(Path("models"), threads=1, language="de")))
    assert (engine.model_dir, engine.threads, engine.language) == (Path("models"), 1, "de")


def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing) as caught:
        WhisperEngine(tmp_path / "nothing").load()
    assert "edgevox models pull" in caught.value.hint


@pytest.mark.parametrize("damaged", ["model.bin", "config.json", "tokenizer.json"])
def test_a_damaged_model_says_how_to_check_it(tmp_path: Path, damaged: str) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / damaged).write_bytes(b'{"cut off')
    with pytest.raises(ModelError) as caught:
        WhisperEngine(tmp_path).load()
    assert "edgevox models verify" in caught.value.hint


def test_an_engine_that_was_not_loaded_says_so() -> None:
    with pytest.raises(ModelError, match="not been loaded"):
        hear(WhisperEngine(Path("models")), Audio(np.zeros(160, np.float32), SAMPLE_RATE_HZ))


# --- with the real models


@pytest.mark.engine
def test_a_cut_off_model_file_is_an_error_that_says_so(whisper_base_dir: Path, tmp_path: Path) -> None:
    for path in whisper_base_dir.iterdir():
        if path.is_file() and path.name != "model.bin":
            shutil.copy(path, tmp_path)
    with (whisper_base_dir / "model.bin").open("rb") as whole:
        (tmp_path / "model.bin").write_bytes(whole.read(1_000_000))
    with pytest.raises(ModelError):
        WhisperEngine(tmp_path).load()


@pytest.mark.engine
@pytest.mark.parametrize(
    "said", ["turn on the kitchen lights", "what is the weather like tomorrow", "turn off the lamp in the hall"]
)
def test_a_command_is_heard_in_a_short_window(base: WhisperEngine, speak: Speak, said: str) -> None:
    # The voice says it a little differently each time, and now and then so that it cannot be understood.
    for transcript in (hear(base, speak(said)) for _time in range(3)):
        if transcript.window_s < 10:
            break
    assert likeness(said, transcript.text) >= 0.7
    assert 0 < transcript.window_s < 10
    assert transcript.dropped is None


@pytest.mark.engine
@pytest.mark.parametrize("said", ["turn on the kitchen lights", "why is the sky blue"])
def test_who_was_taught_needs_little_more_than_the_speech(
    adapter_options: WhisperEngine, speak: Speak, said: str
) -> None:
    for spoken in (speak(said) for _time in range(3)):
        transcript = hear(adapter_options, spoken, names=("Kitchen", "Porch Lamp"))
        if transcript.attempts == 1:
            break
    assert likeness(said, transcript.text) >= 0.7
    assert transcript.window_s < spoken.duration_s + 2


@pytest.mark.engine
def test_a_spoken_thank_you_is_kept(base: WhisperEngine, speak: Speak) -> None:
    assert "thank" in words(hear(base, speak("Thank you.")).text)


@pytest.mark.engine
@pytest.mark.parametrize("rate_hz", [8_000, 44_100, 48_000])
def test_sound_of_any_rate_is_heard(base: WhisperEngine, speak: Speak, rate_hz: int) -> None:
    said = "turn off the lights in the living room"
    assert likeness(said, hear(base, resampled(speak(said), rate_hz)).text) >= 0.7


@pytest.mark.engine
def test_speech_longer_than_a_window_is_heard_to_its_end(base: WhisperEngine, speak: Speak) -> None:
    story = (
        "The first lamp is in the kitchen.",
        "We bought it when the house was new, and it has been there ever since.",
        "Then came a heater for the bathroom, because the winters are long and cold here.",
        "My sister gave us the clock that hangs above the stairs.",
        "Last of all there is a small fountain in the garden.",
    )
    spoken = [speak(sentence) for sentence in story]
    pause = np.zeros(4 * spoken[0].rate_hz, np.float32)
    long = Audio(np.concatenate([part for audio in spoken for part in (audio.samples, pause)]), spoken[0].rate_hz)
    assert long.duration_s > 30
    heard = words(hear(base, long).text)
    assert "first" in heard[:5]
    assert {"fountain", "garden"} & set(heard[-6:])


@pytest.mark.engine
def test_the_small_english_model_hears_commands_too(whisper_tiny_dir: Path, speak: Speak) -> None:
    tiny = WhisperEngine(whisper_tiny_dir, threads=1)
    tiny.load()
    said = "set a timer for ten minutes"
    transcript = hear(tiny, speak(said))
    assert likeness(said.replace("ten", ""), transcript.text) >= 0.7
    assert transcript.language == "en"
    german = TranscribeRequest(speak(said), language="de")
    with pytest.raises(ConfigError):
        next(iter(tiny.run(german, CancelFlag())))


@pytest.mark.engine
def test_the_language_is_heard_where_nobody_says_it(whisper_base_dir: Path, speak: Speak) -> None:
    engine = WhisperEngine(whisper_base_dir, threads=1)
    engine.load()
    assert hear(engine, speak("Please turn on the lights in the kitchen.")).language == "en"


@pytest.mark.engine
@pytest.mark.parametrize("names", [(), ("Kitchen", "Living Room", "Garage Door", "Porch Lamp", "Nursery")])
def test_a_decoding_that_is_cut_off_is_known_not_to_have_ended(
    whisper_base_dir: Path, speak: Speak, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    monkeypatch.setattr(whisper_decoder, "_FREE_TOKENS", 3)
    monkeypatch.setattr(whisper_decoder, "_TOKENS_PER_S", 0)
    decoder = whisper_decoder.WhisperDecoder.load(whisper_base_dir, threads=1, beam_size=1)
    samples = at_whisper_rate(speak("turn off the lights in the living room"))
    cut_off = decoder.attempt(samples, next(DEFAULT_DECODE_OPTIONS.windows_for(3.0)), language="en", names=names)
    assert cut_off.fault() == "no end"


@pytest.mark.engine
def test_an_unknown_language_is_refused(base: WhisperEngine, speak: Speak) -> None:
    with pytest.raises(ConfigError):
        next(iter(base.run(TranscribeRequest(speak("hello"), language="xx"), CancelFlag())))


@pytest.mark.engine
def test_a_cancelled_request_yields_nothing(base: WhisperEngine, speak: Speak) -> None:
    cancel = CancelFlag()
    cancel.set()
    assert list(base.run(TranscribeRequest(speak("hello")), cancel)) == []


@pytest.mark.engine
@pytest.mark.parametrize("loudness", [0.0, 0.003, 0.1])
def test_sound_without_speech_gives_no_words(base: WhisperEngine, loudness: float) -> None:
    transcript = hear(base, noise(loudness), names=("Kitchen", "EcoBee"))
    assert (transcript.text, transcript.dropped) == ("", NO_SPEECH)


@pytest.mark.engine
def test_names_that_nobody_says_stay_out_of_the_text(base: WhisperEngine, speak: Speak) -> None:
    said = "good morning"
    transcript = hear(base, speak(said), names=("Roomba", "EcoBee", "Nursery"))
    assert set(words(transcript.text)) == set(words(said))


@pytest.mark.engine
def test_more_names_than_fit_do_no_harm(base: WhisperEngine, speak: Speak) -> None:
    said = "turn on the kitchen lights"
    names = tuple(f"Lamp number {index}" for index in range(500))
    assert likeness(said, hear(base, speak(said), names=names).text) >= 0.6


def resampled(audio: Audio, rate_hz: int) -> Audio:
    frame = av.AudioFrame.from_ndarray(audio.samples[None], format="flt", layout="mono")
    frame.sample_rate = audio.rate_hz
    resampler = av.AudioResampler(format="flt", layout="mono", rate=rate_hz)
    pieces = [*resampler.resample(frame), *resampler.resample(None)]
    return Audio(np.concatenate([piece.to_ndarray()[0] for piece in pieces]), rate_hz)


def noise(loudness: float) -> Audio:
    white = np.random.default_rng(5).standard_normal(3 * SAMPLE_RATE_HZ)
    return Audio((loudness * white).astype(np.float32), SAMPLE_RATE_HZ)
