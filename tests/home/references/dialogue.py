"""A conversation with the home: the model writes the given calls, the hooks do the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from edgevox.agents import LLMAgent
from edgevox.agents.tool_loop import Agreement
from edgevox.core.hooks import Hook
from edgevox.core.turn import Turn
from edgevox.home.clauses.hook import CommandClauses
from edgevox.home.references.effects import EffectLog, EffectRecorder
from edgevox.home.references.hook import References
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.testing import ScriptedModel
from edgevox.tools import PendingConfirmation
from tests.home.conftest import Bench

Call: TypeAlias = tuple[str, dict[str, Any]]


class Dialogue:
    """`asked` are the confirmation questions, which are answered with `agrees`."""

    def __init__(self, bench: Bench, *hooks: Hook, agrees: bool = True) -> None:
        self._lines: list[str] = []
        self.model = ScriptedModel(self._lines)
        self.asked: list[str] = []
        self._agrees = agrees
        self.log = EffectLog(bench.clock)
        recent = (self.log, bench.executor, bench.home.house, bench.timers, bench.alarms)
        clauses = CommandClauses(bench.executor, bench.home.house, bench.timers, bench.alarms)
        self.agent = LLMAgent(
            "test",
            tools=bench.executor,
            hooks=(*default_slm_hooks(), References(*recent), clauses, EffectRecorder(*recent), *hooks),
            model=self.model,
            parsers=("hermes",),
            confirm=self._confirm,
        )

    async def say(self, text: str, *calls: Call) -> str:
        """The reply. The model is asked if there are calls, and must not be asked otherwise."""
        if calls:
            self._lines.append("\n".join(_written(calls)))
        before = len(self.model.requests)
        result = await self.agent.run(text)
        assert len(self.model.requests) - before == bool(calls), text
        return result.reply

    @property
    def read(self) -> str:
        """The text that the model read last."""
        return self.model.requests[-1].messages[-1].content

    async def _confirm(self, pending: PendingConfirmation, _turn: Turn) -> Agreement:
        self.asked.append(pending.question)
        return Agreement(granted=self._agrees)


def _written(calls: Sequence[Call]) -> list[str]:
    return [f"<tool_call>\n{json.dumps({'name': name, 'arguments': given})}\n</tool_call>" for name, given in calls]


def turn_on(name: str) -> Call:
    return "turn_on", {"name": name}


def turn_off(name: str) -> Call:
    return "turn_off", {"name": name}
