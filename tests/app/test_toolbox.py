"""The tools of an installation: what its settings make of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from edgevox.app.toolbox import Toolbox
from edgevox.config import Settings, load_settings
from edgevox.core.files import Folders
from edgevox.core.hooks import Hook
from edgevox.core.types import ToolCall
from edgevox.home import DemoHome, catalogue
from edgevox.home.alarms.sun import NoLocation
from edgevox.home.entities import Location
from edgevox.tools import ToolStats, tool
from edgevox.tools.plugins import PluginHost
from edgevox.tools.plugins.sources import LoadedPlugin, PluginSource

HOME_TOOLS = tuple(catalogue())


def names_for_the_home_model(toolbox: Toolbox) -> tuple[str, ...]:
    return toolbox.offered("")


def settings_of(**tables: Any) -> Settings:
    return Settings.model_validate(tables)


def source(name: str, register: Any) -> PluginSource:
    return PluginSource(name, name, lambda: LoadedPlugin(register))


async def transcribed(path: Path) -> str:
    return path.name


@tool(side_effects=True)
def ring_bell(times: int = 1) -> str:
    """Ring the bell."""
    return f"rang {times} times"


def bell(host: PluginHost) -> None:
    host.add_tool(ring_bell)
    host.add_hook(Hook())


def test_without_settings_there_are_the_home_tools(folders: Folders) -> None:
    toolbox = Toolbox(load_settings(folders, environ={}), folders)
    assert names_for_the_home_model(toolbox) == HOME_TOOLS
    assert "calculate" in toolbox.registry
    assert isinstance(toolbox.home, DemoHome)
    assert set(toolbox.not_offered) == {"search_corpus", "list_corpora", "transcribe_audio"}
    assert not folders.state.exists()


def test_the_place_of_the_home_comes_from_the_settings_or_the_home(folders: Folders) -> None:
    home = DemoHome()
    located = Toolbox(settings_of(home={"latitude": 52.5, "longitude": 13.4}), folders, home=home, sources=[])
    assert located.alarms.sun_times.location() == Location(52.5, 13.4)
    unknown = Toolbox(settings_of(), folders, home=home, sources=[])
    with pytest.raises(NoLocation, match=r"home\.latitude"):
        unknown.alarms.sun_times.location()


def test_documents_and_sound_files_are_offered_where_their_folders_are_set(folders: Folders, tmp_path: Path) -> None:
    settings = settings_of(tools={"documents": tmp_path, "sound_folders": [tmp_path]})
    toolbox = Toolbox(settings, folders, transcribe=transcribed, sources=[])
    assert names_for_the_home_model(toolbox) == (*HOME_TOOLS, "search_corpus", "list_corpora", "transcribe_audio")
    assert toolbox.not_offered == {}
    without = Toolbox(settings, folders, sources=[])
    assert without.not_offered == {"transcribe_audio": "STT is not loaded"}


async def test_the_demo_home_does_what_it_is_told_and_remembers(folders: Folders) -> None:
    async with Toolbox(settings_of(), folders, sources=[]) as toolbox:
        call = ToolCall("1", "light_set", '{"name": "desk lamp", "brightness": 30}')
        assert (await toolbox.executor.dispatch(call)).speech is not None
    lamp = Toolbox(settings_of(), folders, sources=[]).home.house().entity("light.desk_lamp")
    assert lamp is not None
    assert (lamp.state, lamp.attributes["brightness"]) == ("on", 30)


async def test_a_file_in_the_plugins_folder_is_part_of_it(folders: Folders) -> None:
    path = folders.config / "plugins" / "clock.py"
    path.parent.mkdir(parents=True, mode=0o755)
    path.write_text(
        "from edgevox import tool\n"
        "def register(host):\n"
        "    @tool\n"
        "    def chime() -> str:\n"
        "        'Strike the hour.'\n"
        "        return host.settings['sound']\n"
        "    host.add_tool(chime)\n",
        encoding="utf-8",
    )
    path.chmod(0o644)
    async with Toolbox(settings_of(plugins={"clock": {"sound": "dong"}}), folders) as toolbox:
        assert toolbox.registry.owner("chime") == "plugin clock"
        assert (await toolbox.executor.dispatch(ToolCall("1", "chime", "{}"))).content == '"dong"'


def test_a_tool_that_is_switched_off_is_not_offered_whoever_brings_it(folders: Folders) -> None:
    toolbox = Toolbox(
        settings_of(tools={"disabled": ["broadcast", "ring_bell", "brodcast"]}), folders, sources=[source("bell", bell)]
    )
    assert "broadcast" not in toolbox.registry
    assert "ring_bell" not in toolbox.registry
    assert toolbox.not_offered["ring_bell"] == "disabled in the settings (tools.disabled)"
    assert toolbox.unknown_names == ("brodcast",)
    (report,) = toolbox.plugins.reports()
    assert report.status == "on"


async def test_the_settings_decide_which_calls_need_a_yes(folders: Folders) -> None:
    async def needs_a_yes(name: str, arguments: str = "{}", **tools: Any) -> bool:
        toolbox = Toolbox(settings_of(tools=tools), folders, sources=[source("bell", bell)])
        result = await toolbox.executor.dispatch(ToolCall("1", name, arguments))
        return result.code == "requires_confirmation"

    unlock = '{"name": "front door"}'
    assert await needs_a_yes("turn_off", unlock)
    assert not await needs_a_yes("turn_off", unlock, confirm_domains={"lock": "never"})
    assert not await needs_a_yes("ring_bell")
    assert await needs_a_yes("ring_bell", confirm_tools={"ring_bell": "voice"})
    assert await needs_a_yes("ring_bell", confirm_otherwise="voice")


async def test_a_confirmation_expires_when_the_settings_say_so(folders: Folders) -> None:
    tools = {"confirm_tools": {"ring_bell": "voice"}, "confirm_within_s": 1e-6}
    toolbox = Toolbox(settings_of(tools=tools), folders, sources=[source("bell", bell)])
    call = ToolCall("1", "ring_bell", "{}")
    pending = (await toolbox.executor.dispatch(call)).confirmation
    assert pending is not None
    result = await toolbox.executor.dispatch_confirmed(call, pending.token)
    assert (result.code, "too late" in result.content) == ("tool_denied", True)


async def test_timeouts_are_the_settings_and_a_single_tools_own_goes_first(folders: Folders) -> None:
    @tool(timeout_s=3_000)
    async def sleep_long() -> None:
        """Sleep."""
        await asyncio.Event().wait()

    @tool
    async def sleep_short() -> None:
        """Sleep."""
        await asyncio.Event().wait()

    def register(host: PluginHost) -> None:
        host.add_tool(sleep_long)
        host.add_tool(sleep_short)

    toolbox = Toolbox(
        settings_of(tools={"timeout_s": 0.02, "timeouts_s": {"sleep_long": 0.01}}),
        folders,
        sources=[source("bed", register)],
    )
    async with asyncio.timeout(10):
        long, short = await toolbox.executor.dispatch_all(
            [ToolCall("1", "sleep_long", "{}"), ToolCall("2", "sleep_short", "{}")]
        )
    assert "within 0.01 s" in long.content
    assert "within 0.02 s" in short.content


async def test_hooks_are_the_assistants_and_those_of_the_plugins_while_it_is_open(folders: Folders) -> None:
    toolbox = Toolbox(settings_of(), folders, sources=[source("bell", bell)])
    async with toolbox:
        *of_the_assistant, of_the_plugin = [hook.name for hook in toolbox.hooks()]
        assert "command_clauses" in of_the_assistant
        assert of_the_plugin == "hook"
        assert "ring_bell" in toolbox.registry
    assert [hook.name for hook in toolbox.hooks()] == of_the_assistant
    assert names_for_the_home_model(toolbox) == HOME_TOOLS


async def test_a_plugin_that_cannot_start_leaves_everything_else_in_place(folders: Folders) -> None:
    def register(host: PluginHost) -> None:
        host.add_tool(ring_bell)
        host.on_start(asyncio.Event().wait)

    settings = settings_of(tools={"plugin_timeout_s": 0.02})
    async with Toolbox(settings, folders, sources=[source("bell", register)]) as toolbox:
        assert names_for_the_home_model(toolbox) == HOME_TOOLS
        (report,) = toolbox.plugins.reports()
        assert report.reason == "its start took longer than 0.02 s"
    # Another process, `edgevox doctor`, knows of it.
    (again,) = Toolbox(settings, folders, sources=[source("bell", bell)]).plugins.reports()
    assert again.trouble.startswith("its start took longer")


async def test_the_counts_are_kept_at_the_end(folders: Folders) -> None:
    async with Toolbox(settings_of(), folders, sources=[]) as toolbox:
        await toolbox.executor.dispatch(ToolCall("1", "get_current_time", "{}"))
    assert ToolStats(folders.state).summary()["get_current_time"].chosen == 1


async def test_counts_that_cannot_be_kept_do_not_end_in_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "state").write_text("no folder")
    folders = Folders(tmp_path / "config", tmp_path / "state", tmp_path / "models")
    async with Toolbox(settings_of(), folders, sources=[]) as toolbox:
        await toolbox.executor.dispatch(ToolCall("1", "nevermind", "{}"))
    assert "cannot be used" in caplog.text
