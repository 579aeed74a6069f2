"""The hooks of the assistant: one list for the running assistant and for its evaluation."""

from __future__ import annotations

from edgevox.core.hooks import Hook
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Watches
from edgevox.home.entities import Home
from edgevox.home.intents.clauses import CommandClauses
from edgevox.home.intents.timer_rules import TimerRules
from edgevox.home.references.effects import EffectLog, EffectRecorder
from edgevox.home.references.references import References
from edgevox.home.rules.hook import HomeRules
from edgevox.home.rules.unasked import NothingAsked
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.tools.executor import ToolExecutor


def assistant_hooks(
    executor: ToolExecutor, home: Home, timers: Timers, alarms: Alarms, watches: Watches, effects: EffectLog
) -> tuple[Hook, ...]:
    """Return the hooks for the tools of `executor`, which act on this home; `alarms.now` is the local time."""
    recent = (effects, executor, home.house, timers, alarms)
    return (
        *default_slm_hooks(executor.registry.only_reads),
        TimerRules(timers, alarms, watches),
        References(*recent),
        NothingAsked(),
        CommandClauses(executor, home.house, timers, alarms),
        HomeRules(executor, home, alarms.now),
        EffectRecorder(*recent),
    )
