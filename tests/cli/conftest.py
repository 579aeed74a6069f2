"""A real Home Assistant, for the commands that speak to one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.home.backends.home_assistant.furnished import furnished_server
from tests.home.backends.home_assistant.server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with furnished_server(tmp_path_factory.mktemp("home-assistant")) as server:
        yield server
