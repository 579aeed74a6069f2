"""Runs the cases of a suite through the agent, and scores each answer."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from edgevox.agents import AgentResult, LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.core.errors import InvalidArguments, ModelError
from edgevox.core.events import Event, ModelFinished
from edgevox.core.types import ToolCall
from edgevox.eval.scoring import ModelAnswer, NormalizeText, Score, plain_text, score
from edgevox.eval.suite import Call, Case
from edgevox.home.prompt import MAX_ENTITIES
from edgevox.tools import ToolRegistry
from edgevox.tools.calls import read_arguments

# The template's words around a question are part of it. Two homes share their tools, and are not one prompt.
_MOST_QUESTION_TOKENS = 128
_WRONG = Score(False, False, False, None, None, None)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one case. `was_cached`: the prompt's fixed part was known, as it is in daily use.

    `is_asked`: what was heard is so unsure that "Did you say …?" comes first; None where that is not known.
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
    is_asked: bool | None = None


async def run_cases(
    model: ModelProfile,
    cases: Sequence[Case],
    *,
    instructions: str = "",
    max_things: int = MAX_ENTITIES,
    normal: NormalizeText = plain_text,
) -> AsyncGenerator[Result, None]:
    """The result of every case; cases with the same prompt come together. Raises EngineFailed.

    `instructions` are the model's own; those of the home follow them, as they do in the assistant, and tell
    of `max_things` things of a large home.
    A case that the model cannot take (its prompt is too long) is a wrong one, with the reason.
    """
    place = {offer: number for number, offer in enumerate(dict.fromkeys(case.offer for case in cases))}
    for case in sorted(cases, key=lambda case: place[case.offer]):
        meter = _TokenCounter()
        executor = case.offer.executor(case.results)
        agent = LLMAgent(
            "eval",
            instructions=case.offer.told_home(max_things=max_things, before=instructions),
            tools=executor,
            tool_choice_policy=model.policy,
            model=model.model,
            parsers=model.parsers,
            sampling=model.sampling,
            stop=model.stop,
            thinking=model.thinking,
            tools_as=model.tools_as,
            publish=meter.note,
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
            prompt_tokens=meter.prompt_tokens,
            generated_tokens=meter.generated_tokens,
            was_cached=meter.was_cached,
        )


class _TokenCounter:
    """Counts the tokens of a turn: of the first prompt, and of all that was written."""

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
    """What counts of an answer: the calls that were carried out, or, where none was, those that failed."""
    made = zip(answer.calls, answer.results, strict=True)
    done = [call for call, result in made if not result.is_error]
    last = answer.results[-1] if answer.results else None
    is_own_words = last is None or not last.speech or last.name == "respond"
    return ModelAnswer(
        calls=tuple(_read(call) for call in done or answer.calls),
        reply=answer.reply,
        is_own_words=is_own_words,
        is_valid=all(_is_valid(call, tools) for call in answer.calls),
    )


def _read(call: ToolCall) -> Call:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = {"": call.arguments}  # no tool has such a slot
    return Call(call.name, arguments if isinstance(arguments, dict) else {"": arguments})


def _is_valid(call: ToolCall, tools: ToolRegistry) -> bool:
    if call.name not in tools:
        return False
    try:
        read_arguments(tools.get(call.name), call.arguments)
    except InvalidArguments:
        return False
    return True
