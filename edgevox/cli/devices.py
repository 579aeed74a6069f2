"""`edgevox devices`: the microphones and loudspeakers there are, and which ones are used."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from edgevox.audio.devices import Device, Direction, choose, list_devices
from edgevox.cli.context import Context
from edgevox.errors import DeviceUnavailable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def run(args: argparse.Namespace, context: Context) -> int:
    settings = context.settings.audio
    devices = list_devices()
    microphone = _used(devices, settings.microphone, "input", context)
    speaker = _used(devices, settings.speaker, "output", context)
    if args.json:
        rows = [
            dataclasses.asdict(device)
            | {"used_as_microphone": device == microphone, "used_as_speaker": device == speaker}
            for device in devices
        ]
        context.write(json.dumps(rows, indent=2, ensure_ascii=False))
    elif devices:
        context.out.print(devices_table(devices, microphone, speaker))
        context.out.print(
            "\nChoose by number, name or part of a name: edgevox setup, or run --mic and --speaker."
        )
    return 0 if microphone and speaker else DeviceUnavailable.exit_code


def devices_table(devices: Sequence[Device], microphone: Device | None, speaker: Device | None) -> Table:
    """Every device with what it can do; the used ones are marked."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("device", overflow="fold")
    for heading in ("inputs", "outputs", "rate"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("through", no_wrap=True)
    table.add_column("used as")
    for device in devices:
        uses = (("microphone", device == microphone), ("loudspeaker", device == speaker))
        table.add_row(
            str(device.index),
            Text(device.name),
            str(device.input_channels or ""),
            str(device.output_channels or ""),
            f"{device.rate_hz} Hz",
            device.host_api,
            ", ".join(name for name, is_used in uses if is_used),
        )
    return table


def _used(
    devices: Sequence[Device], wanted: str | None, direction: Direction, context: Context
) -> Device | None:
    try:
        return choose(devices, wanted, direction)
    except DeviceUnavailable as error:
        context.complain(error)
        return None
