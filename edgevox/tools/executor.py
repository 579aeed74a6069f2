"""Running the calls that a model makes: checked, allowed, confirmed, in time, and always with a result.

Nothing that a tool does gets past `dispatch`: an unknown name, arguments that do not fit, a missing
permission, an exception, a time-out are all results with a code, written so that a model can do better.
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
from typing import Any, assert_never, get_args

from edgevox.core.errors import InvalidArguments, ToolDenied
from edgevox.core.turn import CancelFlag
from edgevox.core.types import JsonObject, ToolCall
from edgevox.tools.arguments import fingerprint, read_arguments
from edgevox.tools.policy import (
    CONFIRM_WITHIN_S,
    LOCAL,
    USER_SAID_NO,
    Caller,
    Channel,
    ConfirmationPolicy,
    PendingConfirmation,
    PendingConfirmations,
    confirmation_question_for,
    low_confidence_question,
)
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import (
    MAX_RESULT_CHARS,
    ErrorCode,
    ResultCache,
    ToolResult,
    ToolStats,
    render,
    sentence,
    speech_of,
)
from edgevox.tools.runner import Outcome, Raised, Returned, Runner, Stopped, guarded
from edgevox.tools.sanitize import sanitize_tool_output
from edgevox.tools.tool import ConfirmLevel, Tool

_log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
MAX_PARALLEL = 4
MAX_DEPTH = 6
MAX_ABANDONED = 3
_MAX_NAME_CHARS = 64
_CODES: Mapping[str, ErrorCode] = {code: code for code in get_args(ErrorCode)}


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a tool may know of the call it serves; `depth` is 1 for a call of the model's."""

    caller: Caller
    turn_id: str
    cancel: CancelFlag | None
    depth: int


_context: ContextVar[CallContext | None] = ContextVar("edgevox_tool_call", default=None)


def current_call() -> CallContext | None:
    """The call that the running code serves; None outside a tool."""
    return _context.get()


class _CallRejected(Exception):
    """The call ends here, without running: this is what is said of it."""

    def __init__(
        self,
        code: ErrorCode,
        text: str,
        *,
        confirmation: PendingConfirmation | None = None,
        speech: str | None = None,
    ) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.confirmation = confirmation
        self.speech = speech


