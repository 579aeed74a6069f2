"""Decides per hop which tools are offered and whether one must be called: the caller's choice, or the preset's policy.

A hop is one generation of a turn: the first answers the person, each later one a tool result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from edgevox.core.types import JsonObject, NamedTool, ToolChoice

ToolChoicePolicy: TypeAlias = Literal["auto", "required_first_hop", "required_always"]

RESPOND_NAME = "respond"

# If a call is required, plain text is written as a call too.
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
    """The tools offered in one hop, and whether one must be called."""

    tools: tuple[JsonObject, ...]
    tool_choice: ToolChoice


def plan_hop(
    tools: tuple[JsonObject, ...], *, policy: ToolChoicePolicy, hop: int, choice: ToolChoice = "auto"
) -> HopPlan:
    """Return the plan for hop number `hop`, counted from 0. A choice other than auto overrides the policy."""
    if not tools:
        return HopPlan((), "none")
    if choice == "none":
        return HopPlan(tools, "none")
    if isinstance(choice, NamedTool):
        return HopPlan(tools, choice if hop == 0 else "auto")
    if choice == "required":
        policy = "required_first_hop"
    if policy == "auto":
        return HopPlan(tools, "auto")
    # Offered in every hop, so that the prompt begins with the same tools and stays cached.
    if all(tool["function"]["name"] != RESPOND_NAME for tool in tools):
        tools = (*tools, RESPOND)
    required = policy == "required_always" or hop == 0
    return HopPlan(tools, "required" if required else "auto")
