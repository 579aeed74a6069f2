"""Tools: what they are, which there are, and how a model's calls of them are run.

registry = ToolRegistry([get_time, set_light])
executor = ToolExecutor(registry)
result = await executor.dispatch(call)
"""

from __future__ import annotations

from edgevox.tools.answers import Answer, decide_yes_no
from edgevox.tools.confirmation import (
    SAFETY,
    Channel,
    ConfirmationRule,
    PendingConfirmation,
    PendingConfirmations,
    question_for,
)
from edgevox.tools.executor import CallContext, ToolExecutor, current_call
from edgevox.tools.neutral import neutral_json, neutral_text
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ErrorCode, ToolResult
from edgevox.tools.scopes import LOCAL, Caller
from edgevox.tools.stats import ToolCounts, ToolStats
from edgevox.tools.tool import ConfirmLevel, Speech, Target, Tool, ToolBuilder, tool

__all__ = [
    "LOCAL",
    "SAFETY",
    "Answer",
    "CallContext",
    "Caller",
    "Channel",
    "ConfirmLevel",
    "ConfirmationRule",
    "ErrorCode",
    "PendingConfirmation",
    "PendingConfirmations",
    "Speech",
    "Target",
    "Tool",
    "ToolBuilder",
    "ToolCounts",
    "ToolExecutor",
    "ToolRegistry",
    "ToolResult",
    "ToolStats",
    "current_call",
    "decide_yes_no",
    "neutral_json",
    "neutral_text",
    "question_for",
    "tool",
]
