"""The hooks of the assistant: one list for the running assistant and for its evaluation."""

from __future__ import annotations

import time

from edgevox.core.hooks import Hook
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.entities import Home
from edgevox.home.intents.clauses import CommandClauses
from edgevox.home.references.effects import EffectLog, EffectRecorder
from edgevox.home.references.references import References
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.tools.executor import ToolExecutor


def assistant_hooks(
    executor: ToolExecutor, home: Home, timers: Timers, alarms: Alarms, effects: EffectLog | None = None
) -> tuple[Hook, ...]:
    """Return the hooks for the tools of `executor`, which act on this home; `alarms.now` is the local time.

    `effects` are those of all conversations; by default none are known yet.
    """
    recent = (effects or EffectLog(time.time), executor, home.house, timers, alarms)
    return (
        *default_slm_hooks(executor.registry.only_reads),
        References(*recent),
        CommandClauses(executor, home.house, timers, alarms.now),
        EffectRecorder(*recent),
    )
