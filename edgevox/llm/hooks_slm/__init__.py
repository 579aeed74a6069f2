"""What small models get wrong in a turn, and the hooks that put it right. They are on by default.

A hook sees a reply when it is whole: whoever speaks while the model is still writing asks `speakable_chars`
how far to go.
"""

from __future__ import annotations

from collections.abc import Callable

from edgevox.hooks import Hook
from edgevox.llm.hooks_slm.arguments import EmptyArguments, SchemaError
from edgevox.llm.hooks_slm.copied_words import CopiedWords
from edgevox.llm.hooks_slm.echoed_payload import EchoedPayload
from edgevox.llm.hooks_slm.payload import speakable_chars
from edgevox.llm.hooks_slm.repeated_call import RepeatedCall, reads_by_name
from edgevox.llm.hooks_slm.replies import EmptyReply, LoopingReply

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
    """The hooks for a small model. `is_read` says of a tool's name whether calling it changes nothing."""
    return (
        CopiedWords(),
        EmptyArguments(),
        SchemaError(),
        EmptyReply(),
        EchoedPayload(),
        LoopingReply(),
        RepeatedCall(is_read),
    )
