"""The hook that reads requests in other languages than English, before the rules that read English."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Calls, Hook, Run, ToolOutcome
from edgevox.core.languages import ENGLISH, say
from edgevox.core.types import ToolCall
from edgevox.home.entities import HomeError, House
from edgevox.home.rules.languages.detection import candidates, language_of_names, words_of_names
from edgevox.home.rules.languages.reader import Reading, read
from edgevox.home.rules.languages.templates import LANGUAGES, Names, names_of
from edgevox.tools.policy import USER_SAID_NO


@dataclass(frozen=True, slots=True)
class HomeLanguages:
    """What is known about languages before a sentence comes.

    `model` are the languages of the model, None for all; `expected` is the configured input language, "" for any.
    """

    model: Collection[str] | None = None
    expected: str = ""

    def understands(self, language: str) -> bool:
        """Whether the model can be asked in this language."""
        return self.model is None or language in self.model


_ERRORS = {"timeout": "timeout", "tool_denied": "denied", "token_scope_insufficient": "denied"}


class LanguageReader(Hook):
    """Makes the calls of a request in German, French, Spanish, Italian, Dutch or Portuguese.

    A request that no template fits goes to the model if it knows the language, and is not acted on otherwise.
    """

    name: ClassVar[str] = "language_reader"
    priority: ClassVar[int] = 100  # the others read English

    def __init__(
        self, tools: Callable[[], Collection[str]], house: Callable[[], House], languages: HomeLanguages
    ) -> None:
        self._tools = tools
        self._house = house
        self._languages = languages
        self._last = ""
        self._known: KnownHome | None = None

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        if run.language == ENGLISH or not run.text:
            return None
        try:
            home = self._home()
        except (HomeError, StateError):
            home = KnownHome.of(House(()))
        possible = self._possible(run, home)
        for language in possible:
            reading = await asyncio.to_thread(read, run.text, language, home.names, self._tools())
            if reading is not None and reading.english:
                self._note(reading, language, run)
                run.text = reading.english  # the rules for English read it, and the tools answer in the language
                return None
            if reading is not None:
                return self._decision(reading, language, run)
        if (language := next((one for one, is_clear in possible.items() if is_clear), "")) == "":
            return None
        if self._languages.understands(language):
            return None
        return Answer(say("not_understood", run.reply_language or language))

    def _possible(self, run: Run, home: KnownHome) -> dict[str, bool]:
        """The languages to try, and whether the sentence is clearly in one."""
        likely = (self._languages.expected, self._last, home.language)
        by_words = {one.language: one.is_clear for one in candidates(run.text, likely, home.words)}
        return {run.language: True, **by_words} if run.language in LANGUAGES else by_words

    def _note(self, reading: Reading, language: str, run: Run) -> None:
        self._last = run.language = language
        run.reply_language = run.reply_language or language
        run.notes[self.name] = reading

    def _decision(self, reading: Reading, language: str, run: Run) -> Answer | Calls:
        self._note(reading, language, run)
        if reading.phrase:
            return Answer(say(reading.phrase, run.reply_language))
        run.text = ""  # the other hooks would compare the calls with the words
        return Calls(reading.calls)

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        """The sentence of the tool is the answer: the model may not know the language."""
        if self.name not in run.notes:
            return None
        if not outcome.is_error:
            return Answer(outcome.sentence)
        key = _ERRORS.get(outcome.code or "", "failed")
        return Answer(say("not_done" if USER_SAID_NO in outcome.content else key, run.reply_language))

    def _home(self) -> KnownHome:
        self._known = KnownHome.of(self._house(), self._known)
        return self._known


@dataclass(frozen=True, slots=True)
class KnownHome:
    """What is computed once for the names of a home."""

    labels: tuple[tuple[str, tuple[str, ...]], ...]
    house: House
    language: str
    words: frozenset[str]
    lists: list[Names]

    @classmethod
    def of(cls, house: House, known: KnownHome | None = None) -> KnownHome:
        """What is `known` already, if the names are still the same."""
        labels = tuple((one.name, one.aliases) for one in (*house.entities, *house.places))
        if known is not None and known.labels == labels:
            return known
        return cls(labels, house, language_of_names(house), words_of_names(house), [])

    @property
    def names(self) -> Names:
        """The names as lists of slots, made when the first sentence needs them."""
        if not self.lists:
            self.lists.append(names_of(self.house))
        return self.lists[0]


def read_here(run: Run) -> bool | None:
    """Whether calls that were read in another language are about the speaker's room; None if none were."""
    reading = run.notes.get(LanguageReader.name)
    return reading.is_here if isinstance(reading, Reading) and not reading.english else None
