"""Tools: their definition, the registry, and the executor of a model's calls.

registry = ToolRegistry([get_time, set_light])
executor = ToolExecutor(registry)
result = await executor.dispatch(call)
"""

from __future__ import annotations

from edgevox.tools.calls import ResolvedCall
from edgevox.tools.executor import CallContext, ToolExecutor, current_call
from edgevox.tools.policy import (
    LOCAL,
    SAFETY,
    Caller,
    Channel,
    ConfirmationPolicy,
    PendingConfirmation,
    PendingConfirmations,
    confirmation_question_for,
)
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ErrorCode, ToolCounts, ToolResult, ToolStats
from edgevox.tools.sanitize import sanitize_tool_json, sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Resolution, Speech, Target, Tool, ToolBuilder, tool
from edgevox.tools.yes_no import Answer, decide_yes_no

__all__ = [
    "LOCAL",
    "SAFETY",
    "Answer",
    "CallContext",
    "Caller",
    "Channel",
    "ConfirmLevel",
    "ConfirmationPolicy",
    "ErrorCode",
    "PendingConfirmation",
    "PendingConfirmations",
    "Resolution",
    "ResolvedCall",
    "Speech",
    "Target",
    "Tool",
    "ToolBuilder",
    "ToolCounts",
    "ToolExecutor",
    "ToolRegistry",
    "ToolResult",
    "ToolStats",
    "confirmation_question_for",
    "current_call",
    "decide_yes_no",
    "sanitize_tool_json",
    "sanitize_tool_output",
    "tool",
]
