"""Opens the home backend that the settings select."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NoReturn, assert_never

from edgevox.config import Settings
from edgevox.config.secrets import read_secret
from edgevox.config.sections import AUTO
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.core.languages import ENGLISH
from edgevox.home.backends.demo import HOME_FILE as DEMO_FILE
from edgevox.home.backends.demo import DemoHome
from edgevox.home.backends.ducked_players import DUCKED_FILE, HomeWithDuckedPlayers
from edgevox.home.backends.local_lists import LISTS_FILE, HomeWithLocalLists
from edgevox.home.backends.local_player import HomeWithLocalPlayer, LocalPlayer
from edgevox.home.backends.wrapped import CODE_FILE, HomeWithAlarmCode, HomeWithCalendars
from edgevox.home.calendar.caldav import CalDavCalendar
from edgevox.home.calendar.ics import IcsFile
from edgevox.home.entities import Calendar, ConnectedHome, HomeError, House

_log = logging.getLogger(__name__)

SETUP_HINT = "Run edgevox home setup."
_SETUP_AGAIN_HINT = "run edgevox home setup again"


def token_file(folders: Folders) -> Path:
    """The file with the token of Home Assistant."""
    return folders.config / "home-assistant.token"


def password_file(folders: Folders) -> Path:
    """The file with the password for the MQTT broker."""
    return folders.config / "mqtt.password"


def code_file(folders: Folders) -> Path:
    """The file with the code of the alarm panel."""
    return folders.config / CODE_FILE


def open_home(settings: Settings, folders: Folders) -> ConnectedHome:
    """Open the home without connecting. Does not raise: a home that is not set up raises when it is used."""
    home = _home(settings, folders)
    calendars = _calendars(settings)
    home = HomeWithCalendars(home, calendars) if calendars else home
    home = HomeWithDuckedPlayers(home, folders.state / DUCKED_FILE) if settings.home.duck_players else home
    if not settings.media.is_set_up:
        return home
    return HomeWithLocalPlayer(home, LocalPlayer(settings.media), settings.home.room)


def _home(settings: Settings, folders: Folders) -> ConnectedHome:
    if settings.home.kind == "demo":
        return DemoHome(folders.state / DEMO_FILE, languages=_languages(settings))
    try:
        home = _real_home(settings, folders)
    except ConfigError as error:
        home = UnavailableHome(f"{error.message}: {error.hint}")
    return HomeWithLocalLists(HomeWithAlarmCode(home, code_file(folders)), folders.state / LISTS_FILE)


def _languages(settings: Settings) -> tuple[str, ...]:
    """The languages spoken at home, the first one first."""
    stt = settings.stt
    if stt.language != AUTO:
        return (stt.language,)
    return stt.languages or (ENGLISH, *settings.tts.voices)


def _calendars(settings: Settings) -> tuple[Calendar, ...]:
    """The calendars of the settings."""
    calendar = settings.calendar
    files = tuple(IcsFile(path) for path in calendar.files)
    if calendar.caldav_url is None:
        return files
    on_server = CalDavCalendar(
        calendar.caldav_url, calendar.caldav_user, calendar.caldav_password_file, timeout_s=settings.home.timeout_s
    )
    return (*files, on_server)


def _real_home(settings: Settings, folders: Folders) -> ConnectedHome:
    """Raises ConfigError for an unreadable secret."""
    # Imported here: the clients take a quarter of a second to import, and at most one is needed.
    timeout_s = settings.home.timeout_s
    match settings.home.kind:
        case "home_assistant":
            from edgevox.home.backends.home_assistant import HomeAssistantHome

            url, token = settings.home.url, read_secret(token_file(folders), _SETUP_AGAIN_HINT)
            if url is None or token is None:
                return UnavailableHome(f"Home Assistant is not set up yet. {SETUP_HINT}")
            return HomeAssistantHome(url, token, timeout_s=timeout_s)
        case "mqtt":
            from edgevox.home.backends.mqtt import Broker, MqttHome

            mqtt, password = settings.mqtt, read_secret(password_file(folders), _SETUP_AGAIN_HINT)
            broker = Broker(password=password, **mqtt.model_dump())
            return MqttHome(broker, timeout_s=timeout_s)
        case "demo":
            raise AssertionError("the demo home needs no connection")
        case _:
            assert_never(settings.home.kind)


class UnavailableHome:
    """A home that is not set up: every call raises HomeError with instructions."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.location = None

    async def start(self) -> None:
        """Nothing to connect."""
        _log.warning("%s", self.problem)

    async def close(self) -> None:
        """Nothing to disconnect."""

    def house(self) -> House:
        raise HomeError(self.problem)

    def room_of(self, origin_id: str) -> str:
        """Not known."""
        return ""

    async def announce_problem(self) -> str:
        return self.problem

    def calendars(self) -> tuple[Calendar, ...]:
        raise HomeError(self.problem)

    async def _refuse(self, *_: object) -> NoReturn:
        raise HomeError(self.problem)

    apply = items = announce = forecast = changes = _refuse
