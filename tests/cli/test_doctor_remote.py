"""What doctor finds out about engines on other machines."""

from __future__ import annotations

import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.cli.commands.doctor import Finding, check_forced_calls, check_remote_engines, is_unencrypted
from edgevox.config import load_settings
from edgevox.core.files import Folders
from edgevox.models import ModelStore
from tests.llm.remote.scripted_server import call, scripted, talk


def runtime(folders: Folders, store: ModelStore, **addresses: str) -> AssistantRuntime:
    flags = {name.replace("__", "."): address for name, address in addresses.items()}
    return AssistantRuntime(load_settings(folders, flags=flags, environ={}), folders, store, ["llm", "stt"])


async def test_each_server_is_asked_who_it_is(folders: Folders, store: ModelStore) -> None:
    async with scripted(talk("x")) as server, scripted(talk("x")) as gone:
        port = gone.url.split(":")[2].split("/")[0]
        both = runtime(folders, store, llm__remote_url=server.url, stt__remote=f"127.0.0.1:{port}")
        model, ear = await check_remote_engines(both)
    assert (model.verdict, model.part, model.detail.startswith(server.url)) == ("ok", "remote llm", True)
    assert (ear.verdict, ear.part) == ("problem", "remote stt")
    assert ear.fix


async def test_nothing_is_said_of_engines_that_are_here(folders: Folders, store: ModelStore) -> None:
    assert await check_remote_engines(runtime(folders, store)) == []


async def test_it_is_told_whether_calls_can_be_required(folders: Folders, store: ModelStore) -> None:
    found: list[Finding] = []
    for answer in (call("respond", text="Hello."), talk("Hello.")):
        async with scripted(answer) as server:
            chosen = load_settings(folders, flags={"llm.remote_url": server.url}, environ={})
            async with AssistantRuntime(chosen, folders, store, ["llm"]) as one:
                found.append(await check_forced_calls(one))
    assert [finding.verdict for finding in found] == ["ok", "note"]


@pytest.mark.parametrize(
    ("address", "is_readable"),
    [
        ("https://api.anthropic.com", False),
        ("http://127.0.0.1:8080/v1", False),
        ("http://localhost:8080/v1", False),
        ("http://desk.lan:8080/v1", True),
        ("tcp://192.168.1.5:10300", True),
    ],
)
def test_what_can_be_read_on_the_way_is_known(address: str, is_readable: bool) -> None:
    assert is_unencrypted(address) == is_readable
