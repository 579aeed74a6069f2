"""Instructor, unmodified: objects by tool calls and by schemas, repaired where they are invalid, and streamed."""

from __future__ import annotations

from typing import Annotated

import anthropic
import instructor
import openai
import pytest
from pydantic import BaseModel, Field

from tests.server.harness import OWNER, model, served, talking, written

ASKED = [{"role": "user", "content": "Ann is 41 years old."}]
ANN = '{"name": "Ann", "age": 41}'
TOO_OLD = '{"name": "Ann", "age": 410}'


class Person(BaseModel):
    """A person."""

    name: str
    age: Annotated[int, Field(le=150)]


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        (instructor.Mode.TOOLS, written("Person", ANN)),
        (instructor.Mode.JSON_SCHEMA, ANN),
        (instructor.Mode.JSON, ANN),
        (instructor.Mode.MD_JSON, f"```json\n{ANN}\n```"),
    ],
)
async def test_an_object_in_each_mode(mode: instructor.Mode, line: str) -> None:
    said = model([line])
    async with served(talking(said)) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=OWNER) as client:
        chat = instructor.from_openai(client, mode=mode)
        person = await chat.chat.completions.create(model="scripted", messages=ASKED, response_model=Person)
    assert (person.name, person.age) == ("Ann", 41)
    assert bool(said.requests[0].tools) == (mode is instructor.Mode.TOOLS)


async def test_an_object_that_breaks_its_own_rules_is_asked_for_again() -> None:
    said = model([written("Person", TOO_OLD), written("Person", ANN)])
    async with served(talking(said)) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=OWNER) as client:
        chat = instructor.from_openai(client)
        person = await chat.chat.completions.create(
            model="scripted", messages=ASKED, response_model=Person, max_retries=2
        )
    assert person.age == 41
    assert [one.role for one in said.requests[1].messages][-2:] == ["assistant", "tool"]


async def test_a_streamed_object_ends_complete() -> None:
    async with (
        served(talking(model([written("PartialPerson", ANN)]))) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=OWNER) as client,
    ):
        chat = instructor.from_openai(client)
        parts = chat.chat.completions.create_partial(model="scripted", messages=ASKED, response_model=Person)
        last = [part async for part in parts][-1]
    assert (last.name, last.age) == ("Ann", 41)


async def test_an_object_through_anthropics_client() -> None:
    async with (
        served(talking(model([written("Person", ANN)]))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key=OWNER) as client,
    ):
        chat = instructor.from_anthropic(client)
        person = await chat.messages.create(model="scripted", max_tokens=99, messages=ASKED, response_model=Person)
    assert person.name == "Ann"
