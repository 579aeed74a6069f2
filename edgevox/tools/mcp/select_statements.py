"""Reads counting, filtering and comparing questions into SELECT statements, by the names of tables and columns.

A question is read only if every word of it is of a table, of a column, of a comparison or of a value; so one that means
something else is not answered from a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from edgevox.core.words import STOP_WORDS, number_value, word_set
from edgevox.tools.mcp.vocabulary import plain_words, stem, stems, words_of


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    is_number: bool


_UP = stems(("most", "highest", "largest", "greatest", "biggest", "maximum", "max", "top", "best"))
_DOWN = stems(("least", "fewest", "lowest", "smallest", "minimum", "min"))
# Columns, what is more and what is less of them, and other words for them.
_KINDS: tuple[tuple[str, str, str, str], ...] = (
    ("price cost amount fee value total", "expensive costly pricey dear", "cheap affordable", "cost price"),
    ("age", "old", "young", "aged"),
    ("year date birth published released founded created", "new recent late young", "old early", "when published"),
    ("page length duration minute", "long thick", "short thin", "long"),
    ("height", "tall high", "short low", "tall high"),
    ("weight", "heavy", "light", "weigh heavy"),
    ("size area population", "big large populous", "small tiny", "big large"),
    ("salary income wage pay", "paid", "", "earn paid"),
    ("rating score star grade", "good well popular", "bad", "rated"),
    ("stock quantity count", "", "", "stock left available"),
    ("speed", "fast quick", "slow", "fast"),
    ("author writer", "", "", "write wrote written author"),
    ("reader borrower", "", "", "borrow borrowed"),
)
_NAME_COLUMNS = stems(("name", "title", "label", "product", "customer", "subject"))
_PERSON_COLUMNS = stems(
    ("author", "reader", "name", "customer", "owner", "employee", "person", "writer", "user", "artist", "director")
)
_FILLER = STOP_WORDS | word_set(
    "there have has had do does did are is was were be been in of the a an and to for with by from on at as all any "
    "every each which what whats who whom whose where how many much number count list show give find get tell me "
    "please can could you we our us i it its they their that those these exist stored row record entry data "
    "database db table sql sqlite look query according currently now so just only other let know see want s t one "
    "ones different distinct unique same per group total sum altogether average mean overall combined named called "
    "titled entire whole complete return display print check live lives living located based come comes everything "
    "contents"
)
_FILLER_STEMS = stems((*_FILLER, "together", "sort", "order", "arrange", "rank", "ascending", "descending"))
_NUMBER = r"[$€£]?(?P<n>\d+(?:[.,]\d+)*)"
_COMPARED = re.compile(
    rf"\b(?P<how>(?:more|less|[a-z]+er) than|over|above|at least|under|below|at most|exactly|"
    rf"after|before|since|up to) {_NUMBER}(?: (?P<unit>[a-z]+))?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"\bbetween {_NUMBER} and (?P<m>\d+(?:[.,]\d+)*)(?: (?P<unit>[a-z]+))?", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“‘]([^\"”’]+)[\"”’]|(?<!\w)'([^']+)'(?!\w)")
_CAPITALS = re.compile(r"(?<=\S )[A-Z][\w'’-]*(?: (?:of |the |and )?[A-Z][\w'’-]*)*")
_LOW_VALUE = re.compile(
    r"\b(?:by|of|from|called|named|titled|about|for|in|is|did|does|has|have|wrote|borrowed|bought|equals?) "
    r"(?P<value>(?!the |a |an |all |each )[\w'-]+(?: [\w'-]+){0,3})",
    re.IGNORECASE,
)
_PLACE_OF_DATA = re.compile(
    r"[, ]*\b(?:(?:look|check|search|query|ask)(?:ing)? (?:it up )?)?(?:in|from|of|on|using|according to)?"
    r"(?: (?:the|my|our|this))?(?: [a-z]+)? (?:database|db|sqlite)\b[, ]*",
    re.IGNORECASE,
)


def select_statement(text: str, tables: Mapping[str, Sequence[Column]]) -> str:
    """The SELECT statement for a question about one of these tables, or ""."""
    text = " ".join(_PLACE_OF_DATA.sub(" ", f" {text} ").split()).strip(" .?!,")
    said = set(words_of(text))
    named = [name for name in tables if set(words_of(name)) <= said]
    for name in (*named, *(other for other in tables if other not in named)):
        question = _Question(text, name, tables[name], is_named=name in named)
        if sql := question.sql():
            return sql
    return ""


def _base(word: str) -> str:
    """ "long" of longest and longer."""
    found = re.match(r"(\w{2,}?)(i|([a-z])\3)?(?:est|er)$", word)
    if not found:
        return word
    return found[1] + ("y" if found[2] == "i" else found[3] or "")


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else '"' + name.replace('"', '""') + '"'


@dataclass(slots=True)
class _Question:
    """One question, and what of it has been read."""

    text: str
    table: str
    columns: Sequence[Column]
    is_named: bool
    conditions: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def sql(self) -> str:
        rest = self._compared(self.text)
        rest = self._valued(rest)
        plain = plain_words(rest)
        extreme, measure, direction = self._extreme(plain)
        asked = [column for column in self.columns if self._is_said(column, plain)]
        is_own = self.is_named or bool(asked and (self.conditions or "different" in plain))
        left = [word for word in plain if not self._is_read(word)]
        if left or not is_own:
            return ""
        return self._statement(plain, asked, extreme, measure, direction)

    def _statement(
        self, plain: Sequence[str], asked: Sequence[Column], extreme: bool, measure: Column | None, direction: str
    ) -> str:
        words, low = set(plain), f" {self.text.casefold()} "
        numbers = [column for column in asked if column.is_number]
        texts = [column for column in asked if not column.is_number]
        grouped = self._grouped(low, texts)
        if extreme and measure is None:
            groups = texts or ([column for column in self.columns if self._is_person(column)] if "who" in words else [])
            if not groups or not self.is_named:
                return ""
            return self._select(
                [_quoted(groups[0].name), self._counted()], group=groups[0], order=f"2 {direction}", limit=1
            )
        if extreme and measure is not None:
            limit = next((int(value) for word in plain[:6] if (value := number_value(word)) and value > 1), 1)
            chosen = (*self._labels(), *texts, measure)
            return self._select(
                [_quoted(name) for name in dict.fromkeys(column.name for column in chosen)],
                where=f"{_quoted(measure.name)} IS NOT NULL",
                order=f"{_quoted(measure.name)} {direction}",
                limit=limit,
            )
        if not words.isdisjoint(("average", "mean")):
            return self._reduced("AVG", "average", numbers, grouped)
        is_sum = (
            not words.isdisjoint(("total", "sum", "altogether", "overall", "combined", "together")) or " in all" in low
        )
        if is_sum and numbers:
            return self._reduced("SUM", "total", numbers, grouped)
        if " how many " in low or " number of " in low or "count" in words:
            return self._count(low, numbers, texts, grouped)
        if found := re.search(
            r"\b(?:sort|order|arrange|rank|sorted|ordered|arranged|ranked)\b.* by (?:the )?(\w+)", low
        ):
            keys = [column for column in asked if stem(found[1]) in self._words_for(column)]
            names = dict.fromkeys(_quoted(column.name) for column in (*self._labels(), *asked))
            turned = " DESC" if re.search(r"\bdescending|(?:largest|highest|biggest|most) first\b", low) else ""
            return self._select([*names], order=f"{_quoted(keys[0].name)}{turned}") if keys else ""
        is_all = (
            self._is_table_shown(low)
            or re.search(r"\b(?:all|every|everything|each|entire|do we have|are there|exist)\b", low) is not None
        )
        if not (self.conditions or asked or is_all):
            return ""
        is_whole = not words.isdisjoint(("row", "record", "entry", "everything", "contents"))
        if not asked and (
            is_whole
            or self._is_table_shown(low)
            or (self.conditions and not words.isdisjoint(("who", "when", "where")))
        ):
            return self._select(["*"])
        shown = [*self._labels(), *asked] if self.conditions or not asked else list(asked)
        if not shown:
            return ""
        names = dict.fromkeys(_quoted(column.name) for column in shown)
        return self._select([*names], is_distinct=bool(asked) and len(names) == 1 and shown != self._labels())

    def _is_table_shown(self, low: str) -> bool:
        """Whether the table itself is to be shown: "the books table"."""
        words = r"[ _]".join(map(re.escape, plain_words(self.table)))
        return re.search(rf"\b(?:table {words}s?|{words}s? table)\b", low) is not None

    def _count(self, low: str, numbers: Sequence[Column], texts: Sequence[Column], grouped: Column | None) -> str:
        noun = (
            found[1]
            if (found := re.search(r"(?:how many|number of|count) (?:the |of |different )*([\w-]+)", low))
            else ""
        )
        of_noun = [column for column in numbers if stem(noun) in self._words_for(column)]
        if of_noun:
            if self.conditions:
                return self._select([_quoted(column.name) for column in (*self._labels(), *of_noun)])
            return self._reduced("SUM", "total", of_noun, grouped)
        is_row = stem(noun) in words_of(self.table) or stem(noun) in stems(("row", "record", "entry"))
        if not is_row:
            kinds = [column for column in texts if stem(noun) in self._words_for(column)]
            if not kinds:
                return ""
            alias = re.sub(r"\W", "_", f"number_of_{noun}")
            return self._select([f"COUNT(DISTINCT {_quoted(kinds[0].name)}) AS {_quoted(alias)}"])
        if grouped:
            return self._select([_quoted(grouped.name), self._counted()], group=grouped)
        return self._select([self._counted()])

    def _counted(self) -> str:
        alias = re.sub(r"\W", "_", f"number_of_{self.table}")
        return f"COUNT(*) AS {_quoted(alias)}"

    def _reduced(self, function: str, word: str, numbers: Sequence[Column], grouped: Column | None) -> str:
        found = [*numbers] or [column for column in self._measures() if self._is_only_measure(column)]
        if not found:
            return ""
        alias = re.sub(r"\W", "_", f"{word}_{found[0].name}")
        value = f"{function}({_quoted(found[0].name)}) AS {_quoted(alias)}"
        return self._select([_quoted(grouped.name), value] if grouped else [value], group=grouped)

    def _select(
        self,
        chosen: Sequence[str],
        *,
        where: str = "",
        group: Column | None = None,
        order: str = "",
        limit: int = 0,
        is_distinct: bool = False,
    ) -> str:
        conditions = [*self.conditions, *([where] if where else [])]
        # Names of columns are quoted, values are escaped, and only SELECT is written.
        parts = [f"SELECT {'DISTINCT ' if is_distinct else ''}{', '.join(chosen)} FROM {_quoted(self.table)}"]  # noqa: S608
        parts += [f"WHERE {' AND '.join(conditions)}"] if conditions else []
        parts += [f"GROUP BY {_quoted(group.name)}"] if group else []
        parts += [f"ORDER BY {order}"] if order else []
        parts += [f"LIMIT {limit}"] if limit else []
        return " ".join(parts)

    # --- the words of the table

    def _words_for(self, column: Column) -> set[str]:
        """The words by which a column may be meant."""
        own = set(words_of(column.name))
        others = {word for kind, _, _, more in _KINDS if own & stems(kind.split()) for word in stems(more.split())}
        return own | others

    def _is_said(self, column: Column, plain: Sequence[str]) -> bool:
        return not {stem(word) for word in plain}.isdisjoint(self._words_for(column))

    def _is_read(self, word: str) -> bool:
        if stem(word) in _FILLER_STEMS or word.isdigit() or number_value(word) is not None or word in self.used:
            return True
        if stem(word) in words_of(self.table) or stem(word) in _UP | _DOWN:
            return True
        return any(stem(word) in self._words_for(column) for column in self.columns)

    def _labels(self) -> list[Column]:
        """The column that names a row."""
        texts = [column for column in self.columns if not column.is_number]
        named = [column for column in texts if not _NAME_COLUMNS.isdisjoint(words_of(column.name))]
        return (named or texts)[:1]

    @staticmethod
    def _is_person(column: Column) -> bool:
        return not column.is_number and not _PERSON_COLUMNS.isdisjoint(words_of(column.name))

    def _measures(self) -> list[Column]:
        return [column for column in self.columns if column.is_number and words_of(column.name)[-1:] != ["id"]]

    def _is_only_measure(self, column: Column) -> bool:
        return self._measures() == [column]

    def _extreme(self, plain: Sequence[str]) -> tuple[bool, Column | None, str]:
        """Whether an extreme is asked for, the column that it is of, and the order that puts it first."""
        for place, word in enumerate(plain):
            adjective = plain[place + 1] if word in ("most", "least") and place + 1 < len(plain) else _base(word)
            is_superlative = word in ("most", "least") or (word.endswith("est") and adjective != word)
            for kind, more, less, _ in _KINDS if is_superlative else ():
                for direction, said in (("DESC", more), ("ASC", less)):
                    if stem(adjective) not in stems(said.split()):
                        continue
                    for column in self._measures():
                        if not stems(kind.split()).isdisjoint(words_of(column.name)):
                            self.used |= {word, adjective}
                            return True, column, _turned(direction) if word == "least" else direction
            if (is_up := stem(word) in _UP) or stem(word) in _DOWN:
                behind = {stem(each) for each in plain[place + 1 :]}
                direction = "DESC" if is_up else "ASC"
                for column in self._measures():
                    if not behind.isdisjoint(words_of(column.name)):
                        return True, column, direction
                if not behind.isdisjoint(words_of(self.table)) and word in ("most", "fewest", "least"):
                    return True, None, direction
                if len(self._measures()) == 1 and word not in ("most", "best", "top") and self._are_of_table(behind):
                    return True, self._measures()[0], direction
        return False, None, ""

    def _are_of_table(self, said: set[str]) -> bool:
        return said <= {*words_of(self.table), *stems(STOP_WORDS), *stems(("there", "all"))}

    def _grouped(self, low: str, texts: Sequence[Column]) -> Column | None:
        for column in texts:
            words = "|".join(map(re.escape, sorted(plain_words(column.name))))
            if re.search(
                rf"\b(?:per|(?:for |by |of |from |in |does |has |did )?each|for every|grouped by) (?:{words})", low
            ):
                return column
        return None

    # --- conditions

    def _compared(self, text: str) -> str:
        """The text without its comparisons of numbers, which become conditions."""
        for measure in self._measures():  # "out of stock"
            said = rf"\b(?:out of|no more|without(?: any)?) {re.escape(plain_words(measure.name)[-1])}\b"
            if re.search(said, text, re.IGNORECASE):
                self.conditions.append(f"{_quoted(measure.name)} = 0")
                text = re.sub(said, " ", text, flags=re.IGNORECASE)
        for found in (*_BETWEEN.finditer(text), *_COMPARED.finditer(text)):
            how = found.groupdict().get("how", "between").casefold()
            column = self._column_of(how, found["unit"] or "", text[: found.start()])
            if column is None:
                continue
            number = found["n"].replace(",", "")
            name = _quoted(column.name)
            if how == "between":
                self.conditions.append(f"{name} BETWEEN {number} AND {found['m'].replace(',', '')}")
            else:
                self.conditions.append(f"{name} {_operator(how)} {number}")
            unit = found["unit"] or ""
            keeps = unit if unit and stem(unit) not in self._words_for(column) else ""
            text = text.replace(found[0], f" {keeps} ", 1)
            before = text.split()
            # The column's own words were for the condition.
            text = " ".join(word for word in before if stem(word.casefold()) not in words_of(column.name))
        return text

    def _column_of(self, how: str, unit: str, before: str) -> Column | None:
        """The column of numbers that is compared: by its unit, by the adjective, by the words before, or the only."""
        adjective = stem(_base(how.partition(" ")[0]))
        for column in self._measures():
            if unit and stem(unit.casefold()) in self._words_for(column):
                return column
        for kind, more, less, _ in _KINDS:
            if how in ("after", "before", "since"):
                is_kind = "year" in kind
            else:
                is_kind = adjective in stems(more.split()) | stems(less.split())
            for column in self._measures() if is_kind else ():
                if not stems(kind.split()).isdisjoint(words_of(column.name)):
                    return column
        said = words_of(before)[-3:]
        for column in self._measures():
            if not self._words_for(column).isdisjoint(said):
                return column
        measures = self._measures()
        return measures[0] if len(measures) == 1 and not unit else None

    def _valued(self, text: str) -> str:
        """The text without names and quotations, which become conditions."""
        for form in (_QUOTED, _CAPITALS):
            for found in [*form.finditer(text)]:
                value = next(filter(None, (*found.groups(), found[0]))) if form is _QUOTED else found[0]
                value = re.sub(r"['’]s?$", "", value)
                if any(not self._is_read(word) for word in plain_words(value)) or form is _QUOTED:
                    text = self._with_value(text, found[0], value)
        texts = "|".join(plain_words(column.name)[-1] for column in self.columns if not column.is_number)
        behind_column = re.compile(rf"\b(?:{texts})s? (?:is |are |equals |= )?(?P<value>[\w'-]+(?: [\w'-]+){{0,3}})")
        for found in [*(behind_column.finditer(text) if texts else ()), *_LOW_VALUE.finditer(text)]:
            words = found["value"].split()
            while words and self._is_word(words[-1]):
                words.pop()
            if words and not any(self._is_word(word) for word in words):
                text = self._with_value(text, " ".join(words), " ".join(words))
        return text

    def _is_word(self, word: str) -> bool:
        return all(map(self._is_read, plain_words(word)))

    def _with_value(self, text: str, written: str, value: str) -> str:
        texts = [column for column in self.columns if not column.is_number]
        head, _, tail = text.partition(written)
        before = re.sub(r" (?:is|are|equals?|=|called|named)$", "", head.strip()).casefold()
        own = [column for column in texts if words_of(before)[-1:] == words_of(column.name)[-1:]]
        makers = [column for column in texts if self._is_person(column) and words_of(head)[-1:] == ["by"]]
        literal = value.casefold().replace("'", "''")
        ways = [_matches(column, literal) for column in own or makers or texts]
        if not ways:
            return text
        self.conditions.append(ways[0] if len(ways) == 1 else f"({' OR '.join(ways)})")
        if own:  # "whose author is Jane Austen"
            head = re.sub(
                rf"\b{re.escape(own[0].name)}s?\b(?!.*\b{re.escape(own[0].name)})", " ", head, flags=re.IGNORECASE
            )
        return f"{head} {tail}"


def _matches(column: Column, literal: str) -> str:
    name = f"LOWER({_quoted(column.name)})"
    # A wildcard in what was said stands for itself.
    return f"{name} = '{literal}'" if re.search(r"[%_]", literal) else f"{name} LIKE '%{literal}%'"


def _turned(direction: str) -> str:
    return "ASC" if direction == "DESC" else "DESC"


_LESS = stems(
    ("less", "fewer", "lower", "smaller", "under", "below", "before", "cheaper", "shorter", "younger", "lighter")
)


def _operator(how: str) -> str:
    match how.casefold():
        case "at least" | "since":
            return ">="
        case "at most" | "up to":
            return "<="
        case "exactly":
            return "="
    return "<" if stem(how.casefold().partition(" ")[0]) in _LESS else ">"
