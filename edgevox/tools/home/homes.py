"""The home that the settings choose."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import assert_never

from edgevox.errors import ConfigError
from edgevox.folders import Folders
from edgevox.settings import Settings
from edgevox.settings.secret_file import read_secret
from edgevox.tools.home.demo import FILE_NAME as DEMO_FILE
from edgevox.tools.home.demo import DemoHome
from edgevox.tools.home.home import Action, ConnectedHome, HomeError
from edgevox.tools.home.house import Entity, House, ListItem
from edgevox.tools.home.local_lists import FILE_NAME as LISTS_FILE
from edgevox.tools.home.local_lists import WithLocalLists

_log = logging.getLogger(__name__)

SET_UP = "Run edgevox home setup."
_SET_UP_AGAIN = "run edgevox home setup again"


def token_file(folders: Folders) -> Path:
    """Where the token of Home Assistant is kept."""
    return folders.config / "home-assistant.token"


def password_file(folders: Folders) -> Path:
    """Where the password for the MQTT broker is kept."""
    return folders.config / "mqtt.password"


def open_home(settings: Settings, folders: Folders) -> ConnectedHome:
    """The home, not yet connected. Raises nothing: a home that is not set up says so when it is used."""
    if settings.home.kind == "demo":
        return DemoHome(folders.state / DEMO_FILE)
    try:
        home = _real_home(settings, folders)
    except ConfigError as error:
        home = MissingHome(f"{error.message}: {error.hint}")
    return WithLocalLists(home, folders.state / LISTS_FILE)


def _real_home(settings: Settings, folders: Folders) -> ConnectedHome:
    """Raises ConfigError for a secret that cannot be read."""
    # The clients take a quarter of a second to import, and most homes need one of them at most.
    timeout_s = settings.home.timeout_s
    match settings.home.kind:
        case "home_assistant":
            from edgevox.tools.home.home_assistant import HomeAssistantHome

            url, token = settings.home.url, read_secret(token_file(folders), _SET_UP_AGAIN)
            if url is None or token is None:
                return MissingHome(f"Home Assistant is not set up yet. {SET_UP}")
            return HomeAssistantHome(url, token, timeout_s=timeout_s)
        case "mqtt":
            from edgevox.tools.home.mqtt import Broker, MqttHome

            mqtt, password = settings.mqtt, read_secret(password_file(folders), _SET_UP_AGAIN)
            broker = Broker(password=password, **mqtt.model_dump())
            return MqttHome(broker, timeout_s=timeout_s)
        case "demo":
            raise AssertionError("the demo home is not to be reached")
        case _:
            assert_never(settings.home.kind)


class MissingHome:
    """A home that is not set up: all that is asked of it is answered with what to do."""

    def __init__(self, problem: str) -> None:
        self.problem = problem

    async def start(self) -> None:
        """There is nothing to reach."""
        _log.warning("%s", self.problem)

    async def close(self) -> None:
        """Nor to leave."""

    def house(self) -> House:
        raise HomeError(self.problem)

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        raise HomeError(self.problem)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        raise HomeError(self.problem)

    async def announce(self, message: str) -> None:
        raise HomeError(self.problem)
