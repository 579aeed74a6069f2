"""Splits a streamed reply into sentences, with the abbreviations of each language.

The splitter reads one character at a time and never looks back, so the result does not depend on the
tokens. Where it is unsure it does not split.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from edgevox.core.files import packaged_toml
from edgevox.core.languages import ENGLISH

# A shorter first clause would end before the next piece is synthesized.
MIN_CLAUSE_CHARS = 24
# The longest text for one synthesis; longer sentences are cut.
MAX_CHARS = 300

_ENDS = frozenset(".!?…؟।")
_CLAUSES = frozenset(",;:-–،")
_ENDS_WITHOUT_SPACE = frozenset("。！？")
_CLAUSES_WITHOUT_SPACE = frozenset("—，；：、")
_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
# „German“ and “English”, «français» and »deutsch«: what opens in one closes in another.
_QUOTES_OPEN = frozenset("“«„")
_QUOTES_OPEN_BEFORE_WORDS = frozenset('"»')
_QUOTES_CLOSE = frozenset("”»“«")
# Allowed between the mark that ends a sentence and the space after it.
_TRAILERS = _CLOSERS | _QUOTES_CLOSE | frozenset("\"'’*_`~")
_AROUND_WORDS = "\"'’‘“”«»„¿¡()[]{}*_`~"


@dataclass(slots=True)
class SentenceSplitter:
    """Splits a token stream: `feed` every token, then `finish`, which resets it."""

    language: str = ENGLISH
    min_clause_chars: int = MIN_CLAUSE_CHARS
    max_chars: int = MAX_CHARS
    _piece: _Piece = field(init=False)
    _is_first: bool = field(init=False, default=True)
    _grammar: _Grammar = field(init=False)

    def __post_init__(self) -> None:
        self._grammar = _grammar_of(self.language)
        self._piece = _Piece(self._grammar)

    def feed(self, delta: str) -> tuple[str, ...]:
        done: list[str] = []
        for char in delta:
            self._take(char, done)
        return tuple(done)

    def finish(self) -> tuple[str, ...]:
        done: list[str] = []
        self._cut(len(self._piece.chars), done)
        self._is_first = True
        return tuple(done)

    def _take(self, char: str, done: list[str]) -> None:
        if char == "\n":
            self._cut(len(self._piece.chars), done)
            return
        sentence_end, clause_end = self._piece.ends_before(char)
        if sentence_end:
            self._cut(sentence_end, done)
        elif self._is_first and clause_end >= self.min_clause_chars:
            self._cut(clause_end, done)
        self._piece.add(char)
        if len(self._piece.chars) >= self.max_chars:
            self._cut(self._piece.best_cut(), done)

    def _cut(self, end: int, done: list[str]) -> None:
        chars, self._piece = self._piece.chars, _Piece(self._grammar)
        text = "".join(chars[:end]).strip()
        if text:
            done.append(text)
            self._is_first = False
        for char in chars[end:]:
            self._take(char, done)


@dataclass(slots=True)
class _Mark:
    """A mark that may end a sentence or a clause, depending on the next character; `end` is 0 for none."""

    end: int = 0
    needs_space: bool = True


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The uses of full stops in a language besides the end of a sentence: see abbreviations.toml."""

    never_last: frozenset[str]
    before_numbers: frozenset[str]
    has_ordinals: bool


@cache
def _grammar_of(language: str) -> _Grammar:
    tables = packaged_toml("tts/abbreviations.toml")
    english, own = tables[ENGLISH], tables.get(language, {})

    def words(key: str) -> frozenset[str]:
        return frozenset(f"{english[key]} {own.get(key, '')}".split())

    return _Grammar(words("never_last"), words("before_numbers"), own.get("ordinals", False))


