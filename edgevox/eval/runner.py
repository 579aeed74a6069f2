"""Runs the cases of a suite through the agent and scores each answer."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.agents.tool_loop import Agreement
from edgevox.core.errors import InvalidArguments, ModelError, ToolDenied
from edgevox.core.events import Event, ModelFinished
from edgevox.core.hooks import Hook
from edgevox.core.turn import Turn
from edgevox.core.types import ToolCall
from edgevox.eval.expectation import Call
from edgevox.eval.live_home import HomeSetup, LiveHome, changes, has_effects
from edgevox.eval.scoring import ModelAnswer, Score, score, score_dialogue, score_turn
from edgevox.eval.suite import Case
from edgevox.eval.values import NormalizeText, plain_text
from edgevox.home import HomePrompt
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.tools import PendingConfirmation, ToolExecutor, ToolRegistry
from edgevox.tools.calls import read_arguments

# Includes the chat template around the question. Two homes share their tools, but have different prompts.
_MOST_QUESTION_TOKENS = 128
_DENIED = ToolDenied.code
_WRONG = Score(False, False, False, None, None, None)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The result of one turn on a home with real tools, and what it changed there."""

    utterance: str
    calls: tuple[Call, ...]
    reply: str
    score: Score
    changes: Mapping[str, Any]


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
    turns: tuple[TurnResult, ...] = ()


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
        prompt = case.offer.home_prompt(max_things=max_things, before=instructions)
        if case.setup is None:
            yield await _run_once(model, case, prompt, normal)
        else:
            yield await _run_dialogue(model, case, case.setup, prompt, normal)


async def _run_once(model: ModelProfile, case: Case, prompt: HomePrompt, normal: NormalizeText) -> Result:
    """Run a case whose tools have no effect."""
    counter = _TokenCounter()
    executor = case.offer.executor(case.results)
    agent = _agent(model, prompt, executor, case.offer.hooks(executor, model.languages), counter)
    try:
        given = await counter.timed(agent, case.utterance, executor.registry)
    except ModelError as error:
        return _failed(case, error)
    return counter.result(case, given, await score(case, given, normal))


async def _run_dialogue(
    model: ModelProfile, case: Case, setup: HomeSetup, prompt: HomePrompt, normal: NormalizeText
) -> Result:
    """Run the turns of a case in one conversation, on one home with real tools."""
    counter = _TokenCounter()
    live = LiveHome(setup, case.offer.own_tools)
    agent = _agent(model, prompt, live.executor, live.hooks(model.languages), counter)
    before, turns = await live.snapshot(), []
    for turn in case.turns:
        try:
            given = await counter.timed(agent, turn.utterance, live.executor.registry)
        except ModelError as error:
            return _failed(case, error)
        after = await live.snapshot()
        is_as_expected = has_effects(turn.expect, before, after, setup.now)
        verdict = score_turn(turn.expect, given, has_effects=is_as_expected, normal=normal)
        turns.append(TurnResult(turn.utterance, given.calls, given.reply, verdict, changes(before, after)))
        before = after
    return counter.result(case, given, score_dialogue([turn.score for turn in turns]), tuple(turns))


def _agent(
    model: ModelProfile, prompt: HomePrompt, executor: ToolExecutor, hooks: Sequence[Hook], counter: _TokenCounter
) -> LLMAgent:
    return LLMAgent(
        "eval",
        instructions=prompt,
        tools=executor,
        offered=[tool.name for tool in executor.registry if not tool.called_by_rule],
        hooks=hooks,
        tool_choice_policy=model.policy,
        model=model.model,
        parsers=model.parsers,
        sampling=model.sampling,
        stop=model.stop,
        thinking=model.thinking,
        tools_as=model.tools_as,
        confirm=_agree,
        publish=counter.note,
    )


async def _agree(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
    """Give every confirmation, so that a wrong call is never hidden by the question before it."""
    return Agreement(granted=True, channel="keyboard")


def _failed(case: Case, error: ModelError) -> Result:
    return Result(case, (), "", _WRONG, 0.0, 0, 0, was_cached=False, error=error.message)


class _TokenCounter:
    """Counts the tokens of a turn: the first prompt, and everything generated."""

    def __init__(self) -> None:
        self.prompt_tokens = 0
        self.generated_tokens = 0
        self.was_cached = False
        self._ms = 0.0
        self._turns = 0

    async def timed(self, agent: LLMAgent, utterance: str, tools: ToolRegistry) -> ModelAnswer:
        """Run a turn and count its time. Raises ModelError."""
        started_s = time.monotonic()
        answer = await agent.run(utterance)
        self._ms += (time.monotonic() - started_s) * 1000
        self._turns += 1
        return _answer_of(answer, tools)

    def result(self, case: Case, given: ModelAnswer, verdict: Score, turns: tuple[TurnResult, ...] = ()) -> Result:
        """Return the result of a case; `ms` is the mean of its turns, calls and reply are those of the last."""
        return Result(
            case=case,
            calls=given.calls,
            reply=given.reply,
            score=verdict,
            ms=self._ms / self._turns,
            prompt_tokens=self.prompt_tokens,
            generated_tokens=self.generated_tokens,
            was_cached=self.was_cached,
            turns=turns,
        )

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
