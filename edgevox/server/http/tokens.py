"""The token file: a token with scopes for each client of the server.

It is readable by its owner only and is created at the first start, with one token for the web page and one for
programs. A changed file is read again at the next request.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import time
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edgevox.config.secrets import read_secret, write_secret
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, locked_file, parse_toml
from edgevox.core.types import JsonObject
from edgevox.tools.policy import CONFIRM, EVERYTHING, LOCKS, Caller

_log = logging.getLogger(__name__)

FILE_NAME = "server_tokens.toml"
PAGE, PROGRAM = "page", "program"

SCOPES: Mapping[str, str] = MappingProxyType(
    {
        "chat": "use the model",
        "audio": "STT and TTS",
        "status": "state of the server",
        "read": "call tools that only read",
        "act": "call tools that change something",
        LOCKS: "with act: locks, alarms, garage doors and gates",
        CONFIRM: "confirm calls of other programs",
        "voice": "voice sessions, as the page",
        "history": "see past turns",
        "settings": "see and change settings",
        "people": "enrol and remove the voices of people",
    }
)
"""The scopes that the server and its tools check. A plugin's tool may have a scope of its own."""

PROGRAM_SCOPES = ("chat", "audio", "status", "read", "act", "voice")
"""What a program gets that nothing else was decided for: it cannot confirm, and cannot act on locks."""


def _first_file() -> str:
    about = "\n".join(f"#   {scope:<10} {meaning}" for scope, meaning in SCOPES.items())
    return (
        "# Clients of the server (edgevox serve): a table for each, with a token and its scopes.\n"
        f'{about}\n# "home.*" covers every scope that begins with home., "*" covers everything.\n\n'
        "# Yours: the web page has it (edgevox open). Who has it can do and confirm everything.\n"
        f"{_entry(PAGE, (EVERYTHING,))[1]}\n"
        "# For programs. Give each its own: edgevox tokens add NAME\n"
        f"{_entry(PROGRAM, PROGRAM_SCOPES)[1]}"
    )


def _entry(name: str, scopes: Collection[str]) -> tuple[str, str]:
    """Return a new token, and its table."""
    token = f"edgevox-{secrets.token_urlsafe(32)}"
    listed = ", ".join(f'"{scope}"' for scope in scopes)
    return token, f'[{name}]\ntoken = "{token}"\nscopes = [{listed}]\n'


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    token: str = Field(min_length=16)
    scopes: frozenset[str]


_FILE = TypeAdapter(dict[str, _Entry])


class Tokens:
    """The known tokens, stored as digests so that they cannot leak; with `path`, those of that file as it is now."""

    def __init__(self, callers: Mapping[str, Caller], path: Path | None = None) -> None:
        """`callers` maps tokens to callers."""
        self._path = path
        self._stamp = _stamp(path)
        self._known = _digests(callers)

    @classmethod
    def open(cls, folders: Folders) -> Tokens:
        """Read the user's token file, creating it if needed. Raises ConfigError."""
        path = token_file(folders)
        if not path.exists():
            write_secret(path, _first_file())
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Read a token file. Raises ConfigError, whose message contains no token."""
        return cls(_callers(path), path)

    def caller(self, token: str) -> Caller | None:
        """Return the caller of a token, in constant time."""
        digest = _digest(token)
        found = [caller for known, caller in self._current().items() if hmac.compare_digest(known, digest)]
        return found[0] if found else None

    def current(self, caller: Caller) -> Caller | None:
        """Return the caller of that name as it is now; None if its token was withdrawn."""
        return next((known for known in self._current().values() if known.name == caller.name), None)

    def has_other(self, caller: Caller, scope: str) -> bool:
        return any(other.name != caller.name and other.may(scope) for other in self._current().values())

    def _current(self) -> Mapping[bytes, Caller]:
        """Return the tokens of the file; those before a change that cannot be read."""
        stamp = _stamp(self._path)
        if self._path is not None and stamp is not None and stamp != self._stamp:
            self._stamp = stamp
            try:
                self._known = _digests(_callers(self._path))
            except ConfigError as error:
                _log.warning("the tokens stay as they were: %s", error.message)
        return self._known


class ShortLivedKeys:
    """Keys that stand for a token for a while, each with the settings of what it opens.

    At most `most` are kept, of which the oldest goes first. A key ends with the token that it stands for.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._known: dict[bytes, tuple[Caller, float, JsonObject]] = {}

    def add(self, caller: Caller, expires_s: float, settings: JsonObject) -> str:
        """Return a new key; `expires_s` is in seconds since 1970."""
        self._drop_expired()
        while len(self._known) >= self._most:
            del self._known[next(iter(self._known))]
        key = f"ek_{secrets.token_urlsafe(32)}"
        self._known[_digest(key)] = (caller, expires_s, settings)
        return key

    def find(self, key: str, current: Callable[[Caller], Caller | None]) -> tuple[Caller, JsonObject] | None:
        """Return the caller as it is now (see `Tokens.current`) and the settings; None for an unknown key."""
        self._drop_expired()
        digest = _digest(key)
        found = [entry for known, entry in self._known.items() if hmac.compare_digest(known, digest)]
        caller = current(found[0][0]) if found else None
        return None if caller is None else (caller, found[0][2])

    def _drop_expired(self) -> None:
        now_s = time.time()
        self._known = {key: entry for key, entry in self._known.items() if entry[1] > now_s}


