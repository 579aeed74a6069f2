"""Fixtures: one real Home Assistant for all tests here, and a connected home."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from typing import cast

import aiohttp
import pytest

from edgevox.config.secrets import Secret
from edgevox.home import DemoHome
from edgevox.home.backends.home_assistant import HomeAssistantHome
from tests.home.backends.home_assistant.fake import TOKEN
from tests.home.backends.home_assistant.furnished import Admin, furnished_server, log_in
from tests.home.backends.home_assistant.server import Server
from tests.home.conftest import Bench

TIMEOUT_S = 5.0


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with furnished_server(tmp_path_factory.mktemp("home-assistant")) as server:
        yield server


@pytest.fixture
async def home(server: Server) -> AsyncIterator[HomeAssistantHome]:
    home = HomeAssistantHome(server.url, Secret(server.token), timeout_s=TIMEOUT_S)
    await home.start()
    assert home.problem == ""
    yield home
    await home.close()


@pytest.fixture
def bench(home: HomeAssistantHome) -> Bench:
    """The home tools behind the real executor."""
    return bench_of(home)


@pytest.fixture
async def admin(server: Server) -> AsyncIterator[Admin]:
    async with aiohttp.ClientSession() as session:
        yield await log_in(session, server)


def bench_of(home: HomeAssistantHome) -> Bench:
    return Bench(cast("DemoHome", home))  # it names the home that it makes itself, and takes any


@pytest.fixture(autouse=True)
def _no_token_in_any_log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does, what is logged of it does not have the token."""
    caplog.set_level(logging.DEBUG)
    yield
    assert TOKEN not in caplog.text
    if "server" in request.fixturenames:
        assert request.getfixturevalue("server").token not in caplog.text
