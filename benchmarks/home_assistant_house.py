"""A real Home Assistant of 270 things, and what people say to it: `python -m benchmarks.home_assistant_house`.

Starts Home Assistant with the simulated devices of benchmarks/house, connects `edgevox serve` to it with its own
commands, says each sentence of sentences.jsonl over the chat API, and reads from Home Assistant's own states what
happened. A sentence is right if what it asks for has happened, nothing else has, and a question's answer has the
value. What needs a yes gets one. Rows with `held_out` were written after the first run and the corrections that it led
to, before they were said for the first time.

Rows of strangers have their words in corpora that are not kept here; a row has its number there, and is left out where
the folder of its corpus is not named:

- `slurp`: SLURP (github.com/pswietojanski/slurp), `test.jsonl` and `devel.jsonl` in the folder of EDGEVOX_SLURP
- `clinc`: CLINC150 (github.com/clinc/oos-eval), split and index in `data_full.json` in the folder of EDGEVOX_CLINC
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.hardware import describe
from benchmarks.house.house import House, read_house
from benchmarks.house.integration import install
from benchmarks.served_program import Program
from edgevox.eval.values import plain_text
from tests.home.backends.home_assistant.furnished import expose, log_in
from tests.home.backends.home_assistant.server import HASS, Server

SENTENCES = Path(__file__).parent / "house" / "sentences.jsonl"
BAR = 0.95
SETTLES_WITHIN_S = 2.0
RECORDED_WITHIN_S = 6.0
Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence, the facts before it, and the facts that it is to bring about: one of several outcomes."""

    said: str
    source: str
    """the corpus and the number of a stranger's sentence"""
    earlier: Mapping[str, Facts]
    """what was so for a moment, for questions about the past"""
    before: Mapping[str, Facts]
    outcomes: tuple[Mapping[str, Facts], ...]
    reply: tuple[str, ...]
    is_held_out: bool = False


