"""Reads suites: JSON Lines with an utterance, the offered tools and home, and the expected calls.

docs/guide/evaluation.md describes the format. A row may refer to a recording.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, NaiveDatetime, ValidationError

from edgevox.core.errors import ConfigError, InvalidArguments, describe_faults
from edgevox.core.types import JsonObject
from edgevox.eval.expectation import Call, Expectation, Facts, Scheduled
from edgevox.eval.live_home import NOW, HomeSetup
from edgevox.eval.offered_tools import OfferedTools, tool_of_schema
from edgevox.home import Area, DemoHome, Entity, Floor, House
from edgevox.home.entities import Place
from edgevox.tools import ToolRegistry
from edgevox.tools.calls import read_arguments


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Named(_Strict):
    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class _Area(_Named):
    floor: str | None = None


class _Entity(_Named):
    domain: str = Field(min_length=1)
    device_class: str | None = None
    area: str | None = None


class HomeSpec(_Strict):
    """A home in JSON. Floors and areas are referred to by name, case-insensitively."""

    floors: tuple[_Named, ...] = ()
    areas: tuple[_Area, ...] = ()
    entities: tuple[_Entity, ...] = ()

    def model_post_init(self, _context: Any, /) -> None:  # noqa: ANN401 - signature of pydantic
        """Raises ValueError for an unknown floor or area."""
        self.house()

    def house(self) -> House:
        """Build the house, with ids derived from the names."""
        floors = tuple(Floor(_id(floor.name), floor.name, floor.aliases) for floor in self.floors)
        areas = tuple(
            Area(_id(area.name), area.name, area.aliases, _found(area.floor, floors, "floor")) for area in self.areas
        )
        floor_of = {area.id: area.floor for area in areas}
        entities = []
        for number, thing in enumerate(self.entities):
            area = _found(thing.area, areas, "area")
            entities.append(
                Entity(
                    id=f"{thing.domain}.{_id(thing.name)}_{number}",
                    name=thing.name,
                    domain=thing.domain,
                    state="unknown",
                    aliases=thing.aliases,
                    area=area,
                    floor=floor_of[area] if area else None,
                    device_class=thing.device_class,
                )
            )
        return House(tuple(entities), areas, floors)


def _found(name: str | None, places: Iterable[Place], kind: str) -> str | None:
    """Return the id of the place with this name. Raises ValueError."""
    if name is None:
        return None
    if _id(name) not in {place.id for place in places}:
        raise ValueError(f"unknown {kind} {name}")
    return _id(name)


def _id(name: str) -> str:
    return "_".join(name.casefold().split())


GUIDE = "docs/guide/evaluation.md describes the rows"
_RECORDED = "recorded"
_NEXT_TURN = " / "
AS_RECORDED = "as recorded"


@dataclass(frozen=True, slots=True)
class Recording:
    """An audio file with the spoken utterance."""

    path: Path
    speaker: str


@dataclass(frozen=True, slots=True)
class SpokenInput:
    """How an utterance was spoken, its word errors, and the confidence of the transcript.

    `text` and `words` are empty for a recording without a transcript, `speed` is None for every recording,
    and `confidence` is None if the cache does not have it.
    """

    text: str
    voice: str
    speed: float | None
    noise: str
    words: int
    word_errors: int
    confidence: float | None


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """One utterance of a dialogue and what it should bring about."""

    utterance: str
    expect: Expectation


@dataclass(frozen=True, slots=True)
class Case:
    """One row of a suite; if it was `spoken`, the utterance is the transcript.

    The utterance of a `recording` without a transcript is empty. With a `setup`, the row runs on a demo home with real
    tools. A `dialogue` has several turns on one home; `utterance` is then all of them.
    """

    suite: str
    id: str
    category: str
    utterance: str
    offer: OfferedTools
    expect: Expectation
    results: Mapping[str, Any] = field(default_factory=dict)
    recording: Recording | None = None
    spoken: SpokenInput | None = None
    setup: HomeSetup | None = None
    dialogue: tuple[CaseTurn, ...] = ()

    @property
    def turns(self) -> tuple[CaseTurn, ...]:
        """The turns of a dialogue, or the only one of any other row."""
        return self.dialogue or (CaseTurn(self.utterance, self.expect),)


def read_suite(path: Path, *, with_examples: bool = True) -> tuple[Case, ...]:
    """Read the cases of a file, optionally without the example sentences of plugin tools.

    Raises ConfigError that names the file and line of an invalid row.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint="check the name") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not text in UTF-8", hint=GUIDE) from error
    reader = _Reader(path, with_examples)
    cases: list[Case] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            cases += reader.cases(line)
        except _BadRow as fault:
            raise ConfigError(f"{path}:{number}: {fault}", hint=GUIDE) from fault
    if not cases:
        raise ConfigError(f"{path} contains no rows", hint=GUIDE)
    return tuple(cases)


