"""Sound files made here, with the standard library and PyAV, and read back."""

from __future__ import annotations

import resource
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from edgevox.audio.files import read_audio, write_wav
from edgevox.core.errors import AudioError
from edgevox.core.types import Audio

TONE_HZ = 440


def tone(duration_s: float, rate_hz: int, level: float = 0.5) -> NDArray[np.float32]:
    at_s = np.arange(round(duration_s * rate_hz)) / rate_hz
    return (level * np.sin(2 * np.pi * TONE_HZ * at_s)).astype(np.float32)


def wav(path: Path, samples: NDArray[np.float32], rate_hz: int, *, channels: int = 1, width: int = 2) -> Path:
    """A WAV file with the same sound in every channel."""
    match width:
        case 1:
            data = (samples * 127 + 128).astype(np.uint8)
        case 2:
            data = (samples * 32767).astype("<i2").view(np.uint8).reshape(-1, 2)
        case _:
            data = (samples * 2147483647).astype("<i4").view(np.uint8).reshape(-1, 4)
    frames = np.tile(data.reshape(-1, width), channels)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate_hz)
        file.writeframes(frames.tobytes())
    return path


def compressed(path: Path, samples: NDArray[np.float32], rate_hz: int, codec: str, sample_format: str) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate_hz, layout="mono")
        assert isinstance(stream, av.AudioStream)
        data = (samples * 32767).astype(np.int16) if sample_format == "s16" else samples
        frame = av.AudioFrame.from_ndarray(data[np.newaxis, :], format=sample_format, layout="mono")
        frame.rate = rate_hz
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def pitch_hz(audio: Audio) -> float:
    spectrum = np.abs(np.fft.rfft(audio.samples))
    return float(np.argmax(spectrum)) / audio.duration_s


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2, 9])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_wav_file_of_any_kind_becomes_mono_at_the_wanted_rate(
    tmp_path: Path, rate_hz: int, channels: int, width: int
) -> None:
    path = wav(tmp_path / "tone.wav", tone(1.0, rate_hz), rate_hz, channels=channels, width=width)
    audio = read_audio(path, 16_000)
    assert audio.rate_hz == 16_000
    assert audio.samples.dtype == np.float32
    assert audio.samples.ndim == 1
    assert audio.duration_s == pytest.approx(1.0, abs=0.01)
    assert pitch_hz(audio) == pytest.approx(TONE_HZ, abs=2)
    assert np.max(np.abs(audio.samples)) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("name", "codec", "sample_format"),
    [("a.flac", "flac", "s16"), ("a.ogg", "libopus", "flt"), ("a.mp3", "libmp3lame", "fltp")],
)
def test_compressed_files_are_read(tmp_path: Path, name: str, codec: str, sample_format: str) -> None:
    audio = read_audio(compressed(tmp_path / name, tone(1.0, 48_000), 48_000, codec, sample_format))
    assert audio.duration_s == pytest.approx(1.0, abs=0.06)
    assert pitch_hz(audio) == pytest.approx(TONE_HZ, abs=2)


def test_channels_are_averaged(tmp_path: Path) -> None:
    left, right = np.full(1600, 0.8, np.float32), np.full(1600, -0.4, np.float32)
    both = (np.stack([left, right], axis=1) * 32767).astype("<i2")
    with wave.open(str(tmp_path / "two.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(both.tobytes())
    assert read_audio(tmp_path / "two.wav").samples == pytest.approx(0.2, abs=1e-3)


def test_a_wav_file_cut_short_gives_what_is_there(tmp_path: Path) -> None:
    whole = wav(tmp_path / "tone.wav", tone(1.0, 16_000), 16_000).read_bytes()
    (tmp_path / "cut.wav").write_bytes(whole[: len(whole) // 2])
    assert read_audio(tmp_path / "cut.wav").duration_s == pytest.approx(0.5, abs=0.01)


def test_a_compressed_file_cut_short_is_refused(tmp_path: Path) -> None:
    whole = compressed(tmp_path / "tone.flac", tone(1.0, 16_000), 16_000, "flac", "s16").read_bytes()
    (tmp_path / "cut.flac").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AudioError, match="damaged") as caught:
        read_audio(tmp_path / "cut.flac")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no sound file"),
        (b"once upon a time\n" * 500, "no sound file"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "no sound file"),
        (b"ID3", "no sound file"),
        (b"\x00" * 5000, "no sound file"),
    ],
)
def test_what_is_no_sound_file_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "speech.wav").write_bytes(content)
    with pytest.raises(AudioError, match=says) as caught:
        read_audio(tmp_path / "speech.wav")
    assert caught.value.hint


