"""Home Assistant's published test sentences as a suite of `edgevox eval`. Nothing is trained on them.

`python -m benchmarks.home_assistant_sentences CHECKOUT SUITE` reads the English tests of a checkout of Home
Assistant's repository `intents` and writes the rows to SUITE. Neither is kept here: who trains a model must
not find them by chance.

What those tests ask for is told in the words of our own tools:
- An intent without a tool of ours is left out, and counted.
- A name of "all" is none. A slot that the tool does not have is dropped (`temperature_unit`), and so is a
  class that it does not know (`apparent_power`): it finds the thing by its name.
- What is wanted of a domain that our tools do not have (`remote`) cannot be said with them, and is left out.
- Whoever asks which players are on is given those that play; the state that was asked for is still "on".
- A place that is not in the sentence is where the speaker stands; nobody tells the model that, and it is
  not wanted from it.
- Where Home Assistant talks back (HassRespond) or forgets (HassNevermind), no call is wanted.
- Tests in a folder of an intent's name have a home of their own, in the same file.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from edgevox.core.errors import InvalidArguments
from edgevox.core.types import JsonObject
from edgevox.eval.offered_tools import bound_home_tools
from edgevox.eval.suite import HomeSpec
from edgevox.home import DemoHome
from edgevox.tools import Tool
from edgevox.tools.calls import read_arguments

HOME = "published"
NO_CALL = frozenset({"respond", "nevermind"})
PLACES = ("area", "floor")
KINDS = ("domain", "device_class")
# Older and newer names of the same intents.
RENAMED = {"media_mute": "media_player_mute", "media_unmute": "media_player_unmute"}


@dataclass
class Converted:
    """The rows so far, the homes that they speak of, and how many sentences were left out, by why."""

    homes: dict[str, HomeSpec] = field(default_factory=dict)
    rows: list[JsonObject] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    said: set[tuple[str, str]] = field(default_factory=set)


def read_home(fixtures: Path) -> HomeSpec:
    """The home that the tests speak of."""
    content = yaml.safe_load(fixtures.read_text(encoding="utf-8"))
    floors = {floor["id"]: one_spelling(floor["name"]) for floor in content.get("floors", ())}
    areas = {area["id"]: one_spelling(area["name"]) for area in content["areas"]}
    return HomeSpec.model_validate(
        {
            "floors": [{"name": name} for name in floors.values()],
            "areas": [{"name": areas[area["id"]], "floor": floors.get(area.get("floor"))} for area in content["areas"]],
            "entities": [
                {
                    "name": one_spelling(thing["name"]),
                    "domain": thing["id"].split(".")[0],
                    "device_class": (thing.get("attributes") or {}).get("device_class"),
                    "area": areas.get(thing.get("area")),
                }
                for thing in content["entities"]
            ],
        }
    )


def read_own_home(content: JsonObject) -> HomeSpec:
    """The home of a file that has one."""
    return HomeSpec.model_validate(
        {
            "areas": [{"name": area["name"]} for area in content.get("areas") or ()],
            "entities": [
                {"name": thing["name"], "domain": thing["domain"], "area": thing.get("area")}
                for thing in content.get("entities") or ()
            ],
        }
    )


def one_spelling(template: str) -> str:
    """A name of a template: "Trader Joe[']s" is "Trader Joe's", and of "(TV|television)" the first counts."""
    without_choices = re.sub(r"\(([^|()]*)\|[^()]*\)", r"\1", template)
    return re.sub(r"\[([^\[\]]*)\]", r"\1", without_choices)


def convert(tests: Path, tools: Mapping[str, Tool]) -> Converted:
    """The rows of all test files, each sentence once in each home."""
    converted = Converted({HOME: read_home(tests / "_fixtures.yaml")})
    for file in sorted(tests.rglob("*.yaml")):
        if file.name.startswith("_"):
            continue
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        is_of_intent = file.parent != tests
        home = f"{file.parent.name} {file.stem}" if is_of_intent else HOME
        if is_of_intent:
            converted.homes[home] = read_own_home(content)
        for test in content.get("tests") or ():
            intent = {"name": file.parent.name, **test} if is_of_intent else test.get("intent")
            if intent is None:
                converted.left_out["no intent"] += len(test["sentences"])
                continue
            for sentence in test["sentences"]:
                _add(converted, home, str(sentence), intent, tools)
    return converted


def _add(converted: Converted, home: str, sentence: str, intent: JsonObject, tools: Mapping[str, Tool]) -> None:
    key = home, " ".join(sentence.casefold().split())
    if key in converted.said:
        converted.left_out["said twice"] += 1
        return
    converted.said.add(key)
    name = tool_name(intent["name"])
    if name not in tools:
        converted.left_out[f"no tool for {intent['name']}"] += 1
        return
    domain = (intent.get("slots") or {}).get("domain")
    if domain and not _knows(tools[name].parameters["properties"].get("domain", {}), "domain", domain):
        converted.left_out[f"no {domain} among our tools"] += 1
        return
    expect: JsonObject = {"no_call": True}
    if name not in NO_CALL:
        arguments = dict(_arguments(sentence, intent, tools[name]))
        try:
            read_arguments(tools[name], json.dumps(arguments))
        except InvalidArguments as error:
            converted.left_out[f"{intent['name']}: {error.message}"] += 1
            return
        expect = {"calls": [{"name": name, "arguments": arguments}]}
    number = len(converted.rows)
    row = {"id": f"{name}-{number}", "category": name, "utterance": sentence, "home": home, "expect": expect}
    converted.rows.append(row)


def tool_name(intent: str) -> str:
    """The tool of an intent: HassLightSet is light_set."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", intent.removeprefix("Hass")).lower()
    return RENAMED.get(snake, snake)


