"""A language model and how it is to be asked: its formats, its policy on calls, its sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from edgevox.agents.reply import Reply
from edgevox.llm.tool_choice import HopPlan, ToolChoicePolicy, plan_hop
from edgevox.tools import ToolRegistry
from edgevox.types import ChatModel, ChatRequest, Message, Sampling, ToolChoice, ToolsAs


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What a preset knows of a model. The first of `parsers` is the format that its calls are held to."""

    model: ChatModel
    parsers: tuple[str, ...] = ()
    policy: ToolChoicePolicy = "auto"
    tools_as: ToolsAs = "template"
    sampling: Sampling = field(default_factory=Sampling)
    stop: tuple[str, ...] = ()
    thinking: bool = False

    def request(
        self,
        messages: Sequence[Message],
        tools: ToolRegistry,
        *,
        hop: int = 0,
        choice: ToolChoice = "auto",
        offered: Sequence[str] | None = None,
        usually: Sequence[str] | None = None,
        client: str = "",
    ) -> ChatRequest:
        """The request for generation number `hop` of a turn, with all tools or those of `offered`.

        `usually` are the tools that are offered where the sentence needs no others.
        """

        def planned(names: Sequence[str] | None) -> HopPlan:
            schemas = tools.openai_schemas(names, with_examples=self.tools_as == "lines")
            return plan_hop(schemas, policy=self.policy, hop=hop, choice=choice)

        plan = planned(offered)
        return ChatRequest(
            tuple(messages),
            tools=plan.tools,
            sampling=self.sampling,
            stop=self.stop,
            thinking=self.thinking,
            tool_choice=plan.tool_choice,
            wire_format=self.parsers[0] if self.parsers else None,
            tools_as=self.tools_as,
            parallel_calls=True,
            client=client,
            usual_tools=None if usually is None else planned(usually).tools,
        )

    def reply(self, numbers: Iterator[int]) -> Reply:
        """A reply to one request; its calls get their ids from `numbers`."""
        return Reply(self.model, self.parsers, numbers)
