"""`edgevox home setup` as a user types it, against a real Home Assistant and a real mosquitto."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from edgevox.cli.main import main
from edgevox.config.secrets import write_secret
from edgevox.config.toml_file import update_config_file
from edgevox.core.files import Folders
from edgevox.home.backends.factory import token_file
from tests.cli.command import edgevox, environment
from tests.cli.terminal import on_a_terminal
from tests.home.backends.home_assistant.server import Server
from tests.home.backends.home_assistant.test_discovery import HOUSE_NAME, announced
from tests.home.backends.mqtt.devices import Devices, whole_house
from tests.home.backends.mqtt.mosquitto import PASSWORD, USER, Mosquitto

# No program listens here: the port belongs to a service that is obsolete.
NOBODY = "127.0.0.1:9"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


def config(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "config" / "config.toml").read_text(encoding="utf-8"))


def secret(folder: Path, name: str) -> str:
    """The contents of the file, which only its owner can read."""
    path = folder / "config" / name
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_text(encoding="utf-8").strip()


def refused(result: subprocess.CompletedProcess[str], folder: Path) -> list[str]:
    """The lines that say why and what to do; nothing else was done."""
    assert result.returncode != 0
    return plain(result.stderr.splitlines(), folder)


def plain(lines: list[str], folder: Path) -> list[str]:
    assert not (folder / "config").exists(), "something was kept"
    assert lines[0].startswith("edgevox: ")
    assert len(lines) <= 2, lines
    assert "bug in EdgeVox" not in lines[-1]
    return lines


class Typist:
    """Types the same command in this process: a new one takes longer than most of these tests."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self._caplog = caplog

    def complaint(self, *words: str, stdin: str = "") -> list[str]:
        """The lines of a command that fails."""
        self._monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        assert main(words) != 0
        assert self._caplog.messages == [], "outside of a test a log is shown as well"
        return self._capsys.readouterr().err.splitlines()

    def does(self, *words: str, stdin: str = "") -> None:
        self._monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        assert main(words) == 0, self._capsys.readouterr().err

    def refused(self, folder: Path, *words: str, stdin: str = "") -> list[str]:
        return plain(self.complaint("home", "setup", *words, stdin=stdin), folder)


@pytest.fixture
def typist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> Typist:
    return Typist(monkeypatch, capsys, caplog)


# --- Home Assistant


def test_a_home_assistant_is_set_up_listed_and_tested(server: Server, tmp_path: Path, env: dict[str, str]) -> None:
    # As people type it: without http.
    result = edgevox("home", "setup", "--url", f"127.0.0.1:{server.port}", env=env, stdin=server.token)
    assert result.returncode == 0, result.stderr
    for part in ("Living Room", "Night Lamp", "Outside Temperature", "config.toml"):
        assert part in result.stdout
    assert "None" not in result.stdout
    assert config(tmp_path) == {"home": {"kind": "home_assistant", "url": server.url}}
    assert secret(tmp_path, "home-assistant.token") == server.token

    listed = edgevox("home", "list", env=env)
    assert listed.returncode == 0, listed.stderr
    assert "Bed Light (Night Lamp)" in listed.stdout
    assert "Shopping List: " in listed.stdout
    tested = edgevox("home", "test", env=env)
    assert tested.returncode == 0, tested.stderr
    assert re.search(r"connected to the home in .* 6 areas, \d\d entities", tested.stdout)
    assert "Movie Night" not in tested.stdout, "a scene has no state to give"
    for said in (result, listed, tested):
        assert server.token not in said.stdout + said.stderr


def test_a_wrong_token_is_refused(server: Server, tmp_path: Path, env: dict[str, str]) -> None:
    wrong = server.token[:-4]
    result = edgevox("home", "setup", "--url", server.url, env=env, stdin=wrong)
    said, what_to_do = refused(result, tmp_path)
    assert "token" in said
    assert "create a new one" in what_to_do
    assert wrong not in result.stdout + result.stderr


