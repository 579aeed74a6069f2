"""`edgevox home list`: what is in the home, and how it is."""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from edgevox.cli.context import Context
from edgevox.cli.home_test import STATELESS, connected
from edgevox.cli.loop import run_until_done
from edgevox.tools.home import Alarms, ConnectedHome, Entity, House, ListItem, Timers
from edgevox.tools.home.agenda.alarming import time_phrase
from edgevox.tools.home.agenda.alarms import FILE_NAME as ALARMS_FILE
from edgevox.tools.home.agenda.timers import FILE_NAME as TIMERS_FILE
from edgevox.tools.home.homes import open_home
from edgevox.tools.home.states import state_phrase
from edgevox.tools.home.wording import duration


@dataclass(frozen=True, slots=True)
class _Shown:
    """All that is listed."""

    house: House
    lists: dict[str, tuple[ListItem, ...]]
    timers: Timers
    alarms: Alarms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace, context: Context) -> int:
    folders = context.folders
    house, lists = run_until_done(_read(open_home(context.settings, folders)))
    timers = Timers(time.time, folders.state / TIMERS_FILE)
    alarms = Alarms(time.time, folders.state / ALARMS_FILE)
    shown = _Shown(house, lists, timers, alarms)
    if args.json:
        context.write(json.dumps(_facts(shown), indent=2, ensure_ascii=False))
        return 0
    context.out.print(house_table(house))
    for line in _lines(shown):
        context.out.print(Text(line))
    if context.settings.home.kind == "demo":
        context.out.print(
            "\nThis is the demo home: nothing real is switched. edgevox home setup finds yours."
        )
    return 0


async def _read(home: ConnectedHome) -> tuple[House, dict[str, tuple[ListItem, ...]]]:
    """Raises HomeError and StateError."""
    async with connected(home) as house:
        lists = [entity for entity in house.entities if entity.domain == "todo"]
        return house, {entity.name: await home.items(entity.id) for entity in lists}


def _lines(shown: _Shown) -> Iterator[str]:
    for name, items in shown.lists.items():
        yield f"{name}: {', '.join(item.text for item in items if not item.is_done) or 'empty'}"
    for timer in shown.timers.all():
        paused = "paused, " if timer.is_paused else ""
        yield f"timer {timer.name}: {paused}{duration(shown.timers.remaining_s(timer))} left"
    for alarm in shown.alarms.all():
        label = f" {alarm.label}" if alarm.label else ""
        yield f"{alarm.kind}{label}: {time_phrase(alarm, shown.alarms)}"


def _facts(shown: _Shown) -> dict[str, object]:
    house, timers = shown.house, shown.timers
    return {
        "floors": [dataclasses.asdict(floor) for floor in house.floors],
        "areas": [dataclasses.asdict(area) for area in house.areas],
        "entities": [dataclasses.asdict(entity) for entity in house.entities],
        "lists": {name: [dataclasses.asdict(item) for item in items] for name, items in shown.lists.items()},
        "timers": [
            timer.model_dump() | {"remaining_s": round(timers.remaining_s(timer))} for timer in timers.all()
        ],
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
            Text(", ".join(filter(None, (_state(entity), _detail(entity))))),
            entity.domain + (f" {entity.device_class}" if entity.device_class else ""),
        )
        last = where
    return table


def _state(entity: Entity) -> str:
    return "" if entity.domain in STATELESS else state_phrase(entity)


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
            known = {"set to {}°": has.get("temperature"), "{}° now": has.get("current_temperature")}
            return ", ".join(text.format(value) for text, value in known.items() if value is not None)
        case "media_player":
            return f"volume {has.get('volume_level', 0)} %" + (
                ", muted" if has.get("is_volume_muted") else ""
            )
        case "weather":
            return f"{has['temperature']}°" if "temperature" in has else ""
        case _:
            return ""
