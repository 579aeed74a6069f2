"""Working servers over stdio and HTTP: tool names, approvals and confirmations."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from edgevox.config import McpSettings
from edgevox.tools import ToolRegistry, tool
from edgevox.tools.mcp.approvals import Approvals
from edgevox.tools.mcp.config import HttpServer
from edgevox.tools.mcp.servers import McpServers
from edgevox.tools.policy import Caller
from tests.tools.mcp.running import is_alive, logged, raw, running, sdk, sdk_over_http, starts, until


async def test_a_server_of_the_sdk_is_used_over_stdio() -> None:
    async with running(sdk()) as home:
        assert home.registry.names == ("add", "greet", "learn", "divide")
        assert (await home.call("add", '{"a": 2, "b": 3}')).content == '"5"'
        assert "Hello, Mara!" in (await home.call("greet", '{"name": "Mara"}')).content
        failed = await home.call("divide", '{"a": 1, "b": 0}')
        assert (failed.is_error, failed.code) == (True, "tool_error")
        assert (await home.call("add", '{"a": "two", "b": 3}')).code == "bad_request"


async def test_a_server_of_the_sdk_is_used_over_http() -> None:
    async with sdk_over_http() as url, running(HttpServer("sdk", url)) as home:
        assert home.registry.names == ("add", "greet", "learn", "divide")
        assert (await home.call("add", '{"a": 2, "b": 3}')).content == '"5"'


@pytest.mark.parametrize("by", ["stdio", "http"])
async def test_a_new_tool_is_noticed_at_once_and_waits_for_approval(by: str) -> None:
    async with AsyncExitStack() as stack:
        spec = sdk() if by == "stdio" else HttpServer("sdk", await stack.enter_async_context(sdk_over_http()))
        home = await stack.enter_async_context(running(spec))
        asked = await home.call("learn")
        assert asked.confirmation is not None
        learnt = await home.executor.dispatch_confirmed(
            asked.confirmation.call, asked.confirmation.token, channel="keyboard"
        )
        assert learnt.content == '"learnt"'
        await until(lambda: home.report("sdk").waiting == ("sit",))
        assert "sit" not in home.registry


async def test_tools_of_several_servers_are_prefixed_and_called_by_their_own_name(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    async with running(raw("none", one, "files"), raw("none", other, "my-hub")) as home:
        assert {"files_look", "my_hub_look", "my_hub_echo_back"} <= set(home.registry.names)
        assert (await home.call("my_hub_echo_back", '{"text": "ho"}')).content == '"ho"'
    assert (logged(one), logged(other)) == ([], ['echo-back {"text": "ho"}'])


async def test_a_taken_name_is_prefixed_with_the_servers_name() -> None:
    @tool
    def look() -> str:
        """Our own."""
        return "ours"

    async with running(raw(), registry=ToolRegistry([look])) as home:
        assert (await home.call("look")).content == '"ours"'
        assert (await home.call("raw_look")).content == '"done"'


async def test_nothing_with_side_effects_runs_unconfirmed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("none", log)) as home:
        act = await home.call("act", '{"what": "x"}')
        wipe = await home.call("wipe")
        assert [one.code for one in (act, wipe)] == ["requires_confirmation"] * 2
        assert act.confirmation is not None
        assert wipe.confirmation is not None
        # No hint at all is a side effect; what destroys needs more than a voice.
        assert (act.confirmation.level, wipe.confirmation.level) == ("voice", "screen")
        assert logged(log) == []
        assert (await home.call("look")).content == '"done"'
        reader = Caller("reader", frozenset({"read"}))
        assert (await home.call("act", '{"what": "x"}', reader)).code == "token_scope_insufficient"
        assert logged(log) == ["look {}"]


async def test_an_unapproved_server_is_not_started(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("none", log), approved=()) as home:
        assert home.report().status == "unapproved"
        assert home.registry.names == ()
    assert not log.exists()


async def test_another_command_under_the_same_name_is_not_approved(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "approved.json")
    async with running(raw("none"), approvals=approvals):
        pass
    async with running(raw("poisoned"), approvals=approvals, approved=()) as home:
        assert home.report().status == "unapproved"


async def test_approved_tools_are_offered_before_their_server_is_up_and_a_call_waits(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "approved.json")
    slow = raw("slow")
    async with running(slow, approvals=approvals):
        pass
    async with running(slow, approvals=approvals) as home:
        assert home.report().status in ("stopped", "starting")
        assert "look" in home.registry
        assert (await home.call("look")).content == '"done"'
        assert home.report().status == "ready"


async def test_a_changed_tool_needs_approval_again(tmp_path: Path) -> None:
    log, approvals = tmp_path / "log", Approvals(tmp_path / "approved.json")
    spec = raw("changing", log)
    async with running(spec, approvals=approvals) as home:
        await until(lambda: home.report().waiting == ("act", "look", "new"))
        # `act` now says that it only reads: that does not count before it is approved.
        assert [(await home.call(name)).code for name in ("look", "act", "new")] == ["bad_request"] * 3
        assert (await home.call("echo_back", '{"text": "still here"}')).content == '"still here"'
    assert logged(log) == ['echo-back {"text": "still here"}']
    changed = {change.now.name: change for change in approvals.changes(spec)}
    assert "passwords" in changed["look"].now.description
    assert changed["look"].before is not None
    assert changed["look"].before.description == "Look around."
    assert changed["new"].before is None
    approvals.accept(spec)
    assert approvals.changes(spec) == ()
    again = ToolRegistry()
    McpServers([spec], approvals, again)
    assert {"look", "act", "new"} <= set(again.names)


async def test_a_server_gets_only_its_configured_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_BANK_TOKEN", "secret")
    monkeypatch.setenv("WIKI", "of the wiki")
    spec = raw()
    given = type(spec)(spec.id, spec.command, spec.args, {"TOKEN": "${WIKI}", "MODE": "fast"})
    async with running(given) as home:
        text = json.loads((await home.call("environment")).content)
    environment = text if isinstance(text, dict) else json.loads(text)
    assert (environment["TOKEN"], environment["MODE"]) == ("of the wiki", "fast")
    assert "MY_BANK_TOKEN" not in environment
    assert not [name for name in environment if name.startswith("EDGEVOX_")]
    # A fresh session and nothing else: HOME, PATH and their like.
    assert set(environment) <= {
        *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TOKEN", "MODE"),
        *("LC_CTYPE", "PWD", "SHLVL", "_"),
    }


async def test_servers_end_with_the_assistant(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(raw("none", log)) as home:
        assert (await home.call("look")).content == '"done"'
        pid = int(log.read_text().splitlines()[0].removeprefix("started "))
        assert is_alive(pid)
    assert not is_alive(pid)


async def test_tool_lists_are_refreshed_periodically(tmp_path: Path) -> None:
    log = tmp_path / "log"
    quick = McpSettings(start_timeout_s=8.0, tool_refresh_s=0.1)
    spec = raw("mute-after-list", log)
    # A server that stops answering is noticed by the next refresh, though it never crashed.
    async with running(spec, settings=quick, answer_s=0.3):
        await until(lambda: starts(log) > 1)