def _arguments(sentence: str, intent: JsonObject, tool: Tool) -> Iterator[tuple[str, Any]]:
    slots = tool.parameters["properties"]
    for slot, given in (intent.get("slots") or {}).items():
        value = _asked_state(sentence, _value(given)) if slot == "state" else _value(given)
        is_elsewhere = slot in PLACES and not _names(sentence, str(value))
        is_everything = slot == "name" and value == "all"
        if slot in slots and not is_elsewhere and not is_everything and _knows(slots[slot], slot, value):
            yield slot, value


def _value(given: object) -> object:
    match given:
        case {"value": value}:
            return value
        case [first, *others] if {_value(other) for other in others} <= {_value(first)}:
            return _value(first)
        case str():
            return one_spelling(given).strip()
        case _:
            return given


def _asked_state(sentence: str, state: object) -> object:
    return "on" if state == "playing" and "playing" not in sentence else state


def _knows(schema: JsonObject, slot: str, value: object) -> bool:
    return slot not in KINDS or value in schema.get("enum", (value,))


def _names(sentence: str, place: str) -> bool:
    """Whether the place is in the sentence, if only as a plural."""
    words = re.findall(r"\w+", sentence.casefold())
    parts = re.findall(r"\w+", place.casefold())
    return all(any(word.startswith(part) for word in words) for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("checkout", type=Path, help="a checkout of the repository home-assistant/intents")
    parser.add_argument("suite", type=Path, help="the suite to write")
    arguments = parser.parse_args()
    tests = arguments.checkout / "tests" / "en"
    tools = {tool.name: tool for tool in bound_home_tools(DemoHome())}
    converted = convert(tests, tools)
    homes = {name: home.model_dump(mode="json") for name, home in converted.homes.items()}
    header = {"suite": {"homes": homes}}
    arguments.suite.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in (header, *converted.rows)), encoding="utf-8"
    )
    print(f"{len(converted.rows)} rows in {arguments.suite}")
    for why, count in converted.left_out.most_common():
        print(f"left out: {count:4} {why}")


if __name__ == "__main__":
    main()
