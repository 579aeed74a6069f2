"""Turns tool results into spoken sentences, for turns that end without a sentence of the model.

Also the notes that a hook keeps for one turn: hooks are shared by turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from edgevox.core.hooks import Hook, Run, ToolOutcome
from edgevox.llm.tool_parsers.json_repair import JsonValue, read_at

NoteT = TypeVar("NoteT")


def turn_note(run: Run, hook: Hook, kind: type[NoteT]) -> NoteT:
    """The hook's own note of this turn, made when it is first asked for."""
    note = run.notes.setdefault(hook.name, kind())
    assert isinstance(note, kind)
    return note


NO_ANSWER = "Sorry, I have no answer to that."
_TOO_LONG = "Sorry, that took too long. It may still happen."
_NOT_DONE = "That was not done."

_MAX_PHRASES = 6
_MAX_CHARS = 240
# Keys that only wrap the value, or name what the other keys are about.
_WRAPPERS = {
    *("answer", "content", "data", "message", "name", "output", "reply", "response", "result", "results"),
    *("speech", "text", "value"),
}
_IDS = {"entity_id", "id", "tool_call_id", "uuid"}
_SUCCESS = {"done", "ok", "success"}
_BRACKETS = re.compile(r"[{}\[\]`]")
_SPACE = re.compile(r"\s+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_QUOTES = "\"'"
_ENDS = (".", "!", "?", "…")
# Of an object that was cut off: the pairs that are whole.
_PAIR = re.compile(r"""["']([\w -]{1,40})["']\s*+:\s*+("[^"]*+"|'[^']*+'|-?\d++(?:\.\d++)?+(?=\s*+[,}])|true|false)""")


def turn_sentence(run: Run) -> str:
    """What came of the turn's calls so far: the last result in words, or an apology."""
    for outcome in reversed(run.outcomes):
        if outcome.code != "tool_denied":
            return outcome_sentence(outcome)
    return _NOT_DONE if run.outcomes else NO_ANSWER


def outcome_sentence(outcome: ToolOutcome) -> str:
    """One result as a sentence."""
    if outcome.code == "timeout":
        return _TOO_LONG
    if outcome.code == "tool_denied":
        return _NOT_DONE
    if outcome.is_error:
        # Of the errors only a tool's own is written for people.
        words = f": {outcome.content}" if outcome.code == "tool_error" else ""
        return as_sentence(f"Sorry, that did not work{words}")
    return as_sentence(content_words(outcome.content)) or "Done."


def content_words(content: str) -> str:
    """JSON text, whole or cut off, in plain words."""
    text = content.strip()
    found = read_at(text, 0)
    if found is not None:
        return value_words(found[0])
    if text[:1] in ("{", "["):
        pairs = _PAIR.findall(text)
        return _joined(f"{_key_words(key)} {written.strip(_QUOTES)}".strip() for key, written in pairs)
    return text


def value_words(value: JsonValue) -> str:
    """`{"state": "on", "brightness": 50}` as "state on, brightness 50"."""
    return _joined(_phrases(value, ""))


def as_sentence(words: str) -> str:
    """The words with a capital, a full stop and nothing in them that only a program reads; else empty."""
    plain = _SPACE.sub(" ", _BRACKETS.sub("", words)).strip(" ,;:")
    if len(plain) > _MAX_CHARS:
        plain = f"{plain[:_MAX_CHARS].rsplit(' ', 1)[0]}…"
    if not any(char.isalnum() for char in plain):
        return ""
    plain = plain[0].upper() + plain[1:]
    return plain if plain.endswith(_ENDS) else f"{plain}."


def _joined(phrases: Iterable[str]) -> str:
    # Nobody can follow a longer list by ear.
    return ", ".join(islice(filter(None, phrases), _MAX_PHRASES))


def _phrases(value: JsonValue, about: str) -> Iterator[str]:
    """The value's parts, each behind the words that say what it is."""
    match value:
        case None:
            return
        case bool():
            yield f"{about} {'yes' if value else 'no'}".strip()
        case dict():
            for key, member in value.items():
                if key in _SUCCESS and isinstance(member, bool):
                    yield "done" if member else "it did not work"
                elif key not in _IDS:
                    yield from _phrases(member, f"{about} {_key_words(key)}".strip())
        case list():
            if any(isinstance(member, dict | list) for member in value):
                for member in value:
                    yield from _phrases(member, about)
            else:
                shown = ", ".join(str(member) for member in value[:_MAX_PHRASES])
                yield f"{about} {shown}".strip() if value else f"{about} none".strip()
        case str():
            # A text may hold JSON of its own.
            inner = read_at(value, 0) if value[:1] in ("{", "[") else None
            if inner is not None:
                yield from _phrases(inner[0], about)
            else:
                yield f"{about} {value.strip()}".strip()
        case _:
            yield f"{about} {value}".strip()


def _key_words(key: str) -> str:
    words = _CAMEL.sub(" ", key).replace("_", " ").replace("-", " ").lower()
    return "" if words in _WRAPPERS else words
