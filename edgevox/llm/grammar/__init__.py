"""Compiles JSON Schema and tool-call formats to grammars: GBNF for llama.cpp, Lark for llguidance.

`compiler` turns a schema and a format's wrapper into a `language`, `serialize` writes that in either syntax.
"""

from __future__ import annotations
