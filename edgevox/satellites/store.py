"""The satellites that the server connects to: `satellites.toml` among the settings, readable by its owner only."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator

from edgevox.config.secrets import read_secret, write_secret
from edgevox.config.sections import checked_tcp
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders, locked_file, parse_toml
from edgevox.core.turn import Caller
from edgevox.server.websocket.protocol import MediaPlayerId

FILE_NAME = "satellites.toml"
DEFAULT_SCOPES = ("read", "act", "confirm")
"""What is said there may confirm, but not open locks and gates."""
ESPHOME_PORT = 6053
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HINT = "see docs/guide/rooms.md; edgevox satellites add writes the file"


class DeviceEntry(BaseModel):
    """A Wyoming satellite (`uri`) or an ESPHome device (`esphome`, with its encryption key)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    uri: str = ""
    esphome: str = ""
    key: str = Field(default="", repr=False)
    room: str = Field(default="", max_length=100)
    player: MediaPlayerId = ""
    """The media player of Home Assistant on which it answers; empty: the satellite itself."""
    scopes: frozenset[str] = frozenset(DEFAULT_SCOPES)

    @field_validator("uri")
    @classmethod
    def _is_tcp(cls, uri: str) -> str:
        return checked_tcp(uri) if uri else uri

    @field_validator("esphome")
    @classmethod
    def _is_host_and_port(cls, address: str) -> str:
        _host, colon, port = address.partition(":")
        if colon and not (port.isdecimal() and 0 < int(port) < 65_536):
            raise ValueError(f"{port} is no port")
        return address

    @model_validator(mode="after")
    def _has_one_address(self) -> DeviceEntry:
        if bool(self.uri) == bool(self.esphome):
            raise ValueError("a satellite has either a uri or an esphome address")
        return self

    @property
    def kind(self) -> Literal["wyoming", "esphome"]:
        return "wyoming" if self.uri else "esphome"

    @property
    def esphome_address(self) -> tuple[str, int]:
        host, _, port = self.esphome.partition(":")
        return host, int(port or ESPHOME_PORT)

    def caller(self, name: str) -> Caller:
        return Caller(f"satellite {name}", self.scopes, room=self.room, satellite=name)


_FILE = TypeAdapter(dict[str, DeviceEntry])


class DeviceFile:
    """The file; a change of it is seen at the next `read`."""

    def __init__(self, folders: Folders) -> None:
        self.path: Path = folders.config / FILE_NAME

    def read(self) -> dict[str, DeviceEntry]:
        """The entries by name. Raises ConfigError, whose message contains no key."""
        content = read_secret(self.path)
        try:
            return _FILE.validate_python(parse_toml(content.reveal() if content else ""))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{self.path} is not valid TOML: {error}", hint=_HINT) from None
        except ValidationError as error:
            fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
            raise ConfigError(f"{self.path} has invalid fields: {fields}", hint=_HINT) from None

    def add(self, name: str, entry: DeviceEntry) -> None:
        """Raises ConfigError for a name that is invalid or taken."""
        if _NAME.fullmatch(name) is None:
            raise ConfigError(
                f"{name!r} cannot be the name of a satellite", hint="letters, digits, - and _, 64 at most"
            )
        with locked_file(self.path):
            entries = self.read()
            if name in entries:
                raise ConfigError(f"there is a satellite {name} already", hint=f"edgevox satellites remove {name}")
            self._write({**entries, name: entry})

    def remove(self, name: str) -> None:
        """Raises ConfigError if there is none with this name."""
        with locked_file(self.path):
            entries = self.read()
            if name not in entries:
                raise ConfigError(
                    f"there is no satellite {name} in {self.path}", hint="edgevox satellites list shows them"
                )
            self._write({known: entry for known, entry in entries.items() if known != name})

    def _write(self, entries: dict[str, DeviceEntry]) -> None:
        tables = ["# Satellites of other makers, to which the server connects (edgevox satellites).\n"]
        for name, entry in entries.items():
            fields = {
                key: value
                for key, value in entry.model_dump(mode="json", exclude_defaults=True).items()
                if key != "scopes"
            }
            lines = [f"{key} = {_quoted(value)}" for key, value in fields.items()]
            scopes = ", ".join(_quoted(scope) for scope in sorted(entry.scopes))
            tables.append("\n".join((f"[{name}]", *lines, f"scopes = [{scopes}]", "")))
        write_secret(self.path, "\n".join(tables))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
