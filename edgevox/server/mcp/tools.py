"""The tools that MCP clients get: those of the home, and the assistant's own to ask, say, listen and transcribe."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

from mcp.types import Tool as ListedTool
from mcp.types import ToolAnnotations
from pydantic import Field

from edgevox.agents.tool_loop import Agreement, Confirm, apply_agreement
from edgevox.core.errors import EdgevoxError, ToolError
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import JsonObject, ToolCall
from edgevox.dialogue.confirm import Intercom
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.tools.builtin.transcribe import Transcribe, transcribe_tool
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.mcp.servers import OWNER_PREFIX as MCP
from edgevox.tools.policy import CONFIRM, VOICE, Caller, ConfirmationPolicy, PendingConfirmation
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ToolResult
from edgevox.tools.tool import Tool, tool

PROGRAM = Caller("mcp client", frozenset({"read", "act", "chat", "home.*", CONFIRM, VOICE}))
"""A program that the user started on this machine: it may do what a spoken command may, and ask its user for a yes."""


class ServedTools:
    """The home tools and the assistant's own tools, as served to MCP clients."""

    def __init__(self, home: ToolExecutor | None, own: Iterable[Tool], confirm: Confirm) -> None:
        self._home = home
        self._own = ToolExecutor(ToolRegistry(own))
        self._confirm = confirm

    def listed(self) -> list[ListedTool]:
        """Return the tools for clients; tools of other MCP servers are not re-exported."""
        home = self._home.registry if self._home else ()
        return [_listed(tool) for tool in (*self._own.registry, *home) if self._executor(tool.name)]

    async def call(self, name: str, arguments: JsonObject, caller: Caller = PROGRAM) -> ToolResult:
        """Run one call, asking a person for confirmation where needed. Raises only CancelledError."""
        result = await self.dispatch(name, arguments, caller)
        return await self.confirmed(result.confirmation) if result.confirmation else result

    async def dispatch(self, name: str, arguments: JsonObject, caller: Caller) -> ToolResult:
        """Run one call, or return it with the confirmation that it needs. Raises only CancelledError."""
        turn = Turn()
        call = ToolCall(turn.id, name, json.dumps(arguments))
        executor = self._executor(name) or self._own
        return await executor.dispatch(call, caller=caller, turn_id=turn.id)

    async def confirmed(self, pending: PendingConfirmation, confirm: Confirm | None = None) -> ToolResult:
        """Ask, by `confirm` where given, and run or refuse the call. Raises only CancelledError."""
        turn = Turn(pending.turn_id)
        return await self.answered(pending, await (confirm or self._confirm)(pending, turn))

    async def answered(self, pending: PendingConfirmation, agreement: Agreement) -> ToolResult:
        """Run or refuse a call whose question was answered. Raises only CancelledError."""
        executor = self._executor(pending.call.name) or self._own
        return await apply_agreement(executor, pending, agreement, CancelFlag())

    def pending(self, token: str, name: str, arguments: JsonObject, caller: Caller) -> PendingConfirmation | None:
        """Return the call of this caller, with this name and these arguments, that waits under `token`."""
        executor = self._executor(name) or self._own
        pending = executor.pending(token)
        if pending is None or pending.origin.name != caller.name:
            return None
        given = pending.resolved.given
        return pending if (given.name, json.loads(given.arguments)) == (name, arguments) else None

    def _executor(self, name: str) -> ToolExecutor | None:
        """Return the executor of a tool; None if clients may not use it."""
        if name in self._own.registry:
            return self._own
        home = self._home
        if name in _ONLY_FOR_MODELS:
            return None
        is_ours = home is not None and name in home.registry and not home.registry.owner(name).startswith(MCP)
        return home if is_ours else None


_RESULT: JsonObject = {
    "type": "object",
    "properties": {"result": {"description": "what the tool returned"}},
    "required": ["result"],
}


# How a small model says that nothing is to be done; a client of this server would gain nothing by it.
_ONLY_FOR_MODELS = frozenset({RESPOND_NAME, "nevermind"})
# Home tools that can unlock or open something, or delete what a person asked to be kept.
_MAY_UNDO = frozenset(
    {"turn_on", "turn_off", "set_position", "list_remove_item", "cancel_timer", "cancel_all_timers", "cancel_alarm"}
)
_NAMED_RISKY = ConfirmationPolicy()


def _listed(tool: Tool) -> ListedTool:
    function = tool.openai_schema["function"]
    return ListedTool(
        name=tool.name,
        description=function["description"],
        input_schema=dict(function["parameters"]),
        output_schema=dict(_RESULT),
        annotations=ToolAnnotations(
            read_only_hint=not tool.side_effects,
            destructive_hint=tool.side_effects and (tool.name in _MAY_UNDO or _NAMED_RISKY.level(tool, ()) != "never"),
        ),
    )


Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""Answers a question, using tools as needed. Raises EdgevoxError."""

_MAX_CHARS = 2_000
_TALK_TIMEOUT_S = 180.0
_MAX_WAIT_S = 60.0

_Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=_MAX_CHARS)]


def ask_tool(ask: Ask) -> Tool:
    @tool(name="ask", side_effects=True, timeout_s=_TALK_TIMEOUT_S)
    async def ask_assistant(question: _Text) -> str:
        """Ask the voice assistant of this home, which answers in words and can use its own tools.

        Args:
            question: what to ask, as a person would say it
        """
        with _as_tool_error():
            return await ask(question)

    return ask_assistant


def room_tools(intercom: Intercom) -> tuple[Tool, ...]:
    """Tools to speak and listen in the room; listening is always announced."""

    @tool(side_effects=True, timeout_s=_TALK_TIMEOUT_S)
    async def say(text: _Text) -> str:
        """Say something aloud in the room, through the assistant's loudspeaker.

        Args:
            text: what to say
        """
        with _as_tool_error():
            await intercom.say(text)
        return "said"

    @tool(side_effects=True, timeout_s=_TALK_TIMEOUT_S)
    async def listen(
        prompt: _Text = "I am listening.", within_s: Annotated[float, Field(gt=0, le=_MAX_WAIT_S)] = 10.0
    ) -> str:
        """Say something aloud, and write down what a person in the room says next.

        Args:
            prompt: what to say first, such as a question
            within_s: how long to wait for speech to begin
        """
        with _as_tool_error():
            await intercom.say(prompt)
            return await intercom.listen(within_s) or "no speech was heard"

    return say, listen


def file_tool(transcribe: Transcribe, folders: Sequence[Path]) -> Tool:
    """Return `transcribe_audio` as `transcribe`, limited to the same folders."""
    return replace(transcribe_tool(transcribe, folders), name="transcribe", examples=())


@contextmanager
def _as_tool_error() -> Iterator[None]:
    try:
        yield
    except ToolError:
        raise
    except EdgevoxError as error:
        raise ToolError(error.message) from error
