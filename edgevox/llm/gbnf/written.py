"""The rules of a language written down: as GBNF for llama.cpp, and as Lark for llguidance."""

from __future__ import annotations

import json
from collections.abc import Callable

from edgevox.llm.gbnf.language import (
    NEVER,
    Alt,
    Chars,
    Node,
    Ref,
    Repeat,
    Rule,
    Rules,
    Seq,
    Text,
    alt,
    repeat,
    seq,
)

# llama.cpp writes every repetition out, takes no more than 2,000, and needs the square of their number in time.
_BLOCK = 256


def gbnf(rules: Rules, root: str = "root") -> str:
    """The grammar for llama.cpp, its start rule first."""
    found = _reachable(rules, root)
    return "".join(f"{name} ::= {_gbnf(rule.node)}\n" for name, rule in found.items())


def lark(rules: Rules, root: str = "root") -> str:
    """The grammar for llguidance: tokens become terminals, which its lexer reads in one go."""
    found = _reachable(rules, root)
    names = {
        name: (name.upper() if rule.token else name.lower()).replace("-", "_") for name, rule in found.items()
    }
    lines = [f"start: {names[root]}\n"]
    lines += [f"{names[name]}: {_lark(rule.node, names)}\n" for name, rule in found.items()]
    return "".join(lines)


def prune(rules: Rules, node: Node) -> Node:
    """`node` without what can never be completed, such as an object that must hold another of its own kind."""
    ends: set[str] = set()
    waiting = dict(rules.by_name)
    while True:
        done = [name for name, rule in waiting.items() if _can_end(rule.node, ends)]
        if not done:
            break
        ends.update(done)
        for name in done:
            del waiting[name]
    if not waiting:
        return node
    for rule in rules.by_name.values():
        rule.node = _kept(rule.node, waiting)
    return _kept(node, waiting)


def _can_end(node: Node, ends: set[str]) -> bool:
    match node:
        case Ref(name):
            return name in ends
        case Seq(parts):
            return all(_can_end(part, ends) for part in parts)
        case Alt(choices):
            return any(_can_end(choice, ends) for choice in choices)
        case Repeat(part, least, _):
            return least == 0 or _can_end(part, ends)
        case _:
            return True


def _kept(node: Node, dead: dict[str, Rule]) -> Node:
    match node:
        case Ref(name):
            return NEVER if name in dead else node
        case Seq(parts):
            return seq(*(_kept(part, dead) for part in parts))
        case Alt(choices):
            return alt(*(_kept(choice, dead) for choice in choices))
        case Repeat(part, least, most):
            return repeat(_kept(part, dead), least, most)
        case _:
            return node


def _reachable(rules: Rules, root: str) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = rules.by_name[name]
            waiting += reversed(_refs(found[name].node))
    return found


def _refs(node: Node) -> list[str]:
    found: list[str] = []
    waiting = [node]
    while waiting:
        match waiting.pop():
            case Ref(name):
                found.append(name)
            case Seq(parts) | Alt(parts):
                waiting += reversed(parts)
            case Repeat(part):
                waiting.append(part)
            case _:
                pass
    return found


# --- GBNF


def _gbnf(node: Node) -> str:
    match node:
        case Text(value):
            return f'"{_gbnf_text(value)}"'
        case Chars(ranges):
            return f"[{''.join(_gbnf_range(first, last) for first, last in ranges)}]"
        case Ref(name):
            return name
        case Seq(parts):
            return " ".join(f"({_gbnf(part)})" if isinstance(part, Alt) else _gbnf(part) for part in parts)
        case Alt(choices):
            return " | ".join(map(_gbnf, choices)) or '"\\x01" [^\\x01-\\U0010FFFF]'
        case Repeat(part, least, most):
            return _gbnf_repeat(_atom(part, _gbnf), least, most)


def _gbnf_repeat(part: str, least: int, most: int | None) -> str:
    pieces = []
    if least > _BLOCK:
        pieces.append(f"({part}{{{_BLOCK}}}){{{least // _BLOCK}}}")
        most = None if most is None else most - least
        least, rest = 0, least % _BLOCK
        pieces += [f"{part}{{{rest}}}"] if rest else []
    if most is not None and most - least > 2 * _BLOCK:
        pieces += [f"{part}{{{least}}}"] if least else []
        pieces.append(_gbnf_long_tail(part, most - least))
    elif most != 0:
        pieces.append(part + _count(least, most))
    return pieces[0] if len(pieces) == 1 else f"({' '.join(pieces)})"


def _gbnf_long_tail(part: str, most: int) -> str:
    written = f"{part}{{0,{most % _BLOCK}}}"
    for _ in range(most // _BLOCK):
        written = f"({part}{{0,{_BLOCK - 1}}} | {part}{{{_BLOCK}}} {written})"
    return written


def _gbnf_text(value: str) -> str:
    return "".join(
        char if char.isprintable() and char not in '"\\' else _gbnf_code(ord(char)) for char in value
    )


def _gbnf_range(first: int, last: int) -> str:
    return _class_char(first) if first == last else f"{_class_char(first)}-{_class_char(last)}"


def _class_char(code: int) -> str:
    return chr(code) if code < 0x80 and chr(code).isalnum() else _gbnf_code(code)


def _gbnf_code(code: int) -> str:
    match code:
        case 0x0A:
            return "\\n"
        case 0x22:
            return '\\"'
        case 0x5C:
            return "\\\\"
        case _ if code < 0x80:
            return f"\\x{code:02X}"
        case _ if code <= 0xFFFF:
            return f"\\u{code:04X}"
        case _:
            return f"\\U{code:08X}"


# --- Lark


def _lark(node: Node, names: dict[str, str]) -> str:
    match node:
        case Text(value):
            return json.dumps(value, ensure_ascii=False)
        case Chars(ranges):
            return f"/[{''.join(_lark_range(first, last) for first, last in ranges)}]/"
        case Ref(name):
            return names[name]
        case Seq(parts):
            return " ".join(_atom(part, lambda one: _lark(one, names), (Alt,)) for part in parts)
        case Alt(choices):
            return " | ".join(_lark(choice, names) for choice in choices) or "/[^\\x{0}-\\x{10FFFF}]/"
        case Repeat(part, least, most):
            return _atom(part, lambda one: _lark(one, names)) + _count(least, most)


def _lark_range(first: int, last: int) -> str:
    return f"\\x{{{first:X}}}" if first == last else f"\\x{{{first:X}}}-\\x{{{last:X}}}"


# --- both


def _atom(
    node: Node,
    write: Callable[[Node], str],
    compound: tuple[type[Node], ...] = (Seq, Alt, Repeat),
) -> str:
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
