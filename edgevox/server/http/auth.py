"""Bearer tokens with scopes, and the rule for requests without one.

Requests that can make the assistant act need a token even from loopback: any page and any program on the
machine can reach it. The token file is readable by its owner only and is created at the first start.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import HTTPConnection

from edgevox.config.secrets import read_secret, write_secret
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, parse_toml
from edgevox.server.http.errors import ApiError
from edgevox.server.http.middleware import host_name, is_loopback_name
from edgevox.server.scheduling import ClientKey
from edgevox.tools.policy import Caller

FILE_NAME = "server_tokens.toml"

_FIRST_FILE = """\
# Clients of the server (edgevox serve): a table for each, with a token and its scopes.
#   chat   use the model                  read   call tools that only read
#   audio  STT and TTS                    act    call tools that change something
#   status state of the server            confirm  confirm calls of other programs
#   voice  voice sessions, as the page    history  see past turns      settings  change settings
# A tool may need its own scope, such as home.locks; "home.*" covers all of those, "*" everything.
[owner]
token = "edgevox-{token}"
scopes = ["*"]
"""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=16)
    scopes: frozenset[str]


_FILE = TypeAdapter(dict[str, _Entry])


class Tokens:
    """The known tokens, stored as digests so that they cannot leak."""

    def __init__(self, callers: dict[str, Caller]) -> None:
        """`callers` maps tokens to callers."""
        self._callers = {_digest(token): caller for token, caller in callers.items()}

    @classmethod
    def open(cls, folders: Folders) -> Tokens:
        """Read the user's token file, creating it if needed. Raises ConfigError."""
        path = token_file(folders)
        if not path.exists():
            write_secret(path, _FIRST_FILE.format(token=secrets.token_urlsafe(32)))
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Read a token file. Raises ConfigError, whose message contains no token."""
        entries = _entries(path)
        callers = {entry.token: Caller(name, entry.scopes) for name, entry in entries.items()}
        if len(callers) < len(entries):
            raise ConfigError(f"{path} contains a duplicate token", hint=_HINT)
        return cls(callers)

    def caller(self, token: str) -> Caller | None:
        """Return the caller of a token, in constant time."""
        digest = _digest(token)
        found = [caller for known, caller in self._callers.items() if hmac.compare_digest(known, digest)]
        return found[0] if found else None

    def has_other(self, caller: Caller, scope: str) -> bool:
        return any(other.name != caller.name and other.may(scope) for other in self._callers.values())


def page_token(path: Path, name: str | None = None) -> str:
    """Return the token for the web page: that of `name`, or one with all scopes. Raises ConfigError."""
    entries = _entries(path)
    able = [known for known, entry in entries.items() if "*" in entry.scopes]
    chosen = name or next(iter(able or entries), "")
    if chosen not in entries:
        raise ConfigError(f"{path} has no token{f' for {chosen}' if chosen else ''}", hint=_HINT)
    return entries[chosen].token


_HINT = "see docs/guide/server.md; if you delete the file, a new one is created"


def token_file(folders: Folders) -> Path:
    return folders.config / FILE_NAME


def _entries(path: Path) -> dict[str, _Entry]:
    content = read_secret(path)
    try:
        return _FILE.validate_python(parse_toml(content.reveal() if content else ""))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint=_HINT) from None
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
        raise ConfigError(f"{path} has invalid fields: {fields}", hint=_HINT) from None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


ANONYMOUS = Caller("local client")
"""The caller of requests without a token, which cannot call tools."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


class Access:
    """Access rules of one server."""

    def __init__(self, tokens: Tokens, *, always_token: bool) -> None:
        self._tokens = tokens
        self._always_token = always_token

    def allow_local(self, connection: HTTPConnection, scope: str) -> Caller:
        """Authorize a request without side effects; local clients need no token. Raises ApiError."""
        if self._always_token or not is_local(connection):
            return self.require_token(connection, scope)
        return self._tokens.caller(_token(connection)) or ANONYMOUS

    def require_token(self, connection: HTTPConnection, scope: str, *, token: str = "", instead: str = "") -> Caller:
        """Authorize a request that can make the assistant act. Raises ApiError.

        Browsers cannot set the headers of a WebSocket: its token may come in a frame. `instead` is added to the
        error: what is possible without a token.
        """
        token = token or _token(connection)
        caller = self._tokens.caller(token)
        if caller is None:
            raise ApiError(
                401,
                "invalid_api_key" if token else "missing_api_key",
                f"a valid token is required{instead}",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if not caller.may(scope):
            raise ApiError(403, "token_scope_insufficient", f"the token of {caller.name} lacks {scope}")
        return caller


def is_local(connection: HTTPConnection) -> bool:
    """Return whether the client is on this machine and not behind a proxy."""
    client, headers = connection.client, connection.headers
    if client is None or any(name in headers for name in _FORWARDED):
        return False
    return is_loopback_name(client.host) and is_loopback_name(host_name(headers.get("host", "")))


def client_key_of(connection: HTTPConnection, caller: Caller) -> ClientKey | None:
    """Return a key that recognises a client that retries, even on a new connection."""
    client, headers = connection.client, connection.headers
    if client is None:
        return None
    length, agent = headers.get("content-length", ""), headers.get("user-agent", "")
    request = "\n".join((caller.name, client.host, connection.url.path, length, agent))
    return ClientKey(f"{client.host} {client.port}", request)


def _token(connection: HTTPConnection) -> str:
    """Return the token of the request; OpenAI's and Anthropic's clients use different headers."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.casefold() == "bearer" and token.strip():
        return token.strip()
    return connection.headers.get("x-api-key", "").strip()
