"""Typed input during a conversation: answers to confirmations, and built-in commands."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from rich.text import Text

from edgevox.agents.tool_loop import Agreement
from edgevox.cli.context import Context, stdin_lines
from edgevox.core.turn import background_task
from edgevox.dialogue import Pipeline
from edgevox.tools.policy import USER_SAID_NO
from edgevox.tools.yes_no import Answer, decide_yes_no

Prompt: TypeAlias = Callable[[str], None]

_SHORT_ANSWERS = {"y": "yes", "n": "no"}


def typed_yes_no(line: str) -> Answer:
    """Classify a typed answer to a question; y and n are enough."""
    return decide_yes_no(_SHORT_ANSWERS.get(line.strip().casefold(), line))


class Keyboard:
    """Routes lines typed during a turn; `prompt` is called when an answer to a confirmation is unclear."""

    def __init__(self, pipeline: Pipeline, prompt: Prompt) -> None:
        self._pipeline = pipeline
        self._prompt = prompt

    def handle(self, line: str) -> bool:
        """Return whether the line was used, as an answer to a confirmation or a built-in command."""
        question = self._pipeline.confirmation.open
        if question is None:
            return self._pipeline.act_on(line)
        if self._pipeline.act_on_ring(line):
            return True  # "okay" to an alarm is not a yes to the question
        answer = typed_yes_no(line)
        if answer == "unclear":
            self._prompt("yes or no?")
        else:
            why = USER_SAID_NO if answer == "no" else "the user said yes"
            question.answer(Agreement(granted=answer == "yes", channel="keyboard", why=why))
        return True

    def end(self) -> None:
        """Deny an open confirmation, because the input ended."""
        if question := self._pipeline.confirmation.open:
            question.answer(Agreement(granted=False, channel="keyboard", why="the input ended"))


def print_question(context: Context, question: str) -> None:
    """Print the question if there is a terminal to answer on."""
    if sys.stdin.isatty():
        context.err.print(Text(f"\n{question} (yes or no) "), end="")


@asynccontextmanager
async def keyboard(
    pipeline: Pipeline,
    prompt: Prompt,
    other: Callable[[str | None], None] = lambda _line: None,
    *,
    begin: asyncio.Event | None = None,
    on_enter: Callable[[], object] = lambda: None,
) -> AsyncIterator[None]:
    """Read the terminal while the block runs, once `begin` is set; lines not for the turn go to `other`.

    `other` gets None at the end of the input; `on_enter` is called for an empty line. Without a terminal
    nothing is read: a program cannot confirm on behalf of its user.
    """
    if not sys.stdin.isatty():
        yield
        return
    typed = Keyboard(pipeline, prompt)

    async def read() -> None:
        with pipeline.confirmation.answerable("keyboard"):
            if begin is not None:
                await begin.wait()
            async for line in stdin_lines(lambda: None, keeps_blank=True):
                if not line:
                    on_enter()
                elif not typed.handle(line):
                    other(line)
        typed.end()
        other(None)

    async with background_task(read()):
        yield
