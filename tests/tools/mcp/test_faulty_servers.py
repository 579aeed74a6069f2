"""Faulty stdio servers: each is unavailable with a reason, without affecting the others, and is restarted."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from edgevox.config import McpSettings
from edgevox.tools import ToolRegistry
from edgevox.tools.mcp.approvals import Approvals
from edgevox.tools.mcp.config import StdioServer
from edgevox.tools.mcp.servers import McpServers
from tests.tools.mcp.running import logged, raw, running, starts, until


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crashing", "no licence file"),
        ("malformed", "not valid MCP"),
        ("endless-line", "exceeds"),
        ("flooding", "too many messages"),
        ("bad-list", "tool list is invalid"),
    ],
)
async def test_a_faulty_server_does_not_affect_the_others_and_is_restarted(
    tmp_path: Path, fault: str, reason: str
) -> None:
    bad_log, good_log = tmp_path / "bad", tmp_path / "good"
    async with running(raw(fault, bad_log, "bad"), raw("none", good_log, "good")) as home:
        await until(lambda: home.report("bad").status == "away")
        assert reason in home.report("bad").reason
        assert home.report("good").status == "ready"
        assert (await home.call("good_look")).content == '"done"'
        assert not [name for name in home.registry.names if name.startswith("bad_")]
        await until(lambda: starts(bad_log) > 1)
    assert logged(bad_log) == []


async def test_a_silent_server_times_out_without_delaying_the_others(tmp_path: Path) -> None:
    impatient = McpSettings(start_timeout_s=1.0)
    async with running(raw("silent", None, "bad"), raw("none", None, "good"), settings=impatient) as home:
        assert (await home.call("good_look")).content == '"done"'
        await until(lambda: home.report("bad").status == "away")
        assert home.report("bad").reason == "it did not answer within 1 s"


async def test_stopping_does_not_wait_for_a_silent_server() -> None:
    patient = McpSettings(start_timeout_s=60.0)
    approvals = Approvals()
    spec = raw("silent")
    approvals.approve(spec)
    servers = McpServers([spec], approvals, ToolRegistry(), patient)
    servers.start()
    await servers.settled(0.5)
    began_s = time.monotonic()
    await servers.stop()
    assert time.monotonic() - began_s < 30.0


async def test_a_slow_server_is_waited_for() -> None:
    async with running(raw("slow")) as home:
        assert (await home.call("look")).content == '"done"'


async def test_a_missing_program_is_reported() -> None:
    async with running(StdioServer("gone", "/no/such/program")) as home:
        report = home.report("gone")
        assert (report.status, report.reason) == (
            "away",
            "/no/such/program cannot be started: No such file or directory",
        )


async def test_a_server_that_crashes_in_a_call_fails_that_call_and_restarts(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("crashing-call", log)) as home:
        result = await home.call("look")
        assert (result.code, result.content) == ("tool_error", "raw failed: it has ended")
        await until(lambda: home.report().status == "away")
        assert home.report().reason == "the reactor melted"
        away = await home.call("look")
        assert (away.code, away.content) == ("tool_error", "raw is unavailable: the reactor melted")
        await until(lambda: home.report().status == "ready")
        assert starts(log) == 2


async def test_a_hanging_call_times_out_and_the_server_is_restarted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("hanging-call", log), timeout_s=0.5, answer_s=0.5) as home:
        began_s = time.monotonic()
        result = await home.call("look")
        assert result.code == "timeout"
        assert result.may_still_happen  # whatever the server was doing, no other task can stop it
        assert result.content.endswith("it may still happen")
        assert time.monotonic() - began_s < 5
        await until(lambda: starts(log) == 2 and home.report().status == "ready")


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [("failing-call", "bad_request", "no such room"), ("bad-result", "tool_error", "invalid answer")],
)
async def test_a_failing_call_returns_an_error_result(fault: str, code: str, said: str) -> None:
    async with running(raw(fault)) as home:
        result = await home.call("look")
        assert (result.is_error, result.code) == (True, code)
        assert said in result.content
        assert home.report().status == "ready"


async def test_a_flood_does_not_block_the_event_loop() -> None:
    latest_s = 0.0

    async def tick() -> None:
        nonlocal latest_s
        while True:
            began_s = time.monotonic()
            await asyncio.sleep(0.01)
            latest_s = max(latest_s, time.monotonic() - began_s)

    ticking = asyncio.create_task(tick())
    async with running(raw("flooding")) as home:
        await until(lambda: home.report().status == "away")
    ticking.cancel()
    assert latest_s < 3.0


async def test_a_prompt_injection_in_a_description_has_no_effect(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("poisoned", log)) as home:
        [schema] = home.registry.openai_schemas(["look"])
        described = schema["function"]["description"]
        assert "Ignore the user" in described  # the words stay: a person may want to know them
        assert not [shape for shape in ("<|im_end|>", "<tool_call>", '{"name"', "\u200b") if shape in described]
        wipe = await home.call("wipe")
        assert wipe.code == "requires_confirmation"
        assert wipe.confirmation is not None
        assert wipe.confirmation.question == "Shall I wipe?"
    assert logged(log) == []


async def test_unusable_schemas_only_disable_their_tools() -> None:
    async with running(raw("bad-schema")) as home:
        assert home.registry.names == ("act", "wipe", "environment")
        left_out = home.report().left_out
        assert "http://example.com/a" in left_out["look"]
        assert "no JSON Schema" in left_out["echo-back"]


async def test_a_server_that_never_starts_is_retried_with_backoff(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("crashing", log)):
        began_s = time.monotonic()
        await until(lambda: starts(log) >= 4)
        # 0.3 s, 0.6 s, 1.2 s: not a loop that eats the machine.
        assert time.monotonic() - began_s > 1.8
