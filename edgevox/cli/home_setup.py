"""`edgevox home setup`: find the home, ask for what opens it, show what is in it, and keep that."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.text import Text
from yarl import URL

from edgevox.cli.context import Context
from edgevox.cli.home_list import house_table
from edgevox.cli.home_test import reached, remarks
from edgevox.cli.loop import run_until_done
from edgevox.errors import ConfigError
from edgevox.settings.config_edit import Value, keep_in_file
from edgevox.settings.secret_file import Secret, write_secret
from edgevox.tools.home import HomeError
from edgevox.tools.home.home_assistant import (
    HomeAssistantHome,
    NotHomeAssistant,
    WrongToken,
    check_token,
)
from edgevox.tools.home.home_assistant.connection import where
from edgevox.tools.home.home_assistant.discovery import find_home_assistants
from edgevox.tools.home.homes import password_file, token_file
from edgevox.tools.home.mqtt import Broker, MqttHome

_HOW_TO_GET_ONE = """\
EdgeVox needs a long-lived access token. In Home Assistant: click your name (bottom left), open Security,
scroll to "Long-lived access tokens", create one and copy it. Best make a user of its own for EdgeVox first.\
"""
_WHICH_ADDRESS = (
    "give the address that you open in the browser, such as --url http://homeassistant.local:8123"
)
_LAST_PORT = 65535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", help="where Home Assistant is; without it, it is looked for")
    parser.add_argument("--mqtt", metavar="HOST[:PORT]", help="an MQTT broker instead of Home Assistant")
    parser.add_argument("--username", metavar="NAME", help="who we are to the broker")
    parser.add_argument("--tls", action="store_true", help="speak to the broker over TLS")
    parser.add_argument("--ca-file", type=Path, metavar="FILE", help="the certificate to trust")
    parser.epilog = "The token or password is asked for, or read from standard input."


def run(args: argparse.Namespace, context: Context) -> int:
    if args.mqtt:
        _set_up_mqtt(args, context)
    else:
        _set_up_home_assistant(args, context)
    return 0


def _set_up_home_assistant(args: argparse.Namespace, context: Context) -> None:
    url = _address(args.url or _found_url(context))
    token = _secret(context, "token", _HOW_TO_GET_ONE)
    if not token.reveal().isascii():
        raise ConfigError("that is no token", hint="copy the token as Home Assistant shows it")
    try:
        version = run_until_done(check_token(url, token))
    except WrongToken:
        raise HomeError(
            "Home Assistant does not accept the token", hint="copy it whole, or create another one there"
        ) from None
    except NotHomeAssistant:
        raise HomeError(f"what answers at {where(url)} is not Home Assistant", hint=_WHICH_ADDRESS) from None
    context.out.print(Text(f"Home Assistant {version} at {where(url)}"))
    _show(context, HomeAssistantHome(url, token, timeout_s=context.settings.home.timeout_s))
    write_secret(token_file(context.folders), token.reveal())
    _keep(context, {"home": {"kind": "home_assistant", "url": url}})


def _set_up_mqtt(args: argparse.Namespace, context: Context) -> None:
    kept = context.settings.mqtt
    # Whatever the broker of an earlier setup was like: this port and this kind of connection are this one's.
    values: dict[str, Value] = {**_broker_address(args.mqtt, tls=args.tls), "tls": args.tls}
    values |= {"username": args.username} if args.username else {}
    # It is read from wherever the assistant is started.
    values |= {"ca_file": str(args.ca_file.expanduser().absolute())} if args.ca_file else {}
    mqtt = kept.model_validate({**kept.model_dump(), **values})
    password = _secret(context, "password", "") if mqtt.username else None
    _show(
        context,
        MqttHome(Broker(password=password, **mqtt.model_dump()), timeout_s=context.settings.home.timeout_s),
    )
    if password is not None:
        write_secret(password_file(context.folders), password.reveal())
    _keep(context, {"home": {"kind": "mqtt"}, "mqtt": values})


def _address(text: str) -> str:
    """The address as it is kept: people leave out the http, or copy that of a page. Raises ConfigError."""
    try:
        url = URL(text if "://" in text else f"http://{text}")
        if url.scheme in ("http", "https") and url.host:
            return str(url.with_path("").with_query(None)).rstrip("/")
    except ValueError:
        pass
    raise ConfigError("that is no address of Home Assistant", hint=_WHICH_ADDRESS)


def _broker_address(text: str, *, tls: bool) -> dict[str, Value]:
    """Raises ConfigError."""
    host, _, port = text.partition(":")
    if not host or (port and not (port.isdecimal() and 0 < int(port) <= _LAST_PORT)):
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
    answer = _typed(lambda: input(f"address of Home Assistant [{first}]: "))
    return found[int(answer) - 1].url if answer in map(str, range(1, len(found) + 1)) else answer or first


def _secret(context: Context, noun: str, how: str) -> Secret:
    """What a person types unseen, or a program writes to us. Raises ConfigError when it is nothing."""
    if sys.stdin.isatty():
        if how:
            context.out.print(Text(how))
        text = _typed(lambda: getpass.getpass(f"{noun} (it is not shown): "))
    else:
        text = sys.stdin.readline().strip()
    if not text or not text.isprintable():
        raise ConfigError(f"that is no {noun}", hint=f"paste the {noun}, or write it to standard input")
    return Secret(text)


def _typed(ask: Callable[[], str]) -> str:
    """What a person types; nothing when they type Ctrl-D."""
    try:
        return ask().strip()
    except EOFError:
        return ""


def _show(context: Context, home: HomeAssistantHome | MqttHome) -> None:
    """Raises HomeError when it cannot be reached."""
    house, _ = run_until_done(reached(home))
    context.out.print(house_table(house))
    for remark in remarks(house):
        context.out.print(Text.assemble(("note ", "yellow"), remark))


def _keep(context: Context, sections: Mapping[str, Mapping[str, Value]]) -> None:
    path = context.folders.config_file
    for section, values in sections.items():
        keep_in_file(path, section, values)
    context.out.print(Text(f"Kept in {path}. Say “what is on in the kitchen”, or try edgevox home list."))
