"""The home that the settings select, and the messages of one that is not set up."""

from __future__ import annotations

import re

import pytest

from edgevox.config import Settings
from edgevox.config.secrets import write_secret
from edgevox.config.sections import HomeSettings, MqttSettings
from edgevox.config.settings import SttSettings
from edgevox.core.files import Folders
from edgevox.home import Action, ConnectedHome, DemoHome, HomeError
from edgevox.home.backends.factory import open_home, password_file, token_file

ADDRESS = "http://127.0.0.1:9"
HOME_ASSISTANT = HomeSettings(kind="home_assistant", url=ADDRESS, timeout_s=1)


def opened(folders: Folders, home: HomeSettings) -> ConnectedHome:
    return open_home(Settings(home=home), folders)


async def says_what_to_do(home: ConnectedHome, part: str) -> None:
    await home.start()
    assert part in home.problem
    with pytest.raises(HomeError, match=re.escape(part)):
        home.house()
    with pytest.raises(HomeError, match=re.escape(part)):
        await home.apply(Action("turn_on", ()))
    with pytest.raises(HomeError, match=re.escape(part)):
        await home.items("todo.shopping_list")
    with pytest.raises(HomeError, match=re.escape(part)):
        await home.announce("Dinner is ready.")
    await home.close()


def test_without_a_setup_it_is_the_demo_home(folders: Folders) -> None:
    assert isinstance(opened(folders, HomeSettings()), DemoHome)


@pytest.mark.parametrize("home", [HOME_ASSISTANT, HomeSettings(kind="home_assistant")])
async def test_a_home_without_a_token_or_a_url_is_reported(folders: Folders, home: HomeSettings) -> None:
    if home.url is None:
        write_secret(token_file(folders), "token")
    await says_what_to_do(opened(folders, home), "edgevox home setup")


@pytest.mark.parametrize("kind", ["home_assistant", "mqtt"])
async def test_a_secret_that_others_can_read_is_not_used(folders: Folders, kind: str) -> None:
    path = token_file(folders) if kind == "home_assistant" else password_file(folders)
    write_secret(path, "a-well-kept-secret")
    path.chmod(0o640)
    home = opened(folders, HomeSettings.model_validate({"kind": kind, "url": ADDRESS}))
    await says_what_to_do(home, f"chmod 600 {path}")
    assert home.problem.endswith(str(path)), "the command can be copied"
    assert "a-well-kept" not in home.problem


async def test_an_invalid_secret_is_reported(folders: Folders) -> None:
    token_file(folders).parent.mkdir(parents=True)
    token_file(folders).write_bytes(b"\xff\xfe")
    await says_what_to_do(opened(folders, HOME_ASSISTANT), "edgevox home setup")


async def test_an_unreachable_home_is_reported_without_raising(folders: Folders) -> None:
    write_secret(token_file(folders), "token")
    await says_what_to_do(opened(folders, HOME_ASSISTANT), "cannot reach Home Assistant")


async def test_a_missing_broker_is_reported(folders: Folders) -> None:
    write_secret(password_file(folders), "password")
    settings = Settings(home=HomeSettings(kind="mqtt", timeout_s=1), mqtt=MqttSettings(host="127.0.0.1", port=9))
    home = open_home(settings, folders)
    await home.start()
    with pytest.raises(HomeError, match="no MQTT broker at port 9"):
        home.house()
    await home.close()


@pytest.mark.parametrize(
    ("language", "name"), [("en", "Kitchen Light"), ("de", "Küchenlicht"), ("sv", "Kitchen Light")]
)
def test_the_demo_home_has_names_in_the_language_that_is_set(folders: Folders, language: str, name: str) -> None:
    light = open_home(Settings(stt=SttSettings(language=language)), folders).house().entity("light.kitchen")
    assert light is not None
    assert light.name == name
