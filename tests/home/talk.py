"""An agent with the home's tools and hooks, whose model follows a script."""

from __future__ import annotations

import json

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.tool_loop import Agreement
from edgevox.core.turn import Turn
from edgevox.home.clauses.hook import CommandClauses
from edgevox.home.rules.timers import TimerRules
from edgevox.llm.hooks_slm import default_slm_hooks
from edgevox.testing import ScriptedModel
from edgevox.tools.policy import PendingConfirmation
from tests.home.conftest import Bench


def written(name: str, arguments: dict[str, object]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


class Talk:
    """An agent with the home's tools, whose model writes the given call whatever it reads; questions get a yes."""

    def __init__(self, bench: Bench, *calls: tuple[str, dict[str, object]]) -> None:
        self.questions: list[str] = []
        self.model = ScriptedModel(["\n".join(written(*call) for call in calls), "Done."])
        clauses = CommandClauses(bench.executor, bench.home.house, bench.timers, bench.alarms)
        rules = TimerRules(bench.timers, bench.alarms, bench.watches)
        self.agent = LLMAgent(
            "test",
            tools=bench.executor,
            hooks=(*default_slm_hooks(), rules, clauses),
            model=self.model,
            parsers=("hermes",),
            confirm=self._confirm,
        )

    async def say(self, text: str) -> AgentResult:
        return await self.agent.run(text)

    async def _confirm(self, pending: PendingConfirmation, _turn: Turn) -> Agreement:
        self.questions.append(pending.question)
        return Agreement(granted=True)