@pytest.mark.parametrize("typed", ["", "\n", "a tok\ten\n", "t\u00f6ken\n"])
def test_what_is_no_token_is_not_tried(typed: str, tmp_path: Path, typist: Typist) -> None:
    said, what_to_do = typist.refused(tmp_path, "--url", f"http://{NOBODY}", stdin=typed)
    assert "invalid token" in said
    assert "token" in what_to_do


def test_an_address_where_nobody_is_is_named(tmp_path: Path, typist: Typist) -> None:
    (said,) = typist.refused(tmp_path, "--url", f"http://{NOBODY}", stdin="token")
    assert NOBODY in said
    assert "check" in said


@pytest.mark.parametrize("address", ["ftp://homeassistant.local", "http://", "homeassistant.local:99999"])
def test_what_is_no_address_is_refused(address: str, tmp_path: Path, typist: Typist) -> None:
    lines = typist.refused(tmp_path, "--url", address, stdin="token")
    assert "http://homeassistant.local:8123" in lines[1]


async def test_something_else_at_that_address_is_told_apart(tmp_path: Path, env: dict[str, str]) -> None:
    async with some_web_server() as url:
        result = await asyncio.to_thread(edgevox, "home", "setup", "--url", f"{url}a/page", env=env, stdin="token")
    said, what_to_do = refused(result, tmp_path)
    assert f"{url.rstrip('/')} is not Home Assistant" in said
    assert "URL" in what_to_do


@asynccontextmanager
async def some_web_server() -> AsyncIterator[str]:
    server = TestServer(web.Application())
    await server.start_server()
    try:
        yield str(server.make_url("/"))
    finally:
        await server.close()


def test_a_new_setup_leaves_the_old_one_where_it_fails(server: Server, tmp_path: Path, env: dict[str, str]) -> None:
    edgevox("home", "setup", "--url", server.url, env=env, stdin=server.token)
    before = config(tmp_path)
    result = edgevox("home", "setup", "--url", server.url, env=env, stdin="wrong")
    assert result.returncode != 0
    assert config(tmp_path) == before
    assert secret(tmp_path, "home-assistant.token") == server.token


# --- on a terminal


async def test_on_a_terminal_it_finds_the_house_asks_and_does_not_show_the_token(
    server: Server, tmp_path: Path, env: dict[str, str]
) -> None:
    def person() -> str:
        with on_a_terminal(env, "home", "setup") as terminal:
            terminal.until("Home Assistant URL")
            # There may be others in the network of the machine that runs the tests.
            found = re.search(rf"(\d+)\. {HOUSE_NAME}: {server.url}", terminal.shown)
            assert found is not None, terminal.shown
            terminal.type(f"{found[1]}\n")
            terminal.until("hidden")
            assert "Long-lived access tokens" in terminal.shown
            terminal.type(f"{server.token}\n")
            assert terminal.end() == 0, terminal.shown
            return terminal.shown

    async with announced(internal_url=server.url):
        shown = await asyncio.to_thread(person)
    assert "Bed Light" in shown
    assert server.token not in shown
    assert config(tmp_path)["home"]["url"] == server.url
    assert secret(tmp_path, "home-assistant.token") == server.token


def test_who_types_nothing_is_told_and_nothing_is_kept(tmp_path: Path, env: dict[str, str]) -> None:
    with on_a_terminal(env, "home", "setup", "--url", NOBODY) as terminal:
        terminal.until("hidden")
        terminal.type("\x04")
        assert terminal.end() == 2, terminal.shown
        assert "invalid token" in terminal.shown
    assert not (tmp_path / "config").exists()


# --- MQTT


@contextmanager
def broker(folder: Path, *, tls: bool = False) -> Iterator[Mosquitto]:
    folder.mkdir()
    mosquitto = Mosquitto(folder, tls=tls)
    mosquitto.start()
    try:
        yield mosquitto
    finally:
        mosquitto.stop()


