"""`edgevox home`: lists the entities of the home, sets up its connection and tests it."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from rich.table import Table
from rich.text import Text
from yarl import URL

from edgevox.cli.command import JSON, Command, argument
from edgevox.cli.context import Context, folded, left, plain_table, run_until_done
from edgevox.config.secrets import Secret, write_secret
from edgevox.config.toml_file import Value, update_config_file
from edgevox.core.errors import ConfigError
from edgevox.core.languages import duration
from edgevox.core.words import Words, normalized_words
from edgevox.home import Alarms, ConnectedHome, Entity, HomeError, House, ListItem, Timers
from edgevox.home.alarms.alarm_handlers import time_phrase
from edgevox.home.alarms.alarms import ALARMS_FILE
from edgevox.home.alarms.timers import TIMERS_FILE
from edgevox.home.alarms.watches import WATCHES_FILE, Watches
from edgevox.home.backends.factory import code_file, open_home, password_file, token_file
from edgevox.home.backends.home_assistant import HomeAssistantHome, NotHomeAssistant, WrongToken, check_token
from edgevox.home.backends.home_assistant.connection import host_of
from edgevox.home.backends.home_assistant.discovery import find_home_assistants
from edgevox.home.backends.mqtt import Broker, MqttHome
from edgevox.home.phrasing import state_phrase

STATELESS = ("scene",)
"""Domains whose state is not shown: a scene has none before its first use, and none of interest after."""

_MAX_NAMED = 8
_MAX_LEFT_OUT = 3
_NO_AREA = "(no area)"
_NO_STATE = ("unavailable", "unknown")


HOME = Command("home", "List, set up or test the home")


@HOME.action("list", "list entities by area, with their state", JSON)
def _list(args: argparse.Namespace, context: Context) -> None:
    folders = context.folders
    house, lists = run_until_done(_read_lists(open_home(context.settings, folders)))
    timers = Timers(time.time, folders.state / TIMERS_FILE)
    alarms = Alarms(time.time, folders.state / ALARMS_FILE)
    watches = Watches(time.time, folders.state / WATCHES_FILE)
    if args.json:
        timer_facts = [timer.model_dump() | {"remaining_s": round(timers.remaining_s(timer))} for timer in timers.all()]
        context.write_json(
            {
                "floors": [dataclasses.asdict(floor) for floor in house.floors],
                "areas": [dataclasses.asdict(area) for area in house.areas],
                "entities": [dataclasses.asdict(entity) for entity in house.entities],
                "lists": {name: [dataclasses.asdict(item) for item in items] for name, items in lists.items()},
                "timers": timer_facts,
                "alarms": [alarm.model_dump(mode="json") for alarm in alarms.all()],
                "watches": [watch.model_dump(mode="json") for watch in watches.all()],
            }
        )
        return
    context.out.print(house_table(house))
    for name, items in lists.items():
        context.print(f"{name}: {', '.join(item.text for item in items if not item.is_done) or 'empty'}")
    for timer in timers.all():
        paused = "paused, " if timer.is_paused else ""
        context.print(f"timer {timer.name}: {paused}{duration(timers.remaining_s(timer))} left")
    for alarm in alarms.all():
        label = f" {alarm.label}" if alarm.label else ""
        context.print(f"{alarm.kind}{label}: {time_phrase(alarm, alarms)}")
    for watch in watches.all():
        context.print(f"watch: {watch.promise}")
    if context.settings.home.kind == "demo":
        context.print("\nThis is the demo home: no real devices. edgevox home setup connects yours.")


@HOME.action(
    "setup",
    "connect to Home Assistant or MQTT, and list the entities; "
    "the token or password is prompted for, or read from standard input",
    argument("--url", help="URL of Home Assistant; default: search the network"),
    argument("--mqtt", metavar="HOST[:PORT]", help="use an MQTT broker instead of Home Assistant"),
    argument("--username", metavar="NAME", help="user name for the broker"),
    argument("--tls", action="store_true", help="connect to the broker over TLS"),
    argument("--ca-file", type=Path, metavar="FILE", help="CA certificate to trust"),
)
def _setup(args: argparse.Namespace, context: Context) -> None:
    if args.mqtt:
        connect_mqtt(context, args.mqtt, username=args.username, tls=args.tls, ca_file=args.ca_file)
    else:
        connect_home_assistant(context, args.url)


@HOME.action("code", "keep the code of the alarm panel; it is asked for")
def _code(_args: argparse.Namespace, context: Context) -> None:
    code = _secret(context, "code", "")
    path = code_file(context.folders)
    write_secret(path, code.reveal())
    context.print(f"kept in {path}")


@HOME.action("test", "test the connection and report ambiguous names")
def _test(_args: argparse.Namespace, context: Context) -> None:
    house, seconds = run_until_done(measure_connection(open_home(context.settings, context.folders)))
    found = f"{len(house.areas)} areas, {len(house.entities)} entities"
    context.out.print(Text.assemble(("ok ", "green"), f"connected to the home in {seconds:.1f} s: {found}"))
    _print_warnings(context, house)


async def measure_connection(home: ConnectedHome) -> tuple[House, float]:
    """Return the house and the seconds it took to connect and read it. Raises HomeError."""
    began_s = time.monotonic()
    async with connected_house(home) as house:
        return house, time.monotonic() - began_s


@asynccontextmanager
async def connected_house(home: ConnectedHome) -> AsyncIterator[House]:
    """Connect to the home and yield its house. Raises HomeError and StateError."""
    logger = logging.getLogger("edgevox.home.backends")
    level = logger.level
    logger.setLevel(logging.ERROR)  # the command prints the problem itself
    try:
        await home.start()
        if home.problem:
            raise HomeError(home.problem)
        yield home.house()
    finally:
        await home.close()
        logger.setLevel(level)


def home_warnings(house: House) -> Iterator[str]:
    """Yield problems in the home's configuration that lead to misunderstandings."""
    named = Counter(_identity(entity) for entity in house.entities)
    ambiguous = [entity.name for entity in house.entities if named[_identity(entity)] > 1]
    if ambiguous:
        yield f"entities in one area share a name, so the assistant will ask which one: {_name_some(ambiguous)}"
    stateless = [
        entity.name for entity in house.entities if entity.state in _NO_STATE and entity.domain not in STATELESS
    ]
    if stateless:
        yield f"entities without a state now: {_name_some(stateless)}"
    unplaced = [entity.name for entity in house.entities if entity.area is None and entity.domain == "light"]
    if unplaced and house.areas:
        yield f"lights without an area, which commands for a room do not reach: {_name_some(unplaced)}"
    if house.left_out:
        yield left_out_text(house)


