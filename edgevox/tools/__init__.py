"""Tools: their definition, the registry, and the executor of a model's calls.

registry = ToolRegistry([get_time, set_light])
executor = ToolExecutor(registry)
result = await executor.dispatch(call)
"""

from __future__ import annotations

from edgevox.tools.executor import ToolExecutor, current_call
from edgevox.tools.policy import LOCAL, Caller, ConfirmationPolicy, PendingConfirmation, PendingConfirmations
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ErrorCode, ToolCounts, ToolResult, ToolStats
from edgevox.tools.sanitize import sanitize_tool_json, sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Resolution, Speech, Target, Tool, tool
from edgevox.tools.yes_no import decide_yes_no

__all__ = [
    "LOCAL",
    "Caller",
    "ConfirmLevel",
    "ConfirmationPolicy",
    "ErrorCode",
    "PendingConfirmation",
    "PendingConfirmations",
    "Resolution",
    "Speech",
    "Target",
    "Tool",
    "ToolCounts",
    "ToolExecutor",
    "ToolRegistry",
    "ToolResult",
    "ToolStats",
    "current_call",
    "decide_yes_no",
    "sanitize_tool_json",
    "sanitize_tool_output",
    "tool",
]
