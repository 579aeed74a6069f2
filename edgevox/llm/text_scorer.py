"""Scores texts by their likelihood as a user's message, with a small language model.

The recogniser uses it to choose among hypotheses (docs/adr/0038-rescoring.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from edgevox.errors import ModelError

if TYPE_CHECKING:
    from edgevox.llm.native.context import LlamaContext

# How ChatML delimits a user's message.
_BEGIN, _END = "<|im_start|>user\n", "<|im_end|>"
_CONTEXT_TOKENS = 256
_MOST_TEXTS = 16


@dataclass
class TextScorer:
    """A GGUF model that was trained with ChatML. It is built in one process and loaded in another."""

    model_path: Path
    threads: int = 2
    _context: LlamaContext | None = field(default=None, init=False, repr=False, compare=False)

    def load(self) -> None:
        """Raises ModelError when the file cannot be used."""
        # Not at the top of the file: the process that builds this object need not carry llama.cpp.
        from edgevox.llm.native.context import LlamaContext

        self._context = LlamaContext(
            self.model_path,
            context_tokens=_CONTEXT_TOKENS,
            threads=self.threads,
            prompt_threads=self.threads,
            sequences=_MOST_TEXTS,
            # The engine that answers has mapped the same file.
            has_own_weights=False,
        )

    def log_probabilities(self, texts: Sequence[str]) -> list[float] | None:
        """Of each text; None where they are too many or too long. Raises ModelError."""
        if self._context is None:
            raise ModelError("the text scorer is not loaded", hint="call load() first")
        vocabulary = self._context.vocabulary
        begin = vocabulary.tokenize(_BEGIN, special=True)
        end = vocabulary.tokenize(_END, special=True)
        return self._context.log_probabilities(
            [[*begin, *vocabulary.tokenize(text, special=False), *end] for text in texts], len(begin)
        )
