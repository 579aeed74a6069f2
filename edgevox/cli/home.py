"""`edgevox home`: what is in the home, and how it is."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import time

from rich.table import Table
from rich.text import Text

from edgevox.cli.context import Context
from edgevox.tools.home import DemoHome, Entity, House, ListItem, Timers
from edgevox.tools.home.demo import FILE_NAME as DEMO_FILE
from edgevox.tools.home.states import state_phrase
from edgevox.tools.home.timers import FILE_NAME as TIMERS_FILE
from edgevox.tools.home.wording import duration


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="list")
    listing = actions.add_parser("list", help="show every area, what is in it and its state")
    listing.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    home = DemoHome(context.folders.state / DEMO_FILE)
    timers = Timers(time.time, context.folders.state / TIMERS_FILE)
    house = home.house()
    lists = asyncio.run(_lists(home, house))
    if args.json:
        context.write(json.dumps(_facts(house, lists, timers), indent=2, ensure_ascii=False))
    else:
        context.out.print(_table(house))
        for name, items in lists.items():
            waiting = ", ".join(item.text for item in items if not item.is_done)
            context.out.print(Text(f"{name}: {waiting or 'empty'}"))
        for timer in timers.all():
            paused = "paused, " if timer.is_paused else ""
            context.out.print(Text(f"timer {timer.name}: {paused}{duration(timers.remaining_s(timer))} left"))
        context.out.print("\nThis is the demo home: nothing real is switched.")
    return 0


async def _lists(home: DemoHome, house: House) -> dict[str, tuple[ListItem, ...]]:
    return {entity.name: await home.items(entity.id) for entity in house.entities if entity.domain == "todo"}


def _facts(house: House, lists: dict[str, tuple[ListItem, ...]], timers: Timers) -> dict[str, object]:
    return {
        "floors": [dataclasses.asdict(floor) for floor in house.floors],
        "areas": [dataclasses.asdict(area) for area in house.areas],
        "entities": [dataclasses.asdict(entity) for entity in house.entities],
        "lists": {name: [dataclasses.asdict(item) for item in items] for name, items in lists.items()},
        "timers": [
            timer.model_dump() | {"remaining_s": round(timers.remaining_s(timer))} for timer in timers.all()
        ],
    }


def _table(house: House) -> Table:
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
            Text(entity.name),
            Text(", ".join(filter(None, (state_phrase(entity), _detail(entity))))),
            entity.domain + (f" {entity.device_class}" if entity.device_class else ""),
        )
        last = where
    return table


def _detail(entity: Entity) -> str:
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
            return f"set to {has.get('temperature')}°, {has.get('current_temperature')}° now"
        case "media_player":
            return f"volume {has.get('volume_level', 0)} %" + (
                ", muted" if has.get("is_volume_muted") else ""
            )
        case "weather":
            return f"{has.get('temperature')}°"
        case _:
            return ""
