"""Reading tool calls, reasoning and spoken text out of what a small model writes.

    calls, cleaned, fallback = parse_tool_calls_from_content(raw, preset_parsers=("qwen25",), tools=tools)

or, while the model is still writing, a `StreamingToolParser`.
"""

from __future__ import annotations

from edgevox.llm.tool_parsers.base import (
    ArgumentsDelta,
    BaseFormatDetector,
    Body,
    Opening,
    ParseDelta,
    ParsedReply,
    RejectedCall,
    ToolCallItem,
    Verdict,
)
from edgevox.llm.tool_parsers.detectors import DETECTORS
from edgevox.llm.tool_parsers.streaming import (
    StreamingToolParser,
    openai_call,
    parse_reply,
    parse_tool_calls_from_content,
    register_detector,
)

__all__ = [
    "DETECTORS",
    "ArgumentsDelta",
    "BaseFormatDetector",
    "Body",
    "Opening",
    "ParseDelta",
    "ParsedReply",
    "RejectedCall",
    "StreamingToolParser",
    "ToolCallItem",
    "Verdict",
    "openai_call",
    "parse_reply",
    "parse_tool_calls_from_content",
    "register_detector",
]
