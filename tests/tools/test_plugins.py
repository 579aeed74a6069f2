"""Plugins: sources, contributions, and isolation of failures."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from edgevox.config import PluginTables
from edgevox.core.errors import ConfigError
from edgevox.core.hooks import Hook
from edgevox.core.types import ToolCall
from edgevox.tools import Tool, ToolExecutor, ToolRegistry, tool
from edgevox.tools.plugin_trial import try_plugin
from edgevox.tools.plugins import PluginHost
from edgevox.tools.plugins.manager import PluginReport, Plugins, PluginStartErrors
from edgevox.tools.plugins.sources import LoadedPlugin, PluginSource, file_sources, package_sources

ECHO = '''
from edgevox import tool, ToolError

@tool
def echo(text: str) -> str:
    """Say it again."""
    if text == "no":
        raise ToolError("I would rather not")
    return text

def register(host):
    host.add_tool(echo)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "plugins"
    folder.mkdir(mode=0o755)
    return folder


def write(folder: Path, name: str, text: str, mode: int = 0o644) -> Path:
    path = folder / f"{name}.py"
    path.write_text(dedent(text), encoding="utf-8")
    path.chmod(mode)
    return path


def plugins_of(folder: Path, registry: ToolRegistry | None = None, **options: Any) -> Plugins:
    return Plugins(registry if registry is not None else ToolRegistry(), file_sources(folder), **options)


def report_of(plugins: Plugins, name: str) -> PluginReport:
    return next(report for report in plugins.reports() if report.name == name)


def source(name: str, register: Any, api_version: object = 1) -> PluginSource:
    return PluginSource(name, f"{name} (test)", lambda: LoadedPlugin(register, api_version))


@tool
def harmless() -> str:
    """Do nothing."""
    return "done"


# --- where plugins come from


async def test_a_file_in_the_folder_adds_its_tools(folder: Path) -> None:
    write(folder, "parrot", ECHO)
    registry = ToolRegistry()
    plugins = plugins_of(folder, registry)
    assert registry.names == ("echo",)
    assert registry.owner("echo") == "plugin parrot"
    result = await ToolExecutor(registry).dispatch(ToolCall("1", "echo", '{"text": "hello"}'))
    assert result.content == '"hello"'
    path = folder / "parrot.py"
    assert plugins.reports() == (PluginReport("parrot", str(path), "on", tools=("echo",)),)


def test_no_folder_means_no_plugins(tmp_path: Path) -> None:
    assert file_sources(tmp_path / "nowhere") == ()


def test_folders_and_files_that_begin_with_an_underscore_are_not_plugins(folder: Path) -> None:
    write(folder, "_shared", "raise SystemExit")
    write(folder, ".hidden", "raise SystemExit")
    (folder / "tests").mkdir()
    write(folder / "tests", "test_parrot", "raise SystemExit")
    assert file_sources(folder) == ()


@pytest.mark.parametrize("points_at", ["parrot_package", "parrot_package:register"])
def test_an_installed_package_may_provide_a_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points_at: str
) -> None:
    (tmp_path / "parrot_package.py").write_text(ECHO, encoding="utf-8")
    about = tmp_path / "edgevox_parrot-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: edgevox-parrot\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(f"[edgevox.plugins]\nparrot = {points_at}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "parrot_package", raising=False)
    registry = ToolRegistry()
    plugins = Plugins(registry, package_sources())
    assert report_of(plugins, "parrot") == PluginReport("parrot", "edgevox-parrot 1.2", "on", tools=("echo",))


# --- files that others could have written


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_can_write_to_is_not_run(folder: Path, mode: int) -> None:
    path = write(folder, "parrot", ECHO, mode)
    report = report_of(plugins_of(folder), "parrot")
    assert report.status == "disabled"
    assert report.reason == f"other users can write to {path}"
    assert report.fix == f"chmod go-w {path}"


def test_a_folder_that_others_can_write_to_is_not_trusted(folder: Path) -> None:
    write(folder, "parrot", ECHO)
    folder.chmod(0o777)
    report = report_of(plugins_of(folder), "parrot")
    assert (report.status, report.fix) == ("disabled", f"chmod go-w {folder}")


def test_a_symlink_is_resolved_before_the_permission_check(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (folder / "parrot.py").symlink_to(write(elsewhere, "real", ECHO))
    assert report_of(plugins_of(folder), "parrot").status == "on"
    elsewhere.chmod(0o777)
    assert report_of(plugins_of(folder), "parrot").fix == f"chmod go-w {elsewhere}"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_run(folder: Path) -> None:
    path = write(folder, "parrot", ECHO)
    os.chown(path, 12345, -1)
    report = report_of(plugins_of(folder), "parrot")
    assert "belongs to another user" in report.reason
    assert str(path) in report.fix


# --- one that fails fails alone


@pytest.mark.parametrize(
    ("text", "reason", "fix"),
    [
        ("import nonsense_package.inner", "No module named 'nonsense_package'", "install nonsense_package"),
        ("def register(host:", "SyntaxError: '(' was never closed (bad.py, line 1)", "enabled = false"),
        ("x = 1\n\n1 / 0", "ZeroDivisionError: division by zero (bad.py, line 3)", "[plugins.bad]"),
        ("raise SystemExit(3)", "SystemExit: 3", "enabled = false"),
        ("x = 1", "it has no function register(host)", "def register(host):"),
        ("register = 3", "it has no function register(host)", "def register(host):"),
        ("def register(host):\n    raise ValueError('a\\nb')", "ValueError: a b (bad.py, line 2)", "false"),
        ("def register():\n    pass", "TypeError: register() takes 0 positional arguments", "fix it"),
        ("async def register(host):\n    pass", "its register function is async", "host.on_start"),
        ("def register(host):\n    host.add_tool(len)", "is not a tool", "@tool"),
        ("def register(host):\n    host.add_hook(3)", "is not a hook", "Hook subclass"),
        (
            "API_VERSION = 2\ndef register(host):\n    pass",
            "written for version 2 of the plugin API; this is version 1",
            "update",
        ),
        (
            "from edgevox import tool\n@tool\ndef f(x):\n    'Do it.'\ndef register(host):\n    pass",
            "the parameter x of f has no type",
            "write x: str",
        ),
    ],
)
def test_a_failing_plugin_is_disabled_with_a_reason_and_does_not_affect_others(
    folder: Path, text: str, reason: str, fix: str
) -> None:
    write(folder, "bad", text)
    write(folder, "parrot", ECHO)
    registry = ToolRegistry()
    plugins = plugins_of(folder, registry)
    report = report_of(plugins, "bad")
    assert report.status == "disabled"
    assert reason in report.reason
    assert fix in report.fix
    assert registry.names == ("echo",)


def test_an_exception_with_a_failing_str_does_not_escape() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def register(_host: PluginHost) -> None:
        raise Mute

    (report,) = Plugins(ToolRegistry(), [source("mute", register)]).reports()
    assert "Mute" in report.reason


def test_contributions_of_a_failed_plugin_are_removed() -> None:
    def register(host: PluginHost) -> None:
        host.add_tool(harmless)
        host.add_hook(Hook())
        raise RuntimeError("too late")

    registry = ToolRegistry()
    plugins = Plugins(registry, [source("half", register)])
    assert registry.names == ()
    assert plugins.hooks == ()
    assert report_of(plugins, "half").tools == ()


def test_a_taken_tool_name_disables_the_later_plugin() -> None:
    @tool(name="Harmless")
    def other() -> str:
        """Do something else."""
        return ""

    registry = ToolRegistry([harmless])
    plugins = Plugins(registry, [source("late", lambda host: host.add_tool(other))])
    assert registry.names == ("harmless",)
    assert report_of(plugins, "late").reason == ("two tools are called Harmless: one of edgevox, one of plugin late")


def test_a_plugin_called_edgevox_cannot_remove_the_built_in_tools() -> None:
    def register(_host: PluginHost) -> None:
        raise RuntimeError

    registry = ToolRegistry([harmless])
    Plugins(registry, [source("edgevox", register)])
    assert registry.names == ("harmless",)


def test_of_two_plugins_of_one_name_the_second_is_disabled() -> None:
    registry = ToolRegistry()
    plugins = Plugins(
        registry, [source("twin", lambda host: host.add_tool(harmless)), source("twin", lambda _host: None)]
    )
    first, second = plugins.reports()
    assert (first.status, second.status) == ("on", "disabled")
    assert second.reason == "another plugin has the same name: twin (test)"
    assert (first.tools, second.tools) == (("harmless",), ())
    assert registry.names == ("harmless",)


def test_an_invalid_plugin_name_is_refused(folder: Path) -> None:
    write(folder, "my parrot", ECHO)
    assert "is not a valid plugin name" in report_of(plugins_of(folder), "my parrot").reason


# --- settings


def test_a_plugin_gets_its_own_table_and_cannot_change_it() -> None:
    got: list[Any] = []
    tables = PluginTables.model_validate({"mine": {"city": "Bonn", "enabled": True}, "other": {"x": 1}})
    Plugins(ToolRegistry(), [source("mine", lambda host: got.append(host.settings))], tables)
    assert got == [{"city": "Bonn"}]
    with pytest.raises(TypeError):
        got[0]["city"] = "Rome"


def test_a_disabled_plugin_is_not_imported(folder: Path) -> None:
    write(folder, "bad", "raise RuntimeError")
    plugins = plugins_of(folder, settings=PluginTables.model_validate({"bad": {"enabled": False}, "gone": {}}))
    assert (report_of(plugins, "bad").status, report_of(plugins, "bad").reason) == ("off", "")
    assert plugins.unknown_tables() == ("gone",)


# --- hooks, start and stop


async def test_start_and_stop_are_called_in_order_sync_and_async() -> None:
    story: list[str] = []
    registry = ToolRegistry()

    def register(host: PluginHost) -> None:
        host.add_hook(Hook())

        @host.on_start
        async def connect() -> None:
            await asyncio.sleep(0)
            story.append("connect")
            host.add_tool(harmless)  # what a plugin has to offer may only be known now

        host.on_start(lambda: story.append("begin"))
        host.on_stop(lambda: story.append("end"))

    plugins = Plugins(registry, [source("lamp", register)])
    assert story == []
    await plugins.start()
    assert story == ["connect", "begin"]
    assert registry.names == ("harmless",)
    assert [hook.name for hook in plugins.hooks] == ["hook"]
    await plugins.stop()
    assert story == ["connect", "begin", "end"]
    assert len(registry) == 0
    assert plugins.hooks == ()
    await plugins.stop()
    assert story == ["connect", "begin", "end"]


async def test_only_the_named_plugins_are_started() -> None:
    story: list[str] = []
    sources = [source(name, lambda host, name=name: host.on_start(lambda: story.append(name))) for name in ("a", "b")]
    plugins = Plugins(ToolRegistry(), sources)
    await plugins.start(["b"])
    assert story == ["b"]
    await plugins.start()
    assert story == ["b", "a"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_failed_start_disables_only_that_plugin(is_async: bool, caplog: pytest.LogCaptureFixture) -> None:
    stopped: list[str] = []

    async def fail_async() -> None:
        raise ConnectionError("no route to the hub")

    def fail() -> None:
        raise ConnectionError("no route to the hub")

    def register(host: PluginHost) -> None:
        host.add_tool(harmless)
        host.on_start(fail_async if is_async else fail)
        host.on_stop(lambda: stopped.append("bad"))

    registry = ToolRegistry()
    plugins = Plugins(registry, [source("bad", register), source("good", lambda _host: None)])
    with caplog.at_level(logging.WARNING):
        await plugins.start()
    report = report_of(plugins, "bad")
    assert (report.status, report.tools) == ("disabled", ())
    assert report.reason == "its start failed: ConnectionError: no route to the hub"
    assert report_of(plugins, "good").status == "on"
    assert registry.names == ()
    assert stopped == ["bad"]
    assert "the plugin bad is disabled: its start failed" in caplog.text


async def test_a_hanging_start_times_out_without_delaying_the_others() -> None:
    started: list[str] = []

    async def hang() -> None:
        await asyncio.Event().wait()

    def register(host: PluginHost) -> None:
        host.add_tool(harmless)
        host.on_start(hang)

    registry = ToolRegistry()
    plugins = Plugins(
        registry,
        [source("stuck", register), source("good", lambda host: host.on_start(lambda: started.append("good")))],
        start_timeout_s=0.05,
    )
    async with asyncio.timeout(10):
        await plugins.start()
    assert report_of(plugins, "stuck").reason == "its start took longer than 0.05 s"
    assert registry.names == ()
    assert started == ["good"]


async def test_a_timed_out_start_can_register_nothing() -> None:
    hosts: list[PluginHost] = []

    def register(host: PluginHost) -> None:
        hosts.append(host)
        host.on_start(asyncio.Event().wait)

    plugins = Plugins(ToolRegistry(), [source("stuck", register)], start_timeout_s=0.01)
    await plugins.start()
    with pytest.raises(ConfigError, match="has been stopped or disabled"):
        hosts[0].add_tool(harmless)
    with pytest.raises(ConfigError, match="has been stopped or disabled"):
        hosts[0].add_hook(Hook())


async def test_a_failing_or_hanging_stop_does_not_delay_the_others(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError("already closed")

    plugins = Plugins(
        ToolRegistry(),
        [
            source("stuck", lambda host: host.on_stop(asyncio.Event().wait)),
            source("bad", lambda host: host.on_stop(fail)),
        ],
        stop_timeout_s=0.05,
    )
    await plugins.start()
    async with asyncio.timeout(10):
        await plugins.stop()
    assert "the plugin stuck did not stop cleanly: its stop took longer than 0.05 s" in caplog.text
    assert "the plugin bad did not stop cleanly: its stop failed: OSError: already closed" in caplog.text


# --- what is remembered for doctor


async def test_a_failed_start_is_stored_until_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "state" / "plugins.json"
    is_broken = True

    def connect() -> None:
        if is_broken:
            raise OSError("unplugged")

    def load() -> Plugins:
        return Plugins(
            ToolRegistry(), [source("hub", lambda host: host.on_start(connect))], troubles=PluginStartErrors(path)
        )

    await load().start()
    report = report_of(load(), "hub")
    assert report.status == "on"
    assert report.trouble.startswith("its start failed: OSError: unplugged (20")
    is_broken = False
    await load().start()
    assert report_of(load(), "hub").trouble == ""


@pytest.mark.parametrize("content", ["{", "[1]", "\x00"])
def test_a_corrupt_file_of_start_errors_is_ignored(tmp_path: Path, content: str) -> None:
    path = tmp_path / "plugins.json"
    path.write_text(content)
    assert PluginStartErrors(path).read() == {}
    PluginStartErrors(path).note({"hub": "unplugged"})
    assert PluginStartErrors(path).read()["hub"].startswith("unplugged (20")


# --- trying one


def test_a_plugin_can_be_tried_in_a_test(folder: Path) -> None:
    path = write(folder, "parrot", ECHO)
    assert try_plugin(path, "echo", {"text": "hello"}).content == '"hello"'
    refused = try_plugin(path, "echo", {"text": "no"})
    assert (refused.code, refused.content) == ("tool_error", "I would rather not")


def test_trying_a_plugin_that_would_be_disabled_raises_the_reason(folder: Path) -> None:
    with pytest.raises(ConfigError, match="the plugin bad is disabled: it has no function register"):
        try_plugin(write(folder, "bad", "x = 1"), "echo", {})


def test_a_tool_made_without_the_decorator_can_be_added() -> None:
    built = Tool.function("look_up", "Look something up.").param("what").build(lambda what="": what)
    registry = ToolRegistry()
    Plugins(registry, [source("lookup", lambda host: host.add_tool(built))])
    assert registry.names == ("look_up",)
