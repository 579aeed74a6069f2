"""mcp.json: parsing, validation and display."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgevox.config import McpSettings
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.tools.mcp.config import (
    HttpServer,
    StdioServer,
    add_server,
    configured_servers,
    expand_variables,
    identity,
    read_servers,
    remove_server,
)

USUAL: dict[str, Any] = {
    "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "server-files", "/home/me"]},
        "github": {"command": "docker", "env": {"GITHUB_TOKEN": "abc", "MODE": "fast lane"}, "timeout": 5},
        "wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer ${W}"}},
        "old": {"command": "gone", "disabled": True},
    },
    "inputs": [],
}


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_the_usual_format_is_parsed(tmp_path: Path) -> None:
    files, github, wiki = read_servers(written(tmp_path / "mcp.json", USUAL))
    assert files == StdioServer("files", "npx", ("-y", "server-files", "/home/me"))
    assert github == StdioServer("github", "docker", (), {"GITHUB_TOKEN": "abc", "MODE": "fast lane"})
    assert wiki == HttpServer("wiki", "https://wiki.example/mcp", {"Authorization": "Bearer ${W}"})


def test_the_exact_command_is_shown_without_its_secrets(tmp_path: Path) -> None:
    files, github, wiki = read_servers(written(tmp_path / "mcp.json", USUAL))
    assert files.shown == "npx -y server-files /home/me"
    assert github.shown == "GITHUB_TOKEN=… MODE='fast lane' docker"
    assert wiki.shown == "https://wiki.example/mcp (Authorization: 'Bearer ${W}')"
    assert StdioServer("a", "rm", ("-rf", "my files; x")).shown == "rm -rf 'my files; x'"


@pytest.mark.parametrize(
    "other",
    [
        StdioServer("a", "run", ("x", "y")),
        StdioServer("b", "run", ("x",)),
        StdioServer("a", "run", ("x",), {"LD_PRELOAD": "evil.so"}),
        StdioServer("a", "run", ("x",), cwd="/elsewhere"),
        HttpServer("a", "run"),
    ],
)
def test_any_difference_changes_the_identity(other: StdioServer | HttpServer) -> None:
    one = StdioServer("a", "run", ("x",))
    assert identity(one) == identity(StdioServer("a", "run", ("x",), {}))
    assert identity(one) != identity(other)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "Invalid JSON"),
        ({"mcpServers": []}, "mcpServers"),
        ({"mcpServers": {"a": {}}}, 'a needs either a "command" or a "url"'),
        ({"mcpServers": {"a": {"command": "x", "url": "http://y"}}}, "needs either"),
        ({"mcpServers": {"a": {"command": ["x"]}}}, "mcpServers.a.command"),
        ({"mcpServers": {"a": {"type": "sse", "url": "http://y"}}}, "server-sent events"),
        ({"mcpServers": {"a": {"url": "file:///etc/passwd"}}}, "invalid server URL"),
        ({"mcpServers": {"a b": {"command": "x"}}}, "is not a valid server name"),
        ({"mcpServers": {"a-b": {"command": "x"}, "a_b": {"command": "x"}}}, "the same names"),
    ],
)
def test_mistakes_in_the_file_are_reported(tmp_path: Path, content: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        read_servers(written(tmp_path / "mcp.json", content))
    assert raised.value.hint


def test_a_command_in_the_settings_is_a_server_too(folders: Folders) -> None:
    settings = McpSettings(command="/usr/bin/my-server.py", args=("--utc", "now"))
    assert configured_servers(settings, folders) == (
        StdioServer("my-server", "/usr/bin/my-server.py", ("--utc", "now")),
    )
    written(folders.config / "mcp.json", {"mcpServers": {"files": {"command": "x"}}})
    assert [spec.id for spec in configured_servers(settings, folders)] == ["files", "my-server"]
    assert configured_servers(McpSettings(enabled=False, command="x"), folders) == ()


def test_a_configured_file_must_exist(folders: Folders) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        configured_servers(McpSettings(config=folders.config / "no.json"), folders)


def test_arguments_without_a_command_are_an_error(folders: Folders) -> None:
    with pytest.raises(ConfigError, match=r"without mcp\.command"):
        configured_servers(McpSettings(args=("x",)), folders)


def test_adding_and_removing_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "mcp.json", USUAL)
    add_server(path, StdioServer("time", "mcp-time", ("--utc",), {"A": "b"}))
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["mcpServers"].pop("time") == {"command": "mcp-time", "args": ["--utc"], "env": {"A": "b"}}
    assert content == USUAL
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(ConfigError, match="already"):
        add_server(path, HttpServer("files", "http://x/mcp"))
    remove_server(path, "time")
    assert json.loads(path.read_text(encoding="utf-8")) == USUAL
    with pytest.raises(ConfigError, match="no server time"):
        remove_server(path, "time")


def test_variables_are_expanded_and_a_missing_one_is_reported() -> None:
    assert expand_variables({"A": "Bearer ${X}", "B": "${env:X}y", "C": "$X"}, {"X": "1"}) == {
        "A": "Bearer 1",
        "B": "1y",
        "C": "$X",
    }
    with pytest.raises(ConfigError, match="the variable GONE is not set"):
        expand_variables({"A": "${GONE}"}, {})
