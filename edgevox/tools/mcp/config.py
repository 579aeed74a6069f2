"""The configured MCP servers: `mcp.json` in its usual format, or one command in the settings.

{"mcpServers": {"files": {"command": "mcp-server-files", "args": ["~"], "env": {"TOKEN": "${MY_TOKEN}"}},
                "wiki": {"url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer ${WIKI}"}}}}
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from yarl import URL

from edgevox.config import McpSettings
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, locked_file, parse_json, write_atomic

CONFIG_FILE = "mcp.json"
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_NAME = re.compile(r"token|key|secret|passw|auth|cookie|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A program that is started here and connected by its standard input and output.

    It gets `env` in addition to a few harmless variables; ${NAME} in it is replaced from our environment.
    """

    id: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None

    @property
    def shown(self) -> str:
        """The exact command in shell syntax, with secrets masked."""
        variables = [f"{name}={_shown_value(name, value)}" for name, value in sorted(self.env.items())]
        where = (f"(in {self.cwd})",) if self.cwd else ()
        return " ".join((*variables, shlex.join((self.command, *self.args)), *where))


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A remote server at a streamable HTTP URL. ${NAME} in headers is replaced as above."""

    id: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The exact URL and headers, with secrets masked."""
        headers = [f"{name}: {_shown_value(name, value)}" for name, value in sorted(self.headers.items())]
        return f"{self.url} ({', '.join(headers)})" if headers else self.url


ServerSpec: TypeAlias = StdioServer | HttpServer


def prefix_of(server_id: str) -> str:
    """The prefix of a server's tool names when there are several servers."""
    return f"{re.sub(r'[^A-Za-z0-9]', '_', server_id)}_"


def identity(spec: ServerSpec) -> str:
    """A hash of everything that is approved in a server: its name, command and environment."""
    text = json.dumps([type(spec).__name__, asdict(spec)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def expand_variables(values: Mapping[str, str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Replace ${NAME} in the values. Raises ConfigError for a variable that is not set."""
    known = os.environ if environ is None else environ

    def value_of(match: re.Match[str]) -> str:
        try:
            return known[match.group(1)]
        except KeyError:
            raise ConfigError(
                f"the variable {match.group(1)} is not set", hint=f"set it, or remove it from {CONFIG_FILE}"
            ) from None

    return {name: _VARIABLE.sub(value_of, value) for name, value in values.items()}


# --- reading


class _Entry(BaseModel):
    """One server in the file; keys of other programs are ignored."""

    model_config = ConfigDict(extra="ignore")

    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = Field(default=None, min_length=1)
    headers: dict[str, str] = {}
    type: str | None = None
    disabled: bool = False


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    servers: dict[str, _Entry] = Field(default={}, alias="mcpServers")


def config_file(settings: McpSettings, folders: Folders) -> Path:
    return settings.config or folders.config / CONFIG_FILE


def configured_servers(settings: McpSettings, folders: Folders) -> tuple[ServerSpec, ...]:
    """The servers in the settings. Raises ConfigError."""
    if not settings.enabled:
        return ()
    path = config_file(settings, folders)
    if settings.config is not None and not path.exists():
        raise ConfigError(f"there is no file {path}", hint="--mcp-config takes a file like mcp.json")
    if settings.args and settings.command is None:
        raise ConfigError("mcp.args is set without mcp.command", hint="--mcp-command names the program")
    servers = read_servers(path)
    if settings.command is None:
        return servers
    return (*servers, StdioServer(_id_of(settings.command, servers), settings.command, settings.args))


def read_servers(path: Path) -> tuple[ServerSpec, ...]:
    """The enabled servers in a file; empty if there is no file. Raises ConfigError."""
    try:
        read = _File.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise ConfigError(
            f"{path}: {where + ': ' if where else ''}{fault['msg']}", hint="docs/guide/mcp.md describes the format"
        ) from error
    servers = tuple(_spec(path, server_id, entry) for server_id, entry in read.servers.items() if not entry.disabled)
    prefixes: dict[str, str] = {}
    for server in servers:
        other = prefixes.setdefault(prefix_of(server.id).casefold(), server.id)
        if other != server.id:
            raise ConfigError(
                f"{path}: the tools of {other} and {server.id} would have the same names",
                hint="rename one of the servers",
            )
    return servers


def _spec(path: Path, server_id: str, entry: _Entry) -> ServerSpec:
    check_id(server_id)
    match entry:
        case _Entry(command=str(command), url=None):
            cwd = str(Path(entry.cwd).expanduser()) if entry.cwd else None
            return StdioServer(server_id, command, entry.args, entry.env, cwd)
        case _Entry(command=None, url=str(url)) if entry.type != "sse":
            _check_url(url)
            return HttpServer(server_id, url, entry.headers)
        case _Entry(command=None, url=str()):
            raise ConfigError(
                f"{path}: {server_id} uses server-sent events, which MCP has deprecated",
                hint="use its streamable HTTP URL",
            )
    raise ConfigError(f'{path}: {server_id} needs either a "command" or a "url"', hint="docs/guide/mcp.md shows both")


def check_id(server_id: str) -> None:
    """Raises ConfigError for an invalid server name."""
    if _ID.fullmatch(server_id) is None:
        raise ConfigError(f"{server_id!r} is not a valid server name", hint="a letter, then letters, digits, - and _")


def _check_url(text: str) -> None:
    try:
        url = URL(text)
        is_valid = url.scheme in ("http", "https") and bool(url.host)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError(f"invalid server URL {text}", hint="such as https://host/mcp")


def _id_of(command: str, others: tuple[ServerSpec, ...]) -> str:
    """The id of the server in the settings: the name of its program, if that is valid and free."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", Path(command).stem)[:32]
    taken = {prefix_of(other.id).casefold() for other in others}
    is_usable = _ID.fullmatch(name) is not None and prefix_of(name).casefold() not in taken
    return name if is_usable else "mcp"


def _shown_value(name: str, value: str) -> str:
    is_hidden = _SECRET_NAME.search(name) and _VARIABLE.search(value) is None
    return "…" if is_hidden else shlex.quote(value)


# --- writing


def add_server(path: Path, spec: ServerSpec) -> None:
    """Add a server to the file. Raises ConfigError if its name is taken."""
    check_id(spec.id)
    if isinstance(spec, HttpServer):
        _check_url(spec.url)
    with locked_file(path):
        content, servers = _content(path)
        if spec.id in servers:
            raise ConfigError(
                f"{path} has a server {spec.id} already", hint=f"edgevox mcp remove {spec.id}, or another name"
            )
        servers[spec.id] = {key: value for key, value in asdict(spec).items() if value and key != "id"}
        # Readable by its owner only, because it may contain tokens.
        write_atomic(path, _as_text(content))


def remove_server(path: Path, server_id: str) -> None:
    """Remove a server from the file. Raises ConfigError if it is not there."""
    with locked_file(path):
        content, servers = _content(path)
        if server_id not in servers:
            raise ConfigError(f"{path} has no server {server_id}", hint="edgevox mcp list shows the servers")
        del servers[server_id]
        write_atomic(path, _as_text(content))


def _content(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The content of the file, and its table of servers."""
    read_servers(path)  # an invalid file is not overwritten
    content: dict[str, Any] = parse_json(path.read_text(encoding="utf-8")) if path.exists() else {}
    return content, content.setdefault("mcpServers", {})


def _as_text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
