"""Field types and the smaller sections: home, MQTT, alarms, MCP, server, earcons, wake word."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from edgevox.core.languages import checked_language

AUTO = "auto"
"""Where a language is expected: whichever is spoken."""


def _checked_or_auto(language: str) -> str:
    return language if language == AUTO else checked_language(language)


UserPath: TypeAlias = Annotated[Path, AfterValidator(Path.expanduser)]
Text: TypeAlias = Annotated[str, Field(min_length=1)]
Language: TypeAlias = Annotated[str, AfterValidator(checked_language)]
LanguageOrAuto: TypeAlias = Annotated[str, AfterValidator(_checked_or_auto)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=3600)]


class Section(BaseModel):
    """What all tables of the settings have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


_TCP = "tcp://"


def checked_url(url: str) -> str:
    """The address of an HTTP server, without a slash at its end. Raises ValueError."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{url} is no address: {error}") from None
    if "@" in parts.netloc:  # it would stand in logs and messages; so it is not repeated here either
        raise ValueError("a key does not belong in an address: name a file in llm.remote_key_file")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{url} is no address such as http://localhost:8080/v1")
    return url.rstrip("/")


def checked_tcp(address: str) -> str:
    """The address of a Wyoming server, as tcp://host:port. Raises ValueError."""
    written = address if "://" in address else _TCP + address
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{address} is no address: {error}") from None
    extra = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme != "tcp" or not parts.hostname or not port or extra:
        raise ValueError(f"{address} is no address such as tcp://localhost:10300")
    return written.rstrip("/")


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of a checked address of a Wyoming server."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def checked_network(written: str) -> str:
    """An address or a range of them. Raises ValueError."""
    try:
        ipaddress.ip_network(written)
    except ValueError as error:
        raise ValueError(f"{written} is no address of a machine, nor a network: {error}") from None
    return written


def checked_json_object(text: str) -> str:
    """Raises ValueError where the text is no JSON object."""
    try:
        is_object = isinstance(json.loads(text), dict)
    except ValueError as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not is_object:
        raise ValueError('this is no JSON object, such as {"top_k": 20}')
    return text


HttpUrl: TypeAlias = Annotated[str, AfterValidator(checked_url)]
TcpAddress: TypeAlias = Annotated[str, AfterValidator(checked_tcp)]
JsonText: TypeAlias = Annotated[str, AfterValidator(checked_json_object)]
Network: TypeAlias = Annotated[str, AfterValidator(checked_network)]


class HomeSettings(Section):
    """The home that is run by voice."""

    kind: Literal["demo", "home_assistant", "mqtt"] = Field(
        default="demo", description="which home; edgevox home setup finds yours"
    )
    url: Text | None = Field(
        default=None,
        description="where Home Assistant is",
        examples=["http://homeassistant.local:8123"],
    )
    timeout_s: Seconds = Field(default=5.0, description="a home that does not answer in this time is told to the user")
    max_things: int = Field(
        default=60,
        ge=10,
        le=1000,
        description="the model is told of this many things at most; of a larger home, of those that fit",
    )


class MqttSettings(Section):
    """The broker of a home that speaks MQTT; its password is asked for by edgevox home setup."""

    host: Text = Field(default="localhost", description="where the broker is")
    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="1883, or 8883 with TLS, unless it is another",
        examples=[1883],
    )
    username: Text | None = Field(default=None, description="who we are to the broker", examples=["edgevox"])
    tls: bool = Field(default=False, description="speak to the broker over TLS")
    ca_file: UserPath | None = Field(
        default=None,
        description="the certificate to trust, for a broker that signs its own",
        examples=["~/broker-ca.pem"],
    )
    discovery_prefix: Text = Field(
        default="homeassistant", description="the topic under which things announce themselves"
    )


class RingSettings(Section):
    """Timers, alarms and reminders when they are due."""

    for_s: Seconds = Field(default=120.0, description="what nobody stops falls silent after this long")
    snooze_minutes: int = Field(default=9, ge=1, le=60, description="how long snooze is")


class McpSettings(Section):
    """MCP servers: other programs whose tools the assistant may use."""

    enabled: bool = Field(default=True, description="false: no MCP server is started")
    config: UserPath | None = Field(
        default=None,
        description="the file that names the servers; without it, mcp.json beside this file",
        examples=["~/mcp.json"],
    )
    command: Text | None = Field(
        default=None,
        description="one server's program, instead of a file of servers",
        examples=["mcp-server-time"],
    )
    args: tuple[str, ...] = Field(default=(), description="what that program is started with")
    tool_refresh_s: Seconds = Field(
        default=30.0, description="how often servers are asked for their tools, and whether they live"
    )
    start_timeout_s: Seconds = Field(default=30.0, description="a server that takes longer is begun anew")
    max_offered: int = Field(
        default=12,
        ge=1,
        le=128,
        description="a model is told of this many tools of servers at most: those that fit the sentence",
    )


