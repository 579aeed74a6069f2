"""Every option of the official clients is known by name, and another one is refused as the original APIs do."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from anthropic.types.message_create_params import MessageCreateParamsBase
from openai.types import completion_create_params, embedding_create_params
from openai.types.audio import speech_create_params, transcription_create_params
from openai.types.chat import completion_create_params as chat_create_params
from openai.types.responses import response_create_params

from edgevox.server.chat.anthropic import MessagesBody
from edgevox.server.chat.openai import ChatCompletionBody, CompletionBody
from edgevox.server.chat.responses import ResponsesBody
from edgevox.server.http.wire import StrictBody
from edgevox.server.routes.audio import SpeechBody, TranscriptionForm
from edgevox.server.routes.embeddings import EmbeddingsBody
from edgevox.testing import ToneSynthesizer
from tests.server.harness import model, served, talking
from tests.server.openai_chat import USER
from tests.server.test_audio import Stenographer, with_sound

OFFICIAL: dict[type[StrictBody], Any] = {
    ChatCompletionBody: chat_create_params.CompletionCreateParamsBase,
    CompletionBody: completion_create_params.CompletionCreateParamsBase,
    EmbeddingsBody: embedding_create_params.EmbeddingCreateParams,
    MessagesBody: MessageCreateParamsBase,
    ResponsesBody: response_create_params.ResponseCreateParamsBase,
    SpeechBody: speech_create_params.SpeechCreateParams,
    TranscriptionForm: transcription_create_params.TranscriptionCreateParamsBase,
}


@pytest.mark.parametrize("body", OFFICIAL)
def test_the_options_of_the_official_client_are_known(body: type[StrictBody]) -> None:
    known = {(field.alias or name).removesuffix("[]") for name, field in body.model_fields.items()}
    assert set(OFFICIAL[body].__annotations__) <= known


async def test_an_option_that_no_api_knows_is_an_unknown_parameter() -> None:
    messages: dict[str, Any] = {"messages": [USER]}
    bodies: dict[str, dict[str, Any]] = {
        "/v1/chat/completions": messages,
        "/v1/completions": {"prompt": "?"},
        "/v1/responses": {"input": "?"},
        "/v1/messages": {**messages, "max_tokens": 9},
        "/v1/embeddings": {"input": "?"},
        "/v1/audio/speech": {"model": "tts-1", "input": "Hello."},
    }
    sounding = with_sound(talking(model(["Yes."])), Stenographer(), ToneSynthesizer())
    async with served(sounding) as url, aiohttp.ClientSession(url) as http:
        for path, body in bodies.items():
            async with http.post(path, json={**body, "temprature": 1}) as answer:
                told = (await answer.json())["error"]
            assert (answer.status, told["type"]) == (400, "invalid_request_error"), path
            assert told["message"] == "temprature: Extra inputs are not permitted", path
            if path != "/v1/messages":  # Anthropic's errors have neither
                assert (told["code"], told["param"]) == ("unknown_parameter", "temprature"), path
        form = aiohttp.FormData({"model": "whisper-1", "temprature": "1"})
        form.add_field("file", b"", filename="a.wav")
        async with http.post("/v1/audio/transcriptions", data=form) as answer:
            assert (await answer.json())["error"]["param"] == "temprature"
        async with http.post("/api/chat", json={**messages, "stream": False, "temprature": 1}) as answer:
            assert (await answer.json())["message"]["content"] == "Yes."  # Ollama ignores what it does not know
