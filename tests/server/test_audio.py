"""Sound through OpenAI's own client: written down, spoken in every format, damaged, too long, in turns."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import wave
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import aiohttp
import numpy as np
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.audio.files import decode_audio
from edgevox.config import ServerSettings
from edgevox.core.errors import AudioError, EngineFailed
from edgevox.core.events import SpeechDropped, SpeechStarted
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, TranscribeRequest, Transcript, TtsService
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues, split_at_pauses
from edgevox.server.routes.audio import FORMATS, AudioEncoder, AudioFormat
from edgevox.testing import ToneSynthesizer
from tests.server.harness import OWNER, TALKER, model, served, talking
from tests.server.openai_chat import client

RATE_HZ = 16_000


class Stenographer:
    """A recogniser that hears how long a sound is."""

    def __init__(self) -> None:
        self.requests: list[TranscribeRequest] = []

    async def stream(self, request: TranscribeRequest, _cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        self.requests.append(request)
        seconds = request.audio.duration_s
        yield Transcript(f"{seconds:.0f} s", request.language or "en", seconds)


def sounding(stt: Stenographer, synthesizer: TtsService) -> Assistant:
    """An assistant that is only an ear and a voice."""
    return with_sound(talking(model([])), stt, synthesizer)


def with_sound(assistant: Assistant, stt: Stenographer, synthesizer: TtsService) -> Assistant:
    return dataclasses.replace(
        assistant,
        transcriber=lambda language: Transcriber(stt, language=language),
        stt_model_name="test-stt",
        voice=lambda speed: Synthesizer(synthesizer, speed=speed),
        voice_name="test-voice",
    )


def wav(seconds: float, rate_hz: int = RATE_HZ) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate_hz)
        writer.writeframes(b"\1\0" * int(seconds * rate_hz))
    return file.getvalue()


# --- written down


async def test_a_sound_file_is_written_down() -> None:
    stt = Stenographer()
    async with client(sounding(stt, ToneSynthesizer()), token="EMPTY") as sound:
        heard = await sound.audio.transcriptions.create(model="whisper-1", file=("a.wav", wav(2)), language="de")
        plain = await sound.audio.transcriptions.create(
            model="test-stt", file=("a.wav", wav(3)), response_format="text"
        )
        more = await sound.audio.transcriptions.create(
            model="default", file=("a.wav", wav(4, 8_000)), response_format="verbose_json"
        )
    assert (heard.text, plain.strip(), more.text, more.duration) == ("2 s", "3 s", "4 s", 4.0)
    assert [request.language for request in stt.requests] == ["de", None, None]


async def test_subtitles_have_the_times_of_the_pieces() -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer())) as sound:
        transcribe = sound.audio.transcriptions.create
        srt = await transcribe(model="test-stt", file=("a.wav", wav(2)), response_format="srt")
        vtt = await transcribe(model="test-stt", file=("a.wav", wav(2)), response_format="vtt")
    assert srt == "1\n00:00:00,000 --> 00:00:02,000\n2 s\n"
    assert vtt == "WEBVTT\n\n1\n00:00:00.000 --> 00:00:02.000\n2 s\n"


async def test_audio_options_that_are_not_supported_are_refused_by_name() -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer())) as sound:
        transcribe = partial(sound.audio.transcriptions.create, model="test-stt", file=("a.wav", wav(1)))
        with pytest.raises(openai.BadRequestError, match="stream: this server does not support it"):
            await transcribe(stream=True)
        with pytest.raises(openai.BadRequestError, match="timestamp_granularities"):
            await transcribe(response_format="verbose_json", timestamp_granularities=["word", "segment"])
        with pytest.raises(openai.BadRequestError, match="stream_format: this server does not support it"):
            await sound.audio.speech.create(model="tts-1", voice="alloy", input="Hello.", stream_format="sse")
        with pytest.raises(openai.BadRequestError, match="voice: this server speaks with test-voice, not with emma"):
            await sound.audio.speech.create(model="tts-1", voice="emma", input="Hello.")
        await transcribe(response_format="verbose_json", timestamp_granularities=["segment"])


async def test_long_sound_is_written_down_in_pieces() -> None:
    stt = Stenographer()
    async with client(sounding(stt, ToneSynthesizer())) as sound:
        await sound.audio.transcriptions.create(model="test-stt", file=("a.wav", wav(65)))
    assert len(stt.requests) == 3
    assert sum(request.audio.duration_s for request in stt.requests) == pytest.approx(65)


@pytest.mark.parametrize(
    ("content", "settings"),
    [
        (b"", {}),
        (b"RIFF\0\0\0\0WAVE", {}),
        (b"#EXTM3U\n/etc/passwd\n", {}),
        (b"concat:/etc/passwd", {}),
        (wav(3), {"max_audio_s": 2.0}),
    ],
)
async def test_what_is_no_sound_or_too_much_is_a_bad_request(content: bytes, settings: dict[str, Any]) -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer()), **settings) as sound:
        with pytest.raises(openai.BadRequestError):
            await sound.audio.transcriptions.create(model="test-stt", file=("a.wav", content))


async def test_other_faults_are_of_the_clients_own_types() -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer()), max_audio_bytes=1000) as sound:
        with pytest.raises(openai.NotFoundError):
            await sound.audio.transcriptions.create(model="other", file=("a.wav", wav(0.01)))
        with pytest.raises(openai.APIStatusError) as caught:
            await sound.audio.transcriptions.create(model="test-stt", file=("a.wav", wav(1)))
        assert caught.value.status_code == 413
    async with client(talking(model([]))) as silent:
        with pytest.raises(openai.NotFoundError, match="without audio"):
            await silent.audio.transcriptions.create(model="test-stt", file=("a.wav", wav(1)))
        with pytest.raises(openai.NotFoundError, match="without audio"):
            await silent.audio.speech.create(model="test-voice", voice="alloy", input="Hello.")


async def test_a_form_that_is_none_is_a_bad_request() -> None:
    async with (
        served(sounding(Stenographer(), ToneSynthesizer())) as url,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
    ):
        path = f"{url}/v1/audio/transcriptions"
        kinds: list[tuple[dict[str, Any], int]] = [
            ({"json": {}}, 415),
            ({"data": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 400),
            ({"data": b"--x--", "headers": {"Content-Type": "multipart/form-data; boundary=x"}}, 400),
            ({"data": aiohttp.FormData({"model": "test-stt"}, default_to_multipart=True)}, 400),
        ]
        for more, status in kinds:
            async with session.post(path, **more) as response:
                assert (response.status, "error" in await response.json()) == (status, True)


@given(st.binary(max_size=300), st.integers(0, 60))
def test_a_damaged_file_never_does_more_than_raise(noise: bytes, keep: int) -> None:
    with contextlib.suppress(AudioError):
        assert decode_audio(wav(0.01)[:keep] + noise, max_s=5).duration_s <= 5


# --- turns


async def test_while_somebody_speaks_no_sound_of_programs_is_written_down() -> None:
    stt = Stenographer()
    assistant = sounding(stt, ToneSynthesizer())
    queues = EngineQueues(assistant, ServerSettings())
    queues.on_event(SpeechStarted())

    async def work() -> None:
        async with queues.transcriber.turn("one"), queues.speaking.turn("one"):
            pass

    working = asyncio.create_task(work())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not working.done()
    queues.on_event(SpeechDropped(reason="noise"))
    await asyncio.wait_for(working, 5)


@pytest.mark.parametrize("seconds", [0.0, 1.0, 28.0, 28.1, 100.0])
def test_pieces_are_short_and_lose_nothing(seconds: float) -> None:
    samples = np.random.default_rng(1).random(int(seconds * RATE_HZ), dtype=np.float32)
    parts = list(split_at_pauses(Audio(samples, RATE_HZ)))
    assert all(part.duration_s <= 28.0 for part in parts)
    assert np.array_equal(np.concatenate([part.samples for part in parts]), samples)


def test_a_piece_ends_where_it_is_quiet() -> None:
    samples = np.ones(40 * RATE_HZ, dtype=np.float32)
    samples[25 * RATE_HZ : 26 * RATE_HZ] = 0
    first, _second = split_at_pauses(Audio(samples, RATE_HZ))
    assert 25 <= first.duration_s <= 26


# --- spoken


@pytest.mark.parametrize("form", list(FORMATS))
async def test_a_text_is_spoken_in_every_format(form: AudioFormat) -> None:
    tones = ToneSynthesizer()
    async with client(sounding(Stenographer(), tones), token=TALKER) as sound:
        spoken = await sound.audio.speech.create(
            model="tts-1", voice="alloy", input="One sentence here. And another one.", response_format=form
        )
        content = spoken.content
    said_s = sum(map(len, tones.spoken)) / 100
    is_bare = form == "pcm"
    length_s = len(content) / 2 / 24_000 if is_bare else decode_audio(content, max_s=60).duration_s
    assert len(tones.spoken) == 2
    assert length_s == pytest.approx(said_s, abs=0.15)


class Held(ToneSynthesizer):
    """A voice that says its second sentence when it is told to, or fails at it."""

    def __init__(self, error: EngineFailed | None = None) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self._error = error

    async def stream(self, request: Any, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
        if self.spoken:
            await self.go_on.wait()
            if self._error is not None:
                raise self._error
        async for sound in super().stream(request, cancel):
            yield sound


TWO_SENTENCES = {"model": "tts-1", "input": "One sentence here. And another.", "response_format": "wav"}


async def test_the_first_sentence_is_sent_before_the_second_is_spoken() -> None:
    tones = Held()
    async with (
        asyncio.timeout(10),
        served(sounding(Stenographer(), tones)) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/audio/speech", json=TWO_SENTENCES) as response,
    ):
        first = await response.content.readany()
        assert (response.status, first[:4], len(tones.spoken)) == (200, b"RIFF", 1)
        tones.go_on.set()
        assert await response.content.read()
    assert len(tones.spoken) == 2


async def test_a_voice_that_fails_later_does_not_send_half_a_file_as_a_whole_one() -> None:
    tones = Held(EngineFailed("it died"))
    tones.go_on.set()
    async with (
        served(sounding(Stenographer(), tones)) as url,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session,
        session.post(f"{url}/v1/audio/speech", json=TWO_SENTENCES) as response,
    ):
        assert response.status == 200
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_a_program_with_many_texts_does_not_shut_out_another() -> None:
    tones = Held()

    async def speak(session: aiohttp.ClientSession, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        async with session.post("/v1/audio/speech", json=TWO_SENTENCES, headers=headers) as response:
            await response.read()
            return response.status

    async with (
        asyncio.timeout(10),
        served(sounding(Stenographer(), tones), max_waiting=1) as url,
        aiohttp.ClientSession(url) as session,
        asyncio.TaskGroup() as group,
    ):
        many = [group.create_task(speak(session, OWNER)) for _ in range(3)]
        done, _waiting = await asyncio.wait(many, return_when=asyncio.FIRST_COMPLETED)
        assert [one.result() for one in done] == [429]
        other = group.create_task(speak(session, TALKER))
        metrics = ""
        while 'edgevox_queue_requests{queue="speaking"} 3' not in metrics and not other.done():
            async with session.get("/metrics") as response:
                metrics = await response.text()
        tones.go_on.set()
    assert other.result() == 200


async def test_a_voice_that_fails_is_an_error_before_the_first_sound() -> None:
    class Broken(ToneSynthesizer):
        async def stream(self, request: Any, cancel: CancelFlag) -> AsyncGenerator[Audio, None]:
            if request.text:
                raise EngineFailed("it died")
            yield Audio(np.zeros(0, dtype=np.float32), RATE_HZ)

    async with client(sounding(Stenographer(), Broken())) as sound:
        with pytest.raises(openai.InternalServerError):
            await sound.audio.speech.create(model="tts-1", voice="alloy", input="Hello.")
        for text in ("...", "\N{ZERO WIDTH SPACE}"):
            with pytest.raises(openai.BadRequestError):
                await sound.audio.speech.create(model="tts-1", voice="alloy", input=text)


def test_a_wav_stream_begins_with_the_plain_header_that_simple_clients_skip() -> None:
    encoder = AudioEncoder("wav", 22_050)
    head = encoder.feed(Audio(np.zeros(2_205, dtype=np.float32), 22_050))
    assert (head[:4], head[8:16], head[36:40], len(head)) == (b"RIFF", b"WAVEfmt ", b"data", 44 + 2 * 2_205)
    encoder.finish()