@dataclass(slots=True)
class _Piece:
    """The text since the last cut, with single spaces, and its possible cuts."""

    grammar: _Grammar
    chars: list[str] = field(default_factory=list)
    word_start: int = 0
    in_quotes: bool = False
    brackets: int = 0
    sentence: _Mark = field(default_factory=_Mark)
    clause: _Mark = field(default_factory=_Mark)
    # The latest places for cutting a run-on.
    sentence_cut: int = 0
    clause_cut: int = 0
    space_cut: int = 0

    def ends_before(self, char: str) -> tuple[int, int]:
        """The ends of a sentence and of a clause, given the next `char`; 0 for none."""
        sentence_end = clause_end = 0
        if self._is_settled(self.sentence, char):
            if not char.islower() and not self._is_abbreviation(char):
                self.sentence_cut = sentence_end = self.sentence.end
            self.sentence.end = 0
        if self._is_settled(self.clause, char):
            if not char.isdigit():
                self.clause_cut = clause_end = self.clause.end
            self.clause.end = 0
        return (0, 0) if self.in_quotes or self.brackets else (sentence_end, clause_end)

    def add(self, char: str) -> None:
        before = self.chars[-1] if self.chars else " "
        if char.isspace():
            if before != " ":
                self.chars.append(" ")
                self.space_cut = len(self.chars)
            return
        if before == " ":
            self.word_start = len(self.chars)
        self.chars.append(char)
        self._track_quotes(char, opens=before == " " or before in _AROUND_WORDS)
        self._track_mark(char, before)

    def best_cut(self) -> int:
        """Where to cut a long sentence: after a sentence or clause that is not too short, else at a space."""
        for cut in (self.sentence_cut, self.clause_cut):
            if 2 * cut >= len(self.chars):
                return cut
        return self.space_cut or len(self.chars)

    def _is_settled(self, mark: _Mark, char: str) -> bool:
        """Whether `char` confirms the pending mark; a refuted mark is dropped."""
        if not mark.end or char.isspace():
            return False
        if mark.end < len(self.chars):
            return True
        if char in _TRAILERS or char in _ENDS or char in _ENDS_WITHOUT_SPACE:
            return False
        if mark.needs_space:
            mark.end = 0
        return mark.end > 0

    def _track_mark(self, char: str, before: str) -> None:
        at = len(self.chars)
        if char in _ENDS or char in _ENDS_WITHOUT_SPACE:
            self.sentence = _Mark(at, needs_space=char in _ENDS)
            self.clause = _Mark()
        elif char in _CLAUSES_WITHOUT_SPACE or (char in _CLAUSES and (char != "-" or before == " ")):
            self.clause = _Mark(at, needs_space=char in _CLAUSES)
        elif char in _TRAILERS:
            for mark in (self.sentence, self.clause):
                if mark.end == at - 1:
                    mark.end = at

    def _track_quotes(self, char: str, *, opens: bool) -> None:
        if char in _OPENERS and opens:
            self.brackets += 1
        elif char in _CLOSERS:
            self.brackets = max(0, self.brackets - 1)
        elif self.in_quotes:
            self.in_quotes = char != '"' and char not in _QUOTES_CLOSE
        elif char in _QUOTES_OPEN or (char in _QUOTES_OPEN_BEFORE_WORDS and opens):
            self.in_quotes = True

    def _is_abbreviation(self, following: str) -> bool:
        """Whether the full stop of the last word belongs to the word."""
        word = "".join(self.chars[self.word_start : self.sentence.end]).strip(_AROUND_WORDS)
        if not word.endswith(".") or word.endswith(".."):
            return False
        stem, grammar = word[:-1], self.grammar
        if stem.lower() in grammar.never_last:
            return True
        if stem.lower() in grammar.before_numbers and following.isdigit():
            return True
        starts_piece = self.word_start == 0
        if len(stem) == 1 and stem.isalpha():
            return starts_piece or stem != "I"
        if stem.isdigit():
            return len(stem) <= (2 if grammar.has_ordinals else 0) or (starts_piece and len(stem) <= 3)
        parts = stem.split(".")
        return len(parts) > 1 and all(part.isalpha() and len(part) <= 2 for part in parts) and stem[0].isupper()
