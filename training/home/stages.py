"""What the dialogues of one scene share: the tools that are offered, the home, the system prompt."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import Any

from edgevox.llm.tool_choice import RESPOND
from edgevox.llm.tool_lines import tool_line
from edgevox.tools.home.catalogue import CATALOGUE
from edgevox.tools.home.prompt import HOME_INSTRUCTIONS, home_prompt
from training.calls import Call, written
from training.home.houses import DEMO, Known, random_house
from training.home.speaker import Speaker
from training.tool_data import DrawnTool, OtherTool, load_tools
from training.varied_slots import Pool

_HOME_SCHEMAS: dict[str, dict[str, Any]] = {
    tool.name: {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }
    for tool in CATALOGUE
}


_VARIED_SHARE = 0.55
_LINES = {name: tool_line(schema) for name, schema in _HOME_SCHEMAS.items()}


_OTHER_RESPOND_LINE = tool_line(RESPOND)


HOME_NAMES = tuple(_LINES)


_ALL_IN_ORDER_SHARE = 0.65  # of the rest


_NO_HOME_SHARE = 0.12


_DEMO_SHARE = 0.12


# Themes whose requests the home's own tools would serve as well: not offered beside them.
ALARM_TOOLS = frozenset({"set_alarm", "set_reminder", "cancel_alarm", "alarm_status"})
RIVALS = frozenset({"broadcast", "laundry_air", "public_places", "shopping", "sky_weather"})


_INSTRUCTIONS = (
    "", "", "You are a helpful assistant.", "Call a tool when one fits; otherwise respond.",
    "Help the user with the tools above.",
    "You are a voice assistant. Answer in one short sentence.",
    "Use the tools to do what the user asks for. If no tool fits, respond in one short sentence.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stage:
    """What the dialogues of one scene share."""

    rng: random.Random
    known: Known
    home_tools: frozenset[str]
    others: tuple[DrawnTool, ...]
    other_tools: tuple[OtherTool, ...]
    respond_slot: str

    def speaker(self) -> Speaker:
        return Speaker(self.rng, self.known)

    @property
    def offers_all(self) -> bool:
        return len(self.home_tools) == len(HOME_NAMES) - 1

    def respond(self, message: str) -> str:
        return written((Call("respond", {self.respond_slot: message}),))


def stage_of_home(rng: random.Random) -> tuple[Stage, str]:
    house = (
        None
        if rng.random() < _NO_HOME_SHARE
        else DEMO
        if rng.random() < _DEMO_SHARE / (1 - _NO_HOME_SHARE)
        else random_house(rng)
    )
    names = list(HOME_NAMES)
    respond_slot = "message"
    in_order = rng.random() < _ALL_IN_ORDER_SHARE
    if not in_order:
        if rng.random() < 0.7:
            names = rng.sample(names, rng.randint(8, 38))
        if rng.random() < 0.6:
            rng.shuffle(names)
    if "respond" not in names or (not in_order and rng.random() < 0.25):
        names = [name for name in names if name != "respond"]
        respond_slot = "text"
    others, tools = _others(rng, rng.choice((0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 8)), set(names))
    lines = [_LINES[name] for name in names]
    more = [tool_line(tool.schema) for tool in others]
    if in_order or rng.random() < 0.5:
        lines += more
    else:
        for line in more:
            lines.insert(rng.randint(0, len(lines)), line)
    if respond_slot == "text":
        lines.append(_OTHER_RESPOND_LINE)
    stage = Stage(rng, Known(house), frozenset(names) - {"respond"}, others, tools, respond_slot)
    about = HOME_INSTRUCTIONS if house is None else f"{HOME_INSTRUCTIONS}\nHome:\n{home_prompt(house)}"
    return stage, "\n".join(("Tools:", *lines, "", about))


def stage_of_others(rng: random.Random) -> tuple[Stage, str]:
    others, tools = _others(rng, rng.choice((2, 2, 3, 4, 5, 6, 8, 10, 12, 14, 18)), set())
    lines = [tool_line(tool.schema) for tool in others]
    way = rng.random()
    house = None
    respond_slot = "text"
    if way < 0.45:
        house = DEMO if rng.random() < 0.2 else random_house(rng) if rng.random() < 0.5 else None
        about = HOME_INSTRUCTIONS if house is None else f"{HOME_INSTRUCTIONS}\nHome:\n{home_prompt(house)}"
    else:
        about = rng.choice(_INSTRUCTIONS)
    if rng.random() < 0.35:
        respond_slot = "message"
        lines.append(_LINES["respond"])
    else:
        lines.append(_OTHER_RESPOND_LINE)
    stage = Stage(rng, Known(house), frozenset(), others, tools, respond_slot)
    return stage, "\n".join(("Tools:", *lines, *(("", about) if about else ())))


def _others(
    rng: random.Random, count: int, taken: set[str]
) -> tuple[tuple[DrawnTool, ...], tuple[OtherTool, ...]]:
    """Tools of one theme or of all, so that it is not the theme alone that tells them apart."""
    pool = themes()
    chosen_themes = (
        list(pool) if rng.random() < 0.5 else rng.sample(list(pool), min(len(pool), rng.choice((1, 2, 2, 3))))
    )
    drawn: list[DrawnTool] = []
    chosen: list[OtherTool] = []
    names = taken | {"respond"}
    for _ in range(count):
        tool = rng.choice(pool[rng.choice(chosen_themes)])
        if (taken and _is_rival(tool)) or not all(tool.goes_with(other) for other in chosen):
            continue
        one = tool.draw(rng, variation() if rng.random() < _VARIED_SHARE else None)
        if one.name not in names:
            names.add(one.name)
            drawn.append(one)
            chosen.append(tool)
    return tuple(drawn), tuple(chosen)


def _is_rival(tool: OtherTool) -> bool:
    return tool.theme in RIVALS or not ALARM_TOOLS.isdisjoint(tool.same)


@functools.cache
def variation() -> Pool:
    return Pool.of(tool for tools in themes().values() for tool in tools)


@functools.cache
def themes() -> dict[str, list[OtherTool]]:
    found: dict[str, list[OtherTool]] = {}
    for tool in load_tools():
        found.setdefault(tool.theme, []).append(tool)
    return found
