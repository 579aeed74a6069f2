"""A program's call that needs a yes: another token gives it, once, in time; the program itself cannot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from edgevox import tool
from edgevox.agents import LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.config import ServerSettings
from edgevox.core.metrics import TurnMetrics, TurnMetricsRecorder
from edgevox.core.turn import Turn
from edgevox.core.types import Sampling, ToolCall
from edgevox.dialogue.confirm import ConfirmationDialog
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens
from edgevox.testing import ScriptedModel
from edgevox.tools import ToolExecutor, ToolRegistry
from edgevox.tools.calls import resolve_call
from edgevox.tools.policy import LOCAL, Caller, PendingConfirmation, PendingConfirmations
from tests.server.harness import PARSERS, written
from tests.server.test_auth import asked

BOUND_S = 10
PANEL, GUARD, OWNER = "panel-token-for-tests", "guard-token-for-tests", "owner-token-for-tests"
CALLERS = {
    PANEL: Caller("panel", frozenset({"chat", "read", "act"})),
    GUARD: Caller("guard", frozenset({"confirm"})),
    OWNER: Caller("owner", frozenset({"*"})),
}


@dataclass
class Door:
    """A door, its server, and what was recorded."""

    url: str = ""
    log: list[str] = field(default_factory=list)
    records: list[TurnMetrics] = field(default_factory=list)
    confirmation: list[ConfirmationDialog] = field(default_factory=list)

    async def ask(self, path: str, token: str, **body: Any) -> tuple[int, dict[str, Any]]:
        given: dict[str, Any] = {"method": "POST", "json": body} if body else {}
        status, answer, _headers = await asked(self.url, path, headers={"Authorization": f"Bearer {token}"}, **given)
        return status, answer

    async def call(self, token: str = PANEL) -> tuple[int, dict[str, Any]]:
        return await self.ask("/v1/tools/call", token, name="unlock_door")

    async def waiting(self) -> dict[str, Any]:
        """The question that waits, when there is one."""
        while True:
            _status, answer = await self.ask("/v1/confirmations", GUARD)
            if answer["data"]:
                question: dict[str, Any] = answer["data"][0]
                return question
            await asyncio.sleep(0)

    async def answer(self, granted: Any, token: str = GUARD, of: str | None = None) -> tuple[int, str]:
        waits = of or (await self.waiting())["token"]
        status, answer = await self.ask(f"/v1/confirmations/{waits}", token, granted=granted)
        return status, answer.get("error", {}).get("code", "")


@asynccontextmanager
async def door(
    *lines: str, within_s: float = 30.0, tokens: tuple[str, ...] = (PANEL, GUARD, OWNER)
) -> AsyncIterator[Door]:
    house = Door()

    @tool(side_effects=True, confirm="voice")
    def unlock_door() -> str:
        """Unlock the door."""
        house.log.append("unlocked")
        return "unlocked"

    executor = ToolExecutor(ToolRegistry([unlock_door]), confirm_within_s=within_s)

    def make_agent(room: str = "", **given: Any) -> LLMAgent:
        return LLMAgent("edgevox", tools=executor, parsers=PARSERS, **given)

    asked_model = ModelProfile(ScriptedModel(lines), PARSERS, sampling=Sampling(temperature=0.0))
    assistant = Assistant(
        "scripted",
        asked_model,
        make_agent,
        executor,
        record=TurnMetricsRecorder(house.records.append),
        confirmation=lambda: house.confirmation,
    )
    known = Tokens({token: CALLERS[token] for token in tokens})
    app = create_app(assistant, ServerSettings(), known)
    async with asyncio.timeout(BOUND_S), http_listener(app, "127.0.0.1", 0) as url:
        house.url = url
        yield house


@pytest.fixture
async def house() -> AsyncIterator[Door]:
    async with door(written("unlock_door"), "The door is open.") as made:
        yield made


async def test_another_token_agrees_and_the_call_is_made_once(house: Door) -> None:
    calling = asyncio.create_task(house.call())
    question = await house.waiting()
    assert (question["question"], question["asked_by"]) == ("Shall I unlock door?", "panel")
    assert 0 < question["expires_in_s"] <= 30
    assert house.log == []
    assert await house.answer(True) == (200, "")
    status, answer = await calling
    assert (status, answer["is_error"], house.log) == (200, False, ["unlocked"])
    assert await house.answer(True, of=question["token"]) == (404, "confirmation_not_found")
    assert house.log == ["unlocked"]


async def test_a_no_is_told_and_nothing_is_done(house: Door) -> None:
    calling = asyncio.create_task(house.call())
    assert await house.answer(False) == (200, "")
    status, answer = await calling
    assert (status, answer["error"]["code"], house.log) == (409, "requires_confirmation", [])
    assert "guard said no" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("token", "expected"), [(PANEL, (403, "token_scope_insufficient")), ("nonsense", (401, "invalid_api_key"))]
)
async def test_a_token_without_the_scope_cannot_agree(house: Door, token: str, expected: tuple[int, str]) -> None:
    calling = asyncio.create_task(house.call())
    assert await house.answer(True, token) == expected
    assert (await house.ask("/v1/confirmations", token))[0] == expected[0]
    await house.answer(False)
    assert ((await calling)[0], house.log) == (409, [])


async def test_a_client_cannot_confirm_its_own_call(house: Door) -> None:
    calling = asyncio.create_task(house.call(OWNER))
    assert await house.answer(True, OWNER) == (403, "tool_denied")
    assert await house.answer(False, OWNER) == (200, "")
    assert ((await calling)[0], house.log) == (409, [])


async def test_an_answer_that_comes_too_late_is_none() -> None:
    async with door(within_s=0.3) as house:
        calling = asyncio.create_task(house.call())
        question = await house.waiting()
        status, _answer = await calling
        assert await house.answer(True, of=question["token"]) == (404, "confirmation_not_found")
        assert (status, house.log) == (409, [])


async def test_where_nobody_else_could_agree_the_call_does_not_wait() -> None:
    async with door(tokens=(PANEL,)) as house:
        status, answer = await house.call()
    assert (status, answer["error"]["code"]) == (409, "requires_confirmation")


async def test_an_answer_that_is_none_is_refused(house: Door) -> None:
    calling = asyncio.create_task(house.call())
    assert await house.answer("perhaps") == (400, "invalid_value")
    await house.answer(False)
    await calling


async def test_the_assistants_own_turn_waits_for_the_answer_and_is_recorded(house: Door) -> None:
    body = {"model": "default", "messages": [{"role": "user", "content": "Open the door."}]}
    confirmation = asyncio.create_task(house.ask("/v1/chat/completions", PANEL, **body))
    assert await house.answer(True) == (200, "")
    status, answer = await confirmation
    reply = answer["choices"][0]["message"]["content"]
    assert (status, reply, house.log) == (200, "The door is open.", ["unlocked"])
    (record,) = house.records
    assert (record.source, record.heard, record.reply, record.outcome) == (
        "api",
        "Open the door.",
        "The door is open.",
        "answered",
    )


async def test_a_question_of_the_room_can_be_answered_by_a_page(house: Door) -> None:
    confirmation = ConfirmationDialog(channels=frozenset({"keyboard"}))
    house.confirmation.append(confirmation)
    agreeing = asyncio.create_task(confirmation(_pending(), Turn()))
    assert (await house.waiting())["asked_by"] == "local"
    assert await house.answer(True) == (200, "")
    agreement = await agreeing
    assert (agreement.granted, agreement.by.name, agreement.channel) == (True, "guard", "api")


def _pending() -> PendingConfirmation:
    resolved = resolve_call(ToolCall("call00001", "unlock_door", "{}"), None)
    return PendingConfirmations().ask(resolved, question="Shall I?", level="voice", origin=LOCAL)
