"""`edgevox satellite` and `satellites`: listen and speak for an assistant on another machine; manage other devices."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import socket
import ssl
from contextlib import closing
from functools import partial
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError
from rich.text import Text

from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.duplex import resolve_devices
from edgevox.audio.io.stream_ducking import StreamDucker
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.cli.command import JSON, YES, Command, argument, one_of, setting
from edgevox.cli.context import Context, folded, left, plain_table, run_until_done
from edgevox.core.errors import ConfigError, DeviceUnavailable
from edgevox.core.events import Event, SoundChanged
from edgevox.core.types import JsonObject
from edgevox.satellites.connection import ServerAddress
from edgevox.satellites.program import Doing, Satellite, SatelliteOptions
from edgevox.satellites.store import DEFAULT_SCOPES, DeviceEntry, DeviceFile
from edgevox.server.websocket.protocol import MediaPlayerId

_PLAYER = argument(
    "--player",
    metavar="ID",
    default="",
    help="media player of Home Assistant on which it answers, such as media_player.kitchen (default: the satellite)",
)


@Command(
    "satellite",
    "Be the microphone and loudspeaker of an assistant on another machine",
    argument("--server", metavar="URL", required=True, help="that machine, such as http://house.lan:8790"),
    argument("--token", metavar="TOKEN", help="token from edgevox tokens add there (default: EDGEVOX_TOKEN)"),
    argument("--name", metavar="NAME", help="name of this satellite (default: that of this machine)"),
    setting("--room", "home.room", "NAME", 'the room it is in: "turn on the light" means the light there'),
    _PLAYER,
    argument("--wake", metavar="WORD", help="wake word, such as okay_nabu; off: listen always (default: wake.word)"),
    setting("--mic", "audio.microphone", "NAME", "microphone (see edgevox devices)"),
    setting("--speaker", "audio.speaker", "NAME", "loudspeaker (see edgevox devices)"),
)
def satellite(args: argparse.Namespace, context: Context) -> None:
    if args.wake and args.wake != "off":
        context = context.with_flags({"wake.word": args.wake, "wake.model": None})
    settings = context.settings
    token = args.token or os.environ.get("EDGEVOX_TOKEN", "")
    if not token:
        raise ConfigError(
            "a satellite needs a token", hint="edgevox tokens add NAME on the server, then --token or EDGEVOX_TOKEN"
        )
    name = args.name or re.sub(r"[^A-Za-z0-9_-]+", "-", socket.gethostname().partition(".")[0])[:64] or "satellite"
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) is None:
        raise ConfigError(f"{name!r} cannot be the name of a satellite", hint="letters, digits, - and _, 64 at most")
    sounds, wake = settings.sounds, settings.wake
    options = SatelliteOptions(
        ServerAddress.parse(args.server),
        token,
        name,
        settings.home.room or "",
        # A media player still sounds when the server has sent everything: it would be taken for a follow-up.
        follow_up_s=0.0 if args.player else wake.follow_up_s,
        chime_volume=sounds.chime_volume if sounds.chimes else 0.0,
        player=_checked_player(args.player),
    )
    detector = None if args.wake == "off" else WakeWordDetector(wake.model or wake.word, wake.threshold)
    run_until_done(_run_satellite(options, detector, context))


async def _run_satellite(options: SatelliteOptions, detector: WakeWordDetector | None, context: Context) -> None:
    call = f"say {detector.word.phrase!r}" if detector else "listening"
    lines: dict[Doing, str] = {
        "connecting": f"connecting to {options.address.url} …",
        "asleep": f"{options.name} is connected: {call}",
        "listening": "listening …",
        "busy": "answering …",
        "muted": "muted by the server",
    }

    ducker = StreamDucker()
    # Without a wake word it always listens.
    ducked_while: tuple[Doing, ...] = ("listening", "busy") if detector else ("busy",)

    def on_change(doing: Doing, detail: str) -> None:
        context.note(f"edgevox: {detail}" if detail else lines[doing])
        if context.settings.audio.duck:
            ducker.duck(doing in ducked_while)

    def on_event(event: Event) -> None:
        if isinstance(event, SoundChanged) and not event.is_there:
            context.note(f"edgevox: {event.detail}", style="yellow")

    find = partial(resolve_devices, context.settings.audio, speaks=True)
    if problem := find().microphone_problem:
        raise DeviceUnavailable(problem, hint="edgevox devices lists what is there")
    try:
        async with AudioDeviceManager(find, on_event) as sound:
            await Satellite(options, sound, detector, on_change).run()
    finally:
        await ducker.close()


SATELLITES = Command("satellites", "List the satellites in other rooms; add devices of other makers")


@SATELLITES.action(
    "add",
    "add a Wyoming satellite or an ESPHome device; the server connects to it at once",
    argument("name", help="name of the satellite, such as kitchen"),
    one_of(
        argument("--uri", metavar="tcp://HOST:PORT", help="address of a Wyoming satellite"),
        argument("--esphome", metavar="HOST:PORT", help="address of an ESPHome device (its port is 6053)"),
        required=True,
    ),
    argument("--key", metavar="KEY", default="", help="encryption key of the ESPHome device; - asks for it"),
    argument("--room", metavar="NAME", default="", help='the room it is in: "turn on the light" means the light there'),
    _PLAYER,
    argument(
        "--scopes",
        metavar="A,B",
        default=",".join(DEFAULT_SCOPES),
        help="what can be done from there, separated by commas (default: %(default)s); docs/guide/server.md lists them",
    ),
)
def _add(args: argparse.Namespace, context: Context) -> None:
    key = context.ask("encryption key: ", is_hidden=True) if args.key == "-" else args.key
    scopes = frozenset(scope.strip() for scope in args.scopes.split(",") if scope.strip())
    try:
        entry = DeviceEntry(
            uri=args.uri or "",
            esphome=args.esphome or "",
            key=key,
            room=args.room,
            player=_checked_player(args.player),
            scopes=scopes,
        )
    except ValidationError as error:
        raise ConfigError(
            f"{args.uri or args.esphome} is no address of a satellite: {error.errors()[0]['msg']}",
            hint="for example --uri tcp://kitchen.lan:10700 or --esphome kitchen.lan:6053",
        ) from None
    DeviceFile(context.folders).add(args.name, entry)
    context.note(f"added; edgevox satellites test {args.name} tries it")


@SATELLITES.action("list", "list the satellites, and whether they are connected", JSON)
def _list(args: argparse.Namespace, context: Context) -> None:
    entries = DeviceFile(context.folders).read()
    answer = _ask_server(context, "GET", "/v1/satellites")
    known: list[JsonObject] = answer["data"] if answer else []
    rows = {one["name"]: one for one in known}
    for name, entry in entries.items():
        rows.setdefault(name, {"name": name, "room": entry.room, "kind": entry.kind, "is_connected": False})
    if args.json:
        context.write_json(list(rows.values()))
        return
    table = plain_table(left("name"), left("room"), left("kind"), folded("state"))
    for _name, one in sorted(rows.items()):
        state = one.get("state") if one["is_connected"] else one.get("problem") or "not connected"
        muted = ", muted" if one.get("is_muted") else ""
        # As they are: an address such as [fe80::1] is no markup.
        table.add_row(*map(Text, (one["name"], one["room"], one["kind"], f"{state}{muted}")))
    if rows:
        context.out.print(table)
    if answer is None:
        context.note("the server is not running, so nothing is connected (edgevox serve)")


@SATELLITES.action("remove", "remove a device", argument("name", help="name of the satellite"))
def _remove(args: argparse.Namespace, context: Context) -> None:
    DeviceFile(context.folders).remove(args.name)
    context.note("removed")


@SATELLITES.action(
    "test", "connect to a device, and speak there if the server runs", argument("name", help="name of the satellite")
)
def _test(args: argparse.Namespace, context: Context) -> int:
    entries = DeviceFile(context.folders).read()
    if (entry := entries.get(args.name)) is not None:
        # Slow to import, and not needed to be a satellite.
        from edgevox.satellites.connector import probe

        context.print(run_until_done(probe(entry)))
    path = f"/v1/satellites/{quote(args.name)}/say"
    answer = _ask_server(context, "POST", path, {"text": f"This is the satellite {args.name}."})
    if answer is None and entry is None:
        raise ConfigError(
            f"there is no device {args.name}, and the server is not running", hint="edgevox serve starts it"
        )
    if answer is None:
        context.note("the server is not running, so it says nothing (edgevox serve)")
        return 0
    if "error" in answer:
        raise ConfigError(answer["error"]["message"], hint="edgevox satellites list shows them")
    context.print("it has spoken" if answer["is_spoken"] else "it has not spoken: it is not connected to the server")
    return 0 if answer["is_spoken"] else 1


@SATELLITES.action("discover", "look for satellites in the local network, over mDNS", YES)
def _discover(args: argparse.Namespace, context: Context) -> int:
    if not args.yes and not context.confirm("Ask all machines of the local network whether they are satellites?"):
        raise ConfigError("nothing was looked for", hint="edgevox satellites discover --yes")
    from edgevox.satellites.discovery import find_devices

    with context.err.status("looking for satellites …"):
        found = run_until_done(find_devices(_LOOK_S))
    for device in found:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", device.name).strip("-")[:64]
        context.print(f"edgevox satellites add {name} {device.option} --room ROOM")
    if not found:
        context.note("none found")
    return 0 if found else 1


def _checked_player(player: str) -> str:
    """Raises ConfigError."""
    try:
        return TypeAdapter[str](MediaPlayerId).validate_python(player)
    except ValidationError:
        raise ConfigError(
            f"{player} is no media player of Home Assistant", hint="for example --player media_player.kitchen"
        ) from None


_LOOK_S = 3.0
_ANSWER_WITHIN_S = 30.0


def _ask_server(context: Context, method: str, path: str, body: JsonObject | None = None) -> JsonObject | None:
    """The answer of the server on this machine; None if it does not run. Raises ConfigError."""
    from edgevox.server.http.tokens import page_token, token_file  # not needed to be a satellite

    tokens = token_file(context.folders)
    if not tokens.exists():
        return None  # it never ran
    settings = context.settings.server
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104  (not bound)
    if settings.tls_certificate is None:
        connection = http.client.HTTPConnection(host, settings.port, timeout=_ANSWER_WITHIN_S)
    else:
        own = ssl.create_default_context(cafile=str(settings.tls_certificate))
        own.check_hostname = False  # it is made for the name by which others reach it
        connection = http.client.HTTPSConnection(host, settings.port, timeout=_ANSWER_WITHIN_S, context=own)
    with closing(connection):
        try:
            headers = {"Authorization": f"Bearer {page_token(tokens)}"}
            content = json.dumps(body) if body is not None else None
            if content is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, path, content, headers)
            answer: JsonObject = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
    return answer
