"""Tools and prompts of Home Assistant's conversation integrations, for a model that was trained on the home tools."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from edgevox.server.assistant import Assistant
from edgevox.testing import ScriptedModel
from tests.server.harness import model, talking, written
from tests.server.openai_chat import client, whole

_TEXT, _TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}


def intent(called: str, /, *, required: tuple[str, ...] = (), **slots: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": slots, "required": list(required)}
    function = {"name": called, "description": f"The {called} intent", "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS = [
    intent("HassTurnOn", name=_TEXT, area=_TEXT, floor=_TEXT, domain=_TEXTS, device_class=_TEXTS),
    intent("HassTurnOff", name=_TEXT, area=_TEXT, floor=_TEXT, domain=_TEXTS, device_class=_TEXTS),
    intent("HassLightSet", name=_TEXT, area=_TEXT, brightness={"type": "integer"}, color=_TEXT),
    intent("HassListAddItem", item=_TEXT, name=_TEXT, required=("item", "name")),
    intent("GetLiveContext"),
    intent("script_of_the_house"),
]
# As Home Assistant writes it.
PROMPT = """You are a voice assistant for Home Assistant.
When controlling Home Assistant always call the intent tools.
Static Context: An overview of the areas and the devices in this smart home:
- names: Bed Light, Night Lamp
  domain: light
  areas: Bedroom
- names: Garage Door
  domain: cover
  attributes:
    device_class: garage
  areas: Garage
- names: Shopping List
  domain: todo
"""
MILK = {"item": "milk", "name": "Shopping List"}
SYSTEM, ASKED = {"role": "system", "content": PROMPT}, {"role": "user", "content": "Turn on the light."}


def home_only(said: ScriptedModel) -> Assistant:
    return replace(talking(said), home_only=True)


def result(**data: Any) -> dict[str, str]:
    content = {"speech": {}, "response_type": "action_done", "data": {"success": [{"name": "Bed Light"}], **data}}
    return {"role": "tool", "tool_call_id": "", "content": json.dumps(content)}


async def test_the_model_reads_the_tools_and_the_home_as_it_was_trained() -> None:
    said = model([written("turn_on", '{"area": "bedroom", "domain": "light"}')])
    async with client(home_only(said)) as chat:
        reply, _message = await whole(chat, SYSTEM, ASKED, tools=TOOLS)
    assert reply.calls == (("HassTurnOn", '{"area": "bedroom", "domain": ["light"]}'),)
    (request,) = said.requests
    names = [tool["function"]["name"] for tool in request.tools]
    assert {"turn_on", "turn_off", "light_set", "get_state", "shopping_list_add_item"} < set(names)
    assert names[-1] == "script_of_the_house"
    assert not any(name.startswith("Hass") for name in names)
    system = request.messages[0].content
    assert "Bedroom: light Bed Light (Night Lamp)" in system
    assert "Garage: cover Garage Door" in system
    assert "intent tools" not in system


@pytest.mark.parametrize(
    ("line", "call"),
    [
        (written("shopping_list_add_item", '{"item": "milk"}'), ("HassListAddItem", MILK)),
        (written("get_state", '{"name": "garage door"}'), ("GetLiveContext", {})),
        (written("script_of_the_house"), ("script_of_the_house", {})),
    ],
)
async def test_calls_are_translated_back(line: str, call: tuple[str, dict[str, str]]) -> None:
    async with client(home_only(model([line]))) as chat:
        reply, _message = await whole(chat, SYSTEM, ASKED, tools=TOOLS)
    ((name, arguments),) = reply.calls
    assert (name, json.loads(arguments)) == call


async def test_a_success_is_confirmed_without_the_model_and_a_failure_is_not() -> None:
    said = model([written("turn_on", '{"name": "bed light"}'), "It did not work."])
    async with client(home_only(said)) as chat:
        _reply, message = await whole(chat, SYSTEM, ASKED, tools=TOOLS)
        assert message.tool_calls is not None
        answered = {"tool_call_id": message.tool_calls[0].id}
        done, _message = await whole(chat, SYSTEM, ASKED, message, {**result(failed=[]), **answered}, tools=TOOLS)
        assert (done.text, len(said.requests)) == ("Done.", 1)
        failed = {**result(failed=[{"name": "Bed Light"}]), **answered}
        reply, _message = await whole(chat, SYSTEM, ASKED, message, failed, tools=TOOLS)
    assert reply.text == "It did not work."
    assert said.requests[1].messages[2].tool_calls[0].name == "turn_on"


async def test_another_model_gets_them_as_they_are() -> None:
    said = model(["Hello."])
    async with client(talking(said)) as chat:
        await whole(chat, SYSTEM, ASKED, tools=TOOLS)
    assert [tool["function"]["name"] for tool in said.requests[0].tools] == [one["function"]["name"] for one in TOOLS]
    assert said.requests[0].messages[0].content == PROMPT
