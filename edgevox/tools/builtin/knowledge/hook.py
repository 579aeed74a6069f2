"""Answers questions that need no model: makes the tool call by rule, and says so where nothing here can know.

The default model is too small to compute and invents figures. A tool of a plugin or an MCP server for the same
subject keeps its priority: then the question goes to the model.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection
from datetime import datetime
from typing import ClassVar

from edgevox.core.hooks import Answer, Calls, Hook, ModelReply, Run, ToolOutcome
from edgevox.core.types import ToolCall
from edgevox.core.words import normalized_words
from edgevox.tools.builtin.documents import TOOL_NAMES as DOCUMENT_TOOLS
from edgevox.tools.builtin.knowledge.arithmetic import read_arithmetic, read_word_problem
from edgevox.tools.builtin.knowledge.calendar_questions import read_calendar_question
from edgevox.tools.builtin.knowledge.clock import asked_place, read_clock_question
from edgevox.tools.builtin.knowledge.facts import I_DO_NOT_KNOW, home_words_of, question_words, unknown_answer
from edgevox.tools.builtin.knowledge.games import read_game
from edgevox.tools.builtin.knowledge.places import find_place
from edgevox.tools.builtin.knowledge.question import Reading, first_match, pattern, plain_question
from edgevox.tools.builtin.knowledge.units import read_conversion, read_unit_pair
from edgevox.tools.builtin.knowledge.word_problems import CANNOT_WORK_OUT, asks_figure, figures, is_unsolved
from edgevox.tools.registry import BUILT_IN, ToolRegistry

# What another tool's name or description says if it is for the same subject.
_SUBJECTS = {
    "calculate": r"calculat|arithmetic|\bmaths?\b|mathematic|evaluate .*expression",
    "convert_units": r"\bunits?\b|conver(?:t|sion)|currenc|exchange rate",
    "time_in_place": r"time ?zones?|world clock|(?:current|local) time",
    "time_difference": r"time ?zones?|world clock|(?:current|local) time",
    "find_date": r"\bdates?\b|calendar|holiday",
    "time_between": r"\bdates?\b|calendar|holiday|countdown",
    "flip_coin": r"\bcoin\b",
    "roll_dice": r"\bdice\b|\bdie\b",
    "pick_random": r"\brandom",
    "spell_word": r"\bspell",
}
_RESPOND = "respond"
_SEARCHED = "knowledge.searched"
_SEARCH = DOCUMENT_TOOLS[0]
_MAX_QUOTE_CHARS = 300


_MAX_LEAD_WORDS = 3


def read_question(text: str, now: datetime) -> Reading | None:
    """The call that answers a question without a model; None for any other sentence."""
    reading = _read_whole(text, now)
    lead, comma, rest = text.partition(",")
    if reading or not comma or len(lead.split()) > _MAX_LEAD_WORDS:
        return reading
    return _read_whole(rest, now)  # "quick one, 17 times 6"


def _read_whole(text: str, now: datetime) -> Reading | None:
    return (
        read_arithmetic(text)
        or read_conversion(text)
        or read_clock_question(text)
        or read_calendar_question(text, now.date())
        or read_game(text)
        or read_unit_pair(text)
        or read_word_problem(text)
    )


def read_follow_up(text: str, last: ToolCall) -> Reading | None:
    """The call for what continues an answer: "and in Paris?" after a time, "plus five" after a sum."""
    question = plain_question(text)
    given = json.loads(last.arguments)
    if last.name == "time_in_place" and "at" not in given:
        found = first_match((r"(?:and|what about|how about)(?: the time)?(?: in)? (?P<place>.+)",), question)
        if found and find_place(found["place"]):
            return Reading(last.name, {**given, "place": found["place"]})
    if last.name == "calculate":
        found = first_match((r"(?:and )?(?P<rest>(?:plus|minus|times|multiplied by|divided by) .+)",), question)
        if found:
            return read_arithmetic(f"({given['expression']}) {found['rest']}")
    return None


class KnowledgeQuestions(Hook):
    """Calls the knowledge tools by rule.

    For a model that invents facts, `home_names` is given: then questions about the world are answered from documents or
    declined, unless they contain a word of these names.
    """

    name: ClassVar[str] = "knowledge"
    # After the rules of the home: those know what their words mean there.
    priority: ClassVar[int] = -10

    def __init__(
        self,
        registry: ToolRegistry,
        now: Callable[[], datetime],
        home_names: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self._registry = registry
        self._now = now
        self._home_names = home_names

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        reading = read_question(run.text, self._now())
        if reading is None and (last := _last_call(run)) is not None:
            reading = read_follow_up(run.text, last)
        if reading is not None:
            return _calls(reading) if self._is_ours(reading.tool) else None
        if self._home_names is None:
            return None
        if is_unsolved(run.text) and self._is_ours("calculate"):
            return Answer(CANNOT_WORK_OUT)
        return self._unknown(run, self._home_names())

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        """Replace a reply with an invented figure: one that neither the question nor a tool contains."""
        if self._home_names is None or run.outcomes or any(call.name != _RESPOND for call in reply.calls):
            return None
        spoken = " ".join((reply.text, *(call.arguments for call in reply.calls)))
        if not asks_figure(run.text) or figures(spoken) <= figures(run.text):
            return None
        return Answer(CANNOT_WORK_OUT if figures(run.text) else I_DO_NOT_KNOW)

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | ToolOutcome | None:
        if call.name != _SEARCH or _SEARCHED not in run.notes:
            return None
        return Answer(_quotation(run.text, outcome))

    def _is_ours(self, tool: str) -> bool:
        """Whether the built-in tool is offered, and no other tool is for the same subject."""
        if tool not in self._registry or self._registry.owner(tool) != BUILT_IN:
            return False
        subject = pattern(_SUBJECTS[tool])
        return not any(subject.search(f"{name.replace('_', ' ')} {text}") for name, text in self._other_tools())

    def _other_tools(self) -> list[tuple[str, str]]:
        """Those of others; a model that is made for the home cannot use those of servers well, so ours answer."""
        is_for_home = self._home_names is not None
        others = (tool for tool in self._registry if self._registry.owner(tool.name) != BUILT_IN)
        return [(tool.name, tool.description) for tool in others if not (is_for_home and tool.acts_elsewhere)]

    def _unknown(self, run: Run, home_names: Collection[str]) -> Answer | Calls | None:
        place = asked_place(run.text)
        if not (place or unknown_answer(run.text)):
            return None
        words = home_words_of(home_names)
        if place and not words & set(place.split()) and self._is_ours("time_in_place"):
            return _calls(Reading("time_in_place", {"place": place}))
        answer = "" if self._other_tools() else unknown_answer(run.text, words)
        if not answer or _SEARCH not in self._registry:
            return Answer(answer) if answer else None
        run.notes[_SEARCHED] = True
        return _calls(Reading(_SEARCH, {"query": run.text[:300]}))


def _last_call(run: Run) -> ToolCall | None:
    """The call of a knowledge tool in the turn before, if that had no other."""
    last_turn = itertools.takewhile(lambda message: message.role != "user", reversed(run.past()))
    calls = [call for message in last_turn for call in message.tool_calls]
    return calls[0] if len(calls) == 1 and calls[0].name in _SUBJECTS else None


def _calls(reading: Reading) -> Calls:
    return Calls((ToolCall("", reading.tool, json.dumps(reading.arguments, ensure_ascii=False)),))


def _quotation(question: str, outcome: ToolOutcome) -> str:
    """The passage that has all words of the question, with its file; else that nothing is known."""
    wanted = question_words(question)
    try:
        found = json.loads(outcome.content) if not outcome.is_error else []
    except json.JSONDecodeError:
        found = []
    for passage in found if isinstance(found, list) else []:
        match passage:
            case {"file": str(file), "text": str(text)} if wanted and _has_words(text, wanted):
                return f"{file} says: {_shortened(text)}"
    return I_DO_NOT_KNOW


def _has_words(text: str, wanted: frozenset[str]) -> bool:
    there = {word for part in text.split(". ") for word in normalized_words(part)}
    return wanted <= there


def _shortened(text: str) -> str:
    text = " ".join(text.replace("…", " ").split())
    return text if len(text) <= _MAX_QUOTE_CHARS else f"{text[:_MAX_QUOTE_CHARS].rsplit(' ', 1)[0]}."
