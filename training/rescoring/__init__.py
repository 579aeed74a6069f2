"""Builds the language models for rescoring what was heard (docs/adr/0038-rescoring.md)."""