@dataclass
class Result:
    said: str
    source: str
    is_held_out: bool
    reply: str = ""
    is_right: bool = False
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def read_rows(slurp: Path | None, clinc: Path | None) -> list[Row]:
    """The sentences; those of a corpus only where it is given."""
    words: dict[str, str] = {}
    for name in ("test.jsonl", "devel.jsonl") if slurp else ():
        assert slurp is not None
        for line in (slurp / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            words[f"SLURP {row['slurp_id']}"] = row["sentence"]
    if clinc:
        for split, pairs in json.loads((clinc / "data_full.json").read_text(encoding="utf-8")).items():
            words |= {f"CLINC {split} {at}": sentence for at, (sentence, _intent) in enumerate(pairs)}
    rows = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = _source(row)
        said = words.get(source) if source else row["say"]
        if said:
            outcomes = (row["want"], *row.get("or", ()))
            earlier, before, reply = row.get("earlier", {}), row.get("before", {}), tuple(row.get("reply", ()))
            rows.append(Row(said, source, earlier, before, outcomes, reply, row.get("held_out", False)))
    return rows


def _source(row: Mapping[str, Any]) -> str:
    match row:
        case {"slurp": number}:
            return f"SLURP {number}"
        case {"clinc": [split, at]}:
            return f"CLINC {split} {at}"
    return ""


# --- Home Assistant


@contextmanager
def furnished(folder: Path, hass: Path, house: House) -> Iterator[Server]:
    things = house.yaml() + "demo:\n"
    server = Server(folder, hass=hass, things=things.replace("demo:\n", install(folder, house.devices)))
    try:
        server.start()
        server.sign_up()
        server.wait_until_running()
        asyncio.run(furnish(server, house))
        yield server
    finally:
        server.kill()


async def furnish(server: Server, house: House) -> None:
    """Floors, areas, other names and what is exposed, as a user would set them."""
    version = tuple(map(int, server.get("/api/config")["version"].split(".")[:2]))
    async with aiohttp.ClientSession() as session:
        admin = await log_in(session, server)
        floors: dict[str, str] = {}
        for name, aliases in house.floors.items() if version >= (2024, 4) else ():
            floor = await admin.command("config/floor_registry/create", name=name, aliases=aliases)
            floors[name] = floor["floor_id"]
        there = {area["name"]: area for area in await admin.command("config/area_registry/list")}
        for area in house.areas:
            made = there.get(area.name) or await admin.command("config/area_registry/create", name=area.name)
            more = {"floor_id": floors[area.floor]} if floors else {}
            aliases = list(area.aliases)
            await admin.command("config/area_registry/update", area_id=made["area_id"], aliases=aliases, **more)
            for entity_id in area.entity_ids:
                await admin.command("config/entity_registry/update", entity_id=entity_id, area_id=made["area_id"])
        for entity_id, names in house.aliases.items():
            await admin.command("config/entity_registry/update", entity_id=entity_id, aliases=names)
        everything = {state["entity_id"] for state in server.get("/api/states")}
        missing = set(house.entity_ids) - everything
        assert not missing, missing
        await expose(admin, house.entity_ids, True)
        await expose(admin, everything - set(house.entity_ids), False)
        server.token = await admin.command("auth/long_lived_access_token", client_name="EdgeVox", lifespan=30)


def observed(server: Server, house: House) -> dict[str, Facts]:
    """The facts of all things, read from Home Assistant."""
    wanted = set(house.entity_ids)
    return {state["entity_id"]: _facts(state) for state in server.get("/api/states") if state["entity_id"] in wanted}


def _facts(state: dict[str, Any]) -> Facts:
    attributes, domain = state["attributes"], state["entity_id"].partition(".")[0]
    if domain in ("scene", "button"):
        return {"pressed": state["state"]}
    if domain == "script":
        return {"pressed": attributes.get("last_triggered")}
    if domain in ("todo", "calendar"):
        kept = ("items", "due", "events")
        return {fact: sorted(map(plain_text, attributes[fact])) for fact in kept if fact in attributes}
    facts: Facts = {"state": state["state"]}
    if domain == "light" and state["state"] == "on":
        if attributes.get("brightness") is not None:
            facts["brightness"] = round(attributes["brightness"] / 2.55)
        facts["hue"] = (attributes.get("hs_color") or (None,))[0] if attributes.get("color_mode") == "hs" else None
        facts["kelvin"] = attributes.get("color_temp_kelvin")
    if attributes.get("volume_level") is not None:
        facts["volume"] = round(attributes["volume_level"] * 100)
    names = {
        "current_position": "position", "temperature": "temperature", "preset_mode": "preset",
        "percentage": "percentage", "is_volume_muted": "muted", "media_title": "title", "humidity": "humidity",
    }  # fmt: skip
    facts |= {ours: attributes[theirs] for theirs, ours in names.items() if theirs in attributes}
    if domain == "weather":
        facts = {"state": state["state"]}
    return facts


# --- judgement


def expanded(outcome: Mapping[str, Facts], house: House) -> dict[str, Facts]:
    """The outcome by entity id: "lights Kitchen", "colour *", "lights @Upstairs", "lights * -Kitchen"."""
    facts: dict[str, Facts] = {}
    for key, wanted in outcome.items():
        kind, _, where = key.partition(" ")
        for entity_id in _group(kind, where, house) if where else (key,):
            facts[entity_id] = wanted
    return facts


def _group(kind: str, where: str, house: House) -> list[str]:
    where, _, without = where.partition(" -")
    places = [
        area
        for area in house.areas
        if area.name != without and (where == "*" or area.name == where or area.floor == where.removeprefix("@"))
    ]
    there = {entity_id for area in places for entity_id in area.entity_ids if entity_id.startswith("light.")}
    modes = {device["id"]: device["fixed"].get("supported_color_modes") for device in house.devices}
    needed = {"lights": (), "colour": ("hs",), "dimmable": ("brightness", "hs")}[kind]
    return [entity_id for entity_id in there if not needed or set(needed) & set(modes[entity_id])]


def differences(before: Mapping[str, Facts], after: Mapping[str, Facts], wanted: Mapping[str, Facts]) -> list[str]:
    """What is not as it should be."""
    wrong = []
    for entity_id, now in after.items():
        if entity_id not in wanted:
            if now != before[entity_id]:
                wrong.append(f"{entity_id}: {_changes(before[entity_id], now)}, which nobody asked for")
            continue
        for fact, value in wanted[entity_id].items():
            if not _fits(value, now.get(fact), before[entity_id].get(fact)):
                wrong.append(f"{entity_id}: {fact} is {now.get(fact)}, not {value}")
    return wrong


def _changes(old: Facts, new: Facts) -> str:
    return ", ".join(f"{fact} {old.get(fact)} > {new.get(fact)}" for fact in sorted(new) if old.get(fact) != new[fact])


def _fits(wanted: object, now: object, before: object) -> bool:
    match wanted:
        case bool():
            return now == wanted or (wanted and isinstance(now, str) and now != before)  # pressed
        case str() if wanted[0] in "<>":
            bound = float(wanted[1:])
            return isinstance(now, int | float) and (now < bound if wanted[0] == "<" else now > bound)
        case list():
            return sorted(plain_text(str(item)) for item in wanted) == now
        case int() | float():
            away = abs(value - wanted) if isinstance(value := _number(now), float) else 180.0
            return away <= 1 or away >= 359  # a hue is round
        case _:
            return _number(now) == _number(wanted)


def _number(value: object) -> object:
    try:
        return float(value) if isinstance(value, str | int | float) else value
    except ValueError:
        return value


def has_answer(reply: str, wanted: tuple[str, ...]) -> bool:
    """Whether the reply has one of each of the "one|other"; " no " is a word, "no" a part of one, too."""
    without_marks = re.sub(r"[.,;:!?]+(?!\d)", " ", reply.casefold())
    said = f" {' '.join(without_marks.split())} "
    return all(any(word in said for word in choice.casefold().split("|")) for choice in wanted)


def judge(row: Row, server: Server, program: Program, house: House) -> Result:
    if row.earlier:
        server.post("/api/services/simulated/reset", {"facts": row.earlier})
    server.post("/api/services/simulated/reset", {"facts": row.before})
    if row.earlier:
        time.sleep(RECORDED_WITHIN_S)
    before = observed(server, house)
    result = Result(row.said, row.source, row.is_held_out)
    began_s = time.monotonic()
    result.reply = program.say(row.said)
    result.seconds = round(time.monotonic() - began_s, 2)
    outcomes = [expanded(outcome, house) for outcome in row.outcomes]

    def wrong() -> list[str]:
        after = observed(server, house)
        return min((differences(before, after, outcome) for outcome in outcomes), key=len)

    until_s = time.monotonic() + SETTLES_WITHIN_S
    result.wrong = wrong()
    while result.wrong and time.monotonic() < until_s:
        time.sleep(0.2)
        result.wrong = wrong()
    if not has_answer(result.reply, row.reply):
        result.wrong.append(f"the answer does not have {' and '.join(row.reply)}")
    result.is_right = not result.wrong
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hass", type=Path, default=HASS, help="the program hass of the Home Assistant to use")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="sentences with these words, or of this corpus, alone"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there")
    arguments = parser.parse_args()
    corpora = [Path(folder) if (folder := os.environ.get(f"EDGEVOX_{name}")) else None for name in ("SLURP", "CLINC")]
    rows = [row for row in read_rows(*corpora) if arguments.only in f"{row.said} {row.source}"]
    house = read_house()
    with (
        tempfile.TemporaryDirectory(prefix="house-") as name,
        furnished(Path(name) / "hass", arguments.hass, house) as server,
    ):
        version = server.get("/api/config")["version"]
        program = Program(Path(name) / "user")
        program.run("home", "setup", "--url", server.url, stdin=server.token)
        results = []
        with program.serving():
            for row in rows:
                results.append(judge(row, server, program, house))
                _report(results[-1])
    right = sum(result.is_right for result in results)
    theirs = [result for result in results if result.source]
    held_out = [result for result in results if result.is_held_out]
    figures = {
        "machine": describe(),
        "home_assistant": version,
        "things": len(house.entity_ids),
        "sentences": len(results),
        "right": right,
        "share": round(right / len(results), 3),
        "of_strangers": {"sentences": len(theirs), "right": sum(result.is_right for result in theirs)},
        "held_out": {"sentences": len(held_out), "right": sum(result.is_right for result in held_out)},
        "median_s": sorted(result.seconds for result in results)[len(results) // 2],
        # The words of the corpus are not kept.
        "wrong": [
            {"said": result.source or result.said, "why": result.wrong} for result in results if not result.is_right
        ],
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 0 if right >= BAR * len(results) else 1


def _report(result: Result) -> None:
    print(
        f"{'ok   ' if result.is_right else 'WRONG'} {result.seconds:5.1f} s  {result.said} > {result.reply}", flush=True
    )
    for why in result.wrong[:6]:
        print(f"          {why}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
