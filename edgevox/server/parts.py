"""An answer in parts, as they come, before any wire format: words, calls for the program, and its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from edgevox.types import ChatDone, FinishReason, ToolCall


@dataclass(frozen=True, slots=True)
class Said:
    """A further piece of the text."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A call that the program is to make, whole."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of all generations that the answer took."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0

    def plus(self, prompt_tokens: int, cached_tokens: int, generated_tokens: int) -> Usage:
        return Usage(
            self.prompt_tokens + prompt_tokens,
            self.cached_tokens + cached_tokens,
            self.generated_tokens + generated_tokens,
        )

    def plus_done(self, done: ChatDone) -> Usage:
        return self.plus(done.prompt_tokens, done.cached_tokens, done.generated_tokens)


@dataclass(frozen=True, slots=True)
class Ended:
    """The last part. `stopped_at` is the string that ended the text, where one of the request's did."""

    finish_reason: FinishReason
    usage: Usage
    stopped_at: str | None = None


Part: TypeAlias = Said | Called | Ended
