"""Turns tool results into spoken sentences, for turns in which the model gives none.

Also stores the per-turn notes of hooks, which are shared by all turns.
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
    """Return the hook's note for this turn, created on first use."""
    note = run.notes.setdefault(hook.name, kind())
    assert isinstance(note, kind)
    return note


def is_first_time(run: Run, hook: Hook) -> bool:
    """Whether the hook asks this for the first time in this turn."""
    is_first = hook.name not in run.notes
    run.notes[hook.name] = True
    return is_first


NO_ANSWER = "Sorry, I have no answer to that."
_TOO_LONG = "Sorry, that took too long. It may still happen."
_NOT_DONE = "That was not done."

_MAX_PHRASES = 6
_MAX_CHARS = 240
# Keys that only wrap the value, or label the other keys.
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
# The complete pairs of a truncated object.
_PAIR = re.compile(r"""["']([\w -]{1,40})["']\s*+:\s*+("[^"]*+"|'[^']*+'|-?\d++(?:\.\d++)?+(?=\s*+[,}])|true|false)""")


def turn_sentence(run: Run) -> str:
    """Return the last result of the turn in words, or an apology."""
    for outcome in reversed(run.outcomes):
        if outcome.code != "tool_denied":
            return outcome_sentence(outcome)
    return _NOT_DONE if run.outcomes else NO_ANSWER


def outcome_sentence(outcome: ToolOutcome) -> str:
    """Return one result as a sentence."""
    if outcome.code == "timeout":
        return _TOO_LONG
    if outcome.code == "tool_denied":
        return _NOT_DONE
    if outcome.is_error:
        # Only a tool's own error is written for people.
        words = f": {outcome.content}" if outcome.code == "tool_error" else ""
        return as_sentence(f"Sorry, that did not work{words}")
    return as_sentence(content_words(outcome.content)) or "Done."


def content_words(content: str) -> str:
    """Return JSON text, complete or truncated, in plain words."""
    text = content.strip()
    found = read_at(text, 0)
    if found is not None:
        return value_words(found[0])
    if text[:1] in ("{", "["):
        pairs = _PAIR.findall(text)
        return _joined(f"{_key_words(key)} {written.strip(_QUOTES)}".strip() for key, written in pairs)
    return text


def value_words(value: JsonValue) -> str:
    """Render `{"state": "on", "brightness": 50}` as "state on, brightness 50"."""
    return _joined(_phrases(value, ""))


def as_sentence(words: str) -> str:
    """Return the words as a sentence with a capital and a full stop, or "" if they contain machine text."""
    plain = _SPACE.sub(" ", _BRACKETS.sub("", words)).strip(" ,;:")
    if len(plain) > _MAX_CHARS:
        plain = f"{plain[:_MAX_CHARS].rsplit(' ', 1)[0]}…"
    if not any(char.isalnum() for char in plain):
        return ""
    plain = plain[0].upper() + plain[1:]
    return plain if plain.endswith(_ENDS) else f"{plain}."


def _joined(phrases: Iterable[str]) -> str:
    # A longer list cannot be followed by ear.
    return ", ".join(islice(filter(None, phrases), _MAX_PHRASES))


def _phrases(value: JsonValue, about: str) -> Iterator[str]:
    """Yield the parts of the value, each after the words that label it."""
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
            # A text may contain JSON.
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
