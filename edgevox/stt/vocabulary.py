"""Whisper's words as tokens. The converted models lost the first rule of their vocabulary, " t"."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer

# Without it " the" is " " and "the", which the decoder has hardly ever seen before it.
_FIRST_RULE = "Ġ t"


def read_tokens(path: Path) -> Tokenizer:
    """The tokens of a tokenizer.json, with the rule put back where it is missing. Raises ValueError."""
    return Tokenizer.from_str(whole_rules(path.read_text(encoding="utf-8")))


def whole_rules(tokenizer_json: str) -> str:
    """The same with the rule put back where it is missing. Raises ValueError."""
    content = json.loads(tokenizer_json)
    rules = content.get("model", {}).get("merges", [])
    # Newer files write a rule as a pair, and have them all.
    if not rules or not isinstance(rules[0], str) or _FIRST_RULE in rules:
        return tokenizer_json
    rules.insert(0, _FIRST_RULE)
    return json.dumps(content, ensure_ascii=False)
