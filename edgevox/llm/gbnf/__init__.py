"""JSON Schema and wire formats as grammars: GBNF for llama.cpp, Lark for llguidance, from one description.

`calls` puts tools into a format's wrapper, `compiler` turns a schema into a `language`, and `written` writes
that down.
"""
