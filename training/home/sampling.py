"""Samples the home, tools and system prompt of a scene, and requests that its tools serve, by weight."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.home.intents.catalogue import catalogue
from edgevox.home.prompt_text import HOME_INSTRUCTIONS, home_prompt
from edgevox.llm.prompt.tool_lines import tool_line
from edgevox.llm.tool_choice import RESPOND
from training.home import state_questions
from training.home.commands import (
    alarms,
    ambiguous_names,
    chores,
    corrections,
    covers,
    everyday,
    lists,
    loose_amounts,
    media,
    media_transport,
    one_breath,
    set_values,
    several,
    shared_words,
    short_commands,
    switching,
    timers,
    wishes,
)
from training.home.houses import DEMO, KnownHome, random_house
from training.home.speaker import Request, Speaker
from training.sampled_tools import SampledTool, SlotPool, ToolTemplate
from training.tool_files import load_tools
from training.types import Call, write_calls

Builder: TypeAlias = Callable[[Speaker], Request]

# The share of each group among single requests.
_GROUPS: tuple[tuple[float, tuple[tuple[float, Builder], ...]], ...] = (
    (24, switching.BUILDERS),
    (25, state_questions.STATE_BUILDERS),
    (3.5, state_questions.WARMTH_BUILDERS),
    (16, set_values.BUILDERS),
    (13, media.BUILDERS),
    (8, short_commands.BUILDERS),
    (4.6, corrections.BUILDERS),
    (3.4, corrections.EXCLUSION_BUILDERS),
    (2.6, ambiguous_names.BUILDERS),
    (1, ambiguous_names.ROBOT_BUILDERS),
    (1, ambiguous_names.FLOOR_BUILDERS),
    (13, timers.BUILDERS),
    (7.8, alarms.BUILDERS),
    (9.2, lists.BUILDERS),
    (9, chores.BUILDERS),
    (2, media_transport.BUILDERS),
    (1.6, lists.COMPLETION_BUILDERS),
    (1.7, alarms.RESTOCK_BUILDERS),
    (0.8, several.FREE_TEXT_BUILDERS),
    (2.2, short_commands.REMARK_BUILDERS),
    (1.7, covers.BUILDERS),
    (1.1, timers.MISHEARD_BUILDERS),
    (10, everyday.BUILDERS),
    (14, wishes.BUILDERS),
    (6, wishes.RARE_VERB_BUILDERS),
    (11, loose_amounts.BUILDERS),
)


def _weighted() -> tuple[list[Builder], list[float]]:
    builders: list[Builder] = []
    weights: list[float] = []
    for share, group in _GROUPS:
        whole = sum(weight for weight, _ in group)
        for weight, builder in group:
            builders.append(builder)
            weights.append(share * weight / whole)
    return builders, list(itertools.accumulate(weights))


_BUILDERS, _WEIGHTS = _weighted()
_SEVERAL_BUILDERS = (*several.BUILDERS, *everyday.SEVERAL_BUILDERS)
_SEVERAL = [builder for _, builder in _SEVERAL_BUILDERS]
_SEVERAL_WEIGHTS = list(itertools.accumulate(weight for weight, _ in _SEVERAL_BUILDERS))
_BREATHS = {
    has_others: (*one_breath.BUILDERS, *shared_words.BUILDERS, *(() if has_others else one_breath.ALONE_BUILDERS))
    for has_others in (False, True)
}
_BREATH_SHARE = 0.5
_TAKEN_BACK_SHARE = 0.008
_TRIES = 40


def any_request(speaker: Speaker) -> Request:
    """One request, of any tool."""
    builder = speaker.rng.choices(_BUILDERS, cum_weights=_WEIGHTS)[0]
    made = builder(speaker)
    if made.form == "!" and speaker.rng.random() < _TAKEN_BACK_SHARE:
        return chores.taken_back(speaker, made)
    return made


def request(rng: random.Random, new_speaker: Callable[[], Speaker], offered: Collection[str]) -> Request | None:
    """A request that the offered tools serve, or None where none came to mind."""
    for _ in range(_TRIES):
        made = any_request(new_speaker())
        if made.calls[0].tool in offered:
            return made
    return None


def several_requests(
    new_speaker: Callable[[], Speaker], offered: Collection[str], *, has_others: bool
) -> Request | None:
    """Several requests in one breath. With `has_others`, tools of other kinds may serve what the home's cannot."""
    for _ in range(_TRIES):
        speaker = new_speaker()
        speaker.slips = False
        if speaker.chance(_BREATH_SHARE):
            builders = _BREATHS[has_others]
            (builder,) = speaker.rng.choices([one for _, one in builders], [weight for weight, _ in builders])
            made = builder(speaker)
        elif speaker.chance(0.5):
            builder = speaker.rng.choices(_SEVERAL, cum_weights=_SEVERAL_WEIGHTS)[0]
            made = builder(speaker)
        else:
            made = several.joined(speaker, any_request)
        if all(call.tool in offered for call in made.calls):
            return made
    return None


