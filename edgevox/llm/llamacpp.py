"""The language model engine: what llama.cpp is to load, and the loading of it.

llama.cpp itself is imported by `load` alone, so that the process which only builds the engine stays light.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from edgevox.errors import ModelError, ModelMissing
from edgevox.turn import CancelFlag
from edgevox.types import ChatReply, ChatRequest

if TYPE_CHECKING:
    from edgevox.llm.decoder import Decoder

_GGUF_MAGIC = b"GGUF"


@dataclass
class LlamaEngine:
    """An Engine[ChatRequest, ChatReply] on a GGUF file.

    `prompt_threads` read the prompt, `threads` make the words; a preset may bring its own `chat_template`.
    """

    model_path: Path
    context_tokens: int = 4096
    threads: int = 2
    prompt_threads: int = 2
    chat_template: str | None = None
    _decoder: Decoder | None = field(default=None, init=False, repr=False, compare=False)

    def load(self) -> None:
        """Raises ModelMissing, or ModelError when the file cannot be used."""
        _check_gguf(self.model_path)
        # Not at the top of the file: see the module's docstring.
        from edgevox.llm.decoder import Decoder

        self._decoder = Decoder(
            self.model_path,
            context_tokens=self.context_tokens,
            threads=self.threads,
            prompt_threads=self.prompt_threads,
            chat_template=self.chat_template,
        )

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply]:
        """Raises ContextOverflow when even the last question alone does not fit, and ModelError."""
        if self._decoder is None:
            raise ModelError("the language model is not loaded", hint="call load() first")
        return self._decoder.run(request, cancel)


def _check_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except FileNotFoundError as error:
        raise ModelMissing(f"there is no model file {path}", hint="edgevox models pull") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    if magic != _GGUF_MAGIC:
        raise ModelError(f"{path} is not a GGUF file", hint="choose another file, or pull it again")
