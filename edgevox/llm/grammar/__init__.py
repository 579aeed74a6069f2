"""Compiles JSON Schema to grammars: GBNF for llama.cpp, Lark for llguidance.

`schema` normalises, `compiler` turns the result into a `language`, and `serialize` writes that in either syntax.
"""

from __future__ import annotations
