"""Hooks on replies: empty ones, repetition loops, and tool output or JSON that is read aloud.

A loop is a phrase repeated without anything in between. The limit depends on its length: "no no no" and a refrain
between verses are not loops.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from edgevox.core.hooks import Again, Answer, Hook, ModelReply, Run
from edgevox.llm.hooks_slm.result_text import as_sentence, content_words, is_first_time, turn_sentence, value_words
from edgevox.llm.tool_parsers.json_repair import JsonValue, Reader, Unreadable

# A reply is a few hundred words; the search is linear in the text for every length of the repeated part.
_MAX_WORDS = 2000
_MAX_UNIT_WORDS = 60
_MAX_UNIT_CHARS = 40
_MIN_TAIL_REPEATS = 8
_MIN_TAIL_CHARS = 24
# Long numbers end in many zeros.
_MIN_NUMBER_REPEATS = 25
_MIN_NUMBER_CHARS = 200

# List numbers are not words: they differ where the entries are the same.
_WORD = re.compile(r"(?!(?<=\n)\d+[.)]\s)\b\w+(?:['’]\w+)*")
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|[。！？\n]")
_DANGLING = re.compile(r"[\s,](?:and|but|or|so|then)$", re.IGNORECASE)
_CALM_END = re.compile(r"[.?\n。？]")


def without_loop(text: str, *, is_cut: bool) -> str | None:
    """Return the text with one round of each loop, or None if there is none. `is_cut`: it hit the token limit."""
    shorter = text.rstrip()
    while (once := _without_repeated_words(shorter) or _without_repeated_tail(shorter)) is not None:
        shorter = once
    if is_cut:
        shorter = _before_second_round(shorter)
    return shorter if shorter != text.rstrip() else None


def _without_repeated_words(text: str) -> str | None:
    """Remove the first repeated words; the result is always shorter. Returns None if there are none."""
    words = list(islice(_WORD.finditer(text), _MAX_WORDS))
    folded = [word.group().casefold() for word in words]
    for size in range(1, min(_MAX_UNIT_WORDS, len(words) // 2) + 1):
        run = 0
        for at in range(len(words) - size + 1):
            if at + size < len(words) and folded[at] == folded[at + size]:
                run += 1
                continue
            first = at - run
            if run and 1 + run // size >= _loop_threshold(text, words[first : first + size + 1]):
                return _without_repetition(text, words, first, size, run)
            run = 0
    return None


def _loop_threshold(text: str, words: list[re.Match[str]]) -> int:
    """Return how many repetitions make a loop: `words` are the repeated ones and the first of the next round."""
    *unit, following = words
    if not any(char.isalpha() for word in unit for char in word.group()):
        return _MIN_NUMBER_REPEATS
    is_sentence = _CALM_END.search(text, unit[-1].end(), following.start()) is not None
    if len(unit) >= 4 or (len(unit) == 3 and is_sentence):
        return 3
    return 5 if len(unit) > 1 else 8


def _without_repetition(text: str, words: list[re.Match[str]], first: int, size: int, run: int) -> str:
    unit_end = words[first + size - 1].end()
    # The loop may start in the middle of a sentence: complete that sentence.
    sentence_end = _SENTENCE_END.search(text, unit_end, words[first + 2 * size - 1].start())
    kept = text[: sentence_end.end() if sentence_end else unit_end].rstrip()
    rest = text[words[first + size + run - 1].end() :].lstrip(" \t.,;:!?…-")
    if _SENTENCE_END.search(rest) is None:
        rest = ""  # a part of the next round
    if not _SENTENCE_END.match(kept[-1]):
        kept = f"{_DANGLING.sub('', kept.rstrip(',;:–- '))}."
    return f"{kept} {rest}".rstrip()


def _without_repeated_tail(text: str) -> str | None:
    """Remove a tail of the same few characters."""
    for size in range(1, min(_MAX_UNIT_CHARS, len(text) // 2) + 1):
        run = 0
        while run + size < len(text) and text[-1 - run] == text[-1 - run - size]:
            run += 1
        length = run + size
        unit = text[len(text) - size :]
        has_letters = any(char.isalpha() for char in unit)
        if length >= max(size * _MIN_TAIL_REPEATS, _MIN_TAIL_CHARS if has_letters else _MIN_NUMBER_CHARS):
            return text[: len(text) - run].rstrip()
    return None


def _before_second_round(text: str) -> str:
    """If a sentence occurs three times or more, return the text before its second occurrence."""
    sentences: list[tuple[str, int]] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        words = _WORD.findall(text[start : end.end()].casefold())
        if len(words) >= 4:
            sentences.append((" ".join(words), start))
        start = end.end()
    counts = Counter(sentence for sentence, _ in sentences)
    seen: set[str] = set()
    for sentence, start in sentences:
        if sentence in seen and counts[sentence] >= 3:
            return text[:start].rstrip()
        seen.add(sentence)
    return text


# An object with a quoted key, or a list of objects or quoted texts: [1] and {name} are not payloads.
_BEGINS = re.compile(r"""\{\s*+["'][^"'\n]{0,100}+["']\s*+:|(?<!\w)\[\s*+(?:\{\s*+["']|"[^"\n]{0,200}+"\s*+[,\]])""")
_MAY_BEGIN = re.compile(
    r"""[{\[]\s*+(?:["'{\[]|$)|`{1,3}(?:json)?+\s*+(?:[{\[]|$)|</?tool_|^\s*+\((?:system|the tools)\b""", re.IGNORECASE
)
# Error codes, tags and remarks exchanged between program and model.
_MACHINE_WORDS = re.compile(
    r"\b(?:invalid_arguments|internal_error|unknown_tool|token_scope_insufficient|requires_confirmation"
    r"|bad_request|tool_denied|tool_error)\s*+:|^\s*+\((?:system\s*+:|the tools have run\b)"
    r"|^\s*+the tools have run:|</?tool_(?:call|response|result)s?\b",
    re.IGNORECASE,
)
_DEFINITION_KEYS = ("properties", "parameters", "arguments", "function", "tool_calls", "$defs")


def payloads(text: str) -> Iterator[tuple[int, int, JsonValue]]:
    """Yield start, end and value of each JSON object or list; an unreadable one is None and reaches to the end."""
    reader = Reader(text)
    while (begin := _BEGINS.search(text, reader.pos)) is not None:
        reader.pos = begin.start()
        try:
            value = reader.value()
        except Unreadable:
            yield begin.start(), len(text), None
            return
        yield begin.start(), reader.pos, value


def speakable_chars(text: str) -> int:
    """Return how many characters of an unfinished reply may be spoken: a possible payload waits for the end."""
    found = _MAY_BEGIN.search(text)
    return len(text) if found is None else found.start()


def is_definition(value: JsonValue) -> bool:
    """Whether the JSON is a schema or a call, with nothing in it for a person."""
    if isinstance(value, list):
        return any(is_definition(member) for member in value)
    if not isinstance(value, dict):
        return False
    describes = any(isinstance(value.get(key), dict | list) for key in _DEFINITION_KEYS)
    return describes or value.get("type") in ("object", "function")


_DATA_REQUESTED = re.compile(
    r"\b(?:json|yaml|schema|payload|python|javascript|snippet|tool calls?|tags?|source code|some code)\b", re.IGNORECASE
)
_FENCES = re.compile(r"`{3}\w*+")
_HINT = "That was data. Say what it means to the user, in one short sentence of plain words, without JSON."


class EchoedPayload(Hook):
    """Handles a reply with JSON, a schema or a tool's error code.

    Asks the model for a sentence, once; after that the data itself is put in plain words. A person who asks about JSON
    gets it.
    """

    name = "slm.echoed_payload"
    priority = -120

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        if reply.calls or reply.finish_reason == "cancelled":
            return None
        if _DATA_REQUESTED.search(run.text) or any(payloads(run.text)):
            return None
        if not any(payloads(reply.text)) and not _MACHINE_WORDS.search(reply.text):
            return None
        if is_first_time(run, self):
            return Again(_HINT)
        return Answer(_data_as_words(reply.text) or turn_sentence(run))


def _data_as_words(text: str) -> str:
    """Return the reply with its data in words, or "" if nothing is left for a person."""
    if _MACHINE_WORDS.search(text):
        return ""
    sentence, rest_start = "", 0
    for start, end, value in payloads(text):
        words = content_words(text[start:end]) if value is None else value_words(value)
        if not words or is_definition(value):
            return ""
        sentence += text[rest_start:start] + words
        rest_start = end
    return as_sentence(_FENCES.sub(" ", sentence + text[rest_start:]))


_REPETITION_REQUESTED = re.compile(
    r"\b(?:sing|songs?|lyrics|chorus|poem|poems|poetry|rhymes?|limerick|verses?|chant|cheer|mantra|repeat|times"
    r"|twice|again and again|over and over|count)\b",
    re.IGNORECASE,
)


class EmptyReply(Hook):
    """Handles a reply without text and calls: asks once more; after that the last result is the answer."""

    name = "slm.empty_reply"
    priority = -110

    async def after_llm(self, run: Run, reply: ModelReply) -> Again | Answer | None:
        # The agent retries a malformed call.
        if reply.calls or reply.problems or reply.finish_reason == "cancelled":
            return None
        if any(char.isalnum() for char in reply.text):
            return None
        if is_first_time(run, self):
            return Again("Your reply was empty. Answer the user in one short sentence.")
        return Answer(turn_sentence(run))


class LoopingReply(Hook):
    """Handles a reply that repeats itself: says it once. Songs, poems and requested repetitions stay as they are."""

    name = "slm.looping_reply"
    priority = -130

    async def after_llm(self, run: Run, reply: ModelReply) -> Answer | None:
        if reply.calls or reply.finish_reason == "cancelled" or _REPETITION_REQUESTED.search(run.text):
            return None
        shorter = without_loop(reply.text, is_cut=reply.finish_reason == "length")
        return None if shorter is None else Answer(shorter)
