"""`edgevox home`: list the home's entities, set up its connection, and test it."""

from __future__ import annotations

import argparse
import dataclasses
import getpass
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text
from yarl import URL

from edgevox.cli.command import Command
from edgevox.cli.context import Context, run_until_done
from edgevox.config.secrets import Secret, write_secret
from edgevox.config.toml_file import Value, update_config_file
from edgevox.core.errors import ConfigError
from edgevox.core.languages import duration
from edgevox.core.words import Words, normalized_words
from edgevox.home import Alarms, ConnectedHome, Entity, HomeError, House, ListItem, Timers
from edgevox.home.alarms.alarm_handlers import time_phrase
from edgevox.home.alarms.alarms import ALARMS_FILE
from edgevox.home.alarms.timers import TIMERS_FILE
from edgevox.home.backends.factory import open_home, password_file, token_file
from edgevox.home.backends.home_assistant import HomeAssistantHome, NotHomeAssistant, WrongToken, check_token
from edgevox.home.backends.home_assistant.connection import host_of
from edgevox.home.backends.home_assistant.discovery import find_home_assistants
from edgevox.home.backends.mqtt import Broker, MqttHome
from edgevox.home.phrasing import state_phrase

STATELESS = ("scene",)
"""What has no state until it is turned on for the first time, and none that is worth telling after it."""

_MAX_NAMED = 8
_NO_STATE = ("unavailable", "unknown")
_CONNECTION_LOGGERS = (
    "edgevox.home.backends.factory",
    "edgevox.home.backends.home_assistant",
    "edgevox.home.backends.mqtt",
)


def home_test_command(context: Context) -> int:
    house, seconds = run_until_done(measure_connection(open_home(context.settings, context.folders)))
    found = f"{len(house.areas)} areas and {len(house.entities)} things"
    context.out.print(Text.assemble(("ok ", "green"), f"the home answered in {seconds:.1f} s: {found}"))
    for remark in home_warnings(house):
        context.out.print(Text.assemble(("note ", "yellow"), remark))
    return 0


async def measure_connection(home: ConnectedHome) -> tuple[House, float]:
    """The house, and how long it took to know it. Raises HomeError with what to do."""
    began_s = time.monotonic()
    async with connected_house(home) as house:
        return house, time.monotonic() - began_s


@asynccontextmanager
async def connected_house(home: ConnectedHome) -> AsyncIterator[House]:
    """The house, for as long as the home is connected. Raises HomeError with what to do, and StateError."""
    with _without_connection_logs():
        await home.start()
        try:
            if home.problem:
                raise HomeError(home.problem)
            yield home.house()
        finally:
            await home.close()


