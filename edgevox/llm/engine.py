"""The llama.cpp engines: LlamaEngine answers chat requests, TextScorer scores speech recognition hypotheses.

Only `load` imports llama.cpp, so that the parent process, which only builds the engine, stays light. For the text
scorer see docs/adr/0038-rescoring.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import API_CLIENT, Busy, ChatReply, ChatRequest
from edgevox.engines.threads import limit_omp_spin

if TYPE_CHECKING:
    from edgevox.llm.context import LlamaContext
    from edgevox.llm.decoder import Decoder

_GGUF_MAGIC = b"GGUF"


@dataclass
class LlamaEngine:
    """An Engine[ChatRequest, ChatReply] on a GGUF file.

    `prompt_threads` evaluate the prompt, `threads` generate. A preset may bring its own `chat_template` and an adapter.
    `snapshot_dir`, if given, stores evaluated prefixes of up to `snapshot_bytes` in all. `constraint_engine` enforces
    the grammar of calls.
    """

    model_path: Path
    context_tokens: int = 4096
    threads: int = 2
    prompt_threads: int = 2
    chat_template: str | None = None
    adapter_path: Path | None = None
    adapter_scale: float = 1.0
    kv_type: Literal["f16", "q8_0"] = "f16"
    snapshot_dir: Path | None = None
    snapshot_bytes: int = 512_000_000
    constraint_engine: Literal["llguidance", "llama.cpp"] = "llguidance"
    _decoder: Decoder | None = field(default=None, init=False, repr=False, compare=False)
    _api_decoder: Decoder | None = field(default=None, init=False, repr=False, compare=False)

    def load(self) -> None:
        """Raises ModelMissing, or ModelError if the file cannot be used."""
        for path in filter(None, (self.model_path, self.adapter_path)):
            _check_gguf(path)
        limit_omp_spin()
        # Lazy: see the module docstring.
        from edgevox.llm.context import LlamaContext
        from edgevox.llm.decoder import Decoder
        from edgevox.llm.prefix_cache import SEQUENCES, SnapshotStore
        from edgevox.llm.prompt.templates import CHATML, ChatTemplate

        context = LlamaContext(
            self.model_path,
            context_tokens=self.context_tokens,
            threads=self.threads,
            prompt_threads=self.prompt_threads,
            sequences=SEQUENCES,
            kv_type=self.kv_type,
            adapter_path=self.adapter_path,
            adapter_scale=self.adapter_scale,
        )
        vocabulary = context.vocabulary
        source = self.chat_template or context.metadata("tokenizer.chat_template") or CHATML
        template = ChatTemplate(source, bos=vocabulary.text(vocabulary.bos), eos=vocabulary.text(vocabulary.eos))
        snapshots = None
        if self.snapshot_dir is not None:
            with suppress(OSError):
                snapshots = SnapshotStore(self.snapshot_dir, self.snapshot_key(source), self.snapshot_bytes)
        self._decoder, self._api_decoder = Decoder(context, template, snapshots, self.constraint_engine), None

    def snapshot_key(self, template: str) -> str:
        """Identify what an evaluated prefix depends on; a file by path, size, inode and change time. Raises OSError."""
        paths = [path.resolve() for path in (self.model_path, self.adapter_path) if path]
        files = [(str(path), (status := path.stat()).st_size, status.st_ino, status.st_mtime_ns) for path in paths]
        return repr((files, self.adapter_scale, template, self.kv_type))

    def run(self, request: ChatRequest, cancel: CancelFlag) -> Iterator[ChatReply | Busy]:
        """Raises ContextOverflow if the last question alone does not fit, and ModelError."""
        if self._decoder is None:
            raise ModelError("the language model is not loaded", hint="call load() first")
        if not request.client.startswith(API_CLIENT):
            return self._decoder.run(request, cancel)
        # Attention runs over all cells of a context, whichever client owns them: a local turn behind two API prompts of
        # 500 tokens took 1.7 times as long. So API clients have a context of their own.
        self._api_decoder = self._api_decoder or self._decoder.fork()
        return self._api_decoder.run(request, cancel)


def _check_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except FileNotFoundError as error:
        raise ModelMissing(f"model file not found: {path}", hint="edgevox models pull") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    if magic != _GGUF_MAGIC:
        raise ModelError(f"{path} is not a GGUF file", hint="choose another file, or pull it again")


# ChatML's delimiters of a user message.
_BEGIN, _END = "<|im_start|>user\n", "<|im_end|>"
_CONTEXT_TOKENS = 256
_MOST_TEXTS = 16


@dataclass
class TextScorer:
    """A GGUF model trained with ChatML. It is built in one process and loaded in another."""

    model_path: Path
    threads: int = 2
    _context: LlamaContext | None = field(default=None, init=False, repr=False, compare=False)

    def load(self) -> None:
        """Raises ModelError if the file cannot be used."""
        # Lazy: the process that builds this object does not need llama.cpp.
        from edgevox.llm.context import LlamaContext

        self._context = LlamaContext(
            self.model_path,
            context_tokens=_CONTEXT_TOKENS,
            threads=self.threads,
            prompt_threads=self.threads,
            sequences=_MOST_TEXTS,
            # The chat engine has mapped the same file.
            has_own_weights=False,
        )

    def log_probabilities(self, texts: Sequence[str]) -> list[float] | None:
        """Return the log probability of each text, or None if they are too many or too long. Raises ModelError."""
        if self._context is None:
            raise ModelError("the text scorer is not loaded", hint="call load() first")
        vocabulary = self._context.vocabulary
        begin = vocabulary.tokenize(_BEGIN, special=True)
        end = vocabulary.tokenize(_END, special=True)
        return self._context.log_probabilities(
            [[*begin, *vocabulary.tokenize(text, special=False), *end] for text in texts], len(begin)
        )
