"""The tokens of those who may use the server: a file that only its user can read, made at the first start."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from edgevox.errors import ConfigError
from edgevox.folders import Folders
from edgevox.settings.secret_file import read_secret, write_secret
from edgevox.tools.scopes import Caller

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