class _BadRow(Exception):
    """The row is invalid; the message says why."""


class _Turn(_Strict):
    utterance: str = Field(min_length=1)
    expect: Expectation


class _Row(_Strict):
    id: str = Field(min_length=1)
    category: str = Field(min_length=1)
    utterance: str = Field(min_length=1)
    tools: str | list[str | dict[str, Any]] | None = None
    tools_with_home: bool = False
    home: str | HomeSpec | None = None
    expect: Expectation = Expectation()
    results: dict[str, Any] = Field(default_factory=dict)
    now: NaiveDatetime | None = None
    before: dict[str, Facts] = Field(default_factory=dict)
    scheduled: tuple[Scheduled, ...] = ()
    turns: tuple[_Turn, ...] = ()
    note: str = ""


class _DialogueRow(_Row):
    """A row whose turns have the utterances and expectations."""

    utterance: str = ""
    turns: tuple[_Turn, ...] = Field(min_length=2)


class _RecordingRow(_Row):
    """A row with an audio file, whose name is the default id. `text` is an alias of `utterance`."""

    file: str = Field(min_length=1)
    speaker: str = Field(default=_RECORDED, min_length=1)
    id: str = ""
    category: str = Field(default=_RECORDED, min_length=1)
    utterance: str = Field(default="", validation_alias=AliasChoices("utterance", "text"))


class _Suite(BaseModel):
    """The header of a suite: free-form metadata, and the plugins and homes that rows refer to by name."""

    plugins: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    homes: dict[str, HomeSpec] = Field(default_factory=dict)


class _Header(_Strict):
    suite: _Suite


