"""The settings of the server for other programs."""

from __future__ import annotations

from pydantic import Field

from edgevox.settings.addresses import Network
from edgevox.settings.section import Section, Text, UserPath


class ServerSettings(Section):
    """The server for other programs: edgevox serve."""

    enabled: bool = Field(default=False, description="serve programs while edgevox run talks, too")
    audio: bool = Field(default=True, description="edgevox serve also recognises and speaks for programs")
    host: Text = Field(
        default="127.0.0.1", description='the address it listens on; "0.0.0.0" for other machines'
    )
    port: int = Field(default=8790, ge=0, le=65_535, description="its port; 0: any that is free")
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="names under which other machines reach it"
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(), description='web pages that may use it: "http://panel.local:8080"'
    )
    tls_certificate: UserPath | None = Field(
        default=None, description="a certificate in a PEM file: it is https then", examples=["~/house.pem"]
    )
    tls_key: UserPath | None = Field(
        default=None, description="the key for it, if it is in a file of its own", examples=["~/house.key"]
    )
    always_token: bool = Field(
        default=False, description="ask programs on this machine for a token in every case"
    )
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
    wyoming_host: Text = Field(
        default="127.0.0.1", description='the address for that; "0.0.0.0" for other machines'
    )
    wyoming_port: int = Field(default=10300, ge=0, le=65_535, description="its port; 0: any that is free")
    wyoming_peers: tuple[Network, ...] = Field(
        default=(),
        description="the other machines that may use it, as it knows no tokens: 192.168.1.5, 10.0.0.0/8",
    )
    wyoming_scopes: tuple[str, ...] = Field(
        default=(), description='what the tools may do for them: "read", "act"; nothing: they cannot ask'
    )
