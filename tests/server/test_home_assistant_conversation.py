"""A real Home Assistant whose OpenAI integration is set up with this server, in its own forms."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.home.backends.home_assistant.server import HASS, Server
from tests.server.harness import OWNER, Lamp, acting, model, served, written

_CONVERSATION = "/api/conversation/process"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    if not HASS.exists():
        pytest.fail("there is no Home Assistant to test with: run script/home-assistant")
    server = Server(tmp_path)
    yield server
    server.kill()


@pytest.mark.long
async def test_its_conversation_agent_answers_with_the_assistants_tools(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    lamp = Lamp()
    said = model([written("switch_lamp", '{"on": true}'), "The lamp is on.", "Yes."])
    async with served(acting(said, lamp)) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")  # its form has no field for the address
        spoken = await asyncio.to_thread(_converse, server)
    assert spoken == ["The lamp is on.", "Yes."]
    assert lamp.log == ["lamp on"]
    # The second question is part of the same conversation.
    assert "Turn on the lamp." in [message.content for message in said.requests[-1].messages]


def _converse(server: Server) -> list[str]:
    server.start()
    server.sign_up()
    server.add_integration("openai_conversation", {"api_key": OWNER})
    (entry,) = server.get("/api/config/config_entries/entry?domain=openai_conversation")
    assert entry["state"] == "loaded", entry
    options = "/api/config/config_entries/options/flow"
    form = server.post(options, {"handler": entry["entry_id"]})
    done = server.post(f"{options}/{form['flow_id']}", {"chat_model": "scripted"})
    assert done["type"] == "create_entry", done
    asked: dict[str, Any] = {"text": "Turn on the lamp.", "language": "en", "agent_id": entry["entry_id"]}
    first = server.post(_CONVERSATION, asked)
    again = {**asked, "text": "Is it on?", "conversation_id": first["conversation_id"]}
    return [answer["response"]["speech"]["plain"]["speech"] for answer in (first, server.post(_CONVERSATION, again))]
