"""Field types and the smaller sections: home, MQTT, calendars, media, alarms, MCP, server, earcons, wake word."""

from __future__ import annotations

import contextlib
import ipaddress
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from edgevox.core.files import parse_json, user_folders
from edgevox.core.languages import checked_language, listed

AUTO = "auto"
"""Where a language is expected: detect it."""


def _checked_or_auto(language: str) -> str:
    return language if language == AUTO else checked_language(language)


UserPath: TypeAlias = Annotated[Path, AfterValidator(Path.expanduser)]
Text: TypeAlias = Annotated[str, Field(min_length=1)]
Language: TypeAlias = Annotated[str, AfterValidator(checked_language)]
LanguageOrAuto: TypeAlias = Annotated[str, AfterValidator(_checked_or_auto)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=3600)]


class Section(BaseModel):
    """Base class of all settings sections."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def key(default: Any, description: str, *, example: object = None, **limits: Any) -> Any:  # noqa: ANN401
    """A setting with its default, description and limits; `example` is shown where there is no default."""
    return Field(default=default, description=description, examples=[example], **limits)


_TCP = "tcp://"


def checked_url(url: str) -> str:
    """Validate an HTTP URL and strip the trailing slash. Raises ValueError."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{url} is not a valid URL: {error}") from None
    if "@" in parts.netloc:  # not quoted, because the key would appear in logs
        raise ValueError("a URL must not contain a key: name a file with it, such as llm.remote_key_file")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{url} is not a valid URL such as http://localhost:8080/v1")
    return url.rstrip("/")


def checked_tcp(address: str) -> str:
    """Validate the address of a Wyoming server, tcp://host:port. Raises ValueError."""
    written = address if "://" in address else _TCP + address
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{address} is not a valid address: {error}") from None
    extra = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme != "tcp" or not parts.hostname or not port or extra:
        raise ValueError(f"{address} is not a valid address such as tcp://localhost:10300")
    return written.rstrip("/")


