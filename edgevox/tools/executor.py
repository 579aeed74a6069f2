"""Runs the tool calls of a model: resolves, authorizes and confirms them, with a timeout, always with a result.

No error of a tool escapes `dispatch`: an unknown name, invalid arguments, a missing permission, an exception and a
timeout are results with a code, worded so that a model can correct its call.
"""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar, assert_never, get_args

from cachetools import TLRUCache

from edgevox.core.errors import InvalidArguments
from edgevox.core.languages import ENGLISH, reply_language, say
from edgevox.core.turn import CancelFlag
from edgevox.core.types import GUEST, JsonObject, ToolCall
from edgevox.tools import policy
from edgevox.tools.calls import ResolvedCall, resolve_call
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import MAX_RESULT_CHARS, ErrorCode, ToolResult, ToolStats, render, sentence, speech_of
from edgevox.tools.runner import Outcome, Raised, Returned, Runner, Stopped, guarded
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Resolution, Speech, Tool

_log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
MAX_PARALLEL = 4
MAX_DEPTH = 6
MAX_ABANDONED = 3
_MAX_MEMOIZED = 256
_MAX_NAME_CHARS = 64
_CHANGED = "That has changed since I asked; please say it again."
_CODES: Mapping[str, ErrorCode] = {code: code for code in get_args(ErrorCode)}


@dataclass(frozen=True, slots=True)
class CallContext:
    """The context of a running call, for its tool; `depth` is 1 for a call of the model.

    `is_confirmed` if its own question, not one about the transcript, was answered with yes.
    """

    caller: policy.Caller
    turn_id: str
    cancel: CancelFlag | None
    depth: int
    is_confirmed: bool = False


_Value = TypeVar("_Value")
_MemoKey: TypeAlias = tuple[Tool, str, str]
_context: ContextVar[CallContext | None] = ContextVar("edgevox_tool_call", default=None)


def current_call() -> CallContext | None:
    """The context of the call that is running; None outside a tool."""
    return _context.get()


@dataclass(eq=False)
class _CallRejected(Exception):
    """Ends a call without running its tool."""

    code: ErrorCode
    text: str
    confirmation: policy.PendingConfirmation | None = None
    speech: str | None = None


