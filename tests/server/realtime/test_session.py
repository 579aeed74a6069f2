"""The Realtime API as the official client uses it: text, speech, functions, interruptions, errors."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import numpy as np
import openai
import pytest
from numpy.typing import NDArray
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from edgevox.config import Settings
from edgevox.core.errors import EngineFailed
from edgevox.core.files import Folders
from edgevox.core.types import to_pcm16
from tests.dialogue.sounds import silent, voiced
from tests.server.websocket.harness import BOUND_S, GUEST, LIGHT_ON, OWNER, TALKER, VoiceServer, voice_server

RATE_HZ = 24_000
LONG = "One two three four five six seven eight nine ten. " * 12
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
ASK_WEATHER = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
TEXT: dict[str, Any] = {"type": "realtime", "output_modalities": ["text"]}


class Talker:
    """The official client's connection; what it gets is kept."""

    def __init__(self, connection: AsyncRealtimeConnection, within_s: float = BOUND_S) -> None:
        self.connection = connection
        self._within_s = within_s
        self.events: list[Any] = []

    async def until(self, kind: str) -> Any:
        async with asyncio.timeout(self._within_s):
            while True:
                event = await self.connection.recv()
                self.events.append(event)
                if event.type == kind:
                    return event

    async def update(self, **session: Any) -> Any:
        await self.connection.session.update(session={"type": "realtime", **session})  # type: ignore[arg-type]
        return (await self.until("session.updated")).session

    async def type(self, text: str) -> None:
        content: Any = [{"type": "input_text", "text": text}]
        await self.connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})

    async def sound(self, samples: NDArray[np.float32]) -> None:
        for start in range(0, len(samples), RATE_HZ // 10):
            piece = base64.b64encode(to_pcm16(samples[start : start + RATE_HZ // 10])).decode()
            await self.connection.input_audio_buffer.append(audio=piece)

    async def say(self, seconds: float = 0.8) -> None:
        await self.sound(np.concatenate((voiced(seconds, RATE_HZ), silent(2.0, RATE_HZ))))

    def kinds(self) -> list[str]:
        return [event.type for event in self.events]

    def joined(self, kind: str) -> str:
        return "".join(event.delta for event in self.events if event.type == kind)

    def audio_s(self) -> float:
        deltas = (event.delta for event in self.events if event.type == "response.output_audio.delta")
        return sum(len(base64.b64decode(delta)) for delta in deltas) / 2 / RATE_HZ


@asynccontextmanager
async def connected(behind: VoiceServer, *, token: str = OWNER, **session: Any) -> AsyncIterator[Talker]:
    async with (
        openai.AsyncOpenAI(base_url=f"{behind.url}/v1", api_key=token) as client,
        client.realtime.connect(model="gpt-realtime") as connection,
    ):
        talker = Talker(connection)
        await talker.until("conversation.created")
        if session:
            await talker.update(**session)
        yield talker


async def test_a_text_conversation_streams_the_events_of_the_original(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Hello to you.", "Again."], has_tools=False) as behind,
        connected(behind) as talker,
    ):
        assert talker.events[0].session.audio.input.turn_detection.type == "server_vad"
        session = await talker.update(output_modalities=["text"], instructions="Be brief.")
        assert (session.instructions, session.output_modalities) == ("Be brief.", ["text"])
        await talker.type("hello")
        nulls: Any = {"instructions": None, "tools": None, "tool_choice": None}
        await talker.connection.response.create(response=nulls)
        done = await talker.until("response.done")
        assert done.response.status == "completed"
        (item,) = done.response.output
        assert item.content[0].text == "Hello to you."
        wanted = [
            "conversation.item.added",
            "conversation.item.done",
            "response.created",
            "response.output_item.added",
            "conversation.item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "conversation.item.done",
            "response.done",
        ]
        kinds = talker.kinds()[3:]
        assert [kind for at, kind in enumerate(kinds) if not at or kind != kinds[at - 1]] == wanted
        assert talker.joined("response.output_text.delta") == "Hello to you."
        await talker.type("again")
        await talker.connection.response.create(response={"instructions": "Shout."})
        await talker.until("response.done")
        asked = behind.model.requests[-1].messages
        assert [message.content for message in asked[1:]] == ["hello", "Hello to you.", "again"]
        assert asked[0].content.endswith("Shout.")
        assert [record.reply for record in behind.records] == ["Hello to you.", "Again."]


async def test_a_spoken_command_changes_the_home_and_is_answered_aloud(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind) as talker:
        await talker.update(audio={"input": {"transcription": {"model": "whisper-1"}}})
        await talker.say()
        done = await talker.until("response.done")
        assert behind.state("light.kitchen") == "on"
    assert done.response.status == "completed"
    by_kind = {event.type: event for event in talker.events}
    heard = by_kind["conversation.item.input_audio_transcription.completed"]
    started, committed = by_kind["input_audio_buffer.speech_started"], by_kind["input_audio_buffer.committed"]
    assert heard.transcript == "turn on the kitchen light"
    assert started.item_id == committed.item_id == heard.item_id
    assert started.audio_start_ms <= by_kind["input_audio_buffer.speech_stopped"].audio_end_ms
    in_order = (
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "response.created",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.done",
    )
    places = [talker.kinds().index(kind) for kind in in_order]
    assert places == sorted(places)
    spoken = talker.joined("response.output_audio_transcript.delta").strip()
    assert done.response.output[0].content[0].transcript == spoken
    # A character is a hundredth of a second of sound here.
    assert talker.audio_s() == pytest.approx(len(spoken) / 100, rel=0.2)


@pytest.mark.parametrize("detection", ["semantic_vad", "server_vad"])
async def test_detection_without_a_response_only_tells_what_was_said(folders: Folders, detection: str) -> None:
    async with (
        voice_server(folders, ["Sunny."], heard=["how is it"], has_tools=False) as behind,
        connected(behind) as talker,
    ):
        given = {"input": {"turn_detection": {"type": detection, "create_response": False}, "transcription": {}}}
        await talker.update(audio=given)
        await talker.say()
        heard = await talker.until("conversation.item.input_audio_transcription.completed")
        assert heard.transcript == "how is it"
        await talker.connection.response.create(response={"output_modalities": ["text"]})
        done = await talker.until("response.done")
        assert done.response.output[0].content[0].text == "Sunny."
        assert talker.kinds().count("response.created") == 1
        assert behind.model.requests[-1].messages[-1].content == "how is it"


async def test_the_silence_that_a_client_wants_ends_its_utterances(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Sunny."], heard=["how is it"], has_tools=False) as behind,
        connected(behind) as talker,
    ):
        detection = {"type": "server_vad", "silence_duration_ms": 1500, "create_response": False}
        await talker.update(audio={"input": {"turn_detection": detection}})
        await talker.sound(np.concatenate((voiced(0.8, RATE_HZ), silent(1.2, RATE_HZ))))
        await talker.sound(np.concatenate((voiced(0.8, RATE_HZ), silent(4.5, RATE_HZ))))
        stopped = await talker.until("input_audio_buffer.speech_stopped")
        assert stopped.audio_end_ms > 2_000  # with the usual silence the pause ends it


async def test_a_setting_that_would_have_no_effect_is_refused_by_name(folders: Folders) -> None:
    refused = {
        "input.transcription.language": {"input": {"transcription": {"language": "fr"}}},
        "input.transcription.delay": {"input": {"transcription": {"delay": "low"}}},
        "output.voice": {"output": {"voice": "emma"}},
    }
    settings = Settings.model_validate({"stt": {"language": "en"}})
    async with voice_server(folders, has_tools=False, settings=settings) as behind, connected(behind) as talker:
        for place, audio in refused.items():
            session: Any = {"type": "realtime", "audio": audio}
            await talker.connection.session.update(session=session)
            assert (await talker.until("error")).error.param == f"session.audio.{place}"
        usual = {"type": "server_vad", "threshold": 0.9, "prefix_padding_ms": 10, "silence_duration_ms": 500}
        told = await talker.update(
            audio={
                "input": {
                    "turn_detection": usual,
                    "transcription": {"language": "en-US", "prompt": "names"},
                    "noise_reduction": {"type": "near_field"},
                },
                "output": {"voice": "marin"},
            }
        )
        assert told.audio.output.voice == "marin"


async def test_without_detection_the_client_commits_and_asks(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Sunny."], heard=["how is it"], has_tools=False) as behind,
        connected(behind) as talker,
    ):
        await talker.update(audio={"input": {"turn_detection": None}})
        await talker.connection.input_audio_buffer.commit()
        assert (await talker.until("error")).error.code == "input_audio_buffer_commit_empty"
        await talker.sound(voiced(0.5, RATE_HZ))
        await talker.connection.input_audio_buffer.clear()
        await talker.until("input_audio_buffer.cleared")
        await talker.sound(voiced(0.8, RATE_HZ))
        await talker.connection.input_audio_buffer.commit()
        committed = await talker.until("input_audio_buffer.committed")
        await talker.connection.response.create()
        done = await talker.until("response.done")
        assert done.response.output[0].content[0].transcript == "Sunny."
        await talker.connection.conversation.item.retrieve(item_id=committed.item_id)
        item = (await talker.until("conversation.item.retrieved")).item
        assert item.content[0].transcript == "how is it"
        assert "input_audio_buffer.speech_started" not in talker.kinds()


# --- functions


async def test_calls_go_to_the_client_and_the_reply_uses_its_result(folders: Folders) -> None:
    async with (
        voice_server(folders, [ASK_WEATHER, "It is sunny."], has_tools=False) as behind,
        connected(behind, **TEXT, tools=[WEATHER]) as talker,
    ):
        await talker.type("weather in Rome?")
        await talker.connection.response.create()
        done = await talker.until("response.done")
        (call,) = done.response.output
        assert (call.type, call.name, call.arguments) == ("function_call", "get_weather", '{"city": "Rome"}')
        assert talker.joined("response.function_call_arguments.delta") == call.arguments
        written = next(event for event in talker.events if event.type == "response.function_call_arguments.done")
        assert (written.call_id, written.name) == (call.call_id, "get_weather")
        output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": '{"sky": "sunny"}'}
        await talker.connection.conversation.item.create(item=output)
        await talker.connection.response.create()
        done = await talker.until("response.done")
        assert done.response.output[0].content[0].text == "It is sunny."
        assert "sunny" in behind.model.requests[-1].messages[-1].content
        assert done.response.usage.total_tokens == done.response.usage.input_tokens + done.response.usage.output_tokens


async def test_a_spoken_question_can_call_a_function(folders: Folders) -> None:
    async with (
        voice_server(folders, [ASK_WEATHER], heard=["what is the weather in rome"], has_tools=False) as behind,
        connected(behind, tools=[WEATHER]) as talker,
    ):
        await talker.say()
        done = await talker.until("response.done")
        assert [item.type for item in done.response.output] == ["function_call"]
        assert talker.audio_s() == 0


# --- interruptions


async def test_speech_interrupts_the_reply_and_the_item_keeps_only_spoken_words(folders: Folders) -> None:
    async with (
        voice_server(folders, [LONG, "Yes?"], heard=["no wait"], has_tools=False) as behind,
        connected(behind) as talker,
    ):
        await talker.type("count")
        await talker.connection.response.create()
        item = (await talker.until("response.output_item.added")).item
        while talker.audio_s() < 1.5:
            await talker.until("response.output_audio.delta")
        await talker.sound(voiced(1.5, RATE_HZ))
        await talker.until("input_audio_buffer.speech_started")
        await talker.connection.conversation.item.truncate(item_id=item.id, content_index=0, audio_end_ms=540)
        assert (await talker.until("conversation.item.truncated")).audio_end_ms == 540
        await talker.sound(silent(2.0, RATE_HZ))
        await talker.until("response.created")
        await talker.until("response.done")
        await talker.connection.conversation.item.retrieve(item_id=item.id)
        kept = (await talker.until("conversation.item.retrieved")).item
    # A character is a hundredth of a second of sound here: this is one sentence and a word.
    assert kept.content[0].transcript.startswith("One two three four five six seven eight nine ten.")
    assert len(kept.content[0].transcript) < 60
    assert kept.status == "incomplete"
    history = [message.content for message in behind.model.requests[-1].messages if message.role == "assistant"]
    assert len(history[0]) < 65


async def test_a_response_can_be_cancelled_and_the_next_one_works(folders: Folders) -> None:
    async with voice_server(folders, [LONG, "Yes.", "Yes."], has_tools=False) as behind, connected(behind) as talker:
        await talker.connection.response.cancel()
        assert (await talker.until("error")).error.code == "response_cancel_not_active"
        await talker.type("count")
        await talker.connection.response.create()
        await talker.connection.response.create()
        busy = await talker.until("error")
        assert busy.error.code == "conversation_already_has_active_response"
        await talker.until("response.output_audio.delta")
        await talker.connection.response.cancel()
        await talker.connection.response.create()  # waits until it is known what was played of the first
        await talker.connection.response.cancel()
        for _ in range(2):
            done = await talker.until("response.done")
            assert (done.response.status, done.response.status_details.reason) == ("cancelled", "client_cancelled")
        await talker.connection.response.create()
        assert (await talker.until("response.done")).response.status == "completed"
        assert [record.outcome for record in behind.records][:2] == ["cancelled", "cancelled"]


async def test_a_client_that_does_not_wait_for_the_sound_gets_the_next_reply_at_once(folders: Folders) -> None:
    async with voice_server(folders, [LONG, "Yes."], has_tools=False) as behind, connected(behind) as talker:
        await talker.type("count")
        await talker.connection.response.create()
        await talker.until("response.done")
        await talker.type("and now?")
        await talker.connection.response.create()
        async with asyncio.timeout(3):  # the sound takes twice as long
            done = await talker.until("response.done")
        assert done.response.output[0].content[0].transcript == "Yes."
        assert LONG.strip() in [message.content for message in behind.model.requests[-1].messages]


# --- items and errors


async def test_items_can_be_inserted_deleted_and_truncated(folders: Folders) -> None:
    async with (
        voice_server(folders, ["One two three four."] * 2, has_tools=False) as behind,
        connected(behind) as talker,
    ):
        await talker.type("count")
        await talker.connection.response.create()
        spoken = (await talker.until("response.done")).response.output[0]
        await talker.connection.response.create(response={"output_modalities": ["text"]})
        await talker.until("response.done")
        items = talker.connection.conversation.item
        await items.truncate(item_id=spoken.id, content_index=0, audio_end_ms=100)
        await talker.until("conversation.item.truncated")
        await items.retrieve(item_id=spoken.id)
        assert (await talker.until("conversation.item.retrieved")).item.content[0].transcript == "One two"
        await items.truncate(item_id=spoken.id, content_index=0, audio_end_ms=99_000)
        assert (await talker.until("error")).error.param == "audio_end_ms"
        first: Any = {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be kind."}]}
        first["id"] = "mine"
        await items.create(item=first, previous_item_id="root")
        added = await talker.until("conversation.item.added")
        assert (added.item.id, added.previous_item_id) == ("mine", None)
        await items.delete(item_id="mine")
        await talker.until("conversation.item.deleted")
        for action in (items.delete, items.retrieve):
            await action(item_id="mine")
            assert (await talker.until("error")).error.code.endswith("_invalid_item_id")


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "session.update", "session": {"voice": "alloy"}}, "unknown_parameter", "session.voice"),
    ({"type": "session.update", "session": {"type": "transcription"}}, "invalid_value", "session.type"),
    (
        {"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcmu"}}}}},
        "invalid_value",
        "session.audio.input.format.type",
    ),
    ({"type": "session.update", "session": {"tools": [{"type": "mcp"}]}}, "invalid_value", "session.tools.0.type"),
    ({"type": "session.update", "session": {"tool_choice": "required"}}, "invalid_value", "session.tool_choice"),
    ({"type": "response.create", "response": {"conversation": "none"}}, "invalid_value", "response.conversation"),
    ({"type": "input_audio_buffer.append"}, "missing_required_parameter", "audio"),
    ({"type": "input_audio_buffer.append", "audio": "%"}, "invalid_value", "audio"),
    ({"type": "output_audio_buffer.clear"}, "invalid_value", "type"),
    ({"type": "nothing"}, "invalid_value", "type"),
    ({}, "missing_required_parameter", "type"),
    (
        {"type": "conversation.item.create", "item": {"type": "function_call_output", "call_id": "x", "output": ""}},
        "invalid_tool_call_id",
        "item.call_id",
    ),
    (
        {
            "type": "conversation.item.create",
            "item": {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "x"}]},
        },
        "invalid_value",
        "item.content.0.type",
    ),
]


