"""Whisper's words as tokens. The converted models lost the first rule of their vocabulary, " t"."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer

# Without it " the" is " " and "the", which the decoder has hardly ever seen before it.
_FIRST_RULE = "Ġ t"


def read_tokens(path: Path) -> Tokenizer:
    """The tokens of a tokenizer.json, with the rule put back where it is missing. Raises ValueError."""
    content = json.loads(path.read_bytes())
    rules = content.get("model", {}).get("merges", [])
    # Newer files write a rule as a pair, and have them all.
    if rules and isinstance(rules[0], str) and _FIRST_RULE not in rules:
        rules.insert(0, _FIRST_RULE)
    return Tokenizer.from_str(json.dumps(content))
