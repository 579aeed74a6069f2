"""Deprecated alias of edgevox.core.hooks, kept for plugins. It goes in 0.3."""

from __future__ import annotations

import warnings

from edgevox.core.hooks import Again, Answer, Deny, Hook, ModelReply, Run, ToolOutcome

__all__ = ["Again", "Answer", "Deny", "Hook", "ModelReply", "Run", "ToolOutcome"]

warnings.warn("edgevox.hooks is now edgevox.core.hooks; this alias goes in 0.3", DeprecationWarning, stacklevel=2)