class ToolExecutor:
    """Runs calls of the registry's tools, for all turns; belongs to one event loop."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        rule: policy.ConfirmationPolicy | None = None,
        timeout_s: float = TIMEOUT_S,
        max_result_chars: int = MAX_RESULT_CHARS,
        confirm_within_s: float = policy.CONFIRM_WITHIN_S,
        stats: ToolStats | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.registry = registry
        self.stats = stats or ToolStats()
        self._rule = rule or policy.ConfirmationPolicy()
        self._timeout_s = timeout_s
        self._max_result_chars = max_result_chars
        self._pending = policy.PendingConfirmations(within_s=confirm_within_s, clock=clock)
        self._memo: TLRUCache[_MemoKey, ToolResult] = TLRUCache(_MAX_MEMOIZED, _memoized_until_s, clock)
        self._runner = Runner()

    @property
    def native_definitions(self) -> tuple[JsonObject, ...]:
        """The tools in the form of a chat request."""
        return self.registry.openai_schemas()

    def resolve(self, call: ToolCall) -> ResolvedCall:
        """Parse, validate and resolve a call once, for `dispatch`; errors are in the result."""
        return resolve_call(call, self.registry.get(call.name) if call.name in self.registry else None)

    def needs_confirmation(self, call: ToolCall) -> bool:
        """Whether the policy asks before this call; also True for a call that cannot be resolved."""
        resolved = self.resolve(call)
        if resolved.tool is None or isinstance(resolved.resolution, Raised):
            return True
        return self._rule.level(resolved.tool, resolved.resolution.targets) != "never"

    async def dispatch(
        self,
        call: ToolCall | ResolvedCall,
        *,
        caller: policy.Caller = policy.LOCAL,
        cancel: CancelFlag | None = None,
        turn_id: str = "",
        low_confidence_text: str = "",
    ) -> ToolResult:
        """Run one call; an error is a result. Raises only CancelledError.

        `low_confidence_text` is the transcript behind the call if it may have been misheard: a call with side effects
        then waits for a yes to these words.
        """
        return await self._finish(call, CallContext(caller, turn_id, cancel, depth=1), low_confidence_text)

    async def dispatch_all(
        self,
        calls: Sequence[ToolCall | ResolvedCall],
        *,
        caller: policy.Caller = policy.LOCAL,
        cancel: CancelFlag | None = None,
        turn_id: str = "",
        low_confidence_text: str = "",
    ) -> tuple[ToolResult, ...]:
        """Run the calls of one reply in parallel, up to a limit; the results are in the order of the calls."""
        # One semaphore per batch: a tool that makes calls itself would deadlock on a shared one.
        places = asyncio.Semaphore(MAX_PARALLEL)

        async def one(call: ToolCall | ResolvedCall) -> ToolResult:
            async with places:
                return await self.dispatch(
                    call, caller=caller, cancel=cancel, turn_id=turn_id, low_confidence_text=low_confidence_text
                )

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call)) for call in calls]
        return tuple(task.result() for task in tasks)

    async def dispatch_confirmed(
        self,
        call: ToolCall,
        token: str,
        *,
        by: policy.Caller = policy.LOCAL,
        channel: policy.Channel = "voice",
        cancel: CancelFlag | None = None,
    ) -> ToolResult:
        """Run, once, the call that was confirmed, with the permissions of its original caller.

        `call` is the call that was dispatched, or `PendingConfirmation.call`. The confirmed targets are acted on; the
        call is denied if one of them is gone or now needs a stricter confirmation.
        """
        if current_call() is not None:
            return self._count(_error(call, "tool_denied", "not confirmed: a tool cannot confirm a call"))
        taken = guarded(lambda: self._pending.take(token, call, by=by, channel=channel))
        if isinstance(taken, Raised):
            return self._count(_error(call, "tool_denied", f"not confirmed: {taken.message}"))
        pending: policy.PendingConfirmation = taken.value
        context = CallContext(pending.origin, pending.turn_id, cancel, depth=1)
        return await self._finish(pending.resolved, context, confirmed=True)

    def pending(self, token: str) -> policy.PendingConfirmation | None:
        """The call that waits for the confirmation with this token."""
        return self._pending.get(token)

    def refuse(self, pending: policy.PendingConfirmation, why: str = policy.USER_SAID_NO) -> ToolResult:
        """End a call that was not confirmed; its result is spoken without another model call."""
        self._pending.withdraw(pending.token)
        result = _error(pending.call, "tool_denied", f"not done: {why}")
        refused = say("not_done", reply_language())
        speech = refused if why == policy.USER_SAID_NO or reply_language() != ENGLISH else f"I did not do it: {why}."
        return self._count(dataclasses.replace(result, speech=speech))

    # --- one call

    async def _finish(
        self,
        given: ToolCall | ResolvedCall,
        context: CallContext,
        low_confidence_text: str = "",
        *,
        confirmed: bool = False,
    ) -> ToolResult:
        call = given.call if isinstance(given, ResolvedCall) else given
        started_s = time.monotonic()
        try:
            tool = self._tool(call.name)
            context = self._checked_context(tool, context)
            resolved = given if isinstance(given, ResolvedCall) else self.resolve(given)
            result = await self._run(tool, resolved, context, confirmed, low_confidence_text)
        except _CallRejected as end:
            error = _error(call, end.code, end.text)
            result = dataclasses.replace(error, confirmation=end.confirmation, speech=end.speech)
        except Exception as error:  # noqa: BLE001 - the module's promise: no turn fails because of a tool
            _log.exception("the call of %s failed", call.name)
            result = _error(call, "internal_error", f"internal_error: {type(error).__name__}")
        return self._count(dataclasses.replace(result, elapsed_s=time.monotonic() - started_s))

    async def _run(
        self, tool: Tool, resolved: ResolvedCall, context: CallContext, confirmed: bool, low_confidence_text: str
    ) -> ToolResult:
        call, resolution = resolved.call, _unless_raised(resolved.resolution)
        if tool is not resolved.tool:  # its plugin was reloaded meanwhile
            raise _CallRejected("tool_denied", _CHANGED, speech=_CHANGED)
        if resolution.answer is not None:
            return self._answer(call, resolution.answer)
        _check_scopes(tool, context.caller, self._rule.needed_scopes(tool, resolution.targets))
        level = self._rule.level(tool, resolution.targets)
        if not confirmed:
            self._ask_if_needed(tool, resolved, level, context, low_confidence_text)
        context = dataclasses.replace(context, is_confirmed=confirmed and level != "never")
        key = tool, context.caller.name, json.dumps(resolution.arguments, sort_keys=True)
        if tool.memoize_s is not None and (known := self._memo.get(key)) is not None:
            return dataclasses.replace(known, tool_call_id=call.id)
        result = self._result(call, tool, await self._outcome(tool, self._current(tool, resolution, level), context))
        if tool.memoize_s is not None and not result.is_error:
            self._memo[key] = result
        return result

    def _current(self, tool: Tool, resolution: Resolution, level: ConfirmLevel) -> Resolution:
        """The resolution with its targets, found by id, as they are now; raises if the judgement no longer holds."""
        if tool.refresh is None:
            return resolution
        refresh = tool.refresh
        refreshed = guarded(lambda: refresh(resolution))
        now: Resolution | None = _unless_raised(refreshed if isinstance(refreshed, Raised) else refreshed.value)
        is_stricter = now is not None and policy.stricter(level, self._rule.level(tool, now.targets)) != level
        if now is None or is_stricter or policy.secures_more(now.targets, resolution.targets):
            raise _CallRejected("tool_denied", _CHANGED, speech=_CHANGED)
        return now

    def _tool(self, name: str) -> Tool:
        if name in self.registry:
            return self.registry.get(name)
        near = difflib.get_close_matches(name[:_MAX_NAME_CHARS], self.registry.names, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise _CallRejected("bad_request", f"unknown_tool: there is no tool called {name[:_MAX_NAME_CHARS]}{hint}")

    def _checked_context(self, tool: Tool, context: CallContext) -> CallContext:
        if (outer := current_call()) is not None:
            # A tool cannot extend its permissions: it calls with those of its own caller.
            context = CallContext(
                outer.caller, context.turn_id or outer.turn_id, context.cancel or outer.cancel, outer.depth + 1
            )
        caller, cancel = context.caller, context.cancel
        if context.depth > MAX_DEPTH:
            raise _CallRejected("bad_request", f"tools called each other {MAX_DEPTH} deep: no further")
        _check_scopes(tool, caller, (tool.needed_scope,))
        if cancel is not None and cancel.is_set():
            raise _CallRejected("cancelled", "cancelled: the turn is over")
        if tool.run is None and tool.execute is None:
            raise _CallRejected("bad_request", f"{tool.name} is run by the client that offered it, not here")
        if (stuck := self._runner.abandoned(tool.name)) >= MAX_ABANDONED:
            raise _CallRejected("timeout", f"{tool.name} is switched off: {stuck} earlier calls do not end")
        return context

    def _ask_if_needed(
        self, tool: Tool, resolved: ResolvedCall, level: ConfirmLevel, context: CallContext, low_confidence_text: str
    ) -> None:
        if level == "never" and not (low_confidence_text and tool.side_effects):
            return
        if level == "never":
            level, question = "voice", policy.low_confidence_question(low_confidence_text)
        else:
            asked = guarded(lambda: policy.confirmation_question_for(tool, _unless_raised(resolved.resolution)))
            question = asked.value if isinstance(asked, Returned) else f"Shall I {tool.name.replace('_', ' ')}?"
        pending = self._pending.ask(
            resolved, question=question, level=level, origin=context.caller, turn_id=context.turn_id
        )
        raise _CallRejected("requires_confirmation", f"requires_confirmation: {pending.question}", confirmation=pending)

    async def _outcome(self, tool: Tool, resolution: Resolution, context: CallContext) -> Outcome:
        if (execute := tool.execute) is not None:
            job = partial(execute, resolution)
        else:
            assert tool.run is not None
            converted = guarded(lambda: tool.convert(resolution.arguments))
            if isinstance(converted, Raised):
                if converted.kind == InvalidArguments.code:
                    raise _CallRejected("bad_request", f"invalid_arguments: {converted.message}")
                return converted
            job = partial(tool.run, **converted.value)
        token = _context.set(context)
        try:
            return await self._runner.run(
                tool.name, job, is_async=tool.is_async, timeout_s=self._timeout_of(tool), cancel=context.cancel
            )
        finally:
            _context.reset(token)

    # --- results

    def _result(self, call: ToolCall, tool: Tool, outcome: Outcome) -> ToolResult:
        match outcome:
            case Returned(value):
                return self._answer(call, value)
            case Raised(kind, message, is_tool_error):
                if is_tool_error:
                    return _error(call, _CODES.get(kind, "tool_error"), message)
                return _error(call, "internal_error", f"internal_error: {kind}: {message}".removesuffix(": "))
            case Stopped(why, abandoned):
                abandoned = abandoned or tool.acts_elsewhere
                within = f" within {self._timeout_of(tool):g} s" if why == "timeout" else ""
                then = "it may still happen" if abandoned else "it was stopped"
                result = _error(call, why, f"{why}: {tool.name} did not answer{within}; {then}")
                return dataclasses.replace(result, may_still_happen=abandoned)
            case _:
                assert_never(outcome)

    def _answer(self, call: ToolCall, value: object) -> ToolResult:
        content = guarded(lambda: render(value, names=self.registry.names, max_chars=self._max_result_chars))
        if isinstance(content, Raised):
            return _error(call, "internal_error", f"internal_error: its result cannot be read: {content.kind}")
        return ToolResult(
            tool_call_id=call.id,
            name=call.name,
            content=content.value,
            speech=speech_of(value),
            speech_language=value.language if isinstance(value, Speech) else ENGLISH,
            is_failure=isinstance(value, Speech) and value.is_failure,
        )

    def _timeout_of(self, tool: Tool) -> float:
        return self._timeout_s if tool.timeout_s is None else tool.timeout_s

    def _count(self, result: ToolResult) -> ToolResult:
        # The name of an unknown tool is model output; it is not stored.
        if result.name in self.registry:
            self.stats.count_result(result)
        return result


def _check_scopes(tool: Tool, caller: policy.Caller, scopes: Sequence[str]) -> None:
    """Raises _CallRejected that names the first missing scope: a model's own words for it would be a guess."""
    for scope in scopes:
        if not caller.may(scope):
            who = caller.person or caller.name
            raise _CallRejected(
                "token_scope_insufficient",
                f"token_scope_insufficient: {who} may not use {tool.name} for this: it needs the scope {scope}",
                speech=_not_for(caller, scope),
            )


def _not_for(caller: policy.Caller, scope: str) -> str:
    if caller.person == GUEST:
        return "I do not know your voice, so I may not do that for you."
    if caller.person:
        return f"I may not do that for you, {caller.person}."
    return f"I may not do that for {caller.name}: its token lacks the scope {scope}."


def _memoized_until_s(key: _MemoKey, _result: ToolResult, now_s: float) -> float:
    return now_s + (key[0].memoize_s or 0.0)


def _unless_raised(value: _Value | Raised) -> _Value:
    """The value; an error ends the call, and the speakable message of a ToolError is its answer."""
    if not isinstance(value, Raised):
        return value
    if not value.is_tool_error:
        raise _CallRejected("internal_error", f"internal_error: {value.kind}: {value.message}".removesuffix(": "))
    code = _CODES.get(value.kind, "tool_error")
    raise _CallRejected(code, value.message, speech=None if code == "bad_request" else value.message)


def _error(call: ToolCall, code: ErrorCode, text: str) -> ToolResult:
    # The name of an unknown tool is model output.
    name = sanitize_tool_output(call.name[:_MAX_NAME_CHARS])
    return ToolResult(tool_call_id=call.id, name=name, content=sentence(text), is_error=True, code=code)