async def test_what_is_not_supported_is_refused_by_name_and_the_session_goes_on(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind) as talker:
        for event, code, param in REFUSED:
            await talker.connection.send({**event, "event_id": "mine"})  # type: ignore[arg-type]
            error = (await talker.until("error")).error
            assert (error.code, error.param, error.event_id) == (code, param, "mine"), event
        await talker.update(**TEXT)


async def test_a_model_that_fails_ends_its_response_and_not_the_session(folders: Folders) -> None:
    failure = EngineFailed("the model died", hint="wait")
    async with (
        voice_server(folders, [failure, "Hello."], has_tools=False) as behind,
        connected(behind, **TEXT) as talker,
    ):
        await talker.type("hello")
        await talker.connection.response.create()
        details = (await talker.until("response.done")).response.status_details
        assert (details.type, details.error.code) == ("failed", "engine_failed")
        await talker.connection.response.create()
        assert (await talker.until("response.done")).response.status == "completed"


async def test_a_server_without_audio_answers_in_text(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Hello."], engines=frozenset(), has_tools=False) as behind,
        connected(behind) as talker,
    ):
        assert talker.events[0].session.output_modalities == ["text"]
        await talker.sound(voiced(0.1, RATE_HZ))
        assert (await talker.until("error")).error.code == "audio_not_served"
        await talker.type("hello")
        await talker.connection.response.create()
        assert (await talker.until("response.done")).response.output[0].content[0].text == "Hello."


