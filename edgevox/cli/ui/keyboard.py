"""Typed input beside a conversation: answers to confirmations, and built-in commands."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from rich.text import Text

from edgevox.agents.tool_loop import Agreement
from edgevox.cli.context import Context, stdin_lines
from edgevox.dialogue import Pipeline
from edgevox.tools.yes_no import decide_yes_no

Tell: TypeAlias = Callable[[str], None]

_SHORT_ANSWERS = {"y": "yes", "n": "no"}


class Keyboard:
    """Sorts what is typed while a turn is under way; `tell` asks again when an answer was unclear."""

    def __init__(self, pipeline: Pipeline, tell: Tell) -> None:
        self._pipeline = pipeline
        self._tell = tell

    def take(self, line: str) -> bool:
        """Whether the line was meant for what goes on: it answered a question, or was a word that acted."""
        question = self._pipeline.confirmation.open
        if question is None:
            return self._pipeline.act_on(line)
        if self._pipeline.act_on_ring(line):
            return True  # and "okay" is no yes
        answer = decide_yes_no(_SHORT_ANSWERS.get(line.strip().casefold(), line))
        if answer == "unclear":
            self._tell("yes or no?")
        else:
            why = f"the user typed {answer}"
            question.answer(Agreement(granted=answer == "yes", channel="keyboard", why=why))
        return True

    def end(self) -> None:
        """Nobody will type any more."""
        if question := self._pipeline.confirmation.open:
            question.answer(Agreement(granted=False, channel="keyboard", why="the input ended"))


def print_question(context: Context, question: str) -> None:
    """Ask on the terminal, if there is one: else nobody will answer."""
    if sys.stdin.isatty():
        context.err.print(Text(f"\n{question} (yes or no) "), end="")


@asynccontextmanager
async def keyboard(
    pipeline: Pipeline,
    tell: Tell,
    other: Callable[[str | None], None] = lambda _line: None,
    *,
    begin: asyncio.Event | None = None,
    on_enter: Callable[[], object] = lambda: None,
) -> AsyncIterator[None]:
    """Read the terminal while the block runs, once `begin` is set; lines not for the turn go to `other`.

    After the last line that is None. `on_enter` is for Enter alone. Without a terminal nothing is read: a
    program cannot say yes for its user.
    """
    if not sys.stdin.isatty():
        yield
        return
    typed = Keyboard(pipeline, tell)

    async def sort() -> None:
        with pipeline.confirmation.answerable("keyboard"):
            if begin is not None:
                await begin.wait()
            async for line in stdin_lines(lambda: None, keeps_blank=True):
                if not line:
                    on_enter()
                elif not typed.take(line):
                    other(line)
        typed.end()
        other(None)

    sorting = asyncio.create_task(sort())
    try:
        yield
    finally:
        sorting.cancel()
        await asyncio.gather(sorting, return_exceptions=True)
