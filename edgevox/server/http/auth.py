"""Bearer tokens with scopes, and the rule for requests without one.

Requests that can make the assistant act need a token even from loopback: any page and any program on the
machine can reach it. The token file is readable by its owner only and is created at the first start.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError
from starlette.requests import HTTPConnection

from edgevox.config.secrets import read_secret, write_secret
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.server.http.errors import ApiError
from edgevox.server.http.middleware import host_name, is_loopback_name
from edgevox.server.scheduling import ClientKey
from edgevox.tools.policy import Caller

FILE_NAME = "server_tokens.toml"
_PREFIX = "edgevox-"
_OWNER = "owner"

_FIRST_FILE = """\
# Who may use the server (edgevox serve): a table for each, with a token and what it is good for.
#   chat   talk with the model            read   look things up with the assistant's tools
#   audio  recognise and speak            act    let them change something
#   status how the server is              confirm  say yes to what another program asked for
#   voice  speak with it, as the page does      history  see what was said      settings  change some of them
# A tool may want a scope of its own, such as home.locks; "home.*" is all of those, "*" is everything.
[{name}]
token = "{token}"
scopes = ["*"]
"""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=16)
    scopes: frozenset[str]


class _File(RootModel[dict[str, _Entry]]):
    """The whole file: a table for each name."""


class Tokens:
    """The tokens that are known, as digests: what is not kept cannot be shown."""

    def __init__(self, callers: dict[str, Caller]) -> None:
        """`callers` by their tokens."""
        self._callers = {_digest(token): caller for token, caller in callers.items()}

    @classmethod
    def open(cls, folders: Folders) -> Tokens:
        """Those of the user's file, which is made where there is none. Raises ConfigError."""
        path = token_file(folders)
        if not path.exists():
            write_secret(path, _FIRST_FILE.format(name=_OWNER, token=new_token()))
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Raises ConfigError, in which no token is named."""
        entries = _entries(path)
        callers = {entry.token: Caller(name, entry.scopes) for name, entry in entries.items()}
        if len(callers) < len(entries):
            raise ConfigError(f"{path} has one token twice", hint=_HINT)
        return cls(callers)

    def caller(self, token: str) -> Caller | None:
        """Whose token this is."""
        digest = _digest(token)
        found = None
        for known, caller in self._callers.items():
            if hmac.compare_digest(known, digest):
                found = caller
        return found

    def has_other(self, caller: Caller, scope: str) -> bool:
        """Whether somebody else than `caller` may do that."""
        return any(other.name != caller.name and other.may(scope) for other in self._callers.values())


def page_token(path: Path, name: str | None = None) -> str:
    """The token to open the page with: that of `name`, else one that may do all. Raises ConfigError."""
    entries = _entries(path)
    able = [known for known, entry in entries.items() if "*" in entry.scopes]
    chosen = name or next(iter(able or entries), "")
    if chosen not in entries:
        raise ConfigError(f"{path} has no token for {chosen or 'anybody'}", hint=_HINT)
    return entries[chosen].token


_HINT = "docs/guide/server.md shows what it looks like; without the file, a new one is made"


def token_file(folders: Folders) -> Path:
    return folders.config / FILE_NAME


def new_token() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _entries(path: Path) -> dict[str, _Entry]:
    content = read_secret(path)
    try:
        return _File.model_validate(tomllib.loads(content.reveal() if content else "")).root
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no TOML file: {error}", hint=_HINT) from None
    except ValidationError as error:
        places = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
        raise ConfigError(f"{path} cannot be used: {places}", hint=_HINT) from None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


ANONYMOUS = Caller("anybody on this machine")
"""Who asks without a token; no tool is theirs to call."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


class Access:
    """The rules of one server."""

    def __init__(self, tokens: Tokens, *, always_token: bool) -> None:
        self._tokens = tokens
        self._always_token = always_token

    def allow_local(self, connection: HTTPConnection, scope: str) -> Caller:
        """Who asks for something that changes nothing here. Raises ApiError."""
        if self._always_token or not is_local(connection):
            return self.require_token(connection, scope)
        return self._known(connection) or ANONYMOUS

    def require_token(self, connection: HTTPConnection, scope: str, *, instead: str = "") -> Caller:
        """Who asks for something that can make the assistant act. Raises ApiError.

        `instead` says what can be done without a token.
        """
        return self._allowed(_token(connection), scope, instead)

    def require_socket_token(self, connection: HTTPConnection, token: str, scope: str) -> Caller:
        """The same for a browser's socket, which has no header for a token: it says it. Raises ApiError."""
        return self._allowed(token or _token(connection), scope)

    def _allowed(self, token: str, scope: str, instead: str = "") -> Caller:
        caller = self._tokens.caller(token) if token else None
        if caller is None:
            raise ApiError(
                401,
                "invalid_api_key" if token else "missing_api_key",
                f"this needs a token that is known here{instead}",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if not caller.may(scope):
            raise ApiError(403, "token_scope_insufficient", f"the token of {caller.name} lacks {scope}")
        return caller

    def _known(self, connection: HTTPConnection) -> Caller | None:
        token = _token(connection)
        return self._tokens.caller(token) if token else None


def is_local(connection: HTTPConnection) -> bool:
    """True for a program on this machine, and not for what a proxy on it passes on."""
    client = connection.client
    try:
        is_near = client is not None and ipaddress.ip_address(client.host).is_loopback
    except ValueError:
        return False
    headers = connection.headers
    is_direct = not any(name in headers for name in _FORWARDED)
    return is_near and is_direct and is_loopback_name(host_name(headers.get("host", "")))


def client_key_of(connection: HTTPConnection, caller: Caller) -> ClientKey | None:
    """Who comes back when it was sent away; its connection names it only as long as that lasts."""
    client, headers = connection.client, connection.headers
    if client is None:
        return None
    length, agent = headers.get("content-length", ""), headers.get("user-agent", "")
    request = "\n".join((caller.name, client.host, connection.url.path, length, agent))
    return ClientKey(f"{client.host} {client.port}", request)


def _token(connection: HTTPConnection) -> str:
    """What the request brings: OpenAI's libraries and Anthropic's have different places for it."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer" and token.strip():
        return token.strip()
    return connection.headers.get("x-api-key", "").strip()
