"""Hooks that correct typical mistakes of small language models. They are on by default.

A hook sees complete replies; a caller that speaks while the model is still writing uses `speakable_chars` to find how
much may be spoken.
"""

from __future__ import annotations

from collections.abc import Callable

from edgevox.core.hooks import Hook
from edgevox.llm.hooks_slm.replies import EchoedPayload, EmptyReply, LoopingReply, speakable_chars
from edgevox.llm.hooks_slm.tool_calls import CopiedWords, EmptyArguments, RepeatedCall, SchemaError, reads_by_name

__all__ = [
    "CopiedWords",
    "EchoedPayload",
    "EmptyArguments",
    "EmptyReply",
    "LoopingReply",
    "RepeatedCall",
    "SchemaError",
    "default_slm_hooks",
    "speakable_chars",
]


def default_slm_hooks(is_read: Callable[[str], bool] = reads_by_name) -> tuple[Hook, ...]:
    """Return the hooks for a small model. `is_read` returns whether the tool of that name only reads."""
    return (
        CopiedWords(),
        EmptyArguments(),
        SchemaError(),
        EmptyReply(),
        EchoedPayload(),
        LoopingReply(),
        RepeatedCall(is_read),
    )
