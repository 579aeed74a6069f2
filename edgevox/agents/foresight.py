"""What a reply will probably say, read out of a call to `respond` while the model still writes it.

It is a guess, and costs nothing where it is wrong: whoever is told of it may make ready, and nothing more.
What is really said is read from the whole call, and goes through all rules.
"""

from __future__ import annotations

import re

from edgevox.llm.tool_choice import RESPOND_NAME

# In all notations the string follows the names of the tool and of its one argument.
_OPENING = re.compile(
    rf"\b{RESPOND_NAME}\b\W{{1,12}}(?:(?:arguments|parameters)\W{{1,8}})?(?:message|text)[\"']?\s*[:=]\s*([\"'])"
)
# Behind other calls it is not what is said first.
_LATEST_OPENING = 80


class Foresight:
    """Feed it what the model writes, as it is written."""

    def __init__(self) -> None:
        self._written = ""
        self._quote = ""
        self._is_over = False

    def feed(self, text: str) -> str:
        """The words of the reply so far; "" where they are not known, or have been told to their end."""
        if self._is_over:
            return ""
        self._written += text
        if not self._quote and not self._has_opened():
            self._is_over = len(self._written) > _LATEST_OPENING
            return ""
        # A quote or a character that is written otherwise than it is said: the rest is not foreseen.
        end = re.search(rf"[{self._quote}\\]", self._written)
        self._is_over = end is not None
        return self._written[: end.start()] if end else self._written

    def _has_opened(self) -> bool:
        opening = _OPENING.search(self._written)
        if opening is None or opening.start() > _LATEST_OPENING:
            return False
        self._quote = opening.group(1)
        self._written = self._written[opening.end() :]
        return True