class _Reader:
    """Reads the lines of one file in order. Rows with equal tools and home share one offer."""

    def __init__(self, path: Path, with_examples: bool) -> None:
        self._name = path.stem
        self._folder = path.parent
        self._with_examples = with_examples
        self._suite = _Suite()
        self._offers: dict[tuple[str, bool, House | None], OfferedTools] = {}
        self._ids: set[str] = set()
        self._is_first = True

    def cases(self, line: str) -> Iterator[Case]:
        """Yield the case of a line; the header and empty lines have none. Raises _BadRow."""
        if not line.strip():
            return
        is_first, self._is_first = self._is_first, False
        try:
            content = json.loads(line)
        except ValueError as error:
            raise _BadRow(f"not valid JSON: {error}") from error
        if not isinstance(content, dict):
            raise _BadRow("not a JSON object")
        try:
            if is_first and "suite" in content:
                self._suite = _Header.model_validate(content).suite
                return
            kind = _RecordingRow if "file" in content else _DialogueRow if "turns" in content else _Row
            row: _Row = kind.model_validate(content)
        except ValidationError as error:
            raise _BadRow(describe_faults(error)) from error
        recording, name = None, row.id
        if isinstance(row, _RecordingRow):
            recording, name = Recording(self._folder / row.file, row.speaker), row.id or row.file
        if name in self._ids:
            raise _BadRow(f"duplicate id {name}")
        self._ids.add(name)
        try:
            offer = self._offer(row)
            dialogue = tuple(CaseTurn(turn.utterance, _expectation(turn.expect, offer)) for turn in row.turns)
            expect = Expectation() if dialogue else _expectation(row.expect, offer)
        except ConfigError as error:
            raise _BadRow(error.message) from error
        case = Case(self._name, name, row.category, row.utterance, offer, expect, row.results, recording)
        if dialogue:
            case = replace(case, utterance=_NEXT_TURN.join(turn.utterance for turn in dialogue), dialogue=dialogue)
        yield replace(case, setup=_setup(row, case))

    def _offer(self, row: _Row) -> OfferedTools:
        schemas = tuple(self._schemas(row))
        has_home_tools = row.tools is None or row.tools_with_home
        # External tools come without a home by default.
        default = "demo" if has_home_tools else "none"
        house = self._house(default if row.home is None else row.home)
        key = json.dumps(schemas), has_home_tools, house
        if key not in self._offers:
            tools = tuple(tool_of_schema(schema, with_examples=self._with_examples) for schema in schemas)
            self._offers[key] = OfferedTools(tools, has_home_tools, house)
        return self._offers[key]

    def _schemas(self, row: _Row) -> Iterator[JsonObject]:
        for tool in [row.tools] if isinstance(row.tools, str) else row.tools or ():
            if not isinstance(tool, str):
                yield tool
            elif tool in self._suite.plugins:
                yield from self._suite.plugins[tool]
            else:
                raise _BadRow(f"plugin {tool} is not defined in the first line of the file")

    def _house(self, home: str | HomeSpec) -> House | None:
        match home:
            case "demo":
                return _demo_house()
            case "none":
                return None
            case str() if home not in self._suite.homes:
                raise _BadRow(f"home {home} is not defined in the first line of the file")
            case str():
                return self._suite.homes[home].house()
            case _:
                return home.house()


@cache
def _demo_house() -> House:
    return DemoHome().house()


def _setup(row: _Row, case: Case) -> HomeSetup | None:
    """Return the demo home that the row needs, None for a row that only compares calls. Raises _BadRow."""
    has_setup = row.now is not None or row.before or row.scheduled
    if not (has_setup or case.dialogue or case.expect.needs_home):
        return None
    if case.offer.house != _demo_house() or not case.offer.has_home_tools:
        raise _BadRow("only the demo home can be changed: now, before, scheduled, turns, and effects need it")
    if row.results:
        raise _BadRow("results are for tools without an effect")
    if unknown := [thing for thing in row.before if _demo_house().entity(thing) is None]:
        raise _BadRow(f"the demo home has no entity {unknown[0]}")
    if any(item.due(NOW) is None for item in row.scheduled):
        raise _BadRow("scheduled needs at or in_s")
    return HomeSetup(row.now or NOW, row.before, row.scheduled)


def _expectation(expect: Expectation, offer: OfferedTools) -> Expectation:
    calls, tools = expect.calls, offer.registry
    if expect.no_call and calls:
        raise _BadRow("expect has both calls and no_call")
    if expect.is_empty:
        raise _BadRow("expect is empty: give calls, no_call, state, schedule, reply or unchanged")
    if expect.unchanged and (expect.state or expect.schedule is not None):
        raise _BadRow("expect has both unchanged and an effect")
    for call in calls:
        _check(call, tools)
    if expect.state and offer.house != _demo_house():
        raise _BadRow("only the demo home has a state to compare")
    for thing in itertools.chain(*expect.states):
        if _demo_house().entity(thing) is None:
            raise _BadRow(f"the demo home has no entity {thing}")
    is_talk = bool(calls) and all(call.name == "respond" for call in calls)
    if expect.no_call or is_talk:
        return replace(expect, calls=(), no_call=True)
    return expect


def _check(call: Call, tools: ToolRegistry) -> None:
    """Raises _BadRow for an expected call that is not offered or not valid."""
    if call.name == "respond":
        return
    if call.name not in tools:
        raise _BadRow(f"expect uses the tool {call.name}, which is not offered")
    try:
        read_arguments(tools.get(call.name), json.dumps(call.arguments))
    except InvalidArguments as error:
        raise _BadRow(f"expect has an invalid call of {call.name}: {error.message}") from error
