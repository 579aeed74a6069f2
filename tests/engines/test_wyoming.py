"""Remote STT and TTS servers that are unreachable, unsuitable, disconnect or fall silent."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import numpy as np
import pytest

from edgevox.core.errors import ConfigError, EdgevoxError, EngineFailed
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest, TranscribeRequest, Transcript
from edgevox.engines.base import EngineLimits
from edgevox.stt.wyoming import WyomingStt
from edgevox.tts.wyoming import WyomingTts
from tests.engines.wyoming_faults import faulty, line

BOUND_S = 20.0
SOUND = TranscribeRequest(Audio(np.zeros(16_000, dtype=np.float32), 16_000), None, ("Mara",))
TEXT = SynthesisRequest("It is noon.")
BY: dict[str, Any] = {"attribution": {"name": "x", "url": ""}, "installed": True, "description": None, "version": None}
ASR: dict[str, Any] = {"asr": [{"name": "w", **BY, "models": [{"name": "small", **BY, "languages": ["en"]}]}]}
TTS: dict[str, Any] = {"tts": [{"name": "p", **BY, "voices": [{"name": "alba", **BY, "languages": ["en"]}]}]}


async def heard(address: str, limits: EngineLimits | None = None) -> list[Transcript]:
    async with asyncio.timeout(BOUND_S):
        return [one async for one in WyomingStt(address, limits=limits).stream(SOUND, CancelFlag())]


async def spoken(address: str) -> list[Audio]:
    async with asyncio.timeout(BOUND_S):
        return [one async for one in WyomingTts(address).stream(TEXT, CancelFlag())]


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"tcp://127.0.0.1:{taken.getsockname()[1]}"


# --- finding it


async def test_an_unreachable_server_is_reported_with_a_hint() -> None:
    address = free_address()
    for engine in (WyomingStt(address), WyomingTts(address)):
        with pytest.raises(EngineFailed, match="cannot be reached") as caught:
            await engine.start()
        assert "running" in caught.value.hint
        assert not engine.is_up


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (line("info", asr=7), "is not a Wyoming server"),
        (line("info", asr=[{"name": "x"}]), "is not a Wyoming server"),
        (line("info"), "recognises no speech"),
        (line("info", **ASR), "has no model big"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak Wyoming"),
        (b"", "closed the connection"),
    ],
)
async def test_an_unsuitable_stt_server_is_reported(answer: bytes, problem: str) -> None:
    async with asyncio.timeout(BOUND_S), faulty(answer, at="describe") as server:
        with pytest.raises(EdgevoxError, match=problem) as caught:
            await WyomingStt(server.address, model="big").start()
    assert caught.value.hint


async def test_the_servers_models_and_voices_are_known() -> None:
    async with asyncio.timeout(BOUND_S), faulty(line("info", **ASR, **TTS), at="describe") as server:
        await WyomingStt(server.address, model="small").start()
        await WyomingTts(server.address, voice="alba").start()
        with pytest.raises(ConfigError, match="has no voice joe") as caught:
            await WyomingTts(server.address, voice="joe").start()
        assert "alba" in caught.value.hint


@pytest.mark.parametrize("address", ["", "localhost", "http://x:1", "tcp://x", "tcp://x:99999", "tcp://x:1/y"])
def test_an_invalid_address_is_rejected(address: str) -> None:
    with pytest.raises(ConfigError):
        WyomingStt(address)


# --- hearing


async def test_speech_is_sent_with_its_hotwords() -> None:
    async with faulty(line("transcript", text=" Light on. ", language="en"), at="audio-stop") as server:
        (transcript,) = await heard(server.address)
    assert (transcript.text, transcript.language, transcript.dropped) == ("Light on.", "en", None)
    assert server.seen[0] == {"type": "transcribe", "transcript_names": ["Mara"]}
    assert [event["type"] for event in server.seen[1:]] == ["audio-start", "audio-chunk", "audio-chunk", "audio-stop"]


async def test_silence_is_no_speech() -> None:
    async with faulty(line("transcript", text=""), at="audio-stop") as server:
        (transcript,) = await heard(server.address)
    assert (transcript.text, transcript.dropped) == ("", "no speech")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (line("error", text="out of memory"), "out of memory"),
        (line("transcript"), "no transcript"),
        (line("transcript", text=7), "no transcript"),
        (line("transcript", text="Light on.")[:20], "does not speak Wyoming"),
        (b'{"type": "transcript", "data_length": 99999999999}\n', "too large"),
        (b"", "closed the connection"),
        (b"\x00" * 100_000, "too long"),
    ],
)
async def test_a_failing_stt_server_is_reported(answer: bytes, problem: str) -> None:
    async with faulty(answer, at="audio-stop") as server:
        with pytest.raises(EngineFailed, match=problem) as caught:
            await heard(server.address)
    assert caught.value.hint


async def test_a_silent_stt_server_times_out() -> None:
    limits = EngineLimits(first_reply_s=0.05, next_reply_s=0.05)
    async with faulty(b"", at="never", hangs_up=False) as server:
        with pytest.raises(EngineFailed, match="was silent"):
            await heard(server.address, limits)
        async with asyncio.timeout(BOUND_S):
            await server.gone.wait()


async def test_a_cancel_closes_the_connection() -> None:
    cancel = CancelFlag()
    async with asyncio.timeout(BOUND_S), faulty(b"", at="never", hangs_up=False) as server:

        async def stop() -> None:
            await server.asked.wait()
            cancel.set()

        stopping = asyncio.create_task(stop())
        assert [one async for one in WyomingStt(server.address).stream(SOUND, cancel)] == []
        await server.gone.wait()
        await stopping


# --- speaking


def chunk(payload: bytes, **form: int) -> bytes:
    return line("audio-chunk", payload, **{"rate": 22_050, "width": 2, "channels": 1, **form})


async def test_samples_split_across_chunks_are_joined() -> None:
    sound = np.arange(-50, 50, dtype="<i2").tobytes()
    answer = chunk(sound[:33]) + line("something-new") + chunk(sound[33:]) + line("audio-stop")
    async with faulty(answer, at="synthesize") as server:
        pieces = await spoken(server.address)
    samples = np.concatenate([piece.samples for piece in pieces])
    assert np.array_equal(np.rint(samples * 32_768), np.arange(-50, 50))
    assert (pieces[0].rate_hz, server.seen[0]) == (22_050, {"type": "synthesize", "text": TEXT.text})


async def test_other_languages_are_asked_for_by_their_code() -> None:
    voice = {"voice": "alba", "languages": ("en", "de")}
    async with faulty(line("audio-stop"), at="synthesize") as server:
        synthesizer = WyomingTts(server.address, **voice)  # type: ignore[arg-type]
        for language in ("en", "de"):
            request = SynthesisRequest("Hallo.", language=language)
            assert [one async for one in synthesizer.stream(request, CancelFlag())] == []
    assert [event["voice"] for event in server.seen] == [{"name": "alba"}, {"language": "de"}]


async def test_an_unsupported_speed_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with faulty(line("audio-stop"), at="synthesize") as server:
        synthesizer = WyomingTts(server.address)
        for _time in range(2):
            request = SynthesisRequest("Hello.", speed=1.5)
            assert [one async for one in synthesizer.stream(request, CancelFlag())] == []
    assert len([record for record in caplog.records if "tts.speed is ignored" in record.message]) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (line("error", text="no voice"), "no voice"),
        (chunk(b"\0\0", width=3), "cannot be read"),
        (line("audio-chunk", b"\0\0"), "cannot be read"),
        (chunk(b"\0\0"), "closed the connection"),
        (json.dumps({"type": "audio-chunk", "payload_length": 10}).encode() + b"\nhalf", "does not speak"),
    ],
)
async def test_a_failing_tts_server_is_reported(answer: bytes, problem: str) -> None:
    async with faulty(answer, at="synthesize") as server:
        with pytest.raises(EngineFailed, match=problem):
            await spoken(server.address)
