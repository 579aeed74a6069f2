"""Home Assistant's own Wyoming integration with EdgeVox as its server: wake word, STT, TTS and conversation."""

from __future__ import annotations

import asyncio
import io
import urllib.request
import wave
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from edgevox.core.turn import CancelFlag, background_task
from edgevox.core.types import TranscribeRequest, Transcript, to_pcm16
from edgevox.testing import ToneSynthesizer
from tests.audio.sounds import espeak
from tests.dialogue.sounds import silent
from tests.home.backends.home_assistant.furnished import Admin
from tests.home.backends.home_assistant.server import Server
from tests.server.harness import Lamp, acting, model, written
from tests.server.test_audio import Stenographer, with_sound
from tests.server.test_wyoming import served

pytestmark = pytest.mark.engine

COMMAND = "turn on the kitchen lights"
REPLY = "The light is on."
AGENT_OF_HOME_ASSISTANT = "homeassistant"
_BLOCK_BYTES = 3_200


class CommandRecogniser(Stenographer):
    async def stream(self, request: TranscribeRequest, _cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        self.requests.append(request)
        yield Transcript(COMMAND, "en", request.audio.duration_s)


@asynccontextmanager
async def wyoming_entities(server: Server, admin: Admin, address: str) -> AsyncIterator[Mapping[str, str]]:
    """Add the integration with its form, and yield its entities by domain; they are removed afterwards."""
    answers = {"host": "127.0.0.1", "port": int(address.rpartition(":")[2])}
    entry_id = await asyncio.to_thread(server.add_integration, "wyoming", answers)
    try:
        known = await admin.command("config/entity_registry/list")
        ids = [one["entity_id"] for one in known if one["config_entry_id"] == entry_id]
        yield {entity_id.partition(".")[0]: entity_id for entity_id in ids}
    finally:
        await asyncio.to_thread(server.remove_integration, entry_id)


async def speak_to(admin: Admin, pipeline_id: str, folder: Path) -> dict[str, Any]:
    """Call and command a voice pipeline from the wake word to the intent; returns its events."""
    await admin.command(
        "assist_pipeline/run",
        pipeline=pipeline_id,
        start_stage="wake_word",
        end_stage="intent",
        input={"sample_rate": 16_000, "timeout": 60},
    )
    events: dict[str, Any] = {}
    handler = 0

    async def send(pcm: bytes) -> None:
        for start in range(0, len(pcm), _BLOCK_BYTES):
            await admin.send_audio(handler, pcm[start : start + _BLOCK_BYTES])

    async def stay_silent() -> None:
        while True:
            await send(to_pcm16(silent(0.1)))
            await asyncio.sleep(0.02)

    while "run-end" not in events:
        event = await admin.event()
        events[event["type"]] = event["data"]
        if event["type"] == "run-start":
            handler = event["data"]["runner_data"]["stt_binary_handler_id"]
            await send(to_pcm16(silent(1.5)) + to_pcm16(espeak("okay nabu", folder)))
            async with background_task(stay_silent()):
                event = await admin.event()
                while event["type"] not in ("wake_word-end", "error"):
                    events[event["type"]] = event["data"]
                    event = await admin.event()
            events[event["type"]] = event["data"]
            await send(to_pcm16(espeak(COMMAND, folder)) + to_pcm16(silent(2.0)))
    return events


async def test_home_assistant_uses_every_service_of_edgevox(server: Server, admin: Admin, tmp_path: Path) -> None:
    lamp, stt = Lamp(), CommandRecogniser()
    assistant = acting(model([written("switch_lamp", '{"on": true}'), REPLY]), lamp)
    assistant = with_sound(assistant, stt, ToneSynthesizer())
    async with (
        served(assistant, wyoming_scopes=("read", "act")) as address,
        wyoming_entities(server, admin, address) as entities,
    ):
        assert {"stt", "tts", "wake_word"} <= entities.keys()
        agent = entities.get("conversation", AGENT_OF_HOME_ASSISTANT)  # the integration of 2024.3 has none
        languages = dict.fromkeys(("language", "conversation_language", "stt_language", "tts_language"), "en")
        pipeline = await admin.command(
            "assist_pipeline/pipeline/create",
            name="EdgeVox",
            conversation_engine=agent,
            stt_engine=entities["stt"],
            tts_engine=entities["tts"],
            tts_voice="mouth",
            wake_word_entity=entities["wake_word"],
            wake_word_id="okay_nabu",
            **languages,
        )
        try:
            events = await speak_to(admin, pipeline["id"], tmp_path)
        finally:
            await admin.command("assist_pipeline/pipeline/delete", pipeline_id=pipeline["id"])
        assert "error" not in events, events["error"]
        detected, heard, done = (events[f"{stage}-end"] for stage in ("wake_word", "stt", "intent"))
        assert detected["wake_word_output"]["wake_word_id"] == "okay_nabu"
        assert heard["stt_output"] == {"text": COMMAND}
        assert stt.requests[0].audio.duration_s > 1.0
        response = done["intent_output"]["response"]
        if agent == AGENT_OF_HOME_ASSISTANT:
            assert response["response_type"] == "action_done"
        else:
            assert lamp.log == ["lamp on"]
            assert response["speech"]["plain"]["speech"] == REPLY
        wanted = {"engine_id": entities["tts"], "message": REPLY, "options": {"preferred_format": "wav"}}
        spoken = await asyncio.to_thread(server.post, "/api/tts_get_url", wanted)
        url = f"{server.url}{spoken['path']}"
        sound = await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=10).read())
        with wave.open(io.BytesIO(sound)) as file:
            assert file.getnframes() > 1_000
