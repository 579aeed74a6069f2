"""What one turn of an agent has come to so far."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.agents.confirm import Agreement
from edgevox.agents.instructions import Told
from edgevox.agents.reply import Foresee, call_numbers
from edgevox.hooks import Run
from edgevox.languages import ENGLISH, LANGUAGES
from edgevox.tools.results import ToolResult
from edgevox.types import FinishReason, Message, ToolChoice

_ANSWER_IN = "(system: answer in {}.)"


class TurnWork:
    """Filled step by step. `messages` are kept in the conversation; what was `told` is not.

    Nor are `hints`, which are for the next generation, and `reminders`, which are for every one.
    """

    def __init__(self, run: Run, messages: list[Message], told: Told) -> None:
        self.run = run
        self.messages = messages
        self.told = told
        self.offered: Sequence[str] | None = None
        """The names of the tools that the model is told of in this turn; None for all."""
        self.hints: list[str] = []
        self.doubted = ""
        """The person's words, where they may have been misheard."""
        self.words_agreed: Agreement | None = None
        """What the person said when asked whether these were their words."""
        self.answer_in: str | None = None
        """The code of the language that the model is told to answer in."""
        self.foresee: Foresee = lambda _text: None
        """Told what will probably be said."""
        self.results: list[ToolResult] = []
        self.said = ""
        self.reply = ""
        self.finish: FinishReason = "stop"
        self.forced_choice: ToolChoice | None = None
        self.is_regenerated = False
        self.numbers = call_numbers(after=sum(len(message.tool_calls) for message in messages))

    @property
    def reminders(self) -> tuple[str, ...]:
        return (_ANSWER_IN.format(LANGUAGES[self.answer_in]),) if self.answer_in else ()

    @property
    def is_in_english(self) -> bool:
        """Whether what a tool has to say can be the answer as it is."""
        return self.answer_in in (None, ENGLISH)

    @property
    def last_words(self) -> str:
        """What the last tool had to say, for a model that finds no words of its own."""
        for result in reversed(self.results):
            if result.speech:
                return result.speech
        return ""

    def say(self, piece: str, *, begins_reply: bool) -> str:
        """Add a piece to what was said; as it is to be spoken behind the rest."""
        if begins_reply and self.said and not self.said[-1].isspace():
            piece = f" {piece}"
        self.said += piece
        return piece

    @property
    def unsaid(self) -> str:
        """What of the reply is still to be said. One that was cut after it was said needs no more words."""
        spoken = self.said.strip()
        if self.reply.startswith(spoken):
            return self.reply[len(spoken) :]
        return "" if spoken.startswith(self.reply) or spoken.endswith(self.reply) else f" {self.reply}"
