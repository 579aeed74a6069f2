"""Writes the rules of a language as GBNF for llama.cpp, and as Lark for llguidance."""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from types import MappingProxyType

from edgevox.llm.grammar.language import Alt, Both, Chars, Node, Ref, Repeat, Rules, SchemaTooLarge, Seq, Text

# llguidance compiles this much in about a second.
_MOST_CHARS = 600_000


def serialize(rules: Rules) -> tuple[str, str]:
    """Write the rules reachable from `root`, which comes first, as GBNF and as Lark.

    Raises SchemaTooLarge if they are too many for the backends.
    """
    found = rules.reachable()
    gbnf = _GbnfWriter({name: name for name in found})
    in_gbnf = (gbnf.rule(name, rule.node) for name, rule in found.items())
    # Tokens become terminals, which llguidance's lexer reads at once.
    names = {name: (name.upper() if rule.token else name.lower()).replace("-", "_") for name, rule in found.items()}
    in_rules, in_tokens = _LarkRuleWriter(names), _Writer(names)
    in_lark = (
        f"{names[name]}: {(in_tokens if rule.token else in_rules).write(rule.node)}\n" for name, rule in found.items()
    )
    try:
        written = "".join(in_gbnf), "".join(("start: root\n", *in_lark))
    except RecursionError:
        raise SchemaTooLarge("it is nested too deep") from None
    if max(map(len, written)) > _MOST_CHARS:
        raise SchemaTooLarge(f"its grammar has more than {_MOST_CHARS:,} characters")
    return written


class _Writer:
    """Writes nodes as a terminal of Lark; `names` are those of the rules in this syntax."""

    _nothing = "/[^\\x{0}-\\x{10FFFF}]/"

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._classes: dict[Chars, str] = {}

    def write(self, node: Node) -> str:
        match node:
            case Text(value):
                return self._text(value)
            case Chars():
                if node not in self._classes:
                    self._classes[node] = self._class("".join(map(self._range, node.ranges)))
                return self._classes[node]
            case Ref(name):
                return self._names[name]
            case Seq(parts):
                return " ".join(
                    self._atom(part) if isinstance(part, Alt | Both) else self.write(part) for part in parts
                )
            case Alt(choices):
                return " | ".join(map(self.write, choices)) or self._nothing
            case Both(parts):
                return self._both(parts)
            case Repeat(part, least, most):
                return self._repeat(self._atom(part), least, most)

    def _atom(self, node: Node) -> str:
        return f"({self.write(node)})" if isinstance(node, Seq | Alt | Repeat | Both) else self.write(node)

    def _text(self, value: str) -> str:
        return encode_basestring(value)

    def _class(self, ranges: str) -> str:
        return f"/[{ranges}]/"

    def _range(self, codes: tuple[int, int]) -> str:
        first, last = map(self._code, codes)
        return first if first == last else f"{first}-{last}"

    def _code(self, code: int) -> str:
        return f"\\x{{{code:X}}}"

    def _both(self, parts: tuple[Node, ...]) -> str:
        return " & ".join(map(self._atom, parts))

    def _repeat(self, part: str, least: int, most: int | None) -> str:
        return part + _count(least, most)


class _LarkRuleWriter(_Writer):
    """Writes nodes as a rule of Lark."""

    # llguidance's lexer takes the longest match and does not backtrack: `{` must not be one lexeme where `{"a"` may be
    # another. So the texts of rules are split at the same places everywhere.
    _PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\n|<[^<>"\n]*>?|[{}\[\](),:] ?|[^"{}\[\](),:<\n]+|"')

    def _text(self, value: str) -> str:
        pieces = [encode_basestring(piece) for piece in self._PIECE.findall(value)]
        return f"({' '.join(pieces)})" if len(pieces) > 1 else pieces[0] if pieces else '""'


class _GbnfWriter(_Writer):
    """Writes GBNF. llama.cpp limits nested repetitions, so what is repeated inside another one becomes a rule."""

    # A rule that never matches: no character follows the last code point.
    _nothing = '"\\x01" [^\\x01-\\U0010FFFF]'
    # llama.cpp expands every repetition, allows at most 2,000, and takes quadratic time.
    _BLOCK = 256
    _SPECIAL = re.compile(r"[^ !#-\[\]-~]")
    _SHORT = MappingProxyType({0x0A: "\\n", 0x22: '\\"', 0x5C: "\\\\"})

    def rule(self, name: str, node: Node) -> str:
        """Write a rule and the rules of its parts."""
        self._name = name
        self._parts: list[str] = []
        return "".join((f"{name} ::= {self.write(node)}\n", *self._parts))

    def _part(self, written: str) -> str:
        name = f"{self._name}--{len(self._parts) + 1}"
        self._parts.append(f"{name} ::= {written}\n")
        return name

    def _text(self, value: str) -> str:
        return f'"{self._SPECIAL.sub(self._special, value)}"'

    def _special(self, char: re.Match[str]) -> str:
        return char[0] if char[0] not in '"\\' and char[0].isprintable() else self._escape(ord(char[0]))

    def _class(self, ranges: str) -> str:
        return f"[{ranges}]"

    def _code(self, code: int) -> str:
        return chr(code) if code < 0x80 and chr(code).isalnum() else self._escape(code)

    def _escape(self, code: int) -> str:
        if code in self._SHORT:
            return self._SHORT[code]
        return f"\\x{code:02X}" if code < 0x80 else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"

    def _both(self, parts: tuple[Node, ...]) -> str:
        return self.write(parts[0])

    def _repeat(self, part: str, least: int, most: int | None) -> str:
        size = self._BLOCK
        if any(char in part for char in "{*+"):
            part = self._part(part)
        if least <= size and (most is None or most - least <= size * 2):
            return part + _count(least, most)
        block = self._part(f"{part}{{{size}}}")
        blocks, rest = divmod(least, size)
        written = f"{block}{{{blocks}}} {part}{{{rest}}}"
        if most is None:
            return f"({written} {part}*)"
        blocks, rest = divmod(most - least, size)
        if not blocks:
            return f"({written} {part}{{0,{rest}}})"
        return (
            f"({written} ({block}{{0,{blocks - 1}}} {part}{{0,{size - 1}}} | {block}{{{blocks}}} {part}{{0,{rest}}}))"
        )


def _count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{'' if most is None else most}}}"
