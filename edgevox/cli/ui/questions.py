"""Questions of the guided setup, as rich prompts; without a person, each takes its default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO, TypeVar

from rich.console import Console
from rich.padding import Padding
from rich.prompt import Prompt
from rich.table import Table
from rich.text import Text

from edgevox.cli.context import folded, left, right
from edgevox.cli.ui.messages import Messages
from edgevox.core.errors import ConfigError
from edgevox.core.languages import ENGLISH

T = TypeVar("T")

_SKIP = ("s", "skip")
_YES_NO = {"y": True, "yes": True, "j": True, "ja": True, "n": False, "no": False, "nein": False}


class StepSkipped(Exception):
    """The person skips the present step."""


class _LinePrompt(Prompt):
    """A prompt that raises EOFError at the end of a stream, as input() does at the end of standard input."""

    @classmethod
    def get_input(cls, console: Console, prompt: Text | str, password: bool, stream: TextIO | None = None) -> str:
        line = super().get_input(console, prompt, password, stream)
        if stream is not None and not line:
            raise EOFError
        return line.strip()


class Questions:
    """Asks on a console. Every question raises StepSkipped for "s", and EOFError at the end of the input.

    `is_unattended`: no question is shown; each is answered by its default. `stream` replaces standard input.
    """

    def __init__(self, console: Console, *, is_unattended: bool = False, stream: TextIO | None = None) -> None:
        self.is_unattended = is_unattended
        self.messages = Messages(ENGLISH)
        """The language of the questions' own words."""
        self._console = console
        self._stream = stream

    def ask(self, question: str, default: str, check: Callable[[str], T]) -> T:
        """Ask until `check` accepts the answer; it raises ValueError with a sentence for the person.

        Raises ConfigError if a default is refused and `is_unattended` is set.
        """
        while True:
            answer = default if self.is_unattended else self._answer(question, default)
            if answer.casefold() in _SKIP:
                raise StepSkipped
            try:
                return check(answer)
            except ValueError as error:
                if self.is_unattended:
                    raise ConfigError(str(error), hint="run edgevox setup in a terminal") from error
                self._console.print(Text(f"  {error}", "yellow"), soft_wrap=True)

    def choose(self, question: str, options: Mapping[str, str], default: str) -> str:
        """Ask for one of `options`, keys with their descriptions, by number or key; returns the key."""
        keys = list(options)
        table = Table(right(), left(style="bold"), folded(), box=None, show_header=False, pad_edge=False)
        for number, (key, description) in enumerate(options.items(), 1):
            table.add_row(str(number), Text(key), Text(description))
        self._console.print(Padding(table, (0, 0, 0, 2)))

        def check(answer: str) -> str:
            if answer.isdecimal() and 0 < int(answer) <= len(keys):
                return keys[int(answer) - 1]
            low = answer.casefold()
            begun = [key for key in keys if key.casefold() == low] or [
                key for key in keys if low and key.casefold().startswith(low)
            ]
            if len(begun) == 1:
                return begun[0]
            refused = "{answer!r} is none of these: type a number from 1 to {count}, or s to skip"
            raise ValueError(self.messages(refused, answer=answer, count=len(keys)))

        return self.ask(question, default, check)

    def confirm(self, question: str, *, default: bool) -> bool:
        """Ask for yes or no."""

        def check(answer: str) -> bool:
            if answer.casefold() not in _YES_NO:
                raise ValueError(self.messages("please type y or n, or s to skip"))
            return _YES_NO[answer.casefold()]

        return self.ask(question + self.messages(" y/n"), self.messages("y") if default else "n", check)

    def _answer(self, question: str, default: str) -> str:
        return _LinePrompt.ask(
            Text(question), console=self._console, default=default, show_default=bool(default), stream=self._stream
        )