def test_a_header_without_sound_is_refused(tmp_path: Path) -> None:
    path = wav(tmp_path / "silent.wav", np.zeros(0, np.float32), 16_000)
    with pytest.raises(AudioError, match="no sound in"):
        read_audio(path)


def test_a_film_without_a_sound_track_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "film.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        assert isinstance(stream, av.VideoStream)
        stream.width = stream.height = 64
        container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8))))
        container.mux(stream.encode(None))
    with pytest.raises(AudioError, match="no sound in"):
        read_audio(path)


def test_a_playlist_cannot_make_it_open_other_files(tmp_path: Path) -> None:
    wav(tmp_path / "secret.wav", tone(0.5, 16_000), 16_000)
    (tmp_path / "list.wav").write_text("ffconcat version 1.0\nfile secret.wav\n")
    with pytest.raises(AudioError):
        read_audio(tmp_path / "list.wav")


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="there is no file"):
        read_audio(tmp_path / "nothing.wav")
    with pytest.raises(AudioError, match="is a folder"):
        read_audio(tmp_path)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    sound = tone(0.5, 22_050)
    write_wav(tmp_path / "out.wav", [Audio(sound[:5000], 22_050), Audio(sound[5000:], 22_050)])
    with wave.open(str(tmp_path / "out.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 22_050)
    assert read_audio(tmp_path / "out.wav", 22_050).samples == pytest.approx(sound, abs=1e-4)


def test_samples_out_of_range_are_clipped_and_not_wrapped(tmp_path: Path) -> None:
    write_wav(tmp_path / "out.wav", [Audio(np.array([2.0, -2.0, np.nan], np.float32), 16_000)])
    assert read_audio(tmp_path / "out.wav").samples == pytest.approx([1.0, -1.0, 0.0], abs=1e-3)


def test_a_failure_in_the_middle_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    def breaks() -> Iterator[Audio]:
        yield Audio(tone(0.1, 16_000), 16_000)
        raise AudioError("the voice stopped", hint="try again")

    path = tmp_path / "out.wav"
    path.write_bytes(b"old")
    with pytest.raises(AudioError, match="the voice stopped"):
        write_wav(path, breaks())
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("out.wav", b"old")]


def test_chunks_of_different_rates_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="16000 Hz"):
        write_wav(tmp_path / "out.wav", [Audio(tone(0.1, 8000), 8000), Audio(tone(0.1, 16_000), 16_000)])
    assert not list(tmp_path.iterdir())


def test_no_chunk_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="no sound to write"):
        write_wav(tmp_path / "out.wav", [])
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    sound = [Audio(tone(0.1, 16_000), 16_000)]
    (tmp_path / "file").write_bytes(b"")
    for path in (
        tmp_path / "no" / "out.wav",
        tmp_path / "file" / "out.wav",
        tmp_path,
        Path("/dev/null"),
        tmp_path / ("x" * 300),
    ):
        with pytest.raises(AudioError) as caught:
            write_wav(path, sound)
        assert caught.value.hint
    assert Path("/dev/null").is_char_device()


@contextmanager
def nearly_full_disk() -> Iterator[None]:
    """No file may grow beyond a kilobyte. For one call only: what pytest prints may go to a file too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="cannot be written"), nearly_full_disk():
        write_wav(tmp_path / "out.wav", [Audio(tone(0.1, 16_000), 16_000)])
    assert not list(tmp_path.iterdir())


def test_a_link_keeps_pointing_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "link.wav").symlink_to(tmp_path / "real.wav")
    write_wav(tmp_path / "link.wav", [Audio(tone(0.1, 16_000), 16_000)])
    assert (tmp_path / "link.wav").is_symlink()
    assert read_audio(tmp_path / "real.wav").duration_s == pytest.approx(0.1, abs=0.01)
