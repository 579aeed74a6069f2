"""What the assistant can do for an MCP client beside its home tools: say, listen, ask, transcribe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from edgevox.errors import EdgevoxError, ToolError
from edgevox.tools.tool import Tool, tool
from edgevox.tools.transcribe import Transcribe, transcribe_tool
from edgevox.voice.intercom import Intercom

Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""Answers a question, with whatever tools that takes. Raises EdgevoxError."""

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
        try:
            return await ask(question)
        except ToolError:
            raise
        except EdgevoxError as error:
            raise ToolError(error.message) from error

    return ask_assistant


def room_tools(intercom: Intercom) -> tuple[Tool, ...]:
    """Speaking and listening in the room. Nobody is listened to who was not told so."""

    @tool(side_effects=True, timeout_s=_TALK_TIMEOUT_S)
    async def say(text: _Text) -> str:
        """Say something aloud in the room, through the assistant's loudspeaker.

        Args:
            text: what to say
        """
        await _in_the_room(intercom.say(text))
        return "said"

    @tool(side_effects=True, timeout_s=_TALK_TIMEOUT_S)
    async def listen(
        prompt: _Text = "I am listening.", within_s: Annotated[float, Field(gt=0, le=_MAX_WAIT_S)] = 10.0
    ) -> str:
        """Say something aloud, and write down what a person in the room says next.

        Args:
            prompt: what to say first, such as a question
            within_s: how long to wait for somebody to begin
        """
        await _in_the_room(intercom.say(prompt))
        heard = await _in_the_room(intercom.listen(within_s))
        return heard or "nobody said anything"

    return say, listen


def file_tool(transcribe: Transcribe, folders: Sequence[Path]) -> Tool:
    """`transcribe`: as `transcribe_audio`, and from the same folders only."""
    return replace(transcribe_tool(transcribe, folders), name="transcribe", examples=())


async def _in_the_room(doing: Awaitable[str | None]) -> str | None:
    try:
        return await doing
    except EdgevoxError as error:
        raise ToolError(error.message) from error
