"""Who decides whether a tool is called: what the caller asks for, or the preset's policy, hop by hop.

A hop is one generation of a turn: the first answers the person, each further one answers a tool's result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from edgevox.core.types import JsonObject, NamedTool, ToolChoice

ToolChoicePolicy: TypeAlias = Literal["auto", "required_first_hop", "required_always"]

RESPOND_NAME = "respond"

# Where a call is required, plain talk is a call too.
RESPOND: JsonObject = {
    "type": "function",
    "function": {
        "name": RESPOND_NAME,
        "description": "Say something to the person, when no other tool fits.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 1000}},
            "required": ["text"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True)
class HopPlan:
    """The tools to offer in one hop, and whether one must be called."""

    tools: tuple[JsonObject, ...]
    tool_choice: ToolChoice


def plan_hop(
    tools: tuple[JsonObject, ...], *, policy: ToolChoicePolicy, hop: int, choice: ToolChoice = "auto"
) -> HopPlan:
    """The plan for hop number `hop`, counted from 0. A choice other than auto goes before the policy."""
    if not tools:
        return HopPlan((), "none")
    match choice:
        case "none":
            return HopPlan(tools, "none")
        case NamedTool():
            return HopPlan(tools, choice if hop == 0 else "auto")
        case "required":
            return HopPlan(_with_respond(tools), "required" if hop == 0 else "auto")
        case "auto":
            pass
    if policy == "auto":
        return HopPlan(tools, "auto")
    # Offered in every hop, so that the prompt begins with the same tools and is not evaluated anew.
    required = policy == "required_always" or hop == 0
    return HopPlan(_with_respond(tools), "required" if required else "auto")


def _with_respond(tools: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """The tools and `respond`, unless one of them has that name already."""
    names = {tool["function"]["name"] for tool in tools}
    return tools if RESPOND_NAME in names else (*tools, RESPOND)
