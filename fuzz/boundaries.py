"""Looks for what breaks a reader of input from outside: `python -m fuzz.boundaries --seconds 60`, for each reader.

Valid messages and files are changed at random: other types, missing and added keys, deep nesting, cut and
flipped bytes. A reader may refuse with the errors that it documents; any other exception is a finding, which
makes the exit code 1. The seed that is printed shows it again. Inputs that have broken a reader once, or that no
random change makes, are in fuzz/corpus, a folder for each reader; they are tried first, and changed like the others.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from mcp.types import ListToolsResult
from pydantic import ValidationError

from benchmarks.hardware import describe
from edgevox.app.control.protocol import audio_from_note, event_from_note, read_object, read_request
from edgevox.audio.files import decode_audio, write_wav
from edgevox.config import load_settings
from edgevox.core.errors import AudioError, ConfigError, ControlError
from edgevox.core.files import Folders, parse_json
from edgevox.core.types import Audio
from edgevox.engines.wyoming import WyomingProtocolError, read_event
from edgevox.home import HomeError
from edgevox.home.backends.home_assistant.registries import parse_registries, read_exposure
from edgevox.home.backends.home_assistant.states import LiveStates
from edgevox.home.backends.mqtt.discovery import InvalidDiscovery, parse_discovery
from edgevox.home.backends.mqtt.entities import MqttEntity
from edgevox.home.calendar.ics import MALFORMED, read_events
from edgevox.home.phrasing import state_phrase
from edgevox.home.resolve.target_resolver import Slots, find_entities
from edgevox.llm.grammars import build_json_grammar
from edgevox.llm.presets import all_presets
from edgevox.tools.mcp.config import read_servers
from edgevox.tools.mcp.session import definition_of
from edgevox.tools.mcp.tools import as_tool, offered_name

_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, 10**400, 1e308, "", " ", "x", "\0", "é" * 99, "1", [], {}, [[]], [None]),
    *({"a": {}}, ["x", 1], {"": ""}, float("inf"), float("nan")),
)
_DEPTHS = (70, 250, 5_000, 100_000)


@dataclass(frozen=True, slots=True)
class Boundary:
    """A reader, valid inputs for it, and the errors that it documents."""

    read: Callable[[bytes], object]
    samples: tuple[bytes, ...]
    refuses: tuple[type[Exception], ...] = ()


class Finding(AssertionError):
    """Something that a reader should have refused."""


# --- the readers


def _control(line: bytes) -> None:
    for read in (read_request, read_object):
        try:
            read(line)
        except ControlError:
            continue
    note = read_object(line)
    event_from_note(note)
    if "float32" in note:
        audio_from_note(note)


def _home_assistant(message: bytes) -> None:
    try:
        content = parse_json(message)
    except ValueError:  # the connection refuses it
        return
    if not isinstance(content, dict) or not content.keys() >= _HOME.keys():
        return
    live = LiveStates()
    areas, floors, devices = content["areas"], content["floors"], content["devices"]
    try:
        exposure = read_exposure(content["exposed"], content["entities"])
        registries = parse_registries(areas, floors, devices, content["entities"], content["details"], exposure)
    except ValueError:  # as they document
        return
    live.register(registries)
    for take, name in ((live.begin, "first"), (live.take, "then")):
        if isinstance(event := content[name], dict):  # as the connection demands
            with suppress(ValueError):  # as they document
                take(event)
    house = live.house()
    for entity in house.entities:
        state_phrase(entity)
        live.features(entity.id)
    for slots in (Slots(name="kitchen light"), Slots(area="kitchen"), Slots(floor="upstairs", domain="light")):
        try:
            find_entities(house, slots, ("light", "climate"))
        except HomeError:
            continue


def _mqtt(payload: bytes) -> None:
    for component in ("light", "sensor", "climate", "vacuum", "device"):
        for announced in parse_discovery(f"{component}/lamp/config", payload):
            known = MqttEntity(announced, time.monotonic)
            for topic in known.topics:
                known.take(topic, payload.decode(errors="replace"))
            state_phrase(known.entity())


def _wyoming(stream: bytes) -> None:
    async def read() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(stream)
        reader.feed_eof()
        while await read_event(reader) is not None:
            pass

    asyncio.run(read())


def _schema(text: bytes) -> None:
    """What `response_format` of a request takes."""
    try:
        schema = parse_json(text)
    except ValueError:
        return
    if isinstance(schema, dict):
        build_json_grammar(schema)


def _calendar(content: bytes) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    read_events(content, start, start + timedelta(days=30))


def _wav() -> bytes:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "a.wav"
        write_wav(path, [Audio(np.zeros(200, np.float32), 16_000)])
        return path.read_bytes()


def _mcp_tools(listing: bytes) -> None:
    async def call(_name: str, _arguments: Mapping[str, Any]) -> object:
        return None

    try:
        result = ListToolsResult.model_validate_json(listing)
    except ValidationError:  # the protocol's library refuses it
        return
    for listed in result.tools:
        name = offered_name(listed.name)
        try:
            made = as_tool(definition_of(listed), name, call, server_id="fuzz")
        except ConfigError:
            continue
        json.dumps(made.openai_schema)


def _in_file(name: str, read: Callable[[Folders, Path], object]) -> Callable[[bytes], object]:
    """A reader of a file in the configuration folder."""

    def read_file(content: bytes) -> object:
        with tempfile.TemporaryDirectory() as place:
            folders = Folders(Path(place) / "config", Path(place) / "state", Path(place) / "models")
            path = folders.config / name
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
            return read(folders, path)

    return read_file


def _dumped(*messages: object) -> tuple[bytes, ...]:
    return tuple(json.dumps(message).encode() for message in messages)


_HOME: Mapping[str, Any] = {
    "exposed": {"exposed_entities": {"light.kitchen": {"conversation": True}, "climate.hall": {"conversation": True}}},
    "areas": [{"area_id": "kitchen", "name": "Kitchen", "floor_id": "up", "aliases": ["cookery"]}],
    "floors": [{"floor_id": "up", "name": "Upstairs", "aliases": ["top"]}],
    "devices": [{"id": "d", "area_id": "kitchen"}],
    "entities": [
        {"entity_id": "light.kitchen", "name": "Kitchen Light", "device_id": "d", "options": {"conversation": {}}},
        {"entity_id": "climate.hall", "original_name": "Hall", "area_id": None, "hidden_by": None},
    ],
    "details": {"light.kitchen": {"aliases": ["lamp"]}},
    "first": {
        "a": {
            "light.kitchen": {"s": "on", "a": {"brightness": 100, "supported_color_modes": ["hs"]}},
            "climate.hall": {"s": "heat", "a": {"temperature": 20.5, "hvac_modes": ["heat", "off"], "min_temp": 7}},
        }
    },
    "then": {"c": {"light.kitchen": {"+": {"s": "off", "a": {"x": 1}}, "-": {"a": ["x"]}}}, "r": ["light.gone"]},
}
_LAMP = {"name": "Lamp", "stat_t": "lamp/state", "cmd_t": "lamp/set", "schema": "json", "brightness": True}
_SETTINGS = b'[llm]\nthreads = 2\n[audio]\nhangover_ms = 500\n[plugins.x]\nenabled = true\na = [1, {b = "c"}]\n'

_CALENDAR = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Dentist\r\n"
    b"DTSTART;TZID=Europe/Berlin:20260105T090000\r\nDURATION:PT1H\r\nRRULE:FREQ=WEEKLY;COUNT=3\r\n"
    b"EXDATE;TZID=Europe/Berlin:20260112T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)

BOUNDARIES: Mapping[str, Boundary] = {
    "control socket": Boundary(
        _control,
        _dumped(
            {"v": 1, "do": "status"},
            {"v": 1, "do": "ask", "text": "hello", "overrides": {"llm.threads": 2}, "can_answer": True},
            {"kind": "event", "event": "TurnStarted", "turn_id": "t", "source": "text", "preset": "p", "at_s": 1.0},
            {"kind": "audio", "rate_hz": 16000, "float32": "AAAAAA=="},
        ),
        (ControlError,),
    ),
    "Home Assistant": Boundary(_home_assistant, _dumped(_HOME)),
    "MQTT": Boundary(
        _mqtt,
        _dumped(
            _LAMP, {"device": {"name": "D"}, "cmps": {"a": {"p": "sensor", "stat_t": "x", "val_tpl": "{{ value }}"}}}
        ),
        (InvalidDiscovery,),
    ),
    "MCP": Boundary(
        _mcp_tools,
        _dumped(
            {
                "tools": [
                    {
                        "name": "look-up",
                        "description": "Look.",
                        "inputSchema": {"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]},
                        "annotations": {"readOnlyHint": True},
                    }
                ]
            }
        ),
    ),
    "Wyoming": Boundary(
        _wyoming,
        (
            b'{"type": "transcribe", "data": {"language": "en"}}\n',
            b'{"type": "audio-chunk", "data_length": 2, "payload_length": 4}\n{}\0\0\0\0',
        ),
        (WyomingProtocolError,),
    ),
    "response_format": Boundary(
        _schema,
        _dumped(
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}, "required": ["a"]},
            {
                "anyOf": [{"enum": ["x", 1]}, {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 3}],
                "$defs": {"n": {"type": "integer", "minimum": 1}},
            },
        ),
    ),
    "sound file": Boundary(lambda content: decode_audio(content, max_s=5.0), (_wav(),), (AudioError,)),
    "calendar": Boundary(_calendar, (_CALENDAR,), MALFORMED),
    "settings": Boundary(
        _in_file("config.toml", lambda folders, _path: load_settings(folders, environ={})), (_SETTINGS,), (ConfigError,)
    ),
    "presets": Boundary(
        _in_file("presets/x.toml", lambda _folders, path: all_presets(path.parent)),
        (b'summary = "x"\nmodel = "smollm2-135m-instruct"\n[llm]\ntemperature = 0.1\n',),
        (ConfigError,),
    ),
    "mcp.json": Boundary(
        _in_file("mcp.json", lambda _folders, path: read_servers(path)),
        _dumped({"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"A": "b"}}, "b": {"url": "http://x/"}}}),
        (ConfigError,),
    ),
}


# --- changes


def changed(rng: random.Random, sample: bytes) -> bytes:
    """The sample with a few changes, of its structure or of its bytes."""
    if rng.random() < 0.7:
        try:
            content = json.loads(sample)
        except ValueError:
            pass
        else:
            for _ in range(rng.randint(1, 3)):
                content = _with_odd(rng, copy.deepcopy(content))
            text = json.dumps(content).replace('"DEEP"', _deep(rng))
            return text.encode()
    whole = bytearray(sample)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(whole))
        match rng.randint(0, 4):
            case 0:
                del whole[at:]
            case 1:
                whole[at:at] = rng.choice([b"{", b"]", b'"', b"\0", b"\xff", b"=", b"\n[", b"1e999"])
            case 2 if at < len(whole):
                whole[at] ^= 1 << rng.randrange(8)
            case 3:
                whole[at:at] = _deep(rng).encode()
            case _:
                del whole[at : at + rng.randint(1, 9)]
    return bytes(whole)


def _with_odd(rng: random.Random, content: Any) -> Any:  # noqa: ANN401 - any JSON
    """The content with one value, at any depth, replaced, removed or added."""
    if not isinstance(content, dict | list) or not content or rng.random() < 0.15:
        return "DEEP" if rng.random() < 0.05 else rng.choice(_ODD)
    key: Any = rng.choice(list(content)) if isinstance(content, dict) else rng.randrange(len(content))
    match rng.randint(0, 9):
        case 0:
            del content[key]
        case 1 if isinstance(content, dict):
            content[str(rng.choice(_ODD))] = content[key]
        case _:
            content[key] = _with_odd(rng, content[key])
    return content


def _deep(rng: random.Random) -> str:
    depth = rng.choice(_DEPTHS)
    return rng.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth])


def check(name: str, given: bytes) -> None:
    """Raises Finding if the reader raises anything that it does not document."""
    boundary = BOUNDARIES[name]
    try:
        boundary.read(given)
    except boundary.refuses:
        return
    except Exception as error:
        raise Finding(f"{name}: {type(error).__name__}: {str(error)[:200]} for {given[:400]!r}") from error


def corpus(name: str) -> tuple[bytes, ...]:
    """The kept inputs of a boundary."""
    folder = Path(__file__).parent / "corpus" / name.replace(" ", "_").replace(".", "_").lower()
    return tuple(path.read_bytes() for path in sorted(folder.glob("*")))


def run(name: str, seconds: float, seed: int) -> int:
    """Try one boundary for a while, and return the number of inputs. Raises Finding."""
    rng = random.Random(seed)  # noqa: S311  (it is to be the same again)
    samples = (*BOUNDARIES[name].samples, *corpus(name))
    for sample in samples:
        check(name, sample)
    count = len(samples)
    stop_s = time.monotonic() + seconds
    while time.monotonic() < stop_s:
        check(name, changed(rng, rng.choice(samples)))
        count += 1
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each boundary")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=tuple(BOUNDARIES), help="one boundary instead of all")
    parser.add_argument("--json", type=Path, default=None)
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    sys.stdout.write(f"seed {seed}\n")
    counts: dict[str, int] = {}
    findings: list[str] = []
    for name in (args.only,) if args.only else BOUNDARIES:
        try:
            counts[name] = run(name, args.seconds, seed)
        except Finding as finding:
            findings.append(str(finding))
            sys.stdout.write(f"{finding}\n")
        else:
            sys.stdout.write(f"{name}: {counts[name]} inputs, nothing found\n")
    if args.json:
        facts = {
            "hardware": describe(),
            "seed": seed,
            "seconds_each": args.seconds,
            "inputs": counts,
            "found": findings,
        }
        args.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
