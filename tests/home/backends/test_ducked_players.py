"""Media players of the room are lowered while a user speaks there, in the demo home."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from edgevox.app.home_context import HomeContext
from edgevox.app.runtime import AssistantRuntime
from edgevox.app.toolbox import Toolbox
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.home import DemoHome
from edgevox.home.backends.ducked_players import HomeWithDuckedPlayers
from edgevox.home.backends.wrapped import home_part
from edgevox.home.entities import Action, Home
from edgevox.models import ModelStore

TV, ROOM = "media_player.tv", "Living Room"


def volume(home: Home) -> object:
    entity = home.house().entity(TV)
    assert entity is not None
    return entity.attributes["volume_level"]


async def set_volume(home: Home, level: int) -> None:
    entity = home.house().entity(TV)
    assert entity is not None
    await home.apply(Action("set_volume", (entity,), {"volume_level": level}))


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10.0):
        while not is_so():  # noqa: ASYNC110  (the home has no event for it)
            await asyncio.sleep(0.01)


@pytest.fixture
def demo() -> DemoHome:
    return DemoHome()


@pytest.fixture
async def home(demo: DemoHome, tmp_path: Path) -> HomeWithDuckedPlayers:
    home = HomeWithDuckedPlayers(demo, tmp_path / "ducked.json")
    await home.start()
    return home


async def test_players_are_lowered_until_the_last_reason_in_their_room_is_gone(
    demo: DemoHome, home: HomeWithDuckedPlayers
) -> None:
    home.duck("kitchen satellite", "Kitchen", True)
    home.duck("first", ROOM, True)
    home.duck("second", "living room", True)
    await until(lambda: volume(demo) == 12)
    assert volume(home) == 40, "commands see the volume from before"
    home.duck("first", ROOM, False)
    home.duck("kitchen satellite", "Kitchen", False)
    assert volume(demo) == 12
    home.duck("second", ROOM, False)
    await until(lambda: volume(demo) == 40)
    await home.close()


async def test_a_volume_that_is_set_meanwhile_stays(demo: DemoHome, home: HomeWithDuckedPlayers) -> None:
    for change in (home, demo):  # by a command, and by hand
        await set_volume(demo, 40)
        home.duck("turn", ROOM, True)
        await until(lambda: volume(demo) == 12)
        await set_volume(change, 55)
        home.duck("turn", ROOM, False)
        await home.close()
        assert volume(demo) == 55
        await home.start()
    await home.close()


async def test_the_volume_comes_back_after_a_crash(demo: DemoHome, home: HomeWithDuckedPlayers, tmp_path: Path) -> None:
    home.duck("turn", ROOM, True)
    await until(lambda: volume(demo) == 12)
    again = HomeWithDuckedPlayers(demo, tmp_path / "ducked.json")
    await again.start()
    await until(lambda: volume(demo) == 40)
    home.duck("turn", ROOM, False)
    await again.close()
    await home.close()
    assert volume(demo) == 40


async def test_the_setting_reaches_the_voice_sessions_and_a_stop_restores(folders: Folders, store: ModelStore) -> None:
    settings = load_settings(folders, flags={"home.duck_players": True}, environ={})
    runtime = AssistantRuntime(settings, folders, store, ())
    async with Toolbox(settings, folders) as toolbox:
        runtime.home_context = HomeContext(settings, runtime.preset, toolbox)
        demo = home_part(toolbox.home, DemoHome)
        assert demo is not None
        runtime.voice_sessions.duck_players("turn", ROOM, True)
        await until(lambda: volume(demo) == 12)
    assert volume(demo) == 40
