"""How long an engine may be silent before it counts as hung."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Generous: a limit that is reached costs the engine a restart."""

    start_s: float = 60.0
    first_reply_s: float = 60.0
    next_reply_s: float = 20.0
    pulse_s: float = 2.0
    """How long a child may give no sign that it gets on, at work or not: see pulse.py."""
