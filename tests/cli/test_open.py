"""`edgevox open`: the address of the page, with a token that no other user sees on the way to the browser."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from edgevox.cli.commands.open import open_via_redirect
from tests.cli.command import edgevox, environment
from tests.server.harness import model, served, talking

NOT_RUNNING = 7
UNUSABLE = 2
TOKEN = "edgevox-token-of-the-test"

# Goes to the address it is given, and writes down what it was started with and where it arrived.
BROWSER = """
import json, pathlib, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=20) as response:
    told = {"started_with": sys.argv[1], "arrived_at": response.url}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(told))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tokens = tmp_path / "config" / "server_tokens.toml"
    tokens.parent.mkdir()
    tokens.touch(0o600)
    tokens.write_text(
        f'[guest]\ntoken = "edgevox-token-of-a-guest"\nscopes = ["chat"]\n[owner]\ntoken = "{TOKEN}"\nscopes = ["*"]\n'
    )
    return tmp_path


@pytest.fixture
async def port() -> AsyncIterator[str]:
    """Where a server listens."""
    async with served(talking(model([]))) as url:
        yield url.rpartition(":")[2]


async def opened(home: Path, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
    env = {"DISPLAY": "", "WAYLAND_DISPLAY": "", **extra}
    return await asyncio.to_thread(edgevox, "open", *words, env=environment(home, **env))


async def test_the_token_is_in_the_fragment(home: Path, port: str) -> None:
    result = await opened(home, "--port", port, "--print")
    assert (result.returncode, result.stdout) == (0, f"http://127.0.0.1:{port}/#token={TOKEN}\n")


async def test_another_token_can_be_named(home: Path, port: str) -> None:
    named = await opened(home, "--port", port, "--print", "--as", "guest")
    unknown = await opened(home, "--port", port, "--print", "--as", "nobody")
    assert named.stdout.endswith("#token=edgevox-token-of-a-guest\n")
    assert (unknown.returncode, TOKEN in unknown.stderr) == (UNUSABLE, False)


async def test_without_a_display_it_is_printed(home: Path, port: str) -> None:
    result = await opened(home, "--port", port)
    assert result.stdout == f"http://127.0.0.1:{port}/#token={TOKEN}\n"
    assert "No display" in result.stderr


async def test_a_browser_gets_the_token_but_its_command_line_does_not(home: Path, port: str) -> None:
    browser = home / "browser.py"
    browser.write_text(BROWSER)
    result = await opened(home, "--port", port, DISPLAY=":0", BROWSER=f"{sys.executable} {browser} %s")
    told = json.loads(browser.with_suffix(".json").read_text())
    assert (result.returncode, result.stdout) == (0, "")
    assert TOKEN not in told["started_with"]
    assert told["arrived_at"] == f"http://127.0.0.1:{port}/#token={TOKEN}"


async def test_no_server_is_running(home: Path) -> None:
    result = await opened(home, "--port", "9", "--print")
    assert (result.returncode, result.stdout) == (NOT_RUNNING, "")
    assert "edgevox serve" in result.stderr


async def test_a_phone_cannot_reach_a_server_of_this_machine(home: Path, port: str) -> None:
    result = await opened(home, "--port", port, "--phone")
    assert (result.returncode, result.stdout) == (UNUSABLE, "")
    assert 'host = "0.0.0.0"' in result.stderr
    assert "allowed_hosts" in result.stderr


async def test_a_phone_gets_a_code_and_is_told_about_its_microphone(home: Path, port: str) -> None:
    result = await opened(
        home, "--port", port, "--phone", EDGEVOX_SERVER__HOST="0.0.0.0", EDGEVOX_SERVER__ALLOWED_HOSTS="house.lan"
    )
    *code, address = result.stdout.splitlines()
    assert address == f"http://house.lan:{port}/#token={TOKEN}"
    assert len(code) > 10
    assert {"█", "▀", "▄"} <= set("".join(code))
    assert "https" in result.stderr


def test_an_address_is_handed_over_once() -> None:
    first = threading.Event()
    answers: list[str] = []

    def visit(address: str) -> None:
        for url in (f"{address}x", address):
            try:
                with urllib.request.urlopen(url, timeout=20) as response:
                    answers.append(response.url)
            except urllib.error.HTTPError as error:
                answers.append(str(error.code))
            except urllib.error.URLError:
                answers.append("arrived")  # at a port without a listener
        first.set()

    def browser(address: str) -> bool:
        threading.Thread(target=visit, args=(address,)).start()
        return True

    assert open_via_redirect("http://127.0.0.1:9/#token=secret", browser)
    assert first.wait(20)
    assert answers == ["404", "arrived"]


def test_a_browser_that_never_comes_is_noticed() -> None:
    assert not open_via_redirect("http://127.0.0.1:9/", lambda _address: True, within_s=0.1)
    assert not open_via_redirect("http://127.0.0.1:9/", lambda _address: False)


async def test_a_token_is_added_for_a_program_and_listed_without_itself(home: Path) -> None:
    def tokens(*words: str) -> subprocess.CompletedProcess[str]:
        return edgevox("tokens", *words, env=environment(home))

    added = await asyncio.to_thread(tokens, "add", "panel", "--scopes", "chat,read")
    assert added.returncode == 0
    token = added.stdout.strip()
    assert token in (home / "config" / "server_tokens.toml").read_text()
    listed = await asyncio.to_thread(tokens, "list", "--json")
    assert json.loads(listed.stdout)["panel"] == ["chat", "read"]
    assert token not in listed.stdout
    again = await asyncio.to_thread(tokens, "add", "panel")
    assert (again.returncode, again.stdout) == (UNUSABLE, "")