class ServerSettings(Section):
    """The server for other programs: edgevox serve."""

    enabled: bool = Field(default=False, description="serve programs while edgevox run talks, too")
    audio: bool = Field(default=True, description="edgevox serve also recognises and speaks for programs")
    host: Text = Field(default="127.0.0.1", description='the address it listens on; "0.0.0.0" for other machines')
    port: int = Field(default=8790, ge=0, le=65_535, description="its port; 0: any that is free")
    allowed_hosts: tuple[str, ...] = Field(default=(), description="names under which other machines reach it")
    allowed_origins: tuple[str, ...] = Field(
        default=(), description='web pages that may use it: "http://panel.local:8080"'
    )
    tls_certificate: UserPath | None = Field(
        default=None, description="a certificate in a PEM file: it is https then", examples=["~/house.pem"]
    )
    tls_key: UserPath | None = Field(
        default=None, description="the key for it, if it is in a file of its own", examples=["~/house.key"]
    )
    always_token: bool = Field(default=False, description="ask programs on this machine for a token in every case")
    max_body_bytes: int = Field(default=2_000_000, ge=1_000, description="the longest request")
    max_audio_bytes: int = Field(default=25_000_000, ge=1_000, description="the longest sound file")
    max_audio_s: float = Field(default=600.0, gt=0, le=86_400, description="the same in seconds")
    max_messages: int = Field(default=1_000, ge=1, description="the messages of one conversation")
    max_tools: int = Field(default=128, ge=0, description="the tools of one request")
    max_waiting: int = Field(
        default=16, ge=0, le=1_000, description="requests that wait for the model; more are sent away"
    )
    max_audio_waiting: int = Field(
        default=4, ge=0, le=1_000, description="sound files that wait to be written down, likewise"
    )
    mcp: bool = Field(default=False, description="serve the assistant's tools to MCP clients at /mcp, too")
    voice_clients: int = Field(
        default=4, ge=0, le=16, description="pages and phones that may speak with it at once; 0: none"
    )
    wyoming: bool = Field(default=False, description="serve ear and voice to Home Assistant (Wyoming), too")
    wyoming_host: Text = Field(default="127.0.0.1", description='the address for that; "0.0.0.0" for other machines')
    wyoming_port: int = Field(default=10300, ge=0, le=65_535, description="its port; 0: any that is free")
    wyoming_peers: tuple[Network, ...] = Field(
        default=(),
        description="the other machines that may use it, as it knows no tokens: 192.168.1.5, 10.0.0.0/8",
    )
    wyoming_scopes: tuple[str, ...] = Field(
        default=(), description='what the tools may do for them: "read", "act"; nothing: they cannot ask'
    )


class SoundSettings(Section):
    """Signs that somebody was heard, when the reply is not there at once, and that something went wrong."""

    # Elsewhere a lamp shows that somebody was heard. Here a tone is all there is, and who has no sign says
    # it again, into the turn that is under way.
    chimes: bool = Field(
        default=True,
        description="a soft tone when you were understood, others when it was called or nothing came of it",
    )
    chime_volume: float = Field(
        default=0.15, gt=0, le=1, description="how loud those are; 1 is as loud as the loudspeaker can"
    )
    apologise: bool = Field(
        default=True, description='"Sorry, something went wrong." when an engine failed; false: only the tone'
    )
    acknowledge_after_s: float = Field(
        default=2.5, ge=0, le=60, description='"One moment." when the reply takes longer than this; 0: never'
    )


WakeMode: TypeAlias = Literal["off", "word", "phrase"]
WakeWordName: TypeAlias = Literal["okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"]
ThresholdName: TypeAlias = Literal["strict", "normal", "eager"]
Threshold: TypeAlias = ThresholdName | Annotated[float, Field(gt=0, le=1)]


class WakeSettings(Section):
    """What to say before the assistant listens."""

    mode: WakeMode = Field(
        default="off",
        description="off: it always listens; word: once a trained word was said; phrase: any phrase first",
    )
    word: WakeWordName = Field(default="okay_nabu", description="the trained word")
    model: UserPath | None = Field(
        default=None,
        description="a microWakeWord model of your own (its .json file), instead of the trained word",
        examples=["~/models/hey_house.json"],
    )
    phrase: Text = Field(default="computer", description="the phrase: an utterance counts if it begins so")
    threshold: Threshold = Field(
        default="normal",
        description="how sure it must be: strict hears wrongly least, eager misses least; or a number",
    )
    follow_up_s: float = Field(
        default=5.0, ge=0, le=60, description="after a reply it listens for this long without being called"
    )
