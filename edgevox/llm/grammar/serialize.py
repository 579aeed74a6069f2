"""Writes the rules of a language as GBNF for llama.cpp, and as Lark for llguidance."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from json.encoder import encode_basestring

from edgevox.llm.grammar.language import Alt, Both, Chars, Node, Ranges, Ref, Repeat, Rule, Rules, Seq, Text

# llama.cpp expands every repetition, allows at most 2,000, and takes quadratic time.
_BLOCK = 256
# A rule that never matches: no character follows the last code point.
_NOTHING = '"\\x01" [^\\x01-\\U0010FFFF]'


def serialize(rules: Rules, root: str = "root") -> tuple[str, str]:
    """Write the rules reachable from `root`, which comes first, as GBNF and as Lark."""
    found = _reachable(rules, root)
    return _gbnf(found), _lark(found, root)


def _gbnf(found: dict[str, Rule]) -> str:
    lines = []
    for name, rule in found.items():
        writer = _GbnfWriter(name)
        lines.append(f"{name} ::= {writer.write(rule.node)}\n")
        lines += writer.parts
    return "".join(lines)


def _lark(found: dict[str, Rule], root: str) -> str:
    """Tokens become terminals, which llguidance's lexer reads at once."""
    names = {name: (name.upper() if rule.token else name.lower()).replace("-", "_") for name, rule in found.items()}
    in_rules, in_tokens = _LarkWriter(names, cuts_texts=True), _LarkWriter(names, cuts_texts=False)
    lines = [f"start: {names[root]}\n"]
    for name, rule in found.items():
        writer = in_tokens if rule.token else in_rules
        lines.append(f"{names[name]}: {writer.write(rule.node)}\n")
    return "".join(lines)


def _reachable(rules: Rules, root: str) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    waiting: list[Node] = [Ref(root)]
    while waiting:
        match waiting.pop():
            case Ref(name) if name not in found:
                found[name] = rules.by_name[name]
                waiting.append(found[name].node)
            case Seq(parts) | Alt(parts) | Both(parts):
                waiting += reversed(parts)
            case Repeat(part):
                waiting.append(part)
            case _:
                pass
    return found


# --- GBNF


class _GbnfWriter:
    """Writes one rule, and `parts` of it as separate rules.

    llama.cpp expands every repetition up to a limit, so a repeated part becomes a rule.
    """

    def __init__(self, name: str) -> None:
        self.parts: list[str] = []
        self._name = name

    def write(self, node: Node) -> str:
        match node:
            case Text(value):
                return f'"{_SPECIAL.sub(_gbnf_special, value)}"'
            case Chars(ranges):
                return _gbnf_class(ranges)
            case Ref(name):
                return name
            case Seq(parts):
                return " ".join(_atom(part, self.write, (Alt, Both)) for part in parts)
            case Alt(choices):
                return " | ".join(map(self.write, choices)) or _NOTHING
            case Both(parts):
                return self.write(parts[0])
            case Repeat(part, 0, 1):
                return f"{_atom(part, self.write)}?"
            case Repeat(Chars() | Ref() as part, least, most):
                return self._repeat(self.write(part), least, most)
            case Repeat(part, least, most):
                return self._repeat(self._rule(self.write(part)), least, most)

    def _repeat(self, part: str, least: int, most: int | None) -> str:
        if least <= _BLOCK and (most is None or most - least <= _BLOCK * 2):
            return part + _count(least, most)
        block = self._rule(f"{part}{{{_BLOCK}}}")
        blocks, rest = divmod(least, _BLOCK)
        written = f"{block}{{{blocks}}} {part}{{{rest}}}"
        if most is None:
            return f"({written} {part}*)"
        blocks, rest = divmod(most - least, _BLOCK)
        if blocks:
            written += f" ({block}{{0,{blocks - 1}}} {part}{{0,{_BLOCK - 1}}} | {block}{{{blocks}}} {part}{{0,{rest}}})"
        else:
            written += f" {part}{{0,{rest}}}"
        return f"({written})"

    def _rule(self, written: str) -> str:
        name = f"{self._name}--{len(self.parts) + 1}"
        self.parts.append(f"{name} ::= {written}\n")
        return name


_SPECIAL = re.compile(r"[^ !#-\[\]-~]")


def _gbnf_special(char: re.Match[str]) -> str:
    return char[0] if char[0] not in '"\\' and char[0].isprintable() else _gbnf_code(ord(char[0]))


@lru_cache(maxsize=1024)
def _gbnf_class(ranges: Ranges) -> str:
    return _class(ranges, lambda code: chr(code) if code < 0x80 and chr(code).isalnum() else _gbnf_code(code))


def _gbnf_code(code: int) -> str:
    if code in _GBNF_SHORT:
        return _GBNF_SHORT[code]
    return f"\\x{code:02X}" if code < 0x80 else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


_GBNF_SHORT = {0x0A: "\\n", 0x22: '\\"', 0x5C: "\\\\"}


# --- Lark

# llguidance's lexer takes the longest match and does not backtrack: `{` must not be one lexeme where `{"a"` may be
# another. So texts are split at the same places everywhere.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\n|<[^<>"\n]*>?|[{}\[\](),:] ?|[^"{}\[\](),:<\n]+|"')


class _LarkWriter:
    def __init__(self, names: dict[str, str], *, cuts_texts: bool) -> None:
        self._names = names
        self._cuts_texts = cuts_texts

    def write(self, node: Node) -> str:
        match node:
            case Text(value):
                if not self._cuts_texts:
                    return encode_basestring(value)
                pieces = [encode_basestring(piece) for piece in _PIECE.findall(value)]
                return f"({' '.join(pieces)})" if len(pieces) > 1 else pieces[0] if pieces else '""'
            case Chars(ranges):
                return _lark_class(ranges)
            case Ref(name):
                return self._names[name]
            case Seq(parts):
                return " ".join(_atom(part, self.write, (Alt, Both)) for part in parts)
            case Alt(choices):
                return " | ".join(map(self.write, choices)) or "/[^\\x{0}-\\x{10FFFF}]/"
            case Both(parts):
                return " & ".join(_atom(part, self.write) for part in parts)
            case Repeat(part, least, most):
                return _atom(part, self.write) + _count(least, most)


@lru_cache(maxsize=1024)
def _lark_class(ranges: Ranges) -> str:
    return "/" + _class(ranges, lambda code: f"\\x{{{code:X}}}") + "/"


# --- both


def _class(ranges: Ranges, write: Callable[[int], str]) -> str:
    pairs = (write(first) if first == last else f"{write(first)}-{write(last)}" for first, last in ranges)
    return f"[{''.join(pairs)}]"


def _atom(node: Node, write: Callable[[Node], str], compound: tuple[type[Node], ...] = (Seq, Alt, Repeat, Both)) -> str:
    return f"({write(node)})" if isinstance(node, compound) else write(node)


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
