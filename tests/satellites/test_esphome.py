"""ESPHome voice assistants: aioesphomeapi's client against the device side of the same library's protocol."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from aioesphomeapi.model import VoiceAssistantFeature

from edgevox.audio.wake_gate import COMMAND_WITHIN_S
from edgevox.config import ServerSettings
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.events import AnswerHeard, ConfirmationDecided, ConfirmationRequired, PlaybackFinished, TurnEnded
from edgevox.core.files import Folders
from edgevox.core.turn import background_task
from edgevox.core.types import to_pcm16
from edgevox.satellites.connector import probe
from edgevox.satellites.esphome import EspHomeSatellite
from edgevox.satellites.store import DeviceEntry
from edgevox.server.engine_queues import EngineQueues
from tests.dialogue.sounds import silent
from tests.satellites.esphome_device import MEDIA_PLAYER, SPEAKER, WITHOUT_API_AUDIO, esphome_device
from tests.satellites.esphome_recording import HEARD, LINES, SPEECH, Replay, converse
from tests.satellites.test_wyoming import connector
from tests.server.websocket.harness import BOUND_S, until, voice_server

RECORDING = Path(__file__).with_name("linux_voice_assistant.jsonl")
"""Made by `make linux-voice-assistant`."""
KEY = bytes(range(32))
LIGHTS_ON = '<tool_call>\n{"name": "turn_on", "arguments": {"name": "lights"}}\n</tool_call>'


async def test_a_voice_pe_is_a_room_and_fetches_the_reply(folders: Folders) -> None:
    async with (
        esphome_device(key=KEY) as (address, device),
        voice_server(folders, [LIGHTS_ON, "Done."], heard=["turn on the lights"]) as server,
        connector(server, folders) as file,
    ):
        file.add("voice", DeviceEntry(esphome=address, key=base64.b64encode(KEY).decode(), room="Bedroom"))
        await until(lambda: server.hub.find("voice") is not None and device().is_subscribed)
        device().wake()
        device().speak(SPEECH)
        await until(lambda: "RUN_END" in device().kinds())
        assert [one.outcome for one in server.records] == ["answered"]
        heard = ["STT_START", "STT_VAD_START", "STT_VAD_END", "STT_END"]
        order = ["RUN_START", *heard, "TTS_END", "INTENT_END", "RUN_END"]
        assert [kind for kind in device().kinds() if kind in order] == order
        assert device().played.startswith(b"RIFF")
        assert len(device().played) > 1_000
        assert server.toolbox is not None
        house = server.toolbox.home.house()
        bedroom = next(area.id for area in house.areas if area.name == "Bedroom")
        lights = [one for one in house.entities if one.domain == "light" and one.area == bedroom]
        assert {one.state for one in lights} == {"on"}
        # An announcement comes outside a run.
        before = len(device().played)
        assert await server.hub.say("Dinner is ready.") == 1
        assert len(device().played) > before


async def test_after_an_unclear_answer_the_device_listens_again(folders: Folders) -> None:
    async with esphome_device() as (address, device), voice_server(folders, []) as server:
        queues = EngineQueues(server.assistant, ServerSettings())
        satellite = EspHomeSatellite("voice", DeviceEntry(esphome=address), server.assistant, queues)
        async with background_task(satellite.run()):
            await until(lambda: server.hub.find("voice") is not None and device().is_subscribed)
            unclear = AnswerHeard(turn_id="t", token="x", text="well", answer="unclear")
            question = ConfirmationRequired(turn_id="t", token="x", name="unlock", question="Sure?", level="voice")
            for run, heard in enumerate((question, unclear), 1):
                device().wake()
                await until(lambda: device().kinds().count("RUN_START") == run)  # noqa: B023  (in the same round)
                satellite.handle_event(heard)
                satellite.handle_event(PlaybackFinished(turn_id="t"))
                await until(lambda: device().kinds().count("RUN_END") == run)  # noqa: B023  (in the same round)
            device().wake()
            await until(lambda: device().kinds().count("RUN_START") == 3)
            for event in (
                unclear,
                ConfirmationDecided(turn_id="t", token="x", granted=False, why="unclear"),
                PlaybackFinished(turn_id="t"),
                TurnEnded(turn_id="t", outcome="answered"),
            ):
                satellite.handle_event(event)
            await until(lambda: device().kinds().count("RUN_END") == 3)
            ends = [data for kind, data in device().events if kind.name.endswith("INTENT_END")]
            assert [data["continue_conversation"] for data in ends] == ["1", "1", "0"]


async def test_audio_by_udp_is_taken_from_the_device_alone(folders: Folders) -> None:
    async with (
        esphome_device(WITHOUT_API_AUDIO) as (address, device),
        voice_server(folders, ["Yes."], has_tools=False, heard=["good morning"]) as server,
        connector(server, folders) as file,
    ):
        file.add("voice", DeviceEntry(esphome=address))
        await until(lambda: server.hub.find("voice") is not None and device().is_subscribed)
        device().wake()
        await until(lambda: device().udp_port > 0)
        await device().speak_by_udp(SPEECH, host="127.0.0.2")
        await device().speak_by_udp(to_pcm16(silent(COMMAND_WITHIN_S + 1)))
        await until(lambda: "ERROR" in device().kinds())  # nothing was said
        assert server.records == []
        device().wake()
        await until(lambda: device().kinds().count("RUN_START") == 2)
        await device().speak_by_udp(SPEECH)
        await until(lambda: [one.outcome for one in server.records] == ["answered"])


async def test_linux_voice_assistant_gets_the_answers_of_its_recording(folders: Folders) -> None:
    device = Replay(RECORDING)
    async with (
        device.listening(),
        voice_server(folders, LINES, heard=HEARD) as server,
        connector(server, folders) as file,
    ):
        await converse(server, file, device)
        assert device.played.count(b"RIFF") == 3


async def test_a_plain_speaker_gets_pcm_and_comes_back_when_it_was_unplugged_in_a_turn(folders: Folders) -> None:
    async with (
        esphome_device(SPEAKER) as (address, device),
        voice_server(folders, ["Yes.", "Yes."], has_tools=False) as server,
        connector(server, folders) as file,
    ):
        file.add("voice", DeviceEntry(esphome=address))
        await until(lambda: server.hub.find("voice") is not None and device().is_subscribed)
        first = device()
        first.wake()
        first.speak(SPEECH)
        await until(lambda: "STT_END" in first.kinds())
        first.unplug()
        await until(lambda: len(server.records) == 1)
        await until(lambda: device() is not first and device().is_subscribed)
        await until(lambda: len(device().played) > 1_000)  # it says that it is back
        saying = asyncio.create_task(server.hub.say("Dinner is ready."))
        second = device()
        second.wake()
        assert await asyncio.wait_for(saying, BOUND_S) == 0, "the wake word ends announcements"
        second.unplug()
        await until(lambda: device() is not second and device().is_subscribed)
        assert not device().played
        device().wake()
        device().speak(SPEECH)
        await until(lambda: len(server.records) == 2)
        assert server.records[1].outcome == "answered"
        assert {"TTS_STREAM_START", "TTS_STREAM_END"} <= set(device().kinds())
        assert len(device().played) > 1_000


async def test_what_is_no_voice_assistant_is_said(folders: Folders) -> None:
    async with esphome_device(VoiceAssistantFeature(0)) as (address, _device):
        with pytest.raises(DeviceUnavailable, match="no voice assistant"):
            await probe(DeviceEntry(esphome=address))
    async with esphome_device(MEDIA_PLAYER) as (address, _device):
        assert "ESPHome voice assistant" in await probe(DeviceEntry(esphome=address))
    async with esphome_device(MEDIA_PLAYER, KEY) as (address, _device):
        other = base64.b64encode(bytes(reversed(KEY))).decode()
        with pytest.raises(DeviceUnavailable, match="refuses the encryption key"):
            await probe(DeviceEntry(esphome=address, key=other))