_HOME_SCHEMAS: dict[str, dict[str, Any]] = {
    tool.name: {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }
    for tool in catalogue().values()
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
class SceneContext:
    """What the dialogues of one scene share."""

    rng: random.Random
    known: KnownHome
    home_tools: frozenset[str]
    others: tuple[SampledTool, ...]
    other_tools: tuple[ToolTemplate, ...]
    respond_slot: str

    def speaker(self) -> Speaker:
        return Speaker(self.rng, self.known)

    @property
    def offers_all(self) -> bool:
        return len(self.home_tools) == len(HOME_NAMES) - 1

    def respond(self, message: str) -> str:
        return write_calls((Call("respond", {self.respond_slot: message}),))


def home_context(rng: random.Random) -> tuple[SceneContext, str]:
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
    stage = SceneContext(rng, KnownHome(house), frozenset(names) - {"respond"}, others, tools, respond_slot)
    about = HOME_INSTRUCTIONS if house is None else f"{HOME_INSTRUCTIONS}\nHome:\n{home_prompt(house)}"
    return stage, "\n".join(("Tools:", *lines, "", about))


def other_tools_context(rng: random.Random) -> tuple[SceneContext, str]:
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
    stage = SceneContext(rng, KnownHome(house), frozenset(), others, tools, respond_slot)
    return stage, "\n".join(("Tools:", *lines, *(("", about) if about else ())))


def _others(
    rng: random.Random, count: int, taken: set[str]
) -> tuple[tuple[SampledTool, ...], tuple[ToolTemplate, ...]]:
    """Tools of one theme or of all, so that it is not the theme alone that tells them apart."""
    pool = themes()
    chosen_themes = (
        list(pool) if rng.random() < 0.5 else rng.sample(list(pool), min(len(pool), rng.choice((1, 2, 2, 3))))
    )
    drawn: list[SampledTool] = []
    chosen: list[ToolTemplate] = []
    names = taken | {"respond"}
    for _ in range(count):
        tool = rng.choice(pool[rng.choice(chosen_themes)])
        if (taken and _is_rival(tool)) or not all(tool.goes_with(other) for other in chosen):
            continue
        one = tool.draw(rng, slot_pool() if rng.random() < _VARIED_SHARE else None)
        if one.name not in names:
            names.add(one.name)
            drawn.append(one)
            chosen.append(tool)
    return tuple(drawn), tuple(chosen)


def _is_rival(tool: ToolTemplate) -> bool:
    return tool.theme in RIVALS or not ALARM_TOOLS.isdisjoint(tool.same)


@functools.cache
def slot_pool() -> SlotPool:
    return SlotPool.of(tool for tools in themes().values() for tool in tools)


@functools.cache
def themes() -> dict[str, list[ToolTemplate]]:
    found: dict[str, list[ToolTemplate]] = {}
    for tool in load_tools():
        found.setdefault(tool.theme, []).append(tool)
    return found