class ToolExecutor:
    """Runs calls of the registry's tools. One for all turns; it belongs to one event loop."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        rule: ConfirmationPolicy | None = None,
        timeout_s: float = TIMEOUT_S,
        max_parallel: int = MAX_PARALLEL,
        max_depth: int = MAX_DEPTH,
        max_result_chars: int = MAX_RESULT_CHARS,
        confirm_within_s: float = CONFIRM_WITHIN_S,
        stats: ToolStats | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.registry = registry
        self.stats = stats or ToolStats()
        self._rule = rule or ConfirmationPolicy()
        self._timeout_s = timeout_s
        self._max_parallel = max_parallel
        self._max_depth = max_depth
        self._max_result_chars = max_result_chars
        self._pending = PendingConfirmations(within_s=confirm_within_s, clock=clock)
        self._memo: ResultCache[ToolResult] = ResultCache(clock=clock)
        self._runner = Runner()

    @property
    def native_definitions(self) -> tuple[JsonObject, ...]:
        """The tools as a chat request takes them."""
        return self.registry.openai_schemas()

    def understood(self, call: ToolCall) -> ToolCall:
        """The call as its tool reads it; the call itself where the tool cannot, or has nothing to add."""
        tool = self.registry.get(call.name) if call.name in self.registry else None
        normalize_arguments = tool.normalize_arguments if tool else None
        if tool is None or normalize_arguments is None:
            return call
        given = guarded(lambda: read_arguments(tool, call.arguments))
        meant = guarded(lambda: normalize_arguments(given.value)) if isinstance(given, Returned) else given
        if isinstance(given, Raised) or isinstance(meant, Raised) or meant.value == given.value:
            return call
        return dataclasses.replace(call, arguments=json.dumps(meant.value, ensure_ascii=False))

    async def dispatch(
        self,
        call: ToolCall,
        *,
        caller: Caller = LOCAL,
        cancel: CancelFlag | None = None,
        turn_id: str = "",
        low_confidence_text: str = "",
    ) -> ToolResult:
        """Run one call, or say why not. Raises only CancelledError.

        `low_confidence_text` are the words that it was made for, where they may have been misheard: a call with side
        effects then waits for a yes to them.
        """
        return await self._settled(
            call, caller, cancel, turn_id, confirmed=False, low_confidence_text=low_confidence_text
        )

    async def dispatch_all(
        self,
        calls: Sequence[ToolCall],
        *,
        caller: Caller = LOCAL,
        cancel: CancelFlag | None = None,
        turn_id: str = "",
        low_confidence_text: str = "",
    ) -> tuple[ToolResult, ...]:
        """Run the calls of one reply side by side, a few at a time; the results are in the calls' order."""
        # The bound is the batch's own: a tool that makes calls itself must not wait for the place it holds.
        places = asyncio.Semaphore(self._max_parallel)

        async def one(call: ToolCall) -> ToolResult:
            async with places:
                return await self.dispatch(
                    call,
                    caller=caller,
                    cancel=cancel,
                    turn_id=turn_id,
                    low_confidence_text=low_confidence_text,
                )

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call)) for call in calls]
        return tuple(task.result() for task in tasks)

    async def dispatch_confirmed(
        self,
        call: ToolCall,
        token: str,
        *,
        by: Caller = LOCAL,
        channel: Channel = "voice",
        cancel: CancelFlag | None = None,
    ) -> ToolResult:
        """Run, once, the call that `token` was given for; it keeps the permissions of who asked for it."""
        if current_call() is not None:
            return self._counted(_error(call, "tool_denied", "not confirmed: a tool cannot confirm a call"))
        taken = guarded(lambda: self._taken(call, token, by, channel))
        if isinstance(taken, Raised):
            code: ErrorCode = "tool_denied" if taken.kind == ToolDenied.code else "bad_request"
            return self._counted(_error(call, code, f"not confirmed: {taken.message}"))
        pending: PendingConfirmation = taken.value
        return await self._settled(call, pending.origin, cancel, pending.turn_id, confirmed=True)

    def _taken(self, call: ToolCall, token: str, by: Caller, channel: Channel) -> PendingConfirmation:
        arguments = read_arguments(self.registry.get(call.name), call.arguments)
        return self._pending.take(token, call.name, arguments, by=by, channel=channel)

    def refuse(self, pending: PendingConfirmation, why: str = USER_SAID_NO) -> ToolResult:
        """The answer was no, or none came: the call is over, and there is nothing for the model to add."""
        self._pending.withdraw(pending.token)
        result = _error(pending.call, "tool_denied", f"not done: {why}")
        said = "All right, I did not do it." if why == USER_SAID_NO else f"I did not do it: {why}."
        return self._counted(dataclasses.replace(result, speech=said))

    # --- one call

    async def _settled(
        self,
        call: ToolCall,
        caller: Caller,
        cancel: CancelFlag | None,
        turn_id: str,
        *,
        confirmed: bool,
        low_confidence_text: str = "",
    ) -> ToolResult:
        started_s = time.monotonic()
        try:
            result = await self._run(call, caller, cancel, turn_id, confirmed, low_confidence_text)
        except _CallRejected as end:
            error = _error(call, end.code, end.text)
            result = dataclasses.replace(error, confirmation=end.confirmation, speech=end.speech)
        except Exception as error:  # noqa: BLE001 - the module's promise: no turn fails because of a tool
            _log.exception("the call of %s failed", call.name)
            result = _error(call, "internal_error", f"internal_error: {type(error).__name__}")
        return self._counted(dataclasses.replace(result, elapsed_s=time.monotonic() - started_s))

    async def _run(
        self,
        call: ToolCall,
        caller: Caller,
        cancel: CancelFlag | None,
        turn_id: str,
        confirmed: bool,
        low_confidence_text: str,
    ) -> ToolResult:
        tool = self._tool(call.name)
        context = self._entered(tool, caller, cancel, turn_id)
        arguments = _arguments(tool, call.arguments)
        if not confirmed:
            self._ask_if_needed(tool, call, arguments, context, low_confidence_text)
        key = tool, context.caller.name, fingerprint(call.name, arguments)
        if tool.memoize_s is not None and (known := self._memo.get(key)) is not None:
            return dataclasses.replace(known, tool_call_id=call.id)
        result = self._result(call, tool, await self._outcome(tool, arguments, context))
        if tool.memoize_s is not None and not result.is_error:
            self._memo.put(key, result, ttl_s=tool.memoize_s)
        return result

    def _tool(self, name: str) -> Tool:
        if name in self.registry:
            return self.registry.get(name)
        near = difflib.get_close_matches(name[:_MAX_NAME_CHARS], self.registry.names, n=3)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        raise _CallRejected("bad_request", f"unknown_tool: there is no tool called {name[:_MAX_NAME_CHARS]}{meant}")

    def _entered(self, tool: Tool, caller: Caller, cancel: CancelFlag | None, turn_id: str) -> CallContext:
        outer = current_call()
        if outer is not None:
            # A tool cannot give itself permissions: what it calls is called for whoever called it.
            caller = outer.caller
            cancel = cancel or outer.cancel
            turn_id = turn_id or outer.turn_id
        depth = 1 if outer is None else outer.depth + 1
        if depth > self._max_depth:
            raise _CallRejected("bad_request", f"tools called each other {self._max_depth} deep: no further")
        if not caller.may(tool.needed_scope):
            raise _CallRejected(
                "token_scope_insufficient",
                f"token_scope_insufficient: {caller.name} may not use {tool.name}, which needs the permission"
                f" {tool.needed_scope}",
            )
        if cancel is not None and cancel.is_set():
            raise _CallRejected("cancelled", "cancelled: the turn is over")
        if tool.run is None:
            raise _CallRejected("bad_request", f"{tool.name} is run by whoever offered it, not here")
        if (stuck := self._runner.abandoned(tool.name)) >= MAX_ABANDONED:
            raise _CallRejected("timeout", f"{tool.name} is switched off: {stuck} earlier calls do not end")
        return CallContext(caller, turn_id, cancel, depth)

    def _ask_if_needed(
        self,
        tool: Tool,
        call: ToolCall,
        arguments: JsonObject,
        context: CallContext,
        low_confidence_text: str,
    ) -> None:
        # The rule asks the tool what a call would touch; where it cannot say, a person has to. Where the tool
        # knows that it cannot be done, nobody is asked.
        match guarded(lambda: self._rule.level(tool, arguments)):
            case Returned(value):
                level: ConfirmLevel = value
            case Raised(kind, message, is_tool_error=True):
                raise _CallRejected(_CODES.get(kind, "tool_error"), message, speech=message)
            case Raised():
                level = "voice"
        if level == "never" and not (low_confidence_text and tool.side_effects):
            return
        if level == "never":
            level, question = "voice", low_confidence_question(low_confidence_text)
        else:
            asked = guarded(lambda: confirmation_question_for(tool, arguments))
            question = asked.value if isinstance(asked, Returned) else f"Shall I {tool.name.replace('_', ' ')}?"
        pending = self._pending.ask(
            call, arguments, question=question, level=level, origin=context.caller, turn_id=context.turn_id
        )
        raise _CallRejected("requires_confirmation", f"requires_confirmation: {pending.question}", confirmation=pending)

    async def _outcome(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Outcome:
        assert tool.run is not None
        run = tool.run
        converted = guarded(lambda: tool.convert(arguments))
        if isinstance(converted, Raised):
            if converted.kind == InvalidArguments.code:
                raise _CallRejected("bad_request", f"invalid_arguments: {converted.message}")
            return converted
        token = _context.set(context)
        try:
            return await self._runner.run(
                tool.name,
                lambda: run(**converted.value),
                is_async=tool.is_async,
                timeout_s=self._timeout_of(tool),
                cancel=context.cancel,
            )
        finally:
            _context.reset(token)

    # --- its result

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
        return ToolResult(tool_call_id=call.id, name=call.name, content=content.value, speech=speech_of(value))

    def _timeout_of(self, tool: Tool) -> float:
        return self._timeout_s if tool.timeout_s is None else tool.timeout_s

    def _counted(self, result: ToolResult) -> ToolResult:
        # Names that no tool has are the model's words; they are not kept.
        if result.name in self.registry:
            self.stats.count_result(result)
        return result


def _arguments(tool: Tool, text: str) -> dict[str, Any]:
    try:
        return read_arguments(tool, text)
    except InvalidArguments as error:
        raise _CallRejected("bad_request", f"invalid_arguments: {error.message}") from error


def _error(call: ToolCall, code: ErrorCode, text: str) -> ToolResult:
    # A name that no tool has may be anything.
    name = sanitize_tool_output(call.name[:_MAX_NAME_CHARS])
    return ToolResult(tool_call_id=call.id, name=name, content=sentence(text), is_error=True, code=code)
