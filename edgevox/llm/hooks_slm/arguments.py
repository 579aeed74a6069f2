"""Calls whose arguments are missing or wrong: the model is told what the tool takes, in one sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from edgevox.hooks import Answer, Deny, Hook, ModelReply, Run, ToolOutcome
from edgevox.llm.hooks_slm.notes import kept
from edgevox.llm.hooks_slm.schema_words import explained, listed, needs, required
from edgevox.llm.tool_parsers.offered import OfferedTools
from edgevox.types import ChatRequest, ToolCall


@dataclass(slots=True)
class _Told:
    """The tools of the last request, and those that the model was told about."""

    offered: OfferedTools = field(default_factory=lambda: OfferedTools(()))
    names: set[str] = field(default_factory=set)


class EmptyArguments(Hook):
    """Sees a call without arguments of a tool that needs some: it is not made, and the model is told what is
    missing. When it does the same again, the person is."""

    name = "slm.empty_arguments"
    priority = -100

    async def before_llm(self, run: Run, request: ChatRequest) -> None:
        kept(run, self, _Told).offered = OfferedTools(request.tools)

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        told = kept(run, self, _Told)
        missing = [_missing(told.offered, call) if call.name in told.names else () for call in reply.calls]
        if not missing or not all(missing):
            return None
        return Answer(f"For that I need to know the {listed(missing[0]).replace('_', ' ')}.")

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
        told = kept(run, self, _Told)
        if not _missing(told.offered, call):
            return None
        told.names.add(call.name)
        needed = needs(call.name, told.offered.schema(call.name) or {})
        return Deny(f"{needed}: call it with that, or ask the user for it.")


class SchemaError(Hook):
    """Sees that a call was refused for its arguments: adds what the tool takes, once for each tool."""

    name = "slm.schema_error"
    priority = -100

    async def before_llm(self, run: Run, request: ChatRequest) -> None:
        kept(run, self, _Told).offered = OfferedTools(request.tools)

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> ToolOutcome | None:
        told = kept(run, self, _Told)
        schema = told.offered.schema(call.name)
        is_refused = outcome.code == "bad_request" or outcome.content.startswith("invalid_arguments")
        if schema is None or not outcome.is_error or not is_refused or call.name in told.names:
            return None
        told.names.add(call.name)
        return replace(outcome, content=f"{outcome.content.rstrip('. ')}. {explained(call.name, schema)}")


def _missing(offered: OfferedTools, call: ToolCall) -> tuple[str, ...]:
    """The parameters that a call without any arguments should have had."""
    needed = required(offered.schema(call.name) or {})
    return needed if needed and _is_empty(call.arguments) else ()


def _is_empty(arguments: str) -> bool:
    try:
        found = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return False
    return found is None or (isinstance(found, dict) and all(value is None for value in found.values()))
