"""Runs the cases of a suite through the agent and scores each answer."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.core.errors import InvalidArguments, ModelError, ToolDenied
from edgevox.core.events import Event, ModelFinished
from edgevox.core.types import ToolCall
from edgevox.eval.scoring import ModelAnswer, NormalizeText, Score, plain_text, score
from edgevox.eval.suite import Call, Case
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.tools import ToolRegistry
from edgevox.tools.calls import read_arguments

# Includes the chat template around the question. Two homes share their tools, but have different prompts.
_MOST_QUESTION_TOKENS = 128
_DENIED = ToolDenied.code
_WRONG = Score(False, False, False, None, None, None)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one case. `was_cached`: the fixed part of the prompt was cached, as in daily use.

    `asks_first`: "Did you say …?" comes first because of low confidence; None where the confidence is unknown.
    """

    case: Case
    calls: tuple[Call, ...]
    reply: str
    score: Score
    ms: float
    prompt_tokens: int
    generated_tokens: int
    was_cached: bool
    error: str | None = None
    asks_first: bool | None = None


async def run_cases(
    model: ModelProfile,
    cases: Sequence[Case],
    *,
    instructions: str = "",
    max_things: int = MAX_ENTITIES,
    normal: NormalizeText = plain_text,
) -> AsyncGenerator[Result, None]:
    """Yield the result of every case, grouped by prompt. Raises EngineFailed.

    `instructions` are the model's own; those of the home follow, as in the assistant, and list at most
    `max_things` entities. A case whose prompt is too long for the model counts as wrong, with the reason.
    """
    order = {offer: number for number, offer in enumerate(dict.fromkeys(case.offer for case in cases))}
    for case in sorted(cases, key=lambda case: order[case.offer]):
        counter = _TokenCounter()
        executor = case.offer.executor(case.results)
        agent = LLMAgent(
            "eval",
            instructions=case.offer.home_prompt(max_things=max_things, before=instructions),
            tools=executor,
            offers_rule_tools=False,
            hooks=case.offer.hooks(executor),
            tool_choice_policy=model.policy,
            model=model.model,
            parsers=model.parsers,
            sampling=model.sampling,
            stop=model.stop,
            thinking=model.thinking,
            tools_as=model.tools_as,
            publish=counter.note,
        )
        started_s = time.monotonic()
        try:
            answer = await agent.run(case.utterance)
        except ModelError as error:
            yield Result(case, (), "", _WRONG, 0.0, 0, 0, was_cached=False, error=error.message)
            continue
        ms = (time.monotonic() - started_s) * 1000
        given = _answer_of(answer, executor.registry)
        yield Result(
            case=case,
            calls=given.calls,
            reply=given.reply,
            score=await score(case, given, normal),
            ms=ms,
            prompt_tokens=counter.prompt_tokens,
            generated_tokens=counter.generated_tokens,
            was_cached=counter.was_cached,
        )


class _TokenCounter:
    """Counts the tokens of a turn: the first prompt, and everything generated."""

    def __init__(self) -> None:
        self.prompt_tokens = 0
        self.generated_tokens = 0
        self.was_cached = False

    def note(self, event: Event) -> None:
        if not isinstance(event, ModelFinished):
            return
        if not self.prompt_tokens:
            self.prompt_tokens = event.prompt_tokens
            self.was_cached = event.prompt_tokens - event.cached_tokens <= _MOST_QUESTION_TOKENS
        self.generated_tokens += event.generated_tokens


def _answer_of(answer: AgentResult, tools: ToolRegistry) -> ModelAnswer:
    """Extract what is scored: the successful calls or, without any, the failed ones that no hook denied."""
    made = [(call, result) for call, result in zip(answer.calls, answer.results, strict=True) if result.code != _DENIED]
    done = [call for call, result in made if not result.is_error]
    last = answer.results[-1] if answer.results else None
    is_own_words = last is None or not last.speech or last.name == "respond"
    return ModelAnswer(
        calls=tuple(_read(call) for call in done or [call for call, _ in made]),
        reply=answer.reply,
        is_own_words=is_own_words,
        is_valid=all(_is_valid(call, tools) for call in answer.calls),
    )


def _read(call: ToolCall) -> Call:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = {"": call.arguments}  # matches no parameter of any tool
    return Call(call.name, arguments if isinstance(arguments, dict) else {"": arguments})


def _is_valid(call: ToolCall, tools: ToolRegistry) -> bool:
    if call.name not in tools:
        return False
    try:
        read_arguments(tools.get(call.name), call.arguments)
    except InvalidArguments:
        return False
    return True
