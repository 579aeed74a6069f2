"""Embeddings for the clients of OpenAI and Ollama, unmodified; with the real model in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import numpy as np
import ollama
import openai
import pytest

from edgevox.app.engines import OnDemandEmbedder
from edgevox.core.errors import ContextOverflow, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Embedding, EmbedRequest
from edgevox.embedding.minilm import DIMENSIONS, MODEL_ID, MiniLmEngine
from edgevox.engines import SupervisedEngine
from edgevox.models import ModelStore
from edgevox.server.assistant import Assistant
from tests.server.harness import model, served, talking
from tests.server.websocket.harness import until

MOST_TOKENS = 5


class Lengths:
    """Embeds a text as its length and its number of words, at length 1."""

    name = "lengths"
    dimensions = 2

    def __init__(self, *, is_missing: bool = False) -> None:
        self._is_missing = is_missing

    async def stream(self, request: EmbedRequest, _cancel: CancelFlag) -> AsyncGenerator[Embedding, None]:
        if self._is_missing:
            raise ModelMissing("the model lengths is not downloaded", hint="edgevox models pull lengths")
        for text in request.texts:
            words = text.split()
            if len(words) > MOST_TOKENS and not request.truncate:
                raise ContextOverflow("a text is too long")
            vector = np.array([len(text), len(words)], dtype=np.float32)
            yield Embedding(vector / np.linalg.norm(vector), min(len(words), MOST_TOKENS))


def embedding(*, is_missing: bool = False) -> Assistant:
    return replace(talking(model([])), embedder=Lengths(is_missing=is_missing))


async def test_openais_client_gets_a_vector_for_each_text_in_both_encodings() -> None:
    texts = [f"{'word ' * (1 + number % 4)}{number}" for number in range(9)]
    async with (
        served(embedding()) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="EMPTY", max_retries=0) as client,
    ):
        packed = await client.embeddings.create(model="lengths", input=texts)  # base64, by default
        plain = await client.embeddings.create(model="default", input=texts, encoding_format="float")
        one = await client.embeddings.create(model="lengths", input=texts[3])
    assert [item.index for item in packed.data] == list(range(9))
    for left, right in zip(packed.data, plain.data, strict=True):
        assert left.embedding == pytest.approx(right.embedding, abs=1e-6)
    assert one.data[0].embedding == packed.data[3].embedding
    assert packed.usage.prompt_tokens == packed.usage.total_tokens == sum(len(text.split()) for text in texts)


async def test_what_is_not_supported_is_refused_by_name() -> None:
    async with (
        served(embedding()) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="EMPTY", max_retries=0) as client,
    ):
        refused = client.embeddings.create
        for given, param in (({"dimensions": 1}, "dimensions"), ({"input": [1, 2]}, "input"), ({"input": ""}, "input")):
            with pytest.raises(openai.BadRequestError) as caught:
                await refused(**{"model": "lengths", "input": "a", **given})  # type: ignore[arg-type]
            assert caught.value.param == param
        with pytest.raises(openai.BadRequestError, match="too long"):
            await refused(model="lengths", input="a b c d e f")
        with pytest.raises(openai.NotFoundError, match="lengths"):
            await refused(model="other", input="a")


async def test_a_model_that_is_not_downloaded_is_refused_with_the_command_to_get_it() -> None:
    async with (
        served(embedding(is_missing=True)) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="EMPTY", max_retries=0) as client,
    ):
        with pytest.raises(openai.NotFoundError, match="edgevox models pull lengths"):
            await client.embeddings.create(model="lengths", input="a")


async def test_ollamas_client_gets_vectors_from_both_routes() -> None:
    async with served(embedding()) as url, ollama.AsyncClient(host=url, timeout=20) as client:
        many = await client.embed("lengths:latest", ["one two", "a b c d e f"])
        one = await client.embeddings("lengths", "one two")
        with pytest.raises(ollama.ResponseError, match="too long"):
            await client.embed("lengths", "a b c d e f", truncate=False)
    assert many.embeddings[0] == one.embedding
    assert (len(many.embeddings), many.prompt_eval_count) == (2, 2 + MOST_TOKENS)


@pytest.mark.engine
async def test_the_model_runs_in_its_own_process_on_demand_and_knows_what_is_alike(store: ModelStore) -> None:
    store.ensure([MODEL_ID], lambda _progress: None)
    hosts: list[SupervisedEngine[EmbedRequest, Embedding]] = []

    def host() -> SupervisedEngine[EmbedRequest, Embedding]:
        hosts.append(SupervisedEngine("embedding", MiniLmEngine(store.path(MODEL_ID))))
        return hosts[-1]

    embedder = OnDemandEmbedder(host, unused_s=0.05)
    texts = ("Turn on the light in the kitchen.", "Switch the kitchen lamp on.", "The stock market fell today.")
    async with asyncio.timeout(100):
        assert not embedder.is_up
        light, lamp, market = [one async for one in embedder.stream(EmbedRequest(texts), CancelFlag())]
        await until(lambda: not embedder.is_up)
        again = [one async for one in embedder.stream(EmbedRequest(texts[:1]), CancelFlag())]
        with pytest.raises(ContextOverflow):
            _ = [one async for one in embedder.stream(EmbedRequest(("word " * 300,)), CancelFlag())]
        (cut,) = [one async for one in embedder.stream(EmbedRequest(("word " * 300,), truncate=True), CancelFlag())]
        await embedder.close()
    assert len(hosts) >= 2
    assert light.vector.shape == (DIMENSIONS,)
    assert np.linalg.norm(light.vector) == pytest.approx(1, abs=1e-5)
    assert float(light.vector @ lamp.vector) > 0.2 + float(light.vector @ market.vector)
    assert again[0].vector == pytest.approx(light.vector)
    assert (light.tokens, cut.tokens) == (10, 256)