async def test_more_sound_than_real_time_closes_the_connection(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind) as talker:
        with suppress(ConnectionClosed):
            for _ in range(6):
                await talker.sound(silent(6.0, RATE_HZ))
        with pytest.raises(ConnectionClosed) as caught:
            await talker.until("no such event")
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 4429
        assert talker.events[-1].error.code == "flooded"


# --- keys


@pytest.mark.parametrize(("token", "status"), [("wrong-token", 401), (TALKER, 403)])
async def test_only_a_token_with_the_scope_voice_opens_a_session(folders: Folders, token: str, status: int) -> None:
    async with voice_server(folders, has_tools=False) as behind:
        with pytest.raises(InvalidStatus) as caught:
            async with connected(behind, token=token):
                pass
        assert caught.value.response.status_code == status


async def test_a_short_lived_key_opens_sessions_with_its_settings_and_nothing_else(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        voice_server(folders, ["Hello."], has_tools=False) as behind,
        openai.AsyncOpenAI(base_url=f"{behind.url}/v1", api_key=GUEST, max_retries=0) as client,
    ):
        session: Any = {**TEXT, "instructions": "Be brief."}
        made = await client.realtime.client_secrets.create(
            expires_after={"anchor": "created_at", "seconds": 30}, session=session
        )
        assert made.session.instructions == "Be brief."  # type: ignore[union-attr]
        async with connected(behind, token=made.value) as talker:
            assert talker.events[0].session.instructions == "Be brief."
        with pytest.raises(openai.AuthenticationError):
            await client.with_options(api_key=made.value).models.list()
        monkeypatch.setattr("edgevox.server.http.tokens.time.time", lambda: made.expires_at + 1.0)
        with pytest.raises(InvalidStatus):
            async with connected(behind, token=made.value):
                pass
