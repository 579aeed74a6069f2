"""Finds the tools of a server for tables and queries, and asks it for its tables before a question becomes a query."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from edgevox.tools.mcp.filling import Lookup, Request
from edgevox.tools.mcp.select_statements import Column, select_statement
from edgevox.tools.mcp.vocabulary import DescribedTool, stems, words_of

_MOST_DESCRIBED = 6
_SELECTS = re.compile(r"\bselect\b", re.IGNORECASE)
_NO_ANSWER = "I do not know that."


class TableTools:
    """The tools of one server that list tables, describe them and run queries; remembers what they have said."""

    def __init__(self, tools: Iterable[DescribedTool]) -> None:
        self._list = self._describe = self._query = ""
        self._table_slot = self._query_slot = ""
        self._names: tuple[str, ...] = ()
        self._columns: dict[str, tuple[Column, ...]] = {}
        for described in tools:
            required = described.tool.parameters.get("required", ())
            names, about = described.names, described.tool.description
            if described.acts:
                continue
            if not required and "tabl" in names and not names.isdisjoint(stems(("list", "show", "get"))):
                self._list = described.tool.name
            elif len(required) == 1 and "tabl" in words_of(required[0]):
                self._describe, self._table_slot = described.tool.name, required[0]
            elif len(required) == 1 and words_of(required[0])[-1:] in (["query"], ["sql"]) and _SELECTS.search(about):
                self._query, self._query_slot = described.tool.name, required[0]

    @property
    def are_complete(self) -> bool:
        return bool(self._list and self._describe and self._query)

    def forget(self) -> None:
        """Ask for the tables again before the next question: they may have changed."""
        self._names = ()
        self._columns.clear()

    def meant(self, text: str) -> Request | Lookup | None:
        """The query that answers a question, or what has to be known for it; None if it is no such question."""
        if sql := select_statement(text, self._columns):
            return self._select(sql)
        if not _is_about_data(text):
            return None
        if not self._names or _NAMES_DATABASE.search(text):
            return Lookup((Request(self._list, {}),), partial(self._listed, text))
        unknown = [name for name in self._named(text) if name not in self._columns]
        return self._describe_all(text, unknown) if unknown else None

    def _select(self, sql: str) -> Request:
        return Request(self._query, {self._query_slot: sql})

    def _named(self, text: str) -> list[str]:
        said = set(words_of(text))
        return [name for name in self._names if set(words_of(name)) <= said]

    def _listed(self, text: str, results: Sequence[str]) -> Lookup | str:
        self._names = tuple(_first_values(results[0]))
        named = self._named(text)
        if not named and _NAMES_DATABASE.search(text):
            named = [*self._names[:_MOST_DESCRIBED]]
        return self._describe_all(text, named) if named else _NO_ANSWER

    def _describe_all(self, text: str, names: Sequence[str]) -> Lookup:
        requests = tuple(Request(self._describe, {self._table_slot: name}) for name in names)
        return Lookup(requests, partial(self._described, text, names))

    def _described(self, text: str, names: Sequence[str], results: Sequence[str]) -> Request | str:
        for name, result in zip(names, results, strict=True):
            self._columns[name] = _columns(result)
        sql = select_statement(text, self._columns)
        return self._select(sql) if sql else "I cannot make a query of that question."


# --- what a server has answered

_BRACE = re.compile(r"\((?=(['\"])[\w ]+\1: )")


def rows_in(content: str) -> list[dict[str, Any]]:
    """The rows of a result: objects in JSON or in Python's spelling, also with a bracket that was made harmless."""
    try:
        read = json.loads(content)
    except ValueError:
        read = content
    if isinstance(read, str):
        try:
            read = ast.literal_eval(_BRACE.sub("{", read)) if read[:1] == "[" else None
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return []
    if isinstance(read, dict):
        read = next((member for member in read.values() if isinstance(member, list)), None)
    return [row for row in read if isinstance(row, dict)] if isinstance(read, list) else []


def _first_values(content: str) -> list[str]:
    return [str(next(iter(row.values()))) for row in rows_in(content) if row]


_COLUMN_KEYS = ("name", "column_name", "column", "field", "Field")
_TYPE_KEYS = ("type", "data_type", "Type")
_NUMBER_TYPE = re.compile(r"int|real|num|dec|float|double|money|serial", re.IGNORECASE)


def _columns(content: str) -> tuple[Column, ...]:
    columns = []
    for row in rows_in(content):
        name = next((row[key] for key in _COLUMN_KEYS if key in row), None)
        kind = next((row[key] for key in _TYPE_KEYS if key in row), "")
        if isinstance(name, str):
            columns.append(Column(name, bool(_NUMBER_TYPE.search(str(kind)))))
    return tuple(columns)


# --- questions

_NAMES_DATABASE = re.compile(r"\b(?:database|db|sql|sqlite|tables?|rows?|records?)\b", re.IGNORECASE)
# What is counted in the world and not in tables.
_WORLD = (
    r"(?:days?|hours?|minutes?|seconds?|weeks?|months?|years?|people|countries|continents|planets|times?|legs|letters)"
)
_DATA = re.compile(
    rf"\bhow many (?!{_WORLD}\b)[\w-]+(?: [\w-]+)? "
    r"(?:are|do (?:we|i) have|have|has(?: each)?|were|did|cost|by|with|whose|from|in)\b|"
    r"\b(?:total|average|mean|sum|maximum|minimum|highest|lowest|overall|combined)\b.*\b(?:of|in|for|all)\b|"
    rf"\bnumber of (?!{_WORLD}\b)|"
    r"\b(?:which|what|who)\b.*\b(?:the )?(?:most|fewest|least|highest|lowest|\w{3,}est)\b|"
    r"^(?:what(?:'s| is| are|s)? )?the (?:\w{3,}est|most \w+) \w+|"
    r"^(?:please )?(?:list|show(?: me)?|give me|find|get|which|what)(?: me)?(?: all)?(?: (?:the|of the|our|my))? "
    r"[\w-]+ (?:by|whose|where|with|that (?:cost|have|are)|have|has|from|over|under|above|below|cost|more|less)\b",
    re.IGNORECASE,
)
_OF_THE_HOME = re.compile(
    r"\b(?:you|your|yourself|me|my|mine|today|tomorrow|tonight|lights?|lamps?|rooms?|timers?|alarms?|reminders?|windows?|"
    r"doors?|blinds?|shutters?|warm(?:est)?|cold(?:est)?|bright(?:est)?|temperatures?|heating|thermostats?|plugs?|"
    r"switch(?:es)?|fans?|speakers?|music|songs?|sensors?|devices?|kitchen|bedroom|bathroom|garage|upstairs|home)\b",
    re.IGNORECASE,
)
_IS_QUESTION = re.compile(
    r"\b(?:how|which|what|what's|who|list|show|give|find|get|count|total|average|number|tell|is|are|look)\b",
    re.IGNORECASE,
)


def _is_about_data(text: str) -> bool:
    """Whether a sentence asks for what tables have: a count, a sum, an extreme, those that fulfil a condition."""
    if _NAMES_DATABASE.search(text):
        return bool(_IS_QUESTION.search(text))
    plain = re.sub(r"\b(?:show|give|tell) me\b", "show", text, flags=re.IGNORECASE)
    return bool(_DATA.search(plain)) and not _OF_THE_HOME.search(plain)