def host_and_port(address: str) -> tuple[str, int]:
    """Host and port of a validated address."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def checked_network(written: str) -> str:
    """Validate an IP address or network. Raises ValueError."""
    try:
        ipaddress.ip_network(written)
    except ValueError as error:
        raise ValueError(f"{written} is not an IP address or network: {error}") from None
    return written


def checked_json_object(text: str) -> str:
    """Raises ValueError if the text is not a JSON object."""
    try:
        is_object = isinstance(parse_json(text), dict)
    except ValueError as error:
        raise ValueError(f"invalid JSON: {error}") from None
    if not is_object:
        raise ValueError('not a JSON object such as {"top_k": 20}')
    return text


HttpUrl: TypeAlias = Annotated[str, AfterValidator(checked_url)]
TcpAddress: TypeAlias = Annotated[str, AfterValidator(checked_tcp)]
JsonText: TypeAlias = Annotated[str, AfterValidator(checked_json_object)]
Network: TypeAlias = Annotated[str, AfterValidator(checked_network)]


class HomeSettings(Section):
    """The home that the assistant controls."""

    kind: Literal["demo", "home_assistant", "mqtt"] = key("demo", "the home backend; edgevox home setup finds yours")
    url: Text | None = key(None, "the URL of Home Assistant", example="http://homeassistant.local:8123")
    timeout_s: Seconds = key(5.0, "how long the home may take to answer")
    room: Text | None = key(
        None, 'the room of this machine: "turn on the lights" then means the lights in it', example="Kitchen"
    )
    duck_players: bool = key(
        False, "lower the media players of the room while somebody speaks with the assistant there"
    )
    max_things: int = key(
        60, "how many entities the prompt lists at most; of a larger home, the relevant ones", ge=10, le=1000
    )
    latitude: float | None = key(
        None, "degrees north, for sunrise and sunset; default: that of Home Assistant", ge=-90, le=90, example=52.52
    )
    longitude: float | None = key(
        None, "degrees east, for sunrise and sunset; default: that of Home Assistant", ge=-180, le=180, example=13.4
    )


class MqttSettings(Section):
    """The MQTT broker; edgevox home setup asks for its password."""

    host: Text = key("localhost", "the host name of the broker")
    port: int | None = key(None, "the port; default 1883, or 8883 with TLS", ge=1, le=65535, example=1883)
    username: Text | None = key(None, "the user name at the broker", example="edgevox")
    tls: bool = key(False, "connect to the broker over TLS")
    ca_file: UserPath | None = key(
        None, "the CA certificate to trust, for a broker with a self-signed one", example="~/broker-ca.pem"
    )
    discovery_prefix: Text = key("homeassistant", "the topic prefix of MQTT discovery")


class CalendarSettings(Section):
    """Calendars beside those of Home Assistant."""

    files: tuple[UserPath, ...] = key((), "ICS files; new events are written to the first one")
    caldav_url: HttpUrl | None = key(
        None, "the URL of a calendar on a CalDAV server", example="https://cloud.example/dav/calendars/anna/family"
    )
    caldav_user: Text | None = key(None, "the user name at that server", example="anna")
    caldav_password_file: UserPath | None = key(
        None, "a file with the password, readable only by you (chmod 600)", example="~/.config/edgevox/caldav_password"
    )


def checked_stream(url: str) -> str:
    """Validate the URL of a radio station. Raises ValueError."""
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ValueError(f"{url} is not the URL of a stream such as https://radio.example/jazz.mp3")
    return url


StreamUrl: TypeAlias = Annotated[str, AfterValidator(checked_stream)]


class MediaSettings(Section):
    """Music and radio on this machine, played by mpv."""

    music_folder: UserPath | None = key(None, "a folder with music files", example="~/Music")
    stations: Mapping[Text, StreamUrl] = key({}, 'radio stations: "Jazz Radio" = "https://radio.example/jazz.mp3"')
    player_name: Text = key("Music Player", "the name of the player")
    mpv_options: tuple[str, ...] = key((), 'options for mpv: "--audio-device=pulse/kitchen"')

    @property
    def is_set_up(self) -> bool:
        return self.music_folder is not None or bool(self.stations)


class RingSettings(Section):
    """Timers, alarms and reminders."""

    for_s: Seconds = key(120.0, "how long an alarm rings if nobody stops it")
    snooze_minutes: int = key(9, "the length of a snooze", ge=1, le=60)


class McpSettings(Section):
    """MCP servers, whose tools the assistant may use."""

    enabled: bool = key(True, "false: no MCP server is started")
    config: UserPath | None = key(
        None, "the file that lists the servers; default: mcp.json beside this file", example="~/mcp.json"
    )
    command: Text | None = key(None, "the command of one more server, without a file", example="mcp-server-time")
    args: tuple[str, ...] = key((), "the arguments of that command")
    tool_refresh_s: Seconds = key(
        30.0, "how often the tools of a server are listed, which also checks that it is alive"
    )
    start_timeout_s: Seconds = key(30.0, "a server that takes longer to start is restarted")
    max_offered: int = key(
        12, "how many tools of MCP servers the prompt lists at most: those relevant to the utterance", ge=1, le=128
    )


class ServerSettings(Section):
    """The API server: edgevox serve."""

    enabled: bool = key(False, "also run the server within edgevox run")
    audio: bool = key(True, "edgevox serve also offers speech recognition and synthesis")
    host: Text = key("127.0.0.1", 'the address to listen on; "0.0.0.0" for other machines')
    port: int = key(8790, "the port; 0: any free one", ge=0, le=65_535)
    allowed_hosts: tuple[str, ...] = key((), "host names under which other machines reach it")
    allowed_origins: tuple[str, ...] = key((), 'web origins that may use it: "http://panel.local:8080"')
    tls_certificate: UserPath | None = key(None, "a certificate (PEM file), for HTTPS", example="~/house.pem")
    tls_key: UserPath | None = key(None, "its private key, if that is in a separate file", example="~/house.key")
    always_token: bool = key(False, "require a token from programs on this machine, too")
    max_body_bytes: int = key(2_000_000, "the largest request body", ge=1_000)
    max_audio_bytes: int = key(25_000_000, "the largest audio file", ge=1_000)
    max_audio_s: float = key(600.0, "the longest audio file", gt=0, le=86_400)
    max_messages: int = key(500, "the most messages and tool calls in one conversation", ge=1)
    max_tools: int = key(128, "the most tools in one request", ge=0)
    max_waiting: int = key(64, "requests that may wait for the model; more are rejected", ge=0, le=1_000)
    max_audio_waiting: int = key(4, "audio files that may wait for transcription; more are rejected", ge=0, le=1_000)
    mcp: bool = key(False, "also serve the assistant's tools to MCP clients, at /mcp")
    voice_clients: int = key(4, "concurrent voice sessions of web pages and phones; 0: none", ge=0, le=16)
    wyoming: bool = key(False, "also serve STT, TTS and wake words to Home Assistant (Wyoming)")
    wyoming_host: Text = key("127.0.0.1", 'its address; "0.0.0.0" for other machines')
    wyoming_port: int = key(10300, "its port; 0: any free one", ge=0, le=65_535)
    wyoming_peers: tuple[Network, ...] = key(
        (), "other machines that may use it, since Wyoming has no tokens: 192.168.1.5, 10.0.0.0/8"
    )
    wyoming_scopes: tuple[str, ...] = key(
        (), 'tool scopes granted to them: "read", "act", "confirm" for a spoken yes; empty: no conversation'
    )
    wyoming_announce: bool = key(
        True, "announce it in the network, so that Home Assistant finds it; only where other machines can connect"
    )


class SoundSettings(Section):
    """Earcons and spoken feedback: speech was recognised, the reply takes long, an error occurred."""

    # Without a screen or lamp a tone is the only feedback. People who get none repeat themselves into the
    # turn that is under way.
    chimes: bool = key(
        True, "play a soft tone when you were understood, others at the wake word or if nothing was done"
    )
    chime_volume: float = key(0.15, "the volume of the tones; 1 is the maximum", gt=0, le=1)
    apologise: bool = key(True, 'say "Sorry, something went wrong." when an engine fails; false: only the tone')
    acknowledge_after_s: float = key(
        2.5, 'say "One moment." if the reply takes longer than this; 0: never', ge=0, le=60
    )


WakeMode: TypeAlias = Literal["off", "word", "phrase"]
RequestsOnly: TypeAlias = Literal["never", "follow_ups", "always"]
ThresholdName: TypeAlias = Literal["strict", "normal", "eager"]
Threshold: TypeAlias = ThresholdName | Annotated[float, Field(gt=0, le=1)]
WAKE_WORDS = Path(__file__).with_name("wake_words.toml")
TRAINED_WORDS_FOLDER = "wake_words"
"""In the state folder: the words of `edgevox wake train`, NAME.json each."""
TRAINED_WORD: Literal["edgevox-wake-word-1"] = "edgevox-wake-word-1"
"""The kind that such a file says it is."""


class WakeWord(Section):
    """A wake word: an entry of wake_words.toml, which explains the keys."""

    phrase: Text
    model: Path
    cutoffs: dict[ThresholdName, float]
    noticed_after_s: float

    def cutoff(self, threshold: Threshold) -> float:
        return self.cutoffs[threshold] if isinstance(threshold, str) else threshold


def wake_words() -> Mapping[str, WakeWord]:
    """The built-in wake words and those that the user has trained, by name."""
    return {**_read_wake_words(WAKE_WORDS), **_trained_wake_words(user_folders().state / TRAINED_WORDS_FOLDER)}


def _trained_wake_words(folder: Path) -> Mapping[str, WakeWord]:
    """Files that are no description of a word are left out: the detector says what is wrong with one."""
    found: dict[str, WakeWord] = {}
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            entry = parse_json(path.read_bytes())
            if entry["kind"] == TRAINED_WORD:
                facts = {name: entry[name] for name in ("phrase", "cutoffs", "noticed_after_s")}
                found[path.stem] = WakeWord.model_validate({**facts, "model": path})
    return found


@cache
def _read_wake_words(path: Path) -> Mapping[str, WakeWord]:
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: WakeWord.model_validate(entry) for name, entry in entries.items()}


def _checked_wake_word(name: str) -> str:
    if name not in wake_words():
        raise ValueError(f'"{name}" is not a wake word: use {listed(tuple(wake_words()), "or")}, or set wake.model')
    return name


WakeWordName: TypeAlias = Annotated[
    str, AfterValidator(_checked_wake_word), Field(json_schema_extra=lambda schema: schema.update(enum=[*wake_words()]))
]


class WakeSettings(Section):
    """The wake word or phrase."""

    mode: WakeMode = key("off", "off: always listen; word: after a trained wake word; phrase: any phrase first")
    word: WakeWordName = key("okay_nabu", "the wake word: a built-in one, or one of edgevox wake train")
    model: UserPath | None = key(
        None,
        "your own wake word (the .json file of a microWakeWord model, or of edgevox wake train)",
        example="~/models/hey_house.json",
    )
    phrase: Text = key("computer", "the phrase with which an utterance must begin")
    threshold: Threshold = key(
        "normal", "the detection threshold: strict has fewest false alarms, eager misses least; or a number"
    )
    confirm: bool = key(
        False, "have the recogniser read the wake word too, and go back to sleep if it was another word"
    )
    follow_up_s: float = key(5.0, "how long it listens after a reply without the wake word", ge=0, le=60)
    requests_only: RequestsOnly = key(
        "follow_ups",
        "where talk that is no command or question (English) is ignored: never, follow_ups (after a reply), "
        "always (also with the mode off)",
    )


Scopes: TypeAlias = tuple[str, ...]


class PeopleSettings(Section):
    """Speaker recognition, once a person is enrolled: edgevox people add NAME."""

    enabled: bool = key(True, "false: voices are not recognised, though people are enrolled")
    threshold: float = key(2.7, "the score that a voice needs; higher: fewer strangers, more guests", ge=0, le=10)
    scopes: Mapping[Text, Scopes] = key({}, 'what a person may do, by scopes: Tim = ["read", "act"] (no locks)')
    guest_scopes: Scopes = key(("read", "act", "confirm"), "what a voice that is not enrolled may do: no locks")
    confirm_by: Literal["anyone", "allowed"] = key(
        "anyone", "whose spoken yes counts; allowed: of a voice whose scopes cover the call"
    )
    follow_ups: Literal["anyone", "same"] = key(
        "same", "who may go on without the wake word after a reply; same: the person who spoke"
    )
    passphrase_file: UserPath | None = key(
        None, "a file with the passphrase that encrypts the voices (chmod 600)", example="~/.config/edgevox/voices_key"
    )