def _stamp(path: Path | None) -> tuple[int, int, int] | None:
    """Return what changes with the file; None if it is not there, as in the moment when an editor replaces it."""
    try:
        status = path.stat() if path is not None else None
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino) if status is not None else None


def _digests(callers: Mapping[str, Caller]) -> dict[bytes, Caller]:
    return {_digest(token): caller for token, caller in callers.items()}


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def _callers(path: Path) -> dict[str, Caller]:
    entries = _entries(path)
    callers = {entry.token: Caller(name, entry.scopes, has_token=True) for name, entry in entries.items()}
    if len(callers) < len(entries):
        raise ConfigError(f"{path} contains a duplicate token", hint=_HINT)
    return callers


def page_token(path: Path, name: str | None = None) -> str:
    """Return the token for the web page: of `name`, else of `page`, else one with all scopes. Raises ConfigError."""
    entries = _entries(path)
    able = [known for known, entry in entries.items() if EVERYTHING in entry.scopes]
    own = [PAGE] if PAGE in entries else able
    chosen = name or next(iter(own or entries), "")
    if chosen not in entries:
        raise ConfigError(f"{path} has no token{f' for {chosen}' if chosen else ''}", hint=_HINT)
    return entries[chosen].token


def token_scopes(path: Path) -> dict[str, frozenset[str]]:
    """Return the scopes of each name in the file, without the tokens. Raises ConfigError."""
    return {name: entry.scopes for name, entry in _entries(path).items()}


def scopes_now(path: Path, caller: Caller) -> Caller | None:
    """The caller with those of its scopes that its token still has; None if that was revoked."""
    if not caller.has_token:
        return caller
    try:
        scopes = token_scopes(path).get(caller.name)
    except ConfigError as error:
        _log.warning("the scopes of %s are unknown: %s", caller.name, error.message)
        return None
    return None if scopes is None else caller.limited_to(Caller(caller.name, scopes))


def add_token(path: Path, name: str, scopes: Collection[str]) -> str:
    """Add a client to the file and return its new token. Raises ConfigError."""
    if _NAME.fullmatch(name) is None:
        raise ConfigError(f"{name!r} cannot be the name of a token", hint="letters, digits, - and _, 64 at most")
    for scope in scopes:
        if _SCOPE.fullmatch(scope) is None:
            raise ConfigError(f"{scope!r} is no scope", hint=f"the scopes are {', '.join(SCOPES)}")
    with locked_file(path):
        if name in _entries(path):
            raise ConfigError(f"{path} has a token for {name} already", hint="choose another name, or edit the file")
        content = read_secret(path)
        token, entry = _entry(name, scopes)
        write_secret(path, f"{content.reveal() if content else ''}\n\n{entry}")
    return token


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCOPE = re.compile(r"\*|[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?")
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