@contextmanager
def _without_connection_logs() -> Iterator[None]:
    """A connection logs what is wrong with it: here it is told already, and once is enough."""
    loggers = [logging.getLogger(name) for name in _CONNECTION_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def home_warnings(house: House) -> Iterator[str]:
    """What a person may want to change in the home, so that it understands better."""
    named = Counter(_identity(entity) for entity in house.entities)
    same = [entity.name for entity in house.entities if named[_identity(entity)] > 1]
    if same:
        yield f"several things of one area have the same name, and it will ask which: {_name_some(same)}"
    silent = [entity.name for entity in house.entities if entity.state in _NO_STATE and entity.domain not in STATELESS]
    if silent:
        yield f"these give no state now: {_name_some(silent)}"
    nowhere = [entity.name for entity in house.entities if entity.area is None and entity.domain == "light"]
    if nowhere and house.areas:
        yield f"these lights are in no area, so no room's lights include them: {_name_some(nowhere)}"


def _identity(entity: Entity) -> tuple[Words, str, str | None]:
    """What a person can tell it by."""
    return normalized_words(entity.name), entity.domain, entity.area


def _name_some(names: list[str]) -> str:
    once = list(dict.fromkeys(names))
    more = len(once) - _MAX_NAMED
    return ", ".join(once[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class _HomeListing:
    """All that is listed."""

    house: House
    lists: dict[str, tuple[ListItem, ...]]
    timers: Timers
    alarms: Alarms


def add_home_list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def home_list_command(args: argparse.Namespace, context: Context) -> int:
    folders = context.folders
    house, lists = run_until_done(_read_listing(open_home(context.settings, folders)))
    timers = Timers(time.time, folders.state / TIMERS_FILE)
    alarms = Alarms(time.time, folders.state / ALARMS_FILE)
    shown = _HomeListing(house, lists, timers, alarms)
    if args.json:
        context.write(json.dumps(_listing_json(shown), indent=2, ensure_ascii=False))
        return 0
    context.out.print(house_table(house))
    for line in _list_lines(shown):
        context.out.print(Text(line))
    if context.settings.home.kind == "demo":
        context.out.print("\nThis is the demo home: nothing real is switched. edgevox home setup finds yours.")
    return 0


async def _read_listing(home: ConnectedHome) -> tuple[House, dict[str, tuple[ListItem, ...]]]:
    """Raises HomeError and StateError."""
    async with connected_house(home) as house:
        lists = [entity for entity in house.entities if entity.domain == "todo"]
        return house, {entity.name: await home.items(entity.id) for entity in lists}


def _list_lines(shown: _HomeListing) -> Iterator[str]:
    for name, items in shown.lists.items():
        yield f"{name}: {', '.join(item.text for item in items if not item.is_done) or 'empty'}"
    for timer in shown.timers.all():
        paused = "paused, " if timer.is_paused else ""
        yield f"timer {timer.name}: {paused}{duration(shown.timers.remaining_s(timer))} left"
    for alarm in shown.alarms.all():
        label = f" {alarm.label}" if alarm.label else ""
        yield f"{alarm.kind}{label}: {time_phrase(alarm, shown.alarms)}"


def _listing_json(shown: _HomeListing) -> dict[str, object]:
    house, timers = shown.house, shown.timers
    return {
        "floors": [dataclasses.asdict(floor) for floor in house.floors],
        "areas": [dataclasses.asdict(area) for area in house.areas],
        "entities": [dataclasses.asdict(entity) for entity in house.entities],
        "lists": {name: [dataclasses.asdict(item) for item in items] for name, items in shown.lists.items()},
        "timers": [timer.model_dump() | {"remaining_s": round(timers.remaining_s(timer))} for timer in timers.all()],
        "alarms": [alarm.model_dump(mode="json") for alarm in shown.alarms.all()],
    }


def house_table(house: House) -> Table:
    """Every thing by its area, with what it is called and how it is."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("where", no_wrap=True)
    table.add_column("what", no_wrap=True)
    table.add_column("state", overflow="fold")
    table.add_column("kind", style="dim", no_wrap=True)
    order = {area.id: number for number, area in enumerate(house.areas)}
    last = ""
    for entity in sorted(house.entities, key=lambda entity: order.get(entity.area or "", len(order))):
        if entity.domain == "todo":  # lists have lines of their own
            continue
        area = house.area(entity.area)
        where = area.name if area else ""
        table.add_row(
            Text(where if where != last else ""),
            Text(entity.name + (f" ({', '.join(entity.aliases)})" if entity.aliases else "")),
            Text(", ".join(filter(None, (_state_text(entity), _detail_text(entity))))),
            entity.domain + (f" {entity.device_class}" if entity.device_class else ""),
        )
        last = where
    return table


def _state_text(entity: Entity) -> str:
    return "" if entity.domain in STATELESS else state_phrase(entity)


def _detail_text(entity: Entity) -> str:
    """What is worth knowing beside the state."""
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
scroll to "Long-lived access tokens", create one and copy it. Best make a user of its own for EdgeVox first.\
"""
_ADDRESS_HINT = "give the address that you open in the browser, such as --url http://homeassistant.local:8123"
_MAX_PORT = 65535


def add_home_setup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="where Home Assistant is; without it, it is looked for")
    parser.add_argument("--mqtt", metavar="HOST[:PORT]", help="an MQTT broker instead of Home Assistant")
    parser.add_argument("--username", metavar="NAME", help="who we are to the broker")
    parser.add_argument("--tls", action="store_true", help="speak to the broker over TLS")
    parser.add_argument("--ca-file", type=Path, metavar="FILE", help="the certificate to trust")
    parser.epilog = "The token or password is asked for, or read from standard input."


def home_setup_command(args: argparse.Namespace, context: Context) -> int:
    if args.mqtt:
        _set_up_mqtt(args, context)
    else:
        _set_up_home_assistant(args, context)
    return 0


def _set_up_home_assistant(args: argparse.Namespace, context: Context) -> None:
    url = _address(args.url or _found_url(context))
    token = _secret(context, "token", _ACCESS_HELP)
    if not token.reveal().isascii():
        raise ConfigError("that is no token", hint="copy the token as Home Assistant shows it")
    try:
        version = run_until_done(check_token(url, token))
    except WrongToken:
        raise HomeError(
            "Home Assistant does not accept the token", hint="copy it whole, or create another one there"
        ) from None
    except NotHomeAssistant:
        raise HomeError(f"what answers at {host_of(url)} is not Home Assistant", hint=_ADDRESS_HINT) from None
    context.out.print(Text(f"Home Assistant {version} at {host_of(url)}"))
    _show_home(context, HomeAssistantHome(url, token, timeout_s=context.settings.home.timeout_s))
    write_secret(token_file(context.folders), token.reveal())
    _save(context, {"home": {"kind": "home_assistant", "url": url}})


def _set_up_mqtt(args: argparse.Namespace, context: Context) -> None:
    kept = context.settings.mqtt
    # Whatever the broker of an earlier setup was like: this port and this kind of connection are this one's.
    values: dict[str, Value] = {**_broker_address(args.mqtt, tls=args.tls), "tls": args.tls}
    values |= {"username": args.username} if args.username else {}
    # It is read from wherever the assistant is started.
    values |= {"ca_file": str(args.ca_file.expanduser().absolute())} if args.ca_file else {}
    mqtt = kept.model_validate({**kept.model_dump(), **values})
    password = _secret(context, "password", "") if mqtt.username else None
    _show_home(
        context,
        MqttHome(Broker(password=password, **mqtt.model_dump()), timeout_s=context.settings.home.timeout_s),
    )
    if password is not None:
        write_secret(password_file(context.folders), password.reveal())
    _save(context, {"home": {"kind": "mqtt"}, "mqtt": values})


def _address(text: str) -> str:
    """The address as it is kept: people leave out the http, or copy that of a page. Raises ConfigError."""
    try:
        url = URL(text if "://" in text else f"http://{text}")
        if url.scheme in ("http", "https") and url.host:
            return str(url.with_path("").with_query(None)).rstrip("/")
    except ValueError:
        pass
    raise ConfigError("that is no address of Home Assistant", hint=_ADDRESS_HINT)


def _broker_address(text: str, *, tls: bool) -> dict[str, Value]:
    """Raises ConfigError."""
    host, _, port = text.partition(":")
    if not host or (port and not (port.isdecimal() and 0 < int(port) <= _MAX_PORT)):
        raise ConfigError(f"{text} is no address of a broker", hint="--mqtt HOST or --mqtt HOST:PORT")
    return {"host": host, "port": int(port) if port else Broker(host, tls=tls).tcp_port}


def _found_url(context: Context) -> str:
    with context.err.status("Looking for Home Assistant on the network …"):
        found = run_until_done(find_home_assistants())
    for number, one in enumerate(found, 1):
        context.out.print(Text(f"{number}. {one.name}: {one.url}"))
    if not sys.stdin.isatty():
        # Anybody on the network can announce one: a person has to see where the token goes.
        raise ConfigError(f"{len(found)} Home Assistants were found on the network", hint="give its --url")
    first = found[0].url if found else "http://homeassistant.local:8123"
    answer = _prompt(lambda: input(f"address of Home Assistant [{first}]: "))
    return found[int(answer) - 1].url if answer in map(str, range(1, len(found) + 1)) else answer or first


def _secret(context: Context, noun: str, how: str) -> Secret:
    """What a person types unseen, or a program writes to us. Raises ConfigError when it is nothing."""
    if sys.stdin.isatty():
        if how:
            context.out.print(Text(how))
        text = _prompt(lambda: getpass.getpass(f"{noun} (it is not shown): "))
    else:
        text = sys.stdin.readline().strip()
    if not text or not text.isprintable():
        raise ConfigError(f"that is no {noun}", hint=f"paste the {noun}, or write it to standard input")
    return Secret(text)


def _prompt(ask: Callable[[], str]) -> str:
    """What a person types; nothing when they type Ctrl-D."""
    try:
        return ask().strip()
    except EOFError:
        return ""


def _show_home(context: Context, home: HomeAssistantHome | MqttHome) -> None:
    """Raises HomeError when it cannot be reached."""
    house, _ = run_until_done(measure_connection(home))
    context.out.print(house_table(house))
    for remark in home_warnings(house):
        context.out.print(Text.assemble(("note ", "yellow"), remark))


def _save(context: Context, sections: Mapping[str, Mapping[str, Value]]) -> None:
    path = context.folders.config_file
    for section, values in sections.items():
        update_config_file(path, section, values)
    context.out.print(Text(f"Kept in {path}. Say “what is on in the kitchen”, or try edgevox home list."))


def add_home_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|setup|test")
    add_home_list_arguments(actions.add_parser("list", help="show every area, what is in it and its state"))
    add_home_setup_arguments(
        actions.add_parser("setup", help="connect to your home, and show how each thing in it is called")
    )
    actions.add_parser("test", help="see whether the home answers, and what could be misheard in it")


def home_command(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "setup":
            return home_setup_command(args, context)
        case "test":
            return home_test_command(context)
        case _:
            return home_list_command(args, context)


COMMANDS = (Command("home", "List, set up or test the home", home_command, add_home_arguments),)
