"""The texts that two languages have in common: what no grammar can say, but two automata side by side can."""

from __future__ import annotations

from edgevox.llm.gbnf.language import Node
from edgevox.llm.gbnf.schema_error import Inexpressible


def both(one: Node, other: Node) -> Node:
    """The texts that are in both languages. Raises Inexpressible when that takes too many states."""
    raise Inexpressible("two conditions on one text")
