"""`edgevox satellite`: the microphone and loudspeaker of an assistant on another machine."""

from __future__ import annotations

import argparse
import os
import re
import socket
from functools import partial

from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.duplex import resolve_devices
from edgevox.audio.wake_word import WakeWordDetector
from edgevox.cli.command import Command, argument, setting
from edgevox.cli.context import Context, run_until_done
from edgevox.core.errors import ConfigError, DeviceUnavailable
from edgevox.core.events import Event, SoundChanged
from edgevox.satellites.connection import ServerAddress
from edgevox.satellites.program import Doing, Satellite, SatelliteOptions


@Command(
    "satellite",
    "Be the microphone and loudspeaker of an assistant on another machine",
    argument("--server", metavar="URL", required=True, help="that machine, such as http://house.lan:8790"),
    argument("--token", metavar="TOKEN", help="token from edgevox tokens add there (default: EDGEVOX_TOKEN)"),
    argument("--name", metavar="NAME", help="name of this satellite (default: that of this machine)"),
    setting("--room", "home.room", "NAME", 'the room it is in: "turn on the light" means the light there'),
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
        follow_up_s=wake.follow_up_s,
        chime_volume=sounds.chime_volume if sounds.chimes else 0.0,
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

    def on_change(doing: Doing, detail: str) -> None:
        context.note(f"edgevox: {detail}" if detail else lines[doing])

    def on_event(event: Event) -> None:
        if isinstance(event, SoundChanged) and not event.is_there:
            context.note(f"edgevox: {event.detail}", style="yellow")

    find = partial(resolve_devices, context.settings.audio, speaks=True)
    if problem := find().microphone_problem:
        raise DeviceUnavailable(problem, hint="edgevox devices lists what is there")
    async with AudioDeviceManager(find, on_event) as sound:
        await Satellite(options, sound, detector, on_change).run()
