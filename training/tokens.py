"""SmolLM2's tokens outside llama.cpp: the vocabulary comes from the GGUF itself, conversations are ChatML.

What is trained must be token for token what the product evaluates (edgevox.llm.prompt_writer).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gguf import GGUFReader
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as InTurn

from edgevox.errors import ModelError
from training.scene import Line

_BEGIN, _END = "<|im_start|>", "<|im_end|>"
_PRE_TOKENIZER = "smollm"


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """One message as tokens. What is said, its end included, is `tokens[said_from:said_to]`."""

    tokens: list[int]
    said_from: int
    said_to: int


class Tokens:
    """Text to tokens and back, and messages as ChatML. No text ever becomes a control token."""

    def __init__(self, description: str) -> None:
        """`description` is what another `Tokens` gives: it can be sent to a process that has no GGUF."""
        self.description = description
        self._tokenizer = Tokenizer.from_str(description)
        self.begin, self.end = self._control(_BEGIN), self._control(_END)
        (self._newline,) = self.of("\n")

    @classmethod
    def from_gguf(cls, path: Path) -> Tokens:
        """The vocabulary of that model. Raises ModelError when it is not one of SmolLM's kind."""
        fields = GGUFReader(path).fields
        kind = fields["tokenizer.ggml.pre"].contents() if "tokenizer.ggml.pre" in fields else "none"
        if kind != _PRE_TOKENIZER:
            raise ModelError(
                f"{path.name} splits text as {kind}, only {_PRE_TOKENIZER} is known here",
                hint="train on a GGUF of SmolLM2",
            )
        words: list[str] = fields["tokenizer.ggml.tokens"].contents()
        merges: list[str] = fields["tokenizer.ggml.merges"].contents()
        pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
        tokenizer = Tokenizer(BPE({word: token for token, word in enumerate(words)}, pairs))
        # Digits one by one, then GPT-2's words: LLAMA_VOCAB_PRE_TYPE_SMOLLM of llama.cpp.
        tokenizer.pre_tokenizer = InTurn([Split(Regex(r"\p{N}"), "isolated"), ByteLevel(False, False, True)])
        tokenizer.decoder = ByteLevelDecoder()
        return cls(tokenizer.to_str())

    def of(self, text: str) -> list[int]:
        """The tokens of plain text."""
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def text(self, tokens: Iterable[int]) -> str:
        """What the tokens say; control tokens are written out."""
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=False)
        return text

    def message(self, role: str, text: str) -> WrittenLine:
        """A whole message. Raises ValueError where the text begins with white space.

        Such a text would grow together with the line break before it when it is read as history, but not
        when the model writes it.
        """
        if text[:1].isspace():
            raise ValueError(f"a message must not begin with white space: {text[:40]!r}")
        head = self._head(role)
        tokens = [*head, *self.of(text), self.end, self._newline]
        return WrittenLine(tokens, len(head), len(tokens) - 1)

    def prompt(self, system: str, lines: Sequence[Line]) -> list[int]:
        """The conversation up to where the assistant begins to speak."""
        tokens = list(self.message("system", system).tokens)
        for line in lines:
            tokens += self.message(line.role, line.text).tokens
        return tokens + self._head("assistant")

    def _control(self, text: str) -> int:
        token = self._tokenizer.token_to_id(text)
        if token is None:
            raise ModelError(f"the vocabulary has no {text}", hint="train on a GGUF of SmolLM2")
        return token

    def _head(self, role: str) -> list[int]:
        return [self.begin, *self.of(f"{role}\n")]