def left_out_text(house: House) -> str:
    """One line about what the backend cannot use."""
    return f"left out: {'; '.join(house.left_out[:_MAX_LEFT_OUT])}" + (
        f"; and {more} more" if (more := len(house.left_out) - _MAX_LEFT_OUT) > 0 else ""
    )


def _identity(entity: Entity) -> tuple[Words, str, str | None]:
    """Return what distinguishes an entity in a spoken command."""
    return normalized_words(entity.name), entity.domain, entity.area


def _name_some(names: list[str]) -> str:
    once = list(dict.fromkeys(names))
    more = len(once) - _MAX_NAMED
    return ", ".join(once[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


async def _read_lists(home: ConnectedHome) -> tuple[House, dict[str, tuple[ListItem, ...]]]:
    """Raises HomeError and StateError."""
    async with connected_house(home) as house:
        lists = [entity for entity in house.entities if entity.domain == "todo"]
        return house, {entity.name: await home.items(entity.id) for entity in lists}


def house_table(house: House) -> Table:
    """Table of the entities by area, with aliases and state; those without an area come last."""
    table = plain_table(
        left("area", max_width=20),
        folded("entity", min_width=20),
        folded("state", min_width=16),
        folded("kind", style="dim"),
    )
    order = {area.id: number for number, area in enumerate(house.areas)}
    last: str | None = None
    for entity in sorted(house.entities, key=lambda entity: order.get(entity.area or "", len(order))):
        if entity.domain == "todo":  # lists have lines of their own
            continue
        area = house.area(entity.area)
        where = area.name if area else _NO_AREA
        state = "" if entity.domain in STATELESS else state_phrase(entity)
        table.add_row(
            Text(where if where != last else ""),
            Text(entity.name + (f" ({', '.join(entity.aliases)})" if entity.aliases else "")),
            Text(", ".join(filter(None, (state, _detail_text(entity))))),
            entity.domain + (f" {entity.device_class}" if entity.device_class else ""),
        )
        last = where
    return table


def _detail_text(entity: Entity) -> str:
    """Return the attributes that are shown after the state."""
    has = entity.attributes
    match entity.domain:
        case "light" if entity.state == "on":
            return ", ".join(filter(None, (f"{has.get('brightness', 100)} %", has.get("color", ""))))
        case "fan" if entity.state == "on":
            return f"{has.get('percentage', 100)} %"
        case "cover" if 0 < has.get("position", 0) < 100:
            return f"{has['position']} %"
        case "climate":
            known = {"set to {}°": has.get("temperature"), "{}° now": has.get("current_temperature")}
            return ", ".join(text.format(value) for text, value in known.items() if value is not None)
        case "media_player":
            return f"volume {has.get('volume_level', 0)} %" + (", muted" if has.get("is_volume_muted") else "")
        case "weather":
            return f"{has['temperature']}°" if "temperature" in has else ""
        case _:
            return ""


_ACCESS_HELP = """\
EdgeVox needs a long-lived access token. In Home Assistant: click your name (bottom left), open Security,
scroll to "Long-lived access tokens", create one and copy it. A separate user for EdgeVox is recommended.\
"""
_ADDRESS_HINT = "use the URL that you open in the browser, such as --url http://homeassistant.local:8123"
_MAX_PORT = 65535


def connect_home_assistant(context: Context, url: str | None) -> None:
    """Ask for a token, and for the URL where none is given; show the home and save both. Raises EdgevoxError."""
    url = _address(url or _found_url(context))
    token = _secret(context, "token", _ACCESS_HELP)
    if not token.reveal().isascii():
        raise ConfigError("invalid token", hint="copy the token as Home Assistant shows it")
    try:
        version = run_until_done(check_token(url, token))
    except WrongToken:
        raise HomeError("Home Assistant rejected the token", hint="copy all of it, or create a new one there") from None
    except NotHomeAssistant:
        raise HomeError(f"the server at {host_of(url)} is not Home Assistant", hint=_ADDRESS_HINT) from None
    context.print(f"Home Assistant {version} at {host_of(url)}")
    _show_home(context, HomeAssistantHome(url, token, timeout_s=context.settings.home.timeout_s))
    write_secret(token_file(context.folders), token.reveal())
    _save(context, {"home": {"kind": "home_assistant", "url": url}})


def connect_mqtt(context: Context, address: str, *, username: str | None, tls: bool, ca_file: Path | None) -> None:
    """Ask for a password where there is a user name; show the home and save the connection. Raises EdgevoxError."""
    kept = context.settings.mqtt
    # Port and TLS always replace those of an earlier setup.
    values: dict[str, Value] = {**_broker_address(address, tls=tls), "tls": tls}
    values |= {"username": username} if username else {}
    # Absolute, because the assistant may start in another folder.
    values |= {"ca_file": str(ca_file.expanduser().absolute())} if ca_file else {}
    mqtt = kept.model_validate({**kept.model_dump(), **values})
    password = _secret(context, "password", "") if mqtt.username else None
    _show_home(
        context, MqttHome(Broker(password=password, **mqtt.model_dump()), timeout_s=context.settings.home.timeout_s)
    )
    if password is not None:
        write_secret(password_file(context.folders), password.reveal())
    _save(context, {"home": {"kind": "mqtt"}, "mqtt": values})


def _address(text: str) -> str:
    """Normalise a URL: add a missing scheme, drop path and query. Raises ConfigError."""
    try:
        url = URL(text if "://" in text else f"http://{text}")
        if url.scheme in ("http", "https") and url.host:
            return str(url.with_path("").with_query(None)).rstrip("/")
    except ValueError:
        pass
    raise ConfigError("invalid Home Assistant URL", hint=_ADDRESS_HINT)


def _broker_address(text: str, *, tls: bool) -> dict[str, Value]:
    """Raises ConfigError."""
    host, _, port = text.partition(":")
    if not host or (port and not (port.isdecimal() and 0 < int(port) <= _MAX_PORT)):
        raise ConfigError(f"invalid broker address: {text}", hint="--mqtt HOST or --mqtt HOST:PORT")
    return {"host": host, "port": int(port) if port else Broker(host, tls=tls).tcp_port}


def _found_url(context: Context) -> str:
    with context.err.status("Looking for Home Assistant on the network …"):
        found = run_until_done(find_home_assistants())
    for number, one in enumerate(found, 1):
        context.print(f"{number}. {one.name}: {one.url}")
    if not sys.stdin.isatty():
        # Any host can announce itself: a person must confirm where the token is sent.
        raise ConfigError(f"found {len(found)} Home Assistant servers on the network", hint="choose one with --url")
    first = found[0].url if found else "http://homeassistant.local:8123"
    answer = context.ask(f"Home Assistant URL [{first}]: ")
    return found[int(answer) - 1].url if answer in map(str, range(1, len(found) + 1)) else answer or first


def _secret(context: Context, noun: str, how: str) -> Secret:
    """Read a secret from a hidden prompt or standard input. Raises ConfigError if it is empty."""
    if sys.stdin.isatty():
        if how:
            context.print(how)
        text = context.ask(f"{noun} (input is hidden): ", is_hidden=True)
    else:
        text = sys.stdin.readline().strip()
    if not text or not text.isprintable():
        raise ConfigError(f"invalid {noun}", hint=f"paste the {noun}, or pipe it to standard input")
    return Secret(text)


def _show_home(context: Context, home: HomeAssistantHome | MqttHome) -> None:
    """Raises HomeError when it cannot be reached."""
    house, _ = run_until_done(measure_connection(home))
    context.out.print(house_table(house))
    _print_warnings(context, house)


def _print_warnings(context: Context, house: House) -> None:
    for warning in home_warnings(house):
        context.out.print(Text.assemble(("note ", "yellow"), warning))


def _save(context: Context, sections: Mapping[str, Mapping[str, Value]]) -> None:
    path = context.folders.config_file
    for section, values in sections.items():
        update_config_file(path, section, values)
    context.print(f"Saved to {path}. Ask “what is on in the kitchen”, or run edgevox home list.")