@pytest.fixture
async def mosquitto(tmp_path: Path) -> AsyncIterator[Mosquitto]:
    """A broker with a house of all sorts on it."""
    with broker(tmp_path / "broker") as mosquitto:
        devices = Devices(mosquitto)
        whole_house(devices)
        await devices.connect()
        yield mosquitto
        await devices.disconnect()


async def test_a_broker_is_set_up_listed_and_tested(mosquitto: Mosquitto, tmp_path: Path, env: dict[str, str]) -> None:
    def person() -> None:
        at = f"127.0.0.1:{mosquitto.port}"
        result = edgevox("home", "setup", "--mqtt", at, "--username", USER, env=env, stdin=PASSWORD)
        assert result.returncode == 0, result.stderr
        assert "Coffee Machine" in result.stdout
        assert config(tmp_path) == {
            "home": {"kind": "mqtt"},
            "mqtt": {"host": "127.0.0.1", "port": mosquitto.port, "username": USER, "tls": False},
        }
        assert secret(tmp_path, "mqtt.password") == PASSWORD

        listed = edgevox("home", "list", env=env)
        assert listed.returncode == 0, listed.stderr
        assert "Coffee Machine" in listed.stdout
        assert "Shopping List: empty" in listed.stdout, "a house without lists has ours"
        tested = edgevox("home", "test", env=env)
        assert tested.returncode == 0, tested.stderr
        assert "connected to the home" in tested.stdout
        for said in (result, listed, tested):
            assert PASSWORD not in said.stdout + said.stderr

    await asyncio.to_thread(person)


def test_a_broker_with_a_certificate_of_its_own_makes_way_for_one_without(
    tmp_path: Path, typist: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    with broker(tmp_path / "tls", tls=True) as first, broker(tmp_path / "plain") as second:
        monkeypatch.chdir(tmp_path / "tls")
        at = f"localhost:{first.port}"
        typist.does(
            *("home", "setup", "--mqtt", at, "--tls", "--ca-file", "ca.pem", "--username", USER), stdin=PASSWORD
        )
        monkeypatch.chdir(tmp_path)
        typist.does("home", "list")
        assert config(tmp_path)["mqtt"]["port"] == first.port

        typist.does("home", "setup", "--mqtt", f"localhost:{second.port}", stdin=PASSWORD)
        typist.does("home", "list")
        kept = config(tmp_path)["mqtt"]
        assert (kept["port"], kept["tls"], kept["username"]) == (second.port, False, USER)


async def test_a_wrong_password_is_refused(mosquitto: Mosquitto, tmp_path: Path, env: dict[str, str]) -> None:
    at = f"127.0.0.1:{mosquitto.port}"
    words = ("home", "setup", "--mqtt", at, "--username", USER)
    result = await asyncio.to_thread(edgevox, *words, env=env, stdin="wr\u00f6ng-passw\u00f6rd")
    (said,) = refused(result, tmp_path)
    assert "user name and password" in said
    assert "wr\u00f6ng" not in result.stdout + result.stderr


@pytest.mark.parametrize("address", ["localhost:70000", "localhost:0", ":1883", "mqtt://localhost"])
def test_what_is_no_address_of_a_broker_is_refused(address: str, tmp_path: Path, typist: Typist) -> None:
    assert "HOST:PORT" in typist.refused(tmp_path, "--mqtt", address)[1]


def test_a_broker_that_is_not_there_is_named_once(tmp_path: Path, typist: Typist) -> None:
    (said,) = typist.refused(tmp_path, "--mqtt", NOBODY)
    assert "no MQTT broker at port 9" in said


# --- a home that is not there any more


@pytest.mark.parametrize("command", ["list", "test"])
def test_a_home_that_is_gone_is_told_of_in_one_line(command: str, folders: Folders, typist: Typist) -> None:
    update_config_file(folders.config_file, "home", {"kind": "home_assistant", "url": f"http://{NOBODY}"})
    write_secret(token_file(folders), "a-token")
    (said,) = typist.complaint("home", command)
    assert NOBODY in said
    token_file(folders).unlink()
    (said,) = typist.complaint("home", command)
    assert "edgevox home setup" in said
